"""What a consumer of GPU memory does, by the driver's functions: streams of its own, slow work, copies. And DLPack as a
consumer sees it."""

from __future__ import annotations

import ctypes as c
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from penstock.tensors import TensorCPU, TensorGPU

NON_BLOCKING = 1


def tensor(array: Any, layout: str | None = None) -> TensorGPU:
    """A copy on the first GPU."""
    return TensorCPU(array, layout)._as_gpu()


def back(data: Any) -> np.ndarray[Any, Any]:
    """A copy of a TensorGPU or TensorListGPU on the host."""
    return np.asarray(data.as_cpu())


class Gpu:
    """A GPU's primary context, as another library uses it."""

    def __init__(self, device: int = 0) -> None:
        self.library = c.CDLL(os.environ.get("PENSTOCK_CUDA_DRIVER") or "libcuda.so.1")
        self.device, self.context = device, c.c_void_p()
        self._callbacks: list[Any] = []
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", c.byref(self.context), device, entered=False)

    def call(self, name: str, *arguments: Any, entered: bool = True) -> None:
        old = c.c_void_p()
        if entered and self.context:
            assert self.library.cuCtxPushCurrent_v2(self.context) == 0
        result = getattr(self.library, name)(*arguments)
        if entered and self.context:
            assert self.library.cuCtxPopCurrent_v2(c.byref(old)) == 0
        assert result == 0, f"{name} returned {result}"

    def stream(self) -> int:
        """A stream that no other stream waits for."""
        stream = c.c_void_p()
        self.call("cuStreamCreateWithPriority", c.byref(stream), NON_BLOCKING, 0)
        return stream.value or 0

    def synchronize(self, stream: int) -> None:
        self.call("cuStreamSynchronize", c.c_void_p(stream))

    def do(self, stream: int, work: Any) -> None:
        """Makes the stream call a function, on a thread of the driver's."""
        self._callbacks.append(c.CFUNCTYPE(None, c.c_void_p)(lambda _: work()))
        self.call("cuLaunchHostFunc", c.c_void_p(stream), self._callbacks[-1], None)

    @contextmanager
    def blocked(self, stream: int) -> Iterator[threading.Event]:
        """What is put into the stream from now on waits for the end of the block, or until the event is set."""
        go = threading.Event()
        self.do(stream, lambda: go.wait(60))
        try:
            yield go
        finally:
            go.set()

    def pinned(self, size: int) -> np.ndarray[Any, Any]:
        """Page-locked bytes, which a GPU copies behind the host's back. They are never given back."""
        pointer = c.c_void_p()
        self.call("cuMemHostAlloc", c.byref(pointer), c.c_size_t(size), 0)
        return np.ctypeslib.as_array(c.cast(pointer, c.POINTER(c.c_uint8)), (size,))

    def read(self, stream: int, address: int, size: int) -> np.ndarray[Any, Any]:
        """Puts a copy to the host into the stream: the bytes are in the array after `synchronize`."""
        array = self.pinned(size)
        array[:] = 0xEE
        pointer = c.c_void_p(array.ctypes.data)
        self.call("cuMemcpyDtoHAsync_v2", pointer, c.c_uint64(address), c.c_size_t(size), c.c_void_p(stream))
        return array

    def write(self, stream: int, address: int, data: Any) -> None:
        """Puts a copy of these bytes to the device into the stream."""
        array = self.pinned(np.asarray(data).nbytes)
        array[:] = np.asarray(data).reshape(-1).view(np.uint8)
        pointer = c.c_void_p(array.ctypes.data)
        self.call("cuMemcpyHtoDAsync_v2", c.c_uint64(address), pointer, c.c_size_t(array.nbytes), c.c_void_p(stream))


class DLTensor(c.Structure):
    _fields_ = (
        ("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32), ("ndim", c.c_int32),
        ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16),
        ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64),
    )  # fmt: skip


class DLManagedTensor(c.Structure):
    _fields_ = (("dl_tensor", DLTensor), ("manager_ctx", c.c_void_p), ("deleter", c.CFUNCTYPE(None, c.c_void_p)))


class DLManagedTensorVersioned(c.Structure):
    _fields_ = (
        ("major", c.c_uint32), ("minor", c.c_uint32), ("manager_ctx", c.c_void_p),
        ("deleter", c.CFUNCTYPE(None, c.c_void_p)), ("flags", c.c_uint64), ("dl_tensor", DLTensor),
    )  # fmt: skip


FORMS = {b"dltensor": DLManagedTensor, b"dltensor_versioned": DLManagedTensorVersioned}
_get_name = c.PYFUNCTYPE(c.c_char_p, c.py_object)(("PyCapsule_GetName", c.pythonapi))
_set_name = c.PYFUNCTYPE(c.c_int, c.py_object, c.c_char_p)(("PyCapsule_SetName", c.pythonapi))
_get_pointer = c.PYFUNCTYPE(c.c_void_p, c.py_object, c.c_char_p)(("PyCapsule_GetPointer", c.pythonapi))
_TAKEN = b"used_"


def look_into(capsule: Any) -> Any:
    """The DLManagedTensor, or DLManagedTensorVersioned, of a capsule, which it keeps."""
    name = _get_name(capsule)
    managed = FORMS[name].from_address(_get_pointer(capsule, name))
    managed.capsule = capsule
    return managed


def take(capsule: Any) -> Any:
    """The same; it is the caller's, who is to call its deleter with its address."""
    managed = look_into(capsule)
    _set_name(capsule, _TAKEN)
    return managed


def as_if_on_cpu(capsule: Any) -> Any:
    """The capsule, for a consumer that knows no GPUs: a software GPU's memory is the host's."""
    look_into(capsule).dl_tensor.device_type = 1
    look_into(capsule).dl_tensor.device_id = 0
    return capsule


class Interface:
    """An array of another library: memory of a GPU, and what `__cuda_array_interface__` tells of it."""

    def __init__(self, owner: Any, address: int, shape: tuple[int, ...], typestr: str = "|u1", **others: Any) -> None:
        self.owner = owner
        self.__cuda_array_interface__ = {
            "data": (address, False), "shape": shape, "typestr": typestr, "version": 3, "stream": None, **others,
        }  # fmt: skip
