"""``fn.bbox_rotate``: boxes of pictures that are rotated."""

from __future__ import annotations

from penstock.op import REQUIRED, Op, arg, op


@op("bbox_rotate", inputs=(1, 2))
class BboxRotate(Op):
    """Moves boxes to where they are when ``fn.rotate`` turns their picture about its centre.

    Boxes are cut off at the edges of the rotated picture. Those of which too small a share is left, or none, are
    dropped, and so are their labels.

    Inputs: boxes, FLOAT of shape ``(boxes, 4)``, as ``bbox_layout`` says, in shares of the picture's width and height
    or, unless ``bbox_normalized``, in pixels; optionally their labels, INT32 of shape ``(boxes,)`` or ``(boxes, 1)``.
    Outputs: the boxes that are left, in shares of the rotated picture or in its pixels; with labels, theirs. No
    layouts.

    Errors: ArgumentError for a ``remove_threshold`` that is not from 0 to less than 1, for a layout that is none, and
    for ``size`` together with ``keep_size``; OperatorError for other types and shapes, where there is not a label for
    each box, for an ``input_shape`` of fewer numbers than ``shape_layout`` has letters, and for other than two numbers
    in ``size``.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     boxes = np.float32([[0, 0, 0.5, 1]])
        ...     return fn.bbox_rotate(boxes, angle=90.0, input_shape=[100, 200], bbox_layout="xyWH")
        >>> pipeline().run()[0].at(0).round(3).tolist()
        [[0.0, 0.5, 1.0, 0.5]]
    """

    setup_reads = (0,)

    angle = arg(REQUIRED, "Degrees, counter-clockwise, as `fn.rotate` has them.", kind="number", per_sample=True)
    input_shape = arg(REQUIRED, "The picture's extents, before it is rotated.", kind="integers", per_sample=True)
    shape_layout = arg("HW", "Which extents these are: letters, with H and W among them.", kind="layout")
    bbox_layout = arg(
        "xyXY", "What boxes are: 'xyXY', left, top, right, bottom, or 'xyWH', left, top, width, height.", kind="layout",
        choices=["xyXY", "xyWH"],
    )  # fmt: skip
    bbox_normalized = arg(True, "Whether boxes are in shares of the picture, or else in pixels.")
    keep_size = arg(False, "Whether the rotated picture is as large as it was before.")
    size = arg([], "Height and width of the rotated picture. Default: what it needs.", kind="numbers", per_sample=True)
    mode = arg(
        "expand",
        "How large a box is then: 'expand', as large as the rotated one needs; 'fixed', as large as it was (turned on "
        "its side if it rather lies that way); 'halfway', in the middle between these.",
        choices=["expand", "halfway", "fixed"],
    )
    remove_threshold = arg(0.1, "Boxes of which a smaller share is left are dropped.")

    def prepare(self) -> None:
        if not 0 <= self.remove_threshold < 1:
            raise self.wrong("remove_threshold", "expected 0 to less than 1")
        if self.keep_size and (self.size or "size" in self.tensors):
            raise self.wrong("size", "cannot be given together with keep_size")
        if not {"H", "W"} <= set(self.shape_layout):
            raise self.wrong("shape_layout", "expected H and W among its letters")

    def num_outputs(self) -> int:
        return self.input_count
