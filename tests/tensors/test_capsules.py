"""Capsules of whole batches: what NumPy and PyTorch see of those that are lent, and what is taken of theirs."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from penstock.tensors import TensorListCPU, capsules
from penstock.tensors.arrays import as_array
from penstock.types import DALIDataType

TYPES = [np.dtype(name) for name in ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "?"]]


def _arrays(dtype: Any, shapes: Any = ((2, 3), (1, 4), (0, 5))) -> list[Any]:
    rng = np.random.default_rng(len(shapes))
    return [rng.integers(0, 2 if np.dtype(dtype).kind == "b" else 100, shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_numpy_sees_what_is_lent(dtype: Any) -> None:
    arrays = _arrays(dtype)
    for array, capsule in zip(arrays, capsules.lend(TensorListCPU(arrays)), strict=True):
        seen = as_array(capsule)
        assert seen.dtype == dtype
        assert seen.shape == array.shape
        np.testing.assert_array_equal(seen, array)
        assert not array.size or np.shares_memory(seen, array)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_numpys_capsules_are_taken(dtype: Any) -> None:
    arrays = _arrays(dtype)
    given = [array.__dlpack__() for array in arrays]
    taken = capsules.take(given)
    assert taken is not None
    assert taken.shape() == [a.shape for a in arrays]
    assert taken.dtype is DALIDataType[TensorListCPU(arrays).dtype.name]
    for k, array in enumerate(arrays):
        np.testing.assert_array_equal(taken.at(k), array)
    assert capsules.take(given) is None  # they were consumed


def test_scalars_and_versions() -> None:
    arrays = [np.array(k, np.int64) for k in range(3)]
    given = [arrays[0].__dlpack__(), *(a.__dlpack__(max_version=(1, 0)) for a in arrays[1:])]
    taken = capsules.take(given)
    assert taken is not None
    assert [int(taken.at(k)) for k in range(3)] == [0, 1, 2]


def test_what_is_lent_can_be_taken_back() -> None:
    arrays = _arrays(np.uint8)
    taken = capsules.take(capsules.lend(TensorListCPU(arrays))[::-1])
    assert taken is not None
    np.testing.assert_array_equal(taken.at(2), arrays[0])


@pytest.mark.parametrize(
    "others",
    [
        [np.zeros(3, np.uint8)],  # no capsule
        [np.zeros(3, np.int8).__dlpack__()],  # another type
        [np.zeros((3, 1), np.uint8).__dlpack__()],  # more axes
        [np.zeros((3, 2), np.uint8)[:, 0].__dlpack__()],  # strided
        [np.zeros(3, np.complex64).__dlpack__()],  # elements that no tensor has
        [None],
    ],
    ids=["array", "type", "axes", "strided", "complex", "None"],
)
def test_nothing_is_taken_where_one_does_not_fit(others: list[Any]) -> None:
    first = np.arange(3, dtype=np.uint8)
    given = [first.__dlpack__(), *others]
    assert capsules.take(given) is None
    np.testing.assert_array_equal(as_array(given[0]), first)  # NumPy still can


def test_a_capsule_that_is_given_twice_is_not_taken() -> None:
    one = np.arange(3).__dlpack__()
    assert capsules.take([one, one]) is None
    np.testing.assert_array_equal(as_array(one), np.arange(3))


def test_an_empty_list() -> None:
    assert capsules.lend(TensorListCPU([])) == []
    assert capsules.take([]) is None


class _Owner:
    """Counts as memory that somebody keeps."""


@pytest.mark.parametrize("consumed", [False, True])
def test_memory_lives_as_long_as_the_last_capsule(consumed: bool) -> None:
    arrays = _arrays(np.float32)
    tensors, owner = TensorListCPU(arrays), _Owner()
    tensors._owner = owner, arrays
    alive, lent = weakref.ref(owner), capsules.lend(tensors)
    del tensors, owner
    last: Any = as_array(lent[1]) if consumed else lent[1]
    del lent
    gc.collect()
    assert alive() is not None
    del last
    gc.collect()
    assert alive() is None


def test_other_threads_may_delete_them() -> None:
    arrays = _arrays(np.float32, [(4,)] * 64)
    tensors, owner = TensorListCPU(arrays), _Owner()
    tensors._owner = owner, arrays
    alive, lent = weakref.ref(owner), capsules.lend(tensors)
    del tensors, owner
    parts = [lent[k::4] for k in range(4)]
    del lent
    threads = [threading.Thread(target=part.clear) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert alive() is None


def test_what_is_taken_is_deleted_with_the_list() -> None:
    class Array(np.ndarray[Any, Any]):
        pass

    array = np.arange(3).view(Array)
    alive = weakref.ref(array)
    taken = capsules.take([array.__dlpack__()])
    del array
    gc.collect()
    assert taken is not None
    assert alive() is not None
    del taken
    gc.collect()
    assert alive() is None
