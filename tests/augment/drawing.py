"""Drawn numbers, and a Kolmogorov-Smirnov test of them. Seeds are fixed, so each run sees the same numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from penstock import DataNode, Pipeline
from tests.cases import Array, per_sample

SHAPES = per_sample([(2, 3), (4, 1), (0, 5)])


def draw(
    make: Callable[[], DataNode], *, batch_size: int = 1, batches: int = 1, seed: int = 5, threads: int = 1
) -> Array:
    """All samples of some batches."""
    pipe = Pipeline(batch_size=batch_size, num_threads=threads, device_id=None, seed=seed)
    with pipe:
        pipe.set_outputs(make())
    return np.concatenate([pipe.run()[0].as_array() for _ in range(batches)])


N = 40_000


def assert_distributed(drawn: Array, cdf: Callable[[Array], Array]) -> None:
    """Kolmogorov-Smirnov: passes by 999 of 1000 generators that are right, and here by the one seed that is used."""
    x = np.sort(drawn.ravel().astype(np.float64))
    n = len(x)
    steps = np.arange(n + 1) / n
    distance = max(np.max(steps[1:] - cdf(x)), np.max(cdf(x) - steps[:-1]))
    assert distance < 1.95 / math.sqrt(n)


def normal_cdf(x: Array, mean: float = 0, stddev: float = 1) -> Array:
    return np.array([0.5 * math.erfc((mean - v) / stddev / math.sqrt(2)) for v in x])
