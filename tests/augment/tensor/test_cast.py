"""fn.cast and fn.cast_like: all pairs of types, on values that rounding or range can get wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, ArgumentTypeError
from tests.cases import Array, Samples, case, pictures, samples
from tests.runners import differences

DTYPES = [np.dtype(d) for d in ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "?"]]


def convert(x: Array, dtype: np.dtype[Any]) -> Array:
    """One element at a time in Python's exact numbers."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            if dtype == np.float16 and x.dtype.kind != "f":
                return x.astype(np.float32).astype(dtype)
            return x.astype(dtype)
    converted = [_integer(v, dtype) for v in x.ravel().tolist()]
    return np.array(converted, dtype).reshape(x.shape)


def _integer(v: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(v, float):
        if np.isnan(v):
            return dtype.kind == "b"
        if np.isinf(v):
            v = 10**400 if v > 0 else -(10**400)
        else:
            whole = int(abs(v))  # exact, unlike floor(v + 0.5)
            v = (whole + (abs(v) - whole >= 0.5)) * (1 if v > 0 else -1)
    if dtype.kind == "b":
        return v != 0
    info = np.iinfo(dtype)
    return min(max(v, info.min), info.max)


def edges(dtype: np.dtype[Any], nan: bool = True) -> Array:
    """Values at which conversions go wrong, and enough others to fill vectors; without what the type can't hold."""
    if dtype.kind == "b":
        return np.array([False, True] * 20)
    if dtype.kind != "f":
        info = np.iinfo(dtype)
        near = [
            int(b) + d
            for b in (0, info.min, info.max, 127, 128, 255, 256, 32767, 65535, 1 << 31, 1 << 24)
            for d in (-1, 0, 1)
        ]
        return np.array([v for v in near if info.min <= v <= info.max], dtype)
    halves = [n + f for n in (0, 1, 2, 127, 254, 255, 32767, 65535, 2**22, 2**31 - 1) for f in (0.0, 0.25, 0.5, 0.75)]
    near = [
        0.49999997,
        0.49999999999999994,
        8388609.0,
        2.0**31,
        2.0**32,
        2.0**63,
        2.0**64,
        9.2e18,
        65504,
        65520,
        1e30,
        1e300,
    ]
    values = np.array([s * v for v in halves + near for s in (1, -1)] + [np.inf, -np.inf])
    with np.errstate(over="ignore"):
        values = values.astype(dtype)
    return np.append(values, dtype.type(np.nan)) if nan else values


def cast(x: Array, dtype: types.DALIDataType) -> Array:
    return convert(x, np.dtype(types.to_numpy_type(dtype)))


def edge_samples(dtype: str) -> Samples:
    values = edges(np.dtype(dtype), nan=False)
    return samples([values, values[::-1], values[:3]])


CASES = [
    case("cast", edge_samples("f4"), reference=cast, dtype=types.UINT8),
    case("cast", edge_samples("f8"), reference=cast, dtype=types.INT64),
    case("cast", edge_samples("f2"), reference=cast, dtype=types.BOOL),
    case("cast", edge_samples("i4"), reference=cast, dtype=types.FLOAT16),
    case("cast", pictures(), reference=cast, dtype=types.FLOAT),
    case("cast", pictures(channels=1), reference=cast, dtype=types.INT16),
    case("cast", pictures(), reference=cast, dtype=types.UINT8),
    case("cast", pictures("FHWC", np.float32), reference=cast, dtype=types.FLOAT16),
    case("cast", pictures("HW", np.int16), reference=cast, dtype=types.UINT8),
    case("cast", samples([2.5, -2.5], dtype=np.float32), reference=cast, dtype=types.INT8),
    case("cast_like", pictures(), samples([[1.0]] * 3, dtype=np.float16), reference=lambda x, y: convert(x, y.dtype)),
    case("cast_like", pictures("HW", np.float32), pictures(), reference=lambda x, y: convert(x, y.dtype)),
]


# DALI's NaN becomes 0 or the least number, depending on the type; here it is 0.
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_all_pairs_of_types(dtype: np.dtype[Any]) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        values = types.Constant(edges(dtype), dtype=types.to_dali_type(dtype))  # 64 bits would become 32
        pipe.set_outputs(*(fn.cast(values, dtype=types.to_dali_type(to)) for to in DTYPES))
    for output, to in zip(pipe.run(), DTYPES, strict=True):
        found, wanted = output.at(0), convert(edges(dtype), to)
        assert found.dtype == to
        assert found.tobytes() == wanted.tobytes(), f"{dtype} to {to}: {differences(found, wanted)}"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_all_pairs_of_types_are_as_in_dali(dtype: np.dtype[Any]) -> None:
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    values = edges(dtype, nan=False)
    pipe = dali.Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        source = dali.fn.external_source(source=lambda: [values], batch=True)
        pipe.set_outputs(*(dali.fn.cast(source, dtype=_dali_type(dali, to)) for to in DTYPES))
    pipe.build()
    for output, to in zip(pipe.run(), DTYPES, strict=True):
        found, wanted = np.array(output.at(0)), convert(values, to)
        assert found.tobytes() == wanted.tobytes(), f"{dtype} to {to}: {differences(found, wanted)}"


def _dali_type(dali: Any, dtype: np.dtype[Any]) -> Any:
    return dali.types.DALIDataType(int(types.to_dali_type(dtype)))


def test_large_arrays_convert_as_single_elements_do() -> None:
    """Vector loops, their blocks and their ends."""
    random = np.random.default_rng(5)
    for size in (1, 7, 255, 256, 257, 1000):
        x = random.normal(0, 300, size).astype(np.float32)
        halves = x.astype(np.float16)
        pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(
                fn.cast(x, dtype=types.FLOAT16), fn.cast(halves, dtype=types.FLOAT), fn.cast(halves, dtype=types.UINT8)
            )
        to_half, to_float, to_byte = (o.at(0) for o in pipe.run())
        assert np.array_equal(to_half, halves)
        assert np.array_equal(to_float, halves.astype(np.float32))
        assert np.array_equal(to_byte, convert(halves, np.dtype(np.uint8)))


def test_dtype_is_needed_and_numeric() -> None:
    x = np.zeros(3, np.float32)
    with pytest.raises(ArgumentError, match=r"cast.*'dtype' is required"):
        fn.cast(x)
    with pytest.raises(ArgumentTypeError, match=r"cast: dtype=DALIDataType.STRING: expected a type such as"):
        fn.cast(x, dtype=types.STRING)
