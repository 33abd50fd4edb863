"""``fn.bbox_paste``: boxes of pictures that are put on a larger canvas."""

from __future__ import annotations

from penstock.op import REQUIRED, Op, arg, op


@op("bbox_paste")
class BboxPaste(Op):
    """Moves boxes to where they are when ``fn.paste`` puts their picture on a larger canvas.

    Input: FLOAT, four numbers for each box, usually of shape ``(boxes, 4)``: left, top, width and height, as shares of
    the picture's width and height from 0 to 1; with ``ltrb`` left, top, right and bottom. Output: the same shape and
    layout, in shares of the canvas. A ``paste_x`` or ``paste_y`` above 1 counts as 1.

    Errors: OperatorError for other types, and where the numbers do not make whole boxes.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     boxes = types.Constant(np.float32([[0, 0.5, 1, 0.5]]))
        ...     return fn.bbox_paste(boxes, ratio=2), fn.bbox_paste(boxes, ratio=2, paste_x=1, paste_y=0, ltrb=True)
        >>> [output.at(0).tolist() for output in pipeline().run()]
        [[[0.25, 0.5, 0.5, 0.25]], [[0.5, 0.25, 1.0, 0.25]]]
    """

    ratio = arg(
        REQUIRED, "How many times larger the canvas is; `fn.paste` takes 1 or more.", kind="number", per_sample=True
    )
    ltrb = arg(False, "Whether boxes are left, top, right, bottom.")
    paste_x = arg(
        0.5, "Where the picture is from left to right: 0 is the canvas's left edge, 1 its right one.", per_sample=True
    )
    paste_y = arg(0.5, "Where it is from top to bottom: 0 is the upper edge, 1 the lower one.", per_sample=True)
