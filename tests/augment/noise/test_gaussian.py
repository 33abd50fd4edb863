"""fn.noise.gaussian: numbers of a normal distribution added."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import fn
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.augment.drawing import N, assert_distributed, draw, normal_cdf
from tests.cases import case, per_sample, pictures, samples

NUMBERS = per_sample([0.0, 1.5, -3.0])

CASES = [
    case("noise.gaussian", pictures()),
    case("noise.gaussian", pictures(), mean=NUMBERS, stddev=per_sample([0.0, 20.0, 1e9])),
    case("noise.gaussian", pictures("CHW", np.float32), stddev=3.0),
    case("noise.gaussian", pictures("FHWC", channels=1), mean=200.0),
    case("noise.gaussian", samples([np.arange(7), np.arange(2)], dtype=np.int64), mean=-1.0),
    case("noise.gaussian", samples([np.arange(1003)], dtype=np.uint16), stddev=1e6),
]


def noise(x: Any, **arguments: Any) -> Any:
    return draw(lambda: fn.noise.gaussian(constant(np.asarray(x)), **arguments))


def test_it_is_normal() -> None:
    drawn = noise(np.zeros(N, np.float32), mean=7, stddev=2)
    assert_distributed(drawn, lambda x: normal_cdf(x, 7, 2))
    x = (drawn[0].astype(np.float64) - 7) / 2
    assert abs((x**3).mean()) < 4 * np.sqrt(15 / N)
    assert abs((x**4).mean() - 3) < 4 * np.sqrt(96 / N)
    for distance in (1, 2, 3, 4, 64):  # neighbours, of one step and of one block
        assert abs(np.corrcoef(x[distance:], x[:-distance])[0, 1]) < 4 / np.sqrt(N)
    assert 3.5 < np.abs(x).max() < 6


def test_samples_are_independent() -> None:
    drawn = draw(lambda: fn.noise.gaussian(constant(np.zeros(N, np.float32))), batch_size=3, batches=2)
    assert np.abs(np.corrcoef(drawn) - np.eye(6)).max() < 4 / np.sqrt(N)


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"])
def test_it_is_added_to_the_input(dtype: str) -> None:
    x = (np.arange(N) % 50 + 20).astype(dtype)
    added = noise(x, mean=3, stddev=1.5)[0].astype(np.float64) - x
    assert abs(added.mean() - 3) < 0.03
    assert abs(added.std() - (1.5 if dtype[0] == "f" else np.sqrt(1.5**2 + 1 / 12))) < 0.03


@pytest.mark.parametrize(("dtype", "mean"), [("u1", 1e6), ("u1", -1e6), ("i4", 1e30), ("i8", -1e30)])
def test_sums_saturate(dtype: str, mean: float) -> None:
    limits = np.iinfo(dtype)
    assert np.unique(noise(np.ones(9, dtype), mean=mean)) == [limits.max if mean > 0 else limits.min]


def test_large_integers_keep_their_last_bits() -> None:
    x = np.full(5, (1 << 40) + 1, np.int64)
    np.testing.assert_array_equal(noise(x, stddev=0)[0], x)


def test_mistakes_are_named() -> None:
    with pytest.raises(OperatorError, match=r"noise.gaussian: .*the input is BOOL: expected numbers"):
        noise(np.ones(3, bool))
