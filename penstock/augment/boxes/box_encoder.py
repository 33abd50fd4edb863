"""``fn.box_encoder``: boxes as the targets of a detector with anchors."""

from __future__ import annotations

from penstock.op import REQUIRED, Op, arg, op


@op("box_encoder", devices=["cpu", "gpu"], inputs=2)
class BoxEncoder(Op):
    """Matches boxes with a detector's anchors, as SSD (https://arxiv.org/abs/1512.02325) does it.

    An anchor gets the box with which it has the largest intersection over union (IoU), if that is above ``criteria``;
    and each box is given to the anchor with which it has its largest one, whatever that is. Of several equal ones, the
    last counts.

    Inputs: boxes, FLOAT of shape ``(boxes, 4)``: left, top, right and bottom; their labels, INT32, one for each box.
    Outputs: for each anchor its box, FLOAT of shape ``(anchors, 4)``, and that box's label, INT32 of shape
    ``(anchors,)``. Boxes are given as the x and y of their middles, width and height; an anchor without a box has
    itself, and the label 0. With ``offset``, what a detector is to find: where the box is from the anchor, in anchors,
    and the logarithm of how many times as large it is; zeros where there is none.

    Errors: ArgumentError for numbers of ``anchors``, ``means`` and ``stds`` that do not make whole boxes, for ``stds``
    of 0 and for a ``criteria`` that is not from 0 to 1; OperatorError for other types and shapes, and where there is
    not a label for each box (DALI reads beyond them).

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     boxes, labels = np.float32([[0, 0, 0.5, 0.75]]), np.int32([7])
        ...     return tuple(fn.box_encoder(boxes, labels, anchors=[0, 0, 0.5, 0.5, 0.5, 0.5, 1, 1]))
        >>> [output.at(0).tolist() for output in pipeline().run()]
        [[[0.25, 0.375, 0.5, 0.75], [0.75, 0.75, 0.5, 0.5]], [7, 0]]
    """

    anchors = arg(REQUIRED, "Left, top, right and bottom of each anchor, one behind the other.", kind="numbers")
    criteria = arg(0.5, "The IoU above which an anchor gets a box.")
    offset = arg(False, "Whether boxes are given as differences from their anchors.")
    scale = arg(1.0, "With `offset`: boxes and anchors are so many times as large.")
    means = arg([0.0, 0.0, 0.0, 0.0], "With `offset`: subtracted from the four numbers.")
    stds = arg([1.0, 1.0, 1.0, 1.0], "With `offset`: what they are divided by then.")

    def prepare(self) -> None:
        if not self.anchors or len(self.anchors) % 4:
            raise self.wrong("anchors", "expected four numbers for each anchor")
        if not 0 <= self.criteria <= 1:
            raise self.wrong("criteria", "expected 0 to 1")
        for name in ("means", "stds"):
            if len(getattr(self, name)) != 4:
                raise self.wrong(name, "expected four numbers")
        if 0 in self.stds:
            raise self.wrong("stds", "expected no 0")

    def num_outputs(self) -> int:
        return 2
