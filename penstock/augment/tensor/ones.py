"""``fn.ones``: a tensor of ones."""

from __future__ import annotations

from penstock import types
from penstock.augment.tensor.filled import FilledShapeArgs
from penstock.op import arg, fixed, op
from penstock.types.convert import NUMBERS


@op("ones", kernel="full", devices=["cpu", "gpu"], inputs=0)
class Ones(FilledShapeArgs):
    """Makes a tensor of ones.

    Output: ``shape`` (default: a single number), of ``dtype``, with ``layout``.

    Errors: ArgumentError for a ``dtype`` that is no type of numbers; OperatorError for a negative extent, or a layout
    that does not fit the shape.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.ones(shape=[3], dtype=types.UINT8)
        >>> pipeline().run()[0].at(0).tolist()
        [1, 1, 1]
    """

    value = fixed(1.0)
    dtype = arg(types.INT32, "Type of the output.", choices=NUMBERS)
