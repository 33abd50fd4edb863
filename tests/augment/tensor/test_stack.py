"""fn.stack, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import fn
from penstock.errors import ArgumentError, OperatorError
from tests.augment.joining import WRONG, A, B, extents, run
from tests.cases import Array, Samples, case, pictures


def stacked(*x: Array, axis: int = 0, axis_name: str = "") -> Array:
    return np.stack(x, axis)


PICTURES = pictures()
PLANES = extents((5, 7), (6, 300), (1, 4), layout="HW")
OTHERS = extents((5, 7), (6, 300), (1, 4), layout="HW", seed=5)
BARE = Samples(OTHERS.arrays)
BOXES = extents((3, 4), (0, 4), (2, 4), dtype=np.float32)
NUMBERS = extents((), (), (), dtype=np.int16)
MORE_NUMBERS = extents((), (), (), dtype=np.int16, seed=3)

CASES = [
    case("stack", PLANES, OTHERS, reference=stacked),
    case("stack", PLANES, OTHERS, BARE, reference=stacked, axis=2, axis_name="C"),
    case("stack", BARE, OTHERS, reference=stacked, axis=1, axis_name="C", differs="DALI looks at one layout only"),
    case("stack", PLANES, OTHERS, BARE, PLANES, reference=stacked, axis=-1),
    case("stack", *[PLANES] * 5, reference=stacked, axis=2),
    case("stack", PICTURES, PICTURES, reference=stacked, axis=0, axis_name="F"),
    case("stack", PICTURES, PICTURES, PICTURES, reference=stacked, axis=-2, axis_name="F"),
    case("stack", PICTURES, PICTURES, reference=stacked, axis=-4, differs="DALI does not count as far as that"),
    case("stack", BOXES, BOXES, reference=stacked, axis=1),
    case("stack", NUMBERS, MORE_NUMBERS, NUMBERS, reference=stacked, axis_name="X"),
    case("stack", NUMBERS, reference=stacked),
    *[
        case("stack", *[extents((8,), (900,), (1,), dtype=d, seed=s) for s in range(n)], reference=stacked, axis=1)
        for d, n in ((np.uint16, 2), (np.float32, 3), (np.float64, 4), (np.int64, 2))
    ],
]


@pytest.mark.parametrize(
    ("arguments", "arrays", "layouts", "problem"),
    [
        ({}, (A, WRONG), ("", ""), "stack: input 1 is INT16"),
        ({}, (A, B), ("", ""), r"stack: input 1 is UINT8 of shape \(4, 3\).* expected the same shape"),
        ({"axis": 3}, (A, A), ("", ""), "axis=3: expected one of 3 axes, from -3 to 2"),
        ({"axis_name": "C"}, (A, A), ("", ""), "axis_name='C' is given, but the inputs have no layout"),
        ({}, (np.zeros((1,) * 12, np.uint8),), ("",), "more than 12 axes"),
    ],
)
def test_stack_names_what_does_not_fit(arguments: Any, arrays: Any, layouts: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        run(lambda *x: fn.stack(*x, **arguments), *arrays, layouts=layouts)


def test_arguments_that_are_refused() -> None:
    for name in ("", "HW"):
        with pytest.raises(ArgumentError, match=r"axis_name=.*one letter"):
            fn.stack(A, axis_name=name)


@pytest.mark.parametrize(
    ("arguments", "layouts", "layout"),
    [
        ({}, ("HW", "HW"), ""),
        ({"axis_name": "C"}, ("", "HW"), "CHW"),
        ({"axis_name": "C", "axis": 1}, ("HW", "HW"), "HCW"),
        ({"axis_name": "C", "axis": -1}, ("HW", "WH"), "HWC"),
    ],
)
def test_layouts(arguments: Any, layouts: tuple[str, ...], layout: str) -> None:
    assert run(lambda *x: fn.stack(*x, **arguments), A, A, layouts=layouts).layout() == layout
