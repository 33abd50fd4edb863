"""fn.noise.shot: Poisson's distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from penstock import fn
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.augment.drawing import N, draw
from tests.cases import Array, case, per_sample, pictures, samples

CASES = [
    case("noise.shot", pictures()),
    case("noise.shot", pictures(), factor=per_sample([0.0, 0.5, 30.0])),
    case("noise.shot", pictures("CHW", np.float32), factor=3.0),
    case("noise.shot", pictures("FHWC", channels=1), factor=-2.0),
    case("noise.shot", samples([np.arange(7), np.arange(2)], dtype=np.int64), factor=0.01),
]


def noise(x: Any, factor: float) -> Array:
    return draw(lambda: fn.noise.shot(constant(np.asarray(x)), factor=factor))[0]


@pytest.mark.parametrize("mean", [0.01, 0.5, 3.0, 9.9, 10.0, 17.5, 250.0, 1e5])
def test_it_is_poissons(mean: float) -> None:
    drawn = noise(np.full(N, mean * 4), 4.0) / 4
    assert (drawn == np.round(drawn)).all()
    assert abs(drawn.mean() - mean) < 4 * math.sqrt(mean / N)
    assert abs(drawn.var() - mean) < 4 * math.sqrt((2 * mean**2 + mean) / N)
    values, counts = np.unique(drawn, return_counts=True)
    expected = N * np.exp([k * math.log(mean) - mean - math.lgamma(k + 1) for k in values])
    likely = expected > 10
    squares = ((counts - expected) ** 2 / expected)[likely]  # chi-squared
    assert squares.sum() < len(squares) + 4 * math.sqrt(2 * len(squares))


def test_what_is_not_above_0_becomes_0() -> None:
    x = np.float32([0, -1, -1e9, -np.inf])
    np.testing.assert_array_equal(noise(x, 2.0), np.zeros(4))
    np.testing.assert_array_equal(noise(-x, -2.0), np.zeros(4))
    assert np.isnan(noise(np.float32([np.nan]), 2.0)).all()


@pytest.mark.parametrize("factor", [0.0, 1e-30])
def test_without_noise_it_is_the_input(factor: float) -> None:
    x = np.float32([-1, 0, 1, 1e9])
    np.testing.assert_array_equal(noise(x[1 if factor else 0 :], factor), x[1 if factor else 0 :])


def test_elements_and_samples_are_independent() -> None:
    drawn = draw(lambda: fn.noise.shot(constant(np.full(N, 300, np.float32)), factor=1.0), batch_size=2, batches=2)
    assert np.abs(np.corrcoef(drawn) - np.eye(4)).max() < 4 / np.sqrt(N)
    assert abs(np.corrcoef(drawn[0, 1:], drawn[0, :-1])[0, 1]) < 4 / np.sqrt(N)


def test_mistakes_are_named() -> None:
    with pytest.raises(OperatorError, match=r"noise.shot: .*the input is BOOL: expected numbers"):
        noise(np.ones(3, bool), 1.0)
