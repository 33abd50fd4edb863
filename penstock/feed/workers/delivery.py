"""Batches and failures in shared memory: written by a worker process, shown to the pipeline without a copy.

A slot begins with a header: the task's number, what is there, and where the rest is. The samples of each output lie one
behind the other, and behind them descriptors of them all, in which addresses count from the slot's beginning.
"""

from __future__ import annotations

import ctypes as c
import enum
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.errors import DeviceError, PenstockError, TensorError
from penstock.feed.data import dense, first_of, has_device_memory
from penstock.feed.workers.arena import HELD, Arena, Lease, Slots
from penstock.machine import native
from penstock.tensors import TensorListCPU
from penstock.tensors.arrays import DESCRIPTOR, KNOWN, Array, numpy_type
from penstock.tensors.samples import common, flags_of, rows_of
from penstock.types import DALIDataType, to_dali_type

_HEAD = 64  # bytes of the header
_ALIGNED = 64


class Kind(enum.IntEnum):
    """What is in a slot."""

    NOTHING = 0  # the task was passed over, or there is nothing to say
    BATCH = 1
    REFUSED = 2  # the source gave what makes no batch
    FAILED = 3


def write(arena: Arena, slot: int, number: int, kind: Kind, data: bytes) -> None:
    """Leaves bytes in a slot."""
    memory = arena.bytes_of(slot, _HEAD + len(data))
    memory[_HEAD : _HEAD + len(data)] = np.frombuffer(data, np.uint8)
    _write_head(memory, number, kind, _HEAD, len(data))


def write_batches(arena: Arena, slot: int, number: int, outputs: Sequence[Any]) -> None:
    """Leaves a batch for each output in a slot. TensorError, TypeError and DeviceError for what makes no batch."""
    batches = [_Alike(output) if _are_alike(output) else _Any(output) for output in outputs]
    tables, places, place = [], [], _HEAD
    for batch in batches:
        place = -(-place // _ALIGNED) * _ALIGNED
        tables.append(batch.table(place).tobytes())
        places.append(place)
        place += batch.bytes
    data = pickle.dumps(tables, pickle.HIGHEST_PROTOCOL)
    memory = arena.bytes_of(slot, place + len(data))
    for batch, at in zip(batches, places, strict=True):
        batch.copy(memory[at : at + batch.bytes])
    memory[place : place + len(data)] = np.frombuffer(data, np.uint8)
    _write_head(memory, number, Kind.BATCH, place, len(data))


def _are_alike(output: Any) -> bool:
    if type(output) is not list or not output or type(output[0]) is not np.ndarray:
        return False
    dtype, shape = output[0].dtype, output[0].shape
    known = dtype in KNOWN and len(shape) <= native.MAX_DIMS
    return known and all(type(a) is np.ndarray and a.dtype == dtype and a.shape == shape for a in output)


class _Alike:
    """NumPy's arrays of one type and shape: what most sources give. They need not be dense."""

    def __init__(self, arrays: Sequence[Array]):
        self._arrays = arrays
        self.bytes = len(arrays) * arrays[0].nbytes

    def table(self, place: int) -> Any:
        one = self._arrays[0]
        rows = np.zeros(len(self._arrays), DESCRIPTOR)
        rows["dtype"], rows["ndim"], rows["shape"][:, : one.ndim] = int(to_dali_type(one.dtype)), one.ndim, one.shape
        rows["data"] = place + one.nbytes * np.arange(len(rows))
        return rows

    def copy(self, memory: Any) -> None:
        one = self._arrays[0]
        together = memory.view(one.dtype).reshape(len(self._arrays), *one.shape)
        for k, array in enumerate(self._arrays):
            together[k] = array


class _Any:
    """Whatever else a source may give."""

    def __init__(self, output: Any):
        if has_device_memory(first_of(output)):
            raise DeviceError("the data is on a GPU: worker processes give data on the CPU")
        self._batch = TensorListCPU(dense(output))
        rows = self._batch._rows()
        self._sizes = rows["shape"][:, : self._batch.ndim()].prod(1)
        if len(rows):
            self._sizes *= numpy_type(self._batch.dtype).itemsize
        self.bytes = int(self._sizes.sum())

    def table(self, place: int) -> Any:
        rows = self._batch._rows().copy()
        rows["data"], rows["source"] = place + np.cumsum(self._sizes) - self._sizes, 0
        return rows

    def copy(self, memory: Any) -> None:
        place = memory.ctypes.data
        for address, size in zip(self._batch._rows()["data"].tolist(), self._sizes.tolist(), strict=True):
            c.memmove(place, address, size)
            place += size


def note_time(arena: Arena, slot: int, seconds: float) -> None:
    """Says how long it took to get what will be written to a slot."""
    arena.bytes_of(slot, _HEAD)[:_HEAD].view(np.float64)[4] = seconds


def _write_head(memory: Any, number: int, kind: Kind, place: int, size: int) -> None:
    head = memory[:_HEAD].view(np.int64)
    head[1:4] = kind, place, size
    head[0] = number  # at the end: who finds it finds the rest


def read(slots: Slots, lease: Lease, number: int) -> tuple[Kind, Delivered | bytes] | None:
    """What a worker left for a task; None: nothing yet."""
    found, kind, place, size = slots.bytes_of(lease.slot, _HEAD)[:_HEAD].view(np.int64)[:4].tolist()
    if found != number:
        return None
    memory = slots.bytes_of(lease.slot, place + size)
    data = memory[place : place + size].tobytes()
    if kind != Kind.BATCH:
        return Kind(kind), data
    lease.memory = memory
    return Kind.BATCH, Delivered(lease, pickle.loads(data))


class Delivered:
    """Part of a batch in shared memory: descriptors of each output's samples."""

    def __init__(self, lease: Lease, tables: Sequence[bytes]):
        self.lease = lease
        self.seconds = float(lease.memory[:_HEAD].view(np.float64)[4])  # that it took
        self.tables = [np.frombuffer(table, DESCRIPTOR) for table in tables]
        self.address = lease.memory.ctypes.data


class Delivery:
    """What worker processes gave for a batch, or why that makes none."""

    def __init__(self, parts: Sequence[Delivered | PenstockError], slots: Slots):
        self._parts, self._slots = parts, slots

    def outputs(self) -> list[TensorListCPU]:
        """A list of tensors for each output, which show the shared memory. Raises TensorError and DeviceError."""
        parts: list[Delivered] = []
        for part in self._parts:
            if isinstance(part, PenstockError):
                raise part
            parts.append(part)
        crowded = self._slots.held() > HELD
        return [_joined(parts, k, crowded) for k in range(len(parts[0].tables))]


def _joined(parts: Sequence[Delivered], k: int, copied: bool) -> TensorListCPU:
    tables = [part.tables[k] for part in parts]
    samples = (native.Tensor * sum(map(len, tables)))()
    if not len(samples):
        return TensorListCPU([])
    rows, at = rows_of(samples), 0
    for part, table in zip(parts, tables, strict=True):
        rows[at : at + len(table)] = table
        rows["data"][at : at + len(table)] += np.uintp(part.address)
        at += len(table)
    if any((rows[name] != rows[name][0]).any() for name in ("dtype", "ndim", "layout")):
        try:
            found = [(DALIDataType(s.dtype), tuple(s.shape[: s.ndim]), s.layout.decode()) for s in samples]
            rows["layout"] = common(found).encode()
        except TypeError as e:
            raise TensorError(str(e)) from e
    tensors = TensorListCPU._from_native([part.lease for part in parts], samples, flags_of(samples))
    return TensorListCPU([a.copy() for a in tensors._arrays()], tensors.layout() or None) if copied else tensors
