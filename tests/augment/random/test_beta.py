"""fn.random.beta: a beta distribution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import fn, types
from penstock.errors import ArgumentError, OperatorError
from tests.augment.drawing import N, assert_distributed, draw, normal_cdf
from tests.cases import Array, case, per_sample, pictures

CASES = [
    case("random.beta"),
    case(
        "random.beta",
        alpha=per_sample([0.1, 1.0, 9.0]),
        beta=per_sample([2.0, 1.0, 0.5]),
        dtype=types.FLOAT64,
        shape=[9],
    ),
    case("random.beta", pictures("HW"), alpha=2),
]


def beta_cdf(alpha: float, beta: float) -> Callable[[Array], Array]:
    """By integration over quantile-spaced points: substituting t = sin² makes the ends harmless."""
    angle = np.linspace(0, math.pi / 2, 400_001)
    middle = (angle[1:] + angle[:-1]) / 2
    steps = np.sin(middle) ** (2 * alpha - 1) * np.cos(middle) ** (2 * beta - 1)
    total = np.concatenate([[0], np.cumsum(steps)]) / steps.sum()
    return lambda x: np.interp(np.arcsin(np.sqrt(x)), angle, total)


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (0.5, 0.5), (0.2, 3), (2, 5), (40, 0.7)])
def test_beta(alpha: float, beta: float) -> None:
    drawn = draw(lambda: fn.random.beta(alpha=alpha, beta=beta, shape=[N], dtype=types.FLOAT64))
    assert_distributed(drawn, beta_cdf(alpha, beta))


@pytest.mark.parametrize("parameter", [1e6, 1e12, 1e15, 1e17, 1e25])
def test_beta_of_huge_parameters_is_normal(parameter: float) -> None:
    drawn = draw(lambda: fn.random.beta(alpha=parameter, beta=parameter, shape=[N], dtype=types.FLOAT64))
    assert_distributed((drawn - 0.5) * math.sqrt(4 * (2 * parameter + 1)), normal_cdf)


def test_beta_of_tiny_parameters_is_zero_or_one() -> None:
    drawn = draw(lambda: fn.random.beta(alpha=1e-5, beta=2e-5, shape=[N]))
    assert np.isfinite(drawn).all()
    assert abs(drawn.mean() - 1 / 3) < 0.02
    assert ((drawn < 1e-3) | (drawn > 1 - 1e-3)).mean() > 0.999


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: fn.random.beta(alpha=0), "alpha=0.0+: expected a number above 0"),
        (lambda: fn.random.beta(beta=math.nan), "beta=-?nan: expected"),
    ],
)
def test_mistakes_are_named(make: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        draw(make)


def test_beta_is_a_float() -> None:
    with pytest.raises(ArgumentError, match=r"random\.beta: dtype=.*INT32"):
        fn.random.beta(dtype=types.INT32)
