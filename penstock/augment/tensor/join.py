"""``fn.cat`` and ``fn.stack``: several tensors as one."""

from __future__ import annotations

from penstock.op import Op, arg, op

MOST_INPUTS = 999  # DALI's


class JoinArguments(Op):
    """Along which axis."""

    axis = arg(0, "The axis; negative numbers count from the end.")
    axis_name = arg("", "Its letter in the layout.")

    def prepare(self) -> None:
        if "axis_name" in self.given and len(self.axis_name) != 1:
            raise self.wrong("axis_name", "expected one letter")


@op("cat", devices=["cpu", "gpu"], inputs=(1, MOST_INPUTS))
class Cat(JoinArguments):
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


@op("stack", devices=["cpu", "gpu"], inputs=(1, MOST_INPUTS))
class Stack(JoinArguments):
    """Joins tensors along a new axis.

    Inputs: tensors of one type and shape.
    Output: a tensor of that type, with one axis more, whose extent is the number of inputs. ``axis`` is its place in
    the output, and ``axis_name`` its letter in the layout, which goes to the others' letters; without that the output
    has no layout.

    Errors: ArgumentError if ``axis_name`` is not one letter; OperatorError for inputs that do not fit, an axis that the
    output does not have, and a name where no input has a layout.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     left, right = types.Constant(np.uint8([1, 2]), layout="W"), types.Constant(np.uint8([3, 4]))
        ...     return fn.stack(left, right, axis=1, axis_name="C")
        >>> stacked, = pipeline().run()
        >>> stacked.at(0).tolist(), stacked.layout()
        ([[1, 3], [2, 4]], 'WC')
    """
