"""``fn.random.uniform``: numbers from an interval or a list."""

from __future__ import annotations

from penstock import types
from penstock.augment.random.base import RandomOp
from penstock.op import arg, op


@op("random.uniform", kernel="random_uniform", devices=["cpu", "gpu"], inputs=(0, 1), legacy=["uniform"])
class Uniform(RandomOp):
    """Draws numbers uniformly from an interval, or from a list.

    Of an integer type, they are drawn between the interval's ends without their fractions and then rounded, so that
    both ends come up half as often as the numbers between; use ``fn.random.choice`` for dice.

    Of an unsigned type, an interval that begins below 0 counts from 0: the default one gives 0 and 1. DALI converts the
    start to the type first, where it becomes a large number: the default interval of UINT8 is 1 to 255 there.

    Input: optionally, a tensor whose shape the output gets. Output: ``shape``, of ``dtype``, without a layout.

    Errors: OperatorError if the interval is empty, if there are no values, or for a shape given twice or negative.

    Example:
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     return fn.random.uniform(range=[20.0, 30.0], shape=[2])
        >>> drawn = pipeline().run()[0].as_array()
        >>> drawn.shape, bool(((drawn >= 20) & (drawn < 30)).all())
        ((4, 2), True)
    """

    range = arg(
        [-1.0, 1.0],
        "The interval: its start, which is in it, and its end, which is not.",
        per_sample=True,
        aka=["low", "high", "min", "max", "interval"],
    )
    values = arg(None, "Numbers to draw from instead; `range` has no effect then.", kind="numbers", per_sample=True)
    dtype = arg(types.FLOAT, "Type of the output.")
