"""Tensors beside DALI's: how they print, and what becomes of empty ones; and copies of them, which DALI's have not."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from penstock import fn, types
from penstock.tensors import TensorCPU, TensorError, TensorListCPU
from tests.small import made

_random = np.random.default_rng(1)
BATCHES: dict[str, Any] = {
    "bytes": np.arange(6, dtype=np.uint8).reshape(2, 3),
    "scalars": np.zeros(10),
    "many scalars": np.arange(2000),
    "floats": _random.random((3, 4), np.float32),
    "pictures": np.zeros((7, 3, 3)),
    "large pictures": np.zeros((7, 30, 30)),
    "larger pictures": np.zeros((3, 40, 40, 3), np.uint8),
    "shapes of lines": np.zeros((30, 10, 10, 3), np.uint8),
    "uneven": [np.zeros((2, 3)), np.ones((3, 2))],
    "uneven, empty ones": [np.zeros((2, k)) for k in range(6)],
    "booleans": [np.zeros((2, 3), bool)],
    "four axes": np.arange(48, dtype=np.int16).reshape(2, 2, 3, 4),
    "nothing": [],
    "no numbers": np.empty(0),
    "no rows": np.empty((0, 3), np.uint8),
}


@pytest.mark.parametrize("name", BATCHES)
def test_text_is_dalis(name: str) -> None:
    dali = pytest.importorskip("nvidia.dali.tensors", reason="DALI, the oracle, is not installed")
    data = BATCHES[name]
    assert str(TensorListCPU(data)) == str(dali.TensorListCPU(data))
    assert repr(TensorListCPU(data)) == repr(dali.TensorListCPU(data))
    if isinstance(data, np.ndarray):
        assert str(TensorCPU(data)) == str(dali.TensorCPU(data))
        assert repr(TensorCPU(data)) == repr(dali.TensorCPU(data))


def test_empty_batches_keep_type_and_shape() -> None:
    dali = pytest.importorskip("nvidia.dali.tensors", reason="DALI, the oracle, is not installed")
    for data in (np.empty(0), np.empty((0, 3), np.uint8), np.empty((0, 2, 3), np.float16)):
        own, theirs = TensorListCPU(data), dali.TensorListCPU(data)
        assert (int(own.dtype), own.shape(), len(own)) == (int(theirs.dtype), theirs.shape(), len(theirs))
        assert own.ndim() == data.ndim - 1
        for array in (own.as_array(), np.asarray(own), np.asarray(own.as_tensor())):
            assert (array.dtype, array.shape) == (data.dtype, data.shape)
    named = TensorListCPU(np.empty((0, 2, 3), np.float32), layout="HW")
    assert named.layout() == dali.TensorListCPU(np.empty((0, 2, 3), np.float32), layout="HW").layout() == "HW"
    assert named.as_tensor().layout() == "NHW"
    with pytest.raises(TensorError):
        named.set_layout("HWC")
    named.reinterpret(types.INT32)
    assert named.dtype == types.INT32


def test_no_samples_of_a_batch_are_of_its_kind() -> None:
    none = TensorListCPU(np.zeros((4, 2, 3), np.int16), layout="HW")[2:2]
    assert (none.dtype, none.layout(), none.as_array().shape) == (types.INT16, "HW", (0, 2, 3))
    assert TensorListCPU(none).dtype == types.INT16
    nothing = TensorListCPU([])
    assert (nothing.dtype, nothing.as_array().shape) == (types.NO_TYPE, (0,))
    with pytest.raises(TensorError, match="empty list"):
        nothing.as_tensor()
    nothing.set_layout("HW")
    assert nothing.layout() == ""


def copies(batch: TensorListCPU) -> list[TensorListCPU]:
    return [pickle.loads(pickle.dumps(batch)), copy.deepcopy(batch), copy.copy(batch)]


def test_lists_are_pickled_and_copied() -> None:
    shapes = [(2, 3), (1, 3), (0, 3)]
    uneven = TensorListCPU([np.full(shape, i, np.float32) for i, shape in enumerate(shapes)], layout="HW")
    for again in copies(uneven):
        assert (again.dtype, again.layout(), again.shape()) == (types.FLOAT, "HW", shapes)
        assert all(np.array_equal(a, b) for a, b in zip(again, uneven, strict=True))
    even = TensorListCPU(np.arange(12, dtype=np.uint8).reshape(2, 2, 3))
    shallow = copy.copy(even)
    deep = copy.deepcopy(even)
    even.at(0)[0, 0] = 99
    assert (shallow.at(0)[0, 0], deep.at(0)[0, 0]) == (99, 0)
    for empty in (TensorListCPU([]), TensorListCPU(np.empty((0, 3), np.int16))):
        for again in copies(empty):
            assert (again.dtype, again.as_array().shape) == (empty.dtype, empty.as_array().shape)


def test_outputs_are_pickled_with_their_sources(photographs: Any) -> None:
    batch = made(lambda: fn.readers.file(file_root=str(photographs))[0]).run()[0]
    for again in copies(batch):
        assert again.source_info() == batch.source_info() != [""] * 4
        assert [bytes(t) for t in map(np.asarray, again)] == [bytes(t) for t in map(np.asarray, batch)]


def test_the_type_can_be_called_as_in_old_scripts() -> None:
    dali = pytest.importorskip("nvidia.dali.tensors", reason="DALI, the oracle, is not installed")
    for code in ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "?"):
        array = np.zeros(2, code)
        with pytest.warns(DeprecationWarning, match="use tensor.dtype"):
            own = TensorCPU(array).dtype()
        with pytest.warns(Warning, match="deprecated"):
            assert own == dali.TensorCPU(array).dtype()
