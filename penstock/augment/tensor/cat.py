"""``fn.cat``: several tensors as one, along an axis that they have."""

from __future__ import annotations

from penstock.augment.tensor.join import MOST_INPUTS, JoinArgs
from penstock.op import op


@op("cat", devices=["cpu", "gpu"], inputs=(1, MOST_INPUTS))
class Cat(JoinArgs):
    """Joins tensors along an axis that they have.

    Inputs: tensors of one type and number of axes, of the same extents but on that axis. ``axis_name`` names it by its
    letter in the inputs' layouts. Inputs without elements are passed over where they do not fit.
    Output: a tensor of that type, whose extent on that axis is the sum of the inputs'; the first one's layout. (DALI
    gives the first input's shape where no input of the whole batch has elements.)

    Errors: ArgumentError if both ``axis`` and ``axis_name`` are given, or a name that is not one letter; OperatorError
    for inputs that do not fit, an axis that is not there, and a name if the inputs' layouts differ.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.cat(np.uint8([[1, 2]]), np.uint8([[3, 4], [5, 6]]))
        >>> pipeline().run()[0].at(0).tolist()
        [[1, 2], [3, 4], [5, 6]]
    """

    def prepare(self) -> None:
        super().prepare()
        if {"axis", "axis_name"} <= self.given:
            raise self.wrong("axis_name", "cannot be given together with axis")
