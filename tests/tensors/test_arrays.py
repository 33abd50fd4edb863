"""What lists of tensors take from NumPy's arrays: where they lie, whether they lie together, and that they stay."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.machine import native
from penstock.tensors import TensorListCPU
from penstock.tensors.arrays import addresses, describe
from penstock.tensors.samples import flags_of

_BATCH = np.arange(120, dtype=np.float32).reshape(5, 2, 3, 4)
_ROWS = [_BATCH[0, :1], _BATCH[0, 1:], _BATCH[1]]  # one behind the other, of two shapes


@pytest.mark.parametrize(
    ("arrays", "uniform", "contiguous"),
    [
        ([], True, True),
        ([_BATCH[0]], True, True),
        (list(_BATCH), True, True),
        (list(_BATCH[::-1]), True, False),
        ([_BATCH[0], _BATCH[2]], True, False),
        ([_BATCH[0], _BATCH[0]], True, False),
        (_ROWS, False, True),
        (_ROWS[::-1], False, False),
        ([np.float32(1), np.float32(2)], True, False),
        ([_BATCH[0, :0], _BATCH[0], _BATCH[1]], False, True),
    ],
)  # fmt: skip
def test_flags_of_a_list_of_arrays(arrays: list[np.ndarray[Any, Any]], uniform: bool, contiguous: bool) -> None:
    arrays = [np.asarray(a) for a in arrays]
    samples, flags = describe(arrays, "", [])
    assert flags == flags_of(samples)
    assert (bool(flags & native.UNIFORM), bool(flags & native.CONTIGUOUS)) == (uniform, contiguous)
    assert TensorListCPU(arrays).is_dense_tensor() == uniform
    places = [a.__array_interface__["data"][0] for a in arrays]
    assert [sample.data for sample in samples] == places == addresses(arrays)


def test_a_list_that_is_emptied_takes_no_memory_away() -> None:
    arrays = [np.full((2, 3), k, np.uint8) for k in range(3)]
    first = weakref.ref(arrays[0])
    tensors = TensorListCPU(arrays)
    arrays.clear()
    gc.collect()
    assert first() is not None
    assert [tensors.at(i)[0, 0] for i in range(3)] == [0, 1, 2]


def test_addresses_of_arrays_of_all_kinds(tmp_path: Path) -> None:
    batch = _BATCH
    read_only = _BATCH.copy()
    read_only.flags.writeable = False
    mapped = np.memmap(tmp_path / "file", np.uint8, "w+", shape=(4, 5))
    kinds = [
        batch[1:], batch[:, ::-1], batch.T, read_only, mapped, mapped[2:], np.float64(3) + np.zeros(()), np.array(7),
        np.zeros((3, 0)), np.frombuffer(b"some bytes", np.uint8)[3:], np.zeros(4, "i4,f8"), np.array(["texts"]),
    ]  # fmt: skip
    arrays = [np.asanyarray(kind) for kind in kinds]
    assert addresses(arrays) == [a.__array_interface__["data"][0] for a in arrays]
