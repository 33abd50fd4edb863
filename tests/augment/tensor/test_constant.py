"""fn.constant, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import fn, types
from penstock.errors import ArgumentError, OutOfMemoryError
from tests.cases import Array, case


def constant(fdata: Any = None, idata: Any = None, shape: Any = None, dtype: Any = None, layout: str = "") -> Array:
    data = np.atleast_1d(np.float32(fdata) if idata is None else np.int32(idata))
    shape = data.shape if shape is None else tuple(shape)
    values = np.full(shape, data[0]) if len(data) == 1 else data.reshape(shape)
    if dtype is None:
        return values
    new = np.dtype(types.to_numpy_type(dtype))
    if new.kind in "iu":
        values = np.clip(np.copysign(np.floor(np.abs(values) + 0.5), values), np.iinfo(new).min, np.iinfo(new).max)
    return values.astype(new)


CASES = [
    case("constant", reference=constant, idata=[1, 2, 3, 4]),
    case("constant", reference=constant, idata=7),
    case("constant", reference=constant, fdata=[0.5, 1.5, 2.5, -3.5], shape=[2, 2], layout="HW"),
    case("constant", reference=constant, fdata=2.5, shape=[3, 1], dtype=types.FLOAT16),
    case("constant", reference=constant, idata=[1, 300, -2], dtype=types.UINT8),
    case("constant", reference=constant, fdata=[0.5, 1.5, -2.5], dtype=types.INT8),
]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "just one of fdata and idata"),
        ({"fdata": [1.0], "idata": [1]}, "just one of fdata and idata"),
        ({"idata": [1, 2, 3], "shape": [2, 2]}, "expected 1 or 4 elements, got 3"),
        ({"idata": [1, 2], "layout": "HW"}, "layout='HW'.*1 axes"),
        ({"idata": [1], "shape": [-1]}, r"shape=\[-1\]: expected no negative extents"),
        ({"idata": [1, 2], "shape": [-1]}, r"shape=\[-1\]: expected no negative extents"),
        ({"idata": [1, 2], "dtype": types.STRING}, r"dtype=DALIDataType\.STRING: expected"),
        ({"idata": [2**70]}, "idata=.*: expected a whole number or a list of them; it is too large"),
        ({"idata": [float("nan")]}, r"idata=\[nan\]: expected a whole number"),
    ],
)
def test_mistakes_are_named(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(ArgumentError, match=f"constant: .*{problem}"):
        fn.constant(**arguments)


@pytest.mark.parametrize("shape", [[2**62], [2**40, 2**40]])
def test_more_than_any_memory_holds(shape: list[int]) -> None:
    with pytest.raises(OutOfMemoryError, match=r"constant: shape=\[.*\]: there is no room for \d+ bytes"):
        fn.constant(fdata=[2.5], shape=shape)
