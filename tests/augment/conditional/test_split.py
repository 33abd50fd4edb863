"""fn._conditional.split. What comes of its branches: tests/run/test_branches.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import errors, fn, types
from tests.small import made


def test_each_half_has_its_samples() -> None:
    def define() -> Any:
        x = fn.external_source(lambda: [np.int32([k, -k]) for k in range(5)], layout="X")
        return fn._conditional.split(x, predicate=(x > 1)[0])

    yes, no = made(define, batch_size=5).run()
    assert [yes.at(i).tolist() for i in range(len(yes))] == [[2, -2], [3, -3], [4, -4]]
    assert [no.at(i).tolist() for i in range(len(no))] == [[0, 0], [1, -1]]
    assert (yes.layout(), yes.dtype) == (no.layout(), no.dtype) == ("X", types.INT32)


@pytest.mark.parametrize(
    ("predicate", "text"),
    [
        (lambda x: x, "predicate: expected BOOL, got INT32"),
        (lambda x: fn.stack(x > 1, x > 1), r"predicate: expected one value, without axes, got the shape \(2,\)"),
    ],
)
def test_predicates_that_are_none(predicate: Callable[[Any], Any], text: str) -> None:
    x = fn.external_source(lambda: np.int32([1, 2, 3, 4]))
    with pytest.raises(errors.OperatorError, match=text):
        made(lambda: fn._conditional.split(x, predicate=predicate(x))).run()


def test_a_constant_divides_nothing() -> None:
    with pytest.raises(errors.ArgumentError, match="predicate=True: expected a node"):
        fn._conditional.split(types.Constant(1), predicate=True)
