"""`fn.decoders.numpy`: arrays in memory beside NumPy's and DALI's."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from penstock import fn, types
from penstock.errors import ArgumentError, DecodeError, OperatorError, PenstockError
from tests.small import made

_RNG = np.random.default_rng(0)


def npy(array: Any, version: tuple[int, int] | None = None) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), version=version)
    return file.getvalue()


def decoded(data: bytes, **arguments: Any) -> Any:
    pipe = made(lambda: fn.decoders.numpy(np.frombuffer(data, np.uint8), **arguments), batch_size=1)
    return np.array(pipe.run()[0].at(0))


@pytest.mark.parametrize("dtype", ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("fortran", [False, True])
def test_types(dtype: str, order: str, fortran: bool) -> None:
    for shape in ((), (0, 3), (5,), (4, 5), (3, 1, 2, 4)):
        array = (_RNG.random(shape) * 100).astype(order + dtype)
        data = npy(np.asfortranarray(array) if fortran else array, (1 + fortran, 0))
        found = decoded(data)
        assert found.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(found, array)
        np.testing.assert_array_equal(decoded(data, dtype=types.FLOAT64), array.astype(np.float64))


_DTYPES = [types.UINT8, types.INT32, types.BOOL, types.FLOAT16, types.UINT64]


@pytest.mark.parametrize("dtype", _DTYPES, ids=str)
def test_conversions_beside_dali(dtype: Any) -> None:
    """Where DALI defines them: it has no number for not-a-number."""
    theirs = pytest.importorskip("nvidia.dali.fn", reason="needs DALI to compare with")
    from nvidia.dali import Pipeline as DaliPipeline
    from nvidia.dali.types import DALIDataType

    for array in (
        np.array([-1.5, -0.5, 0.5, 1.5, 2.5, 0.49999999, 254.5, 300, 1e10, -1e10, np.inf]),
        np.array([-3, 300, 5, 2**40]),
    ):
        data = np.frombuffer(npy(array), np.uint8)
        pipe = DaliPipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(theirs.decoders.numpy(data, dtype=DALIDataType(int(dtype))))
        pipe.build()
        np.testing.assert_array_equal(decoded(bytes(data), dtype=dtype), np.array(pipe.run()[0].at(0)))


@pytest.mark.parametrize(
    ("data", "kind", "problem"),
    [
        (b"abc", DecodeError, "is no .npy file"),
        (b"", DecodeError, "is no .npy file"),
        (npy(np.zeros(3))[:-1], DecodeError, "its array has 24 bytes, but 23 follow"),
        (npy(np.zeros(3)) + b"x", DecodeError, "its array has 24 bytes, but 25 follow"),
        (npy(np.zeros(3, "c8")), OperatorError, "of the type '<c8'"),
        (npy(np.zeros(3)).replace(b"\x93NUMPY\x01", b"\x93NUMPY\x04"), OperatorError, "has version 4"),
        (npy(np.zeros(3)).replace(b"(3,)", b"(-3)"), DecodeError, "lacks an extent"),
        (npy(np.zeros(3)).replace(b"False", b"Maybe"), DecodeError, "lacks True or False"),
    ],
)
def test_what_is_refused(data: bytes, kind: type[PenstockError], problem: str) -> None:
    with pytest.raises(kind, match=problem):
        decoded(data)
    with pytest.raises(OperatorError, match="expected the bytes of a file"):
        made(lambda: fn.decoders.numpy(np.zeros((2, 2), np.uint8))).run()
    with pytest.raises(ArgumentError, match="dtype"):
        fn.decoders.numpy(np.zeros(2, np.uint8), dtype="text")


def test_mutated_files() -> None:
    """Each gives an array or an error."""
    rng = np.random.default_rng(1)
    files = []
    for i in range(2000):
        array = np.arange(12.0).reshape(3, 4)
        data = bytearray(npy(np.asfortranarray(array) if i % 2 else array))
        for _ in range(int(rng.integers(1, 4))):
            data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
        files.append(
            np.frombuffer(bytes(data[: int(rng.integers(len(data))) if rng.random() < 0.3 else None]), np.uint8)
        )
    source = iter(files)
    pipe = made(lambda: fn.decoders.numpy(fn.external_source(lambda: [next(source)])), batch_size=1)
    good = 0
    for _ in range(1900):
        try:
            pipe.run()
            good += 1
        except PenstockError as error:
            assert isinstance(error, OperatorError)  # noqa: PT017
    assert 100 < good < 1800
