"""fn.random.uniform: numbers from an interval, or from a list."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from penstock import fn, types
from penstock.errors import OperatorError
from tests.augment.drawing import SHAPES, N, assert_distributed, draw
from tests.cases import case, per_sample, pictures

CASES = [
    case("random.uniform"),
    case("random.uniform", range=[0, 10], dtype=types.INT32, shape=[50]),
    case("random.uniform", range=per_sample([(0.0, 1.0), (5.0, 6.0), (-2.0, 7.0)]), shape=SHAPES),
    case("random.uniform", values=[1.5, 2.5, 7], shape=4, dtype=types.FLOAT64),
    case("random.uniform", values=per_sample([(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)])),
    case("random.uniform", pictures("HW")),
]


@pytest.mark.parametrize("dtype", [types.FLOAT, types.FLOAT64, types.FLOAT16])
def test_uniform(dtype: types.DALIDataType) -> None:
    drawn = draw(lambda: fn.random.uniform(range=[-3, 5], shape=[N], dtype=dtype))
    assert drawn.dtype == types.to_numpy_type(dtype)
    assert drawn.min() >= -3
    assert drawn.max() < 5
    if dtype != types.FLOAT16:  # it has too few numbers for the test
        assert_distributed(drawn, lambda x: (x + 3) / 8)
        assert len(np.unique(drawn)) > 0.99 * N


def test_uniform_never_reaches_its_end() -> None:
    end = float(np.nextafter(np.float32(1), np.float32(2)))
    assert set(draw(lambda: fn.random.uniform(range=[1, end], shape=[100])).ravel()) == {1.0}
    half_end = 1 + 2.0**-10
    assert draw(lambda: fn.random.uniform(range=[1, half_end], shape=[1000], dtype=types.FLOAT16)).max() < half_end


@pytest.mark.parametrize(("interval", "low", "high"), [((-3, 2), -3, 2), ((0.6, 4.9), 0, 4), ((0.6, 0.9), 0, 0)])
def test_uniform_integers_halve_the_ends(interval: tuple[float, float], low: int, high: int) -> None:
    drawn = draw(lambda: fn.random.uniform(range=interval, shape=[N], dtype=types.INT32))
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == list(range(low, high + 1))
    if high > low:
        expected = np.full(high - low + 1, N / (high - low))
        expected[[0, -1]] /= 2
        assert np.abs(counts - expected).max() < 4 * math.sqrt(N / (high - low))


def test_uniform_integers_stay_within_their_type() -> None:
    drawn = draw(lambda: fn.random.uniform(range=[-300, 300], shape=[N], dtype=types.UINT8))
    assert (drawn.min(), drawn.max()) == (0, 255)


def test_uniform_values() -> None:
    drawn = draw(lambda: fn.random.uniform(values=[1, 2.5, 300], shape=[N]))
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [1, 2.5, 300]
    assert np.abs(counts / N - 1 / 3).max() < 0.01
    assert set(draw(lambda: fn.random.uniform(values=[1, 2.5, 300], shape=[99], dtype=types.UINT8)).ravel()) == {
        1,
        3,
        255,
    }


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: fn.random.uniform(range=[2, 1]), r"random.uniform: range=\[2.0+, 1.0+\]"),
        (lambda: fn.random.uniform(range=[1]), r"range=\[1.0+, 1.0+\]"),
        (lambda: fn.random.uniform(range=[1, 2, 3]), "expected 1 or 2 values, got 3"),
        (lambda: fn.random.uniform(range=[-math.inf, 1]), "expected two numbers"),
        (lambda: fn.random.uniform(values=[]), "values is empty"),
        (lambda: fn.random.uniform(shape=[2, -1]), "negative extent"),
        (lambda: fn.random.uniform(shape=[1] * 13), "shape has 13 elements"),
    ],
)
def test_mistakes_are_named(make: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        draw(make)
