"""``fn.bb_flip``: boxes of pictures that are flipped."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("bb_flip", devices=["cpu", "gpu"])
class BbFlip(Op):
    """Moves boxes to where they are when their picture is flipped, as ``fn.flip`` flips it.

    Input: FLOAT, four numbers for each box, usually of shape ``(boxes, 4)``: left, top, width and height, as shares of
    the picture's width and height from 0 to 1; with ``ltrb`` left, top, right and bottom. Output: the same shape.

    Width and height stay as they are, whatever the other numbers are. DALI computes them again from the flipped box,
    which makes not-a-number of them where left or top is infinite or not a number.

    Errors: OperatorError for other types, and where the numbers do not make whole boxes.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     boxes = types.Constant(np.float32([[0, 0.5, 0.25, 0.5]]))
        ...     return fn.bb_flip(boxes), fn.bb_flip(boxes, horizontal=0, vertical=1)
        >>> [output.at(0).tolist() for output in pipeline().run()]
        [[[0.75, 0.5, 0.25, 0.5]], [[0.0, 0.0, 0.25, 0.5]]]
    """

    horizontal = arg(1, "Whether to flip left to right: 0 or another number.", per_sample=True)
    vertical = arg(0, "Whether to flip top to bottom: 0 or another number.", per_sample=True)
    ltrb = arg(False, "Whether boxes are left, top, right, bottom.")
