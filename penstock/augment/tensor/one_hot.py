"""``fn.one_hot``: indices of classes as vectors."""

from __future__ import annotations

from penstock import types
from penstock.op import Op, arg, op


@op("one_hot", devices=("cpu", "gpu"))
class OneHot(Op):
    """Encodes indices of classes as vectors that have ``on_value`` at the class, and ``off_value`` elsewhere.

    Input: a tensor of numbers, whose fractions are cut off. Numbers that are no class give ``off_value`` everywhere.

    Output: the input's axes and one more of extent ``num_classes``, at place ``axis``, of type ``dtype``. If all
    tensors of the batch have a single element and ``axis`` is not given, they count as numbers, and the new axis is
    the only one. The values are converted as by casts in C: fractions are cut off, and what does not fit keeps its
    lower bits. The layout is the input's with ``axis_name`` put in, and empty if that is not given.

    Errors: ArgumentError for a negative ``num_classes``, an ``axis`` below -1, or an ``axis_name`` of several
    letters; OperatorError for an ``axis`` beyond the output's last, or if ``axis_name`` is given and the input has no
    layout.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.one_hot(np.int32([2, 0]), num_classes=3, dtype=types.UINT8)
        >>> pipeline().run()[0].at(0).tolist()
        [[0, 0, 1], [1, 0, 0]]
    """

    num_classes = arg(0, "How many classes there are.", aka=["depth", "classes"])
    axis = arg(-1, "Where the new axis is in the output; -1: it is the last one.", only_given=True)
    axis_name = arg(None, "Its letter in the layout.", kind="layout")
    on_value = arg(1.0, "What stands at the class.")
    off_value = arg(0.0, "What stands elsewhere.")
    dtype = arg(types.FLOAT, "Type of the output.")

    def prepare(self) -> None:
        if self.num_classes < 0:
            raise self.wrong("num_classes", "expected at least 0")
        if self.axis < -1:
            raise self.wrong("axis", "expected at least -1")
        if self.axis_name is not None and len(self.axis_name) != 1:
            raise self.wrong("axis_name", "expected one letter")
        self.batchwise = "axis" not in self.given
