"""fn.random.choice: elements of an input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import fn
from penstock.errors import OperatorError
from tests.augment.drawing import SHAPES, N, draw
from tests.cases import case, per_sample, pictures, samples

CASES = [
    case("random.choice", per_sample([5, 1, 200])),
    case("random.choice", per_sample([5, 1, 200], np.uint8), shape=[6]),
    case("random.choice", samples([[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]]), p=[0.25, 0.75], shape=SHAPES),
    case("random.choice", pictures("FHWC"), shape=[3]),
    case("random.choice", pictures("FHWC")),
    case("random.choice", samples([[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]]), p=0.5, shape=SHAPES),
    case("random.choice", per_sample([2, 2, 2]), p=per_sample([0.5, 0.5, 0.5])),
    case("random.choice", pictures("FHWC"), shape=[2, 2]),
    case("random.choice", samples([[1], [2, 3]]), pictures("HW", count=2)),
]


def test_choice() -> None:
    values, counts = np.unique(draw(lambda: fn.random.choice(6, shape=[N])), return_counts=True)
    assert values.tolist() == [0, 1, 2, 3, 4, 5]
    assert np.abs(counts / N - 1 / 6).max() < 0.01
    p = [0.1, 0.0, 0.6, 0.3]
    drawn = draw(lambda: fn.random.choice([10, 20, 30, 40], p=p, shape=[N]))
    assert np.abs([(drawn == v).mean() - q for v, q in zip((10, 20, 30, 40), p, strict=True)]).max() < 0.01
    assert 20 not in drawn
    drawn = draw(lambda: fn.random.choice([10, 20, 30, 40], p=0.25, shape=[N]))
    assert np.abs([(drawn == v).mean() - 0.25 for v in (10, 20, 30, 40)]).max() < 0.01


def test_choice_takes_whole_rows() -> None:
    table = np.arange(24, dtype=np.int16).reshape(4, 2, 3)
    drawn = draw(lambda: fn.random.choice(table, shape=[100]))[0]
    assert drawn.dtype == np.int16
    assert {row.tobytes() for row in drawn} == {row.tobytes() for row in table}


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: fn.random.choice(0), "at least 1 element to choose from, got 0"),
        (lambda: fn.random.choice(-3), "got -3"),
        (lambda: fn.random.choice(2.0), "the input is one FLOAT"),
        (lambda: fn.random.choice([1, 2, 3], p=[0.5, 0.5]), "p has 2 probabilities for 3 elements"),
        (lambda: fn.random.choice([1, 2], p=[1]), "add up to 2.0"),
        (lambda: fn.random.choice([1, 2], p=[0.5, 0.6]), "add up to 1.1"),
        (lambda: fn.random.choice([1, 2], p=[-1, 2]), r"p\[0\]=-1.0+: expected 0 to 1"),
        (lambda: fn.random.choice([1, 2], np.zeros(3), shape=[3]), "the shape is given twice"),
    ],
)
def test_mistakes_are_named(make: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        draw(make)
