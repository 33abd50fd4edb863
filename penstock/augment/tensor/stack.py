"""``fn.stack``: several tensors as one, along a new axis."""

from __future__ import annotations

from penstock.augment.tensor.join import MOST_INPUTS, JoinArgs
from penstock.op import op


@op("stack", devices=["cpu", "gpu"], inputs=(1, MOST_INPUTS))
class Stack(JoinArgs):
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
