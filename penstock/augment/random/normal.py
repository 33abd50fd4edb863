"""``fn.random.normal``: numbers of a normal distribution."""

from __future__ import annotations

from penstock import types
from penstock.augment.random.base import RandomOp
from penstock.op import arg, op


@op("random.normal", kernel="random_normal", devices=["cpu", "gpu"], inputs=(0, 1), legacy=["normal_distribution"])
class Normal(RandomOp):
    """Draws numbers of a normal distribution; of an integer type, they are rounded.

    Input: optionally, a tensor whose shape the output gets. Output: ``shape``, of ``dtype``, without a layout.

    Errors: OperatorError for a shape given twice or negative.

    Example:
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     return fn.random.normal(mean=100, stddev=2, shape=[1000])
        >>> bool(99 < pipeline().run()[0].as_array().mean() < 101)
        True
    """

    mean = arg(0.0, "The mean.", per_sample=True, aka=["loc", "mu"])
    stddev = arg(1.0, "The standard deviation.", per_sample=True, aka=["std", "sigma", "scale"])
    dtype = arg(types.FLOAT, "Type of the output.")
