"""fn.random.normal: a normal distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from penstock import fn, types
from penstock.errors import OperatorError
from tests.augment.drawing import SHAPES, N, assert_distributed, draw, normal_cdf
from tests.cases import case, per_sample, pictures

CASES = [
    case("random.normal"),
    case("random.normal", pictures("HW"), mean=per_sample([1.0, 2.0, 3.0]), stddev=per_sample([0.0, 1.0, 2.0])),
    case("random.normal", shape=SHAPES, stddev=3, dtype=types.INT8),
]


def test_normal() -> None:
    drawn = draw(lambda: fn.random.normal(mean=7, stddev=2, shape=[N]))
    assert_distributed(drawn, lambda x: normal_cdf(x, 7, 2))
    x = (drawn.astype(np.float64) - 7) / 2
    assert abs((x**3).mean()) < 4 * math.sqrt(15 / N)
    assert abs((x**4).mean() - 3) < 4 * math.sqrt(96 / N)
    neighbours = np.corrcoef(x[0, 0::2], x[0, 1::2])[0, 1]  # both halves of one Box-Muller step
    assert abs(neighbours) < 4 / math.sqrt(N / 2)


def test_normal_integers_are_rounded() -> None:
    drawn = draw(lambda: fn.random.normal(shape=[N], dtype=types.INT32))
    share = (drawn == 0).mean()
    assert abs(share - 0.3829) < 0.01


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: fn.random.normal(np.zeros(3), shape=[3]), "the shape is given twice"),
    ],
)
def test_mistakes_are_named(make: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        draw(make)
