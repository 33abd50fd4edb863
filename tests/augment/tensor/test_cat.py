"""fn.cat, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import fn
from penstock.errors import ArgumentError, OperatorError
from tests.augment.joining import WRONG, A, B, extents, run
from tests.cases import Array, Samples, case, pictures, random_array


def joined(*x: Array, axis: int = 0, axis_name: str = "", layout: str = "HWC") -> Array:
    return np.concatenate(x, layout.index(axis_name) if axis_name else axis)


PICTURES = pictures()
WIDER = Samples(tuple(random_array((a.shape[0], 7 + i, 3), np.uint8, 9) for i, a in enumerate(PICTURES.arrays)), "HWC")
ALPHA = Samples(tuple(random_array((*a.shape[:2], 1), np.uint8, 8) for a in PICTURES.arrays), "HWC")
PLANES = extents((5, 7), (6, 300), (1, 4), layout="HW")
OTHERS = extents((5, 7), (6, 300), (1, 4), layout="HW", seed=5)
BARE = Samples(OTHERS.arrays)
BOXES = extents((3, 4), (0, 4), (2, 4), dtype=np.float32)
MORE_BOXES = extents((0, 4), (0, 4), (5, 4), dtype=np.float32, seed=3)
MISFITS = extents((0, 9), (3, 0), (0, 1), dtype=np.float32)


def passing_over(*x: Array, **arguments: Any) -> Array:
    """As `joined`, of those that have elements."""
    return joined(*[a for a in x if a.size], **arguments)


CASES = [
    case("cat", PICTURES, WIDER, reference=joined, axis=1),
    case("cat", PICTURES, WIDER, PICTURES, reference=joined, axis=-2),
    case("cat", PICTURES, ALPHA, reference=joined, axis=2),
    case("cat", ALPHA, PICTURES, ALPHA, reference=joined, axis_name="C"),
    case("cat", ALPHA, ALPHA, ALPHA, reference=joined, axis=-1),
    case("cat", *[ALPHA] * 9, reference=joined, axis=-1),
    case("cat", PICTURES, PICTURES, reference=joined),
    case("cat", PICTURES, reference=joined),
    case("cat", PLANES, BARE, reference=joined, axis_name="H"),
    case("cat", BARE, PLANES, reference=joined, axis=1),
    case("cat", BOXES, MORE_BOXES, reference=joined),
    case("cat", MORE_BOXES, extents((5, 4), (2, 4), (3, 4), dtype=np.float32), MISFITS, reference=passing_over),
    case("cat", *[extents((4,), (5,), (6,), dtype=np.bool_, seed=s) for s in range(40)], reference=joined),
    case(
        "cat",
        MORE_BOXES,
        MISFITS,
        reference=lambda x, y, axis: np.concatenate([x, y], axis) if x.shape[0] == y.shape[0] else x,
        axis=1,
        differs="of inputs that have no elements, DALI adds no extents",
    ),
]


@pytest.mark.parametrize(
    ("arguments", "arrays", "layouts", "problem"),
    [
        ({}, (A, WRONG), ("", ""), r"cat: input 1 is INT16 of shape \(2, 3\), but input 0 is UINT8 of shape \(2, 3\)"),
        ({}, (A, A[0]), ("", ""), r"input 1 is UINT8 of shape \(3,\), but input 0 is UINT8 of shape \(2, 3\)"),
        ({"axis": 1}, (A, B), ("HW", "HW"), r"\(4, 3\).* expected the same extents but on axis 1 \(W\)"),
        ({"axis": 2}, (A, B), ("HW", "HW"), "axis=2: expected one of 2 axes, from -2 to 1"),
        ({"axis": -3}, (A, B), ("HW", "HW"), "axis=-3"),
        ({}, (A[0, 0], A[0, 0]), ("", ""), "expected one of 0 axes"),
        ({"axis_name": "Z"}, (A, B), ("HW", "HW"), "'Z': there is no such axis in the layout 'HW'"),
        ({"axis_name": "H"}, (A, B), ("", ""), "'H': there is no such axis in the layout ''"),
        ({"axis_name": "H"}, (A, B), ("HW", "WH"), "the layouts 'HW' and 'WH' differ"),
    ],
)
def test_cat_names_what_does_not_fit(arguments: Any, arrays: Any, layouts: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        run(lambda *x: fn.cat(*x, **arguments), *arrays, layouts=layouts)


def test_arguments_that_are_refused() -> None:
    for name in ("", "HW"):
        with pytest.raises(ArgumentError, match=r"axis_name=.*one letter"):
            fn.cat(A, axis_name=name)
    with pytest.raises(ArgumentError, match="cat: axis_name='H': cannot be given together with axis"):
        fn.cat(A, axis=0, axis_name="H")


@pytest.mark.parametrize(
    ("arguments", "layouts", "layout"),
    [
        ({}, ("HW", ""), "HW"),
        ({}, ("", "HW"), ""),
        ({}, ("WH", "HW"), "WH"),
        ({"axis_name": "H"}, ("", "HW"), "HW"),
    ],
)
def test_layouts(arguments: Any, layouts: tuple[str, ...], layout: str) -> None:
    assert run(lambda *x: fn.cat(*x, **arguments), A, A, layouts=layouts).layout() == layout
