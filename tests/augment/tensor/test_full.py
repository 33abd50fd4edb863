"""fn.full, fn.zeros, fn.ones and their likes, against NumPy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from tests.cases import Array, case, per_sample, pictures, random_array, samples


def full(x: Array, shape: Any = None, layout: str = "") -> Array:
    return x if shape is None else np.broadcast_to(x, tuple(np.atleast_1d(shape)))


def full_like(x: Array, fill: Array) -> Array:
    return np.broadcast_to(np.floor(np.clip(fill, 0, 255) + 0.5), x.shape).astype(x.dtype)


def filled(value: int) -> Any:
    def made(shape: Any = (), dtype: Any = types.INT32, layout: str = "") -> Array:
        return np.full(shape, value, types.to_numpy_type(dtype))

    return made


def filled_like(value: int) -> Any:
    return lambda x, dtype=None: np.full_like(x, value, types.to_numpy_type(dtype) if dtype is not None else None)


ROWS = samples([random_array((1, 3), np.int16), random_array((1, 3), np.int16, seed=1)])
COLUMNS = samples([random_array((4, 1), np.float32), random_array((4, 1), np.float32, seed=1)])
SIZES = per_sample([(2, 3), (4, 1), (0, 5)])

CASES = [
    case("full", per_sample([1.5, 2.5]), reference=full),
    case("full", per_sample([1.5, 2.5]), reference=full, shape=[7]),
    case("full", per_sample([3, 4, 5]), reference=full, shape=SIZES, layout="HW"),
    case("full", ROWS, reference=full, shape=[5, 3]),
    case("full", ROWS, reference=full, shape=[4, 2, 3]),
    case("full", COLUMNS, reference=full, shape=[2, 4, 5]),
    case("full_like", pictures(), per_sample([3.7, -1.0, 300.0]), reference=full_like),
    case("full_like", pictures(), per_sample([(1, 2, 3), (4, 5, 6), (7, 8, 9)]), reference=full_like),
]
for name, value in (("zeros", 0), ("ones", 1)):
    CASES += [
        case(name, reference=filled(value)),
        case(name, reference=filled(value), shape=[3, 2], dtype=types.FLOAT16, layout="HW"),
        case(name, reference=filled(value), shape=SIZES, dtype=types.BOOL),
        case(f"{name}_like", pictures(), reference=filled_like(value)),
        case(f"{name}_like", pictures("FHWC"), reference=filled_like(value), dtype=types.FLOAT),
    ]


@pytest.mark.parametrize("dtype", [types.STRING, types.TENSOR_LAYOUT, types.DATA_TYPE, types.FEATURE])
@pytest.mark.parametrize("make", [fn.zeros, fn.ones, fn.zeros_like, fn.ones_like])
def test_types_that_are_no_numbers(make: Any, dtype: types.DALIDataType) -> None:
    inputs = [np.uint8([1])] if make in (fn.zeros_like, fn.ones_like) else []
    with pytest.raises(ArgumentError, match=re.escape(f"{make.__name__}: dtype={dtype!r}: expected ")):
        make(*inputs, dtype=dtype)


def test_no_type() -> None:
    """It is none for what needs one, and counts as not given elsewhere."""
    for make in (fn.zeros, fn.ones):
        for dtype in (types.NO_TYPE, -1):
            with pytest.raises(ArgumentError, match=rf"{make.__name__}: dtype=.*: expected one of"):
                make(shape=[2], dtype=dtype)
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*[make(np.uint8([5]), dtype=types.NO_TYPE) for make in (fn.zeros_like, fn.ones_like)])
    assert [(o.dtype, o.at(0).tolist()) for o in pipe.run()] == [(types.UINT8, [0]), (types.UINT8, [1])]


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: fn.full(np.int32([1, 2, 4]), shape=[3, 2]), r"a filler of shape \(3,\) can't fill the shape \(3, 2\)"),
        (lambda: fn.full(np.zeros((3, 2)), shape=[2]), "can't fill"),
        (lambda: fn.full_like(np.zeros(3), np.zeros((2, 3))), "can't fill"),
        (lambda: fn.zeros(shape=[2, -1]), "negative extent"),
        (lambda: fn.ones(shape=[2], layout="HW"), "layout='HW' does not fit"),
        (lambda: fn.zeros(shape=[1] * 13), "more than 12"),
    ],
)
def test_mistakes_are_named(make: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(make())
    with pytest.raises(OperatorError, match=problem):
        pipe.run()
