"""``fn.random.beta``: numbers of a beta distribution."""

from __future__ import annotations

from penstock import types
from penstock.augment.random.base import RandomOp
from penstock.op import arg, op


@op("random.beta", kernel="random_beta", inputs=(0, 1))
class Beta(RandomOp):
    """Draws numbers from 0 to 1 of a beta distribution, such as weights for mixing two pictures.

    Input: optionally, a tensor whose shape the output gets. Output: ``shape``, of ``dtype``, without a layout.

    Errors: ArgumentError for a type that is neither FLOAT nor FLOAT64; OperatorError if ``alpha`` or ``beta`` is not
    above 0, or for a shape given twice or negative.

    Example:
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     return fn.random.beta(alpha=0.2, beta=0.2)
        >>> drawn = pipeline().run()[0].as_array()
        >>> bool(((drawn >= 0) & (drawn <= 1)).all())
        True
    """

    alpha = arg(1.0, "First parameter of the distribution, above 0.", per_sample=True)
    beta = arg(1.0, "Second parameter of the distribution, above 0.", per_sample=True)
    dtype = arg(types.FLOAT, "Type of the output.", choices=[types.FLOAT, types.FLOAT64])
