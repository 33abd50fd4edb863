"""``fn.random.coin_flip``: zeros and ones."""

from __future__ import annotations

from penstock import types
from penstock.augment.random.base import RandomOp
from penstock.op import arg, op


@op("random.coin_flip", kernel="random_coin_flip", devices=["cpu", "gpu"], inputs=(0, 1), legacy=["coin_flip"])
class CoinFlip(RandomOp):
    """Draws ones with a given probability, and zeros otherwise.

    Input: optionally, a tensor whose shape the output gets. Output: ``shape``, of ``dtype``, without a layout.

    Errors: OperatorError for a shape given twice or negative.

    Example:
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     return fn.random.coin_flip(probability=1.0)
        >>> pipeline().run()[0].as_array().tolist()
        [1, 1, 1, 1]
    """

    probability = arg(
        0.5, "Probability of a one; 0 or less: never, 1 or more: always.", per_sample=True, aka=["p", "prob"]
    )
    dtype = arg(types.INT32, "Type of the output.")
