"""``fn.reinterpret``: the same bytes as elements of another type."""

from __future__ import annotations

from penstock.augment.tensor.reshape import ReshapeArgs
from penstock.op import arg, op
from penstock.types.convert import NUMBERS


@op("reinterpret", kernel="reshape", devices=["cpu", "gpu"], inputs=(1, 2))
class Reinterpret(ReshapeArgs):
    """Takes the input's bytes for elements of another type. Nothing is copied or converted.

    Inputs: a tensor of any type; optionally the output's shape, as ``shape`` has it, in one axis of
    integers on the CPU.
    Output: the same bytes as ``dtype``. Without a shape, the innermost axis becomes longer or shorter.

    Errors: ArgumentError for a ``dtype`` that is no type of numbers; OperatorError for arguments that do not go
    together, if the new shape does not hold exactly the input's bytes, or the layout does not fit it.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.reinterpret(np.uint8([1, 0, 2, 1]), dtype=types.UINT16)
        >>> pipeline().run()[0].at(0).tolist()
        [1, 258]
    """

    dtype = arg(None, "Type of the output's elements. Default: the input's.", kind="dtype", choices=NUMBERS)
