"""A batch of the user's, on its way into the engine."""

from __future__ import annotations

import ctypes as c
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.errors import DeviceError
from penstock.frameworks import backend_of
from penstock.machine import native
from penstock.tensors import TensorCPU, TensorGPU, TensorListCPU, TensorListGPU
from penstock.tensors.arrays import FEW, TYPES, describe_few
from penstock.tensors.frameworks import current_stream
from penstock.tensors.gpu_memory import copy_stream, stream_handle
from penstock.types import DALIDataType

_CUDA = (2, 13)  # DLPack's kinds of memory that NVIDIA GPUs have
_SMALL = 1 << 16  # bytes that are copied sooner than the GIL is given up and won back
INTERNAL_STREAM = -1  # as a stream: none of the user's


class Fed:
    """Samples of one value that the engine holds, or may look at where they are.

    ``owner`` keeps memory that was not copied: as long as a batch that shows it.
    """

    __slots__ = ("_destroy", "_pid", "facts", "handle", "owner", "size")

    def __init__(self, handle: int | None, size: int, facts: tuple[Any, ...], owner: object = None):
        self.handle, self.owner, self._pid = handle, owner, os.getpid()
        self._destroy = native.quick().ps_fed_destroy
        if not handle:
            raise native.failure("external_source")
        self.size = size
        self.facts = facts  # type, number of axes and layout

    def __del__(self, getpid: Any = os.getpid) -> None:
        if self.handle and getpid() == self._pid:  # a forked child must not touch the engine
            self._destroy(self.handle)


def feed(
    executor: c.c_void_p, data: Any, layout: str | None, *, device: int | None, copy: bool, stream: Any,
    waits: bool = False,
) -> Fed:  # fmt: skip
    """Hands a batch to the engine: to the host's memory, or with ``device`` to that GPU's.

    ``waits``: the engine's memory of the host is pinned, so that it may have to wait for some.
    Raises TypeError, TensorError and DeviceError for data that makes no batch there.
    """
    if device is None:
        return _feed_host(executor, data, layout, copy, waits)
    on_gpu = _on_gpu(data, device, stream)
    if on_gpu is None:
        tensors = TensorListCPU(dense(data), layout)
        handle = native.blocking().ps_fed_upload(device, tensors._samples, len(tensors))
        return Fed(handle, len(tensors), tensors._facts())
    return _feed_device(on_gpu, data, layout, device, copy, stream)


def room(executor: c.c_void_p, samples: Any, waits: bool) -> Fed:
    """Memory of the engine's that the caller writes to: the descriptors of the samples get its addresses.

    ``waits``: as in `feed`.
    """
    library = native.blocking() if waits else native.quick()
    handle = library.ps_fed_room(executor, samples, len(samples))
    first = samples[0]
    return Fed(handle, len(samples), (DALIDataType(first.dtype), first.ndim, first.layout.decode()))


def layout_of(data: Any) -> str:
    """The layout that a batch has itself; '' where it has none."""
    first = first_of(data)
    own = first.layout() if isinstance(first, (TensorCPU, TensorGPU, TensorListCPU, TensorListGPU)) else ""
    return str(own or "")


def _feed_host(executor: c.c_void_p, data: Any, layout: str | None, copy: bool, waits: bool) -> Fed:
    first = first_of(data)
    if copy and not waits and type(data) is list and type(first) is np.ndarray and len(data) <= FEW:
        fed = _feed_few(executor, data, layout)
        if fed:
            return fed
    if type(first) is not np.ndarray and has_device_memory(first):
        raise DeviceError('the data is on a GPU: make the external source with device="gpu"')
    if isinstance(data, TensorListCPU) and layout is None:
        tensors = data  # its descriptors are copied
    else:
        tensors = TensorListCPU(dense(data) if copy else data, layout)
    small = tensors._volume() * 8 <= _SMALL
    library = native.quick() if small and not (copy and waits) else native.blocking()
    handle = library.ps_fed_host(executor, tensors._samples, len(tensors), int(copy))
    return Fed(handle, len(tensors), tensors._facts(), None if copy else (tensors, data))


def _feed_few(executor: c.c_void_p, arrays: Sequence[Any], layout: str | None) -> Fed | None:
    """Copies small batches of few arrays, as a list of tensors of them is copied, but without making one. None: they
    are not of that kind.
    """
    one, count = arrays[0], len(arrays)
    kind, axes, most = one.dtype, one.ndim, _SMALL // count
    dtype = TYPES.get(kind)
    if dtype is None or axes > native.MAX_DIMS or (layout and len(layout) != axes):
        return None
    for array in arrays:
        if type(array) is not np.ndarray or not array.flags.c_contiguous or array.nbytes > most:
            return None
        if array is not one and (array.dtype != kind or array.ndim != axes):
            return None
    samples = describe_few(arrays, dtype, axes, layout or "")
    handle = native.quick().ps_fed_host(executor, samples, count, 1)
    return Fed(handle, count, (dtype, axes, layout or ""))


def _feed_device(tensors: TensorListGPU, data: Any, layout: str | None, device: int, copy: bool, stream: Any) -> Fed:
    memory = tensors._memory
    if memory is None:
        empty = TensorListCPU([])
        return Fed(native.blocking().ps_fed_upload(device, empty._samples, 0), 0, empty._facts())
    if tensors.device_id() != device:
        raise DeviceError(f"the data is on GPU {tensors.device_id()}, but the pipeline is on GPU {device}")
    if layout is not None:
        tensors = TensorListGPU(tensors, layout)
    producer = _stream_of(data) if stream is None else None if _is_internal(stream) else stream_handle(stream)
    ours = isinstance(data, TensorListGPU)  # nobody writes to it
    handle = native.blocking().ps_fed_device(
        memory._handle,
        tensors._samples,
        len(tensors),
        int(copy),
        copy_stream(device) if producer is None else producer,
        int(producer is None and not ours),
    )
    return Fed(handle, len(tensors), tensors._facts(), None if copy else (tensors, data))


def _on_gpu(data: Any, device: int, stream: Any) -> TensorListGPU | None:
    """The batch, if it is in a GPU's memory."""
    first = first_of(data)
    stream = None if stream is None or _is_internal(stream) else stream
    if type(first).__name__ == "PyCapsule":
        try:
            return TensorListGPU(data, device_id=device, stream=stream)
        except DeviceError:
            return None
    return TensorListGPU(data, device_id=device, stream=stream) if has_device_memory(first) else None


def first_of(data: Any) -> Any:
    return data[0] if isinstance(data, (list, tuple)) and data else data


def has_device_memory(array: Any) -> bool:
    if isinstance(array, (TensorGPU, TensorListGPU)):
        return True
    if hasattr(array, "__dlpack_device__"):
        return int(array.__dlpack_device__()[0]) in _CUDA
    return hasattr(array, "__cuda_array_interface__")


def _is_internal(stream: Any) -> bool:
    return isinstance(stream, int) and stream == INTERNAL_STREAM


def _stream_of(data: Any) -> int | None:
    """The stream in which the data's framework works now; None: nobody knows."""
    first = first_of(data)
    known = current_stream(first)
    if known is not None:
        return stream_handle(known)
    if isinstance(first, (TensorGPU, TensorListGPU)):  # whose interface waits
        return None
    stream = (getattr(first, "__cuda_array_interface__", None) or {}).get("stream")
    return None if stream is None else stream_handle(stream)


def dense(data: Any) -> Any:
    """The same data, with copies of arrays whose elements do not lie one behind the other."""
    if isinstance(data, (list, tuple)):
        return [d if type(d) is np.ndarray and d.flags.c_contiguous else dense(d) for d in data]
    if isinstance(data, (TensorCPU, TensorListCPU)):
        return data
    if isinstance(data, np.ndarray):
        return data if data.flags.c_contiguous else np.ascontiguousarray(data)
    backend = backend_of(data)
    return backend.dense(data) if backend else data
