"""fn.noise.salt_and_pepper: which pixels are changed, how often, and to what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import fn
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.augment.drawing import draw
from tests.cases import Array, case, per_sample, pictures, samples

ELSEWHERE = "DALI takes channels that come first or last"

CASES = [
    case("noise.salt_and_pepper", pictures()),
    case("noise.salt_and_pepper", pictures(), per_channel=True, prob=0.3),
    case("noise.salt_and_pepper", pictures(channels=1), prob=per_sample([0.0, 0.5, 1.0]), salt_val=7.0),
    case("noise.salt_and_pepper", pictures(channels=4), prob=0.5, salt_vs_pepper=per_sample([0.0, 1.0, 0.1])),
    case("noise.salt_and_pepper", pictures("CHW", np.float32), prob=0.4, pepper_val=per_sample([-1.5, 2.0, 3.0])),
    case("noise.salt_and_pepper", pictures("FCHW", np.int16), prob=0.4, differs=ELSEWHERE),
    case("noise.salt_and_pepper", pictures("FHWC", np.int16), prob=0.4),
    case("noise.salt_and_pepper", pictures("HW"), prob=0.4, differs=ELSEWHERE),
    case("noise.salt_and_pepper", samples([np.arange(7), np.arange(2)], dtype=np.int64), prob=0.9),
]


def noise(x: Array, layout: str = "", **arguments: Any) -> Array:
    return draw(lambda: fn.noise.salt_and_pepper(constant(x, layout), **arguments))[0]


def test_shares() -> None:
    n = 200_000
    found = noise(np.full(n, 7, np.uint8), per_channel=True, prob=0.3, salt_vs_pepper=0.2)
    for value, share in ((255, 0.06), (0, 0.24), (7, 0.7)):
        assert abs((found == value).mean() - share) < 4 * np.sqrt(share / n)
    changed = found != 7
    assert abs(np.corrcoef(changed[1:], changed[:-1])[0, 1]) < 4 / np.sqrt(n)


@pytest.mark.parametrize(("shape", "layout", "axis"), [
    ((40, 50, 3), "HWC", 2), ((40, 50, 3), "", 2), ((3, 40, 50), "CHW", 0), ((2, 3, 40, 50), "FCHW", 1),
    ((40, 3, 50), "HCW", 1),
])  # fmt: skip
@pytest.mark.parametrize("per_channel", [False, True])
def test_channels(shape: Any, layout: str, axis: int, per_channel: bool) -> None:
    found = noise(np.full(shape, 7, np.int16), layout, prob=0.5, per_channel=per_channel)
    alike = (np.take(found, 0, axis) == np.take(found, 1, axis)).mean()
    assert (0.3 < alike < 0.45) if per_channel else alike == 1


def test_without_channels_each_element_is_a_pixel() -> None:
    found = noise(np.full((100, 100), 7, np.uint8), "HW", prob=0.5)
    assert 0.4 < (found == 7).mean() < 0.6


@pytest.mark.parametrize(("dtype", "values"), [
    ("u1", [0, 255]), ("i1", [-128, 127]), ("u4", [0, 2**32 - 1]), ("i8", [-(2**63), 2**63 - 1]), ("f2", [-1, 1]),
    ("f8", [-1, 1]),
])  # fmt: skip
def test_usual_values(dtype: str, values: list[Any]) -> None:
    found = noise(np.ones(1000, dtype), prob=1.0, per_channel=True)
    np.testing.assert_array_equal(np.unique(found), np.array(values, dtype))


@pytest.mark.parametrize(("dtype", "values"), [("u1", [44, 251]), ("i2", [-5, 300]), ("f4", [-5.75, 300.5])])
def test_given_values_are_cast(dtype: str, values: list[Any]) -> None:
    found = noise(np.ones(1000, dtype), prob=1.0, per_channel=True, salt_val=300.5, pepper_val=-5.75)
    np.testing.assert_array_equal(np.unique(found), np.array(values, dtype))


def test_samples_are_independent() -> None:
    x = constant(np.full(50_000, 7, np.uint8))
    found = draw(lambda: fn.noise.salt_and_pepper(x, prob=0.5, per_channel=True), batch_size=2, batches=2)
    assert np.abs(np.corrcoef(found) - np.eye(4)).max() < 4 / np.sqrt(50_000)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"prob": -0.5}, "prob is -0.5.*: expected 0 to 1"),
        ({"prob": 1.5}, "prob is 1.5.*: expected 0 to 1"),
        ({"prob": float("nan")}, "prob is nan"),
        ({"salt_vs_pepper": 2.0}, "salt_vs_pepper is 2.0.*: expected 0 to 1"),
    ],
)
def test_mistakes_are_named(arguments: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        noise(np.ones((2, 3, 3), np.uint8), **arguments)


def test_truths_are_no_numbers() -> None:
    with pytest.raises(OperatorError, match="the input is BOOL: expected numbers"):
        noise(np.ones(3, bool))
