"""Device memory behind tensors: when its contents are ready, and when it may be used again."""

from __future__ import annotations

import ctypes as c
import itertools
import os
from collections.abc import Sequence
from typing import Any

from penstock.errors import ArgumentTypeError
from penstock.frameworks import backend_of
from penstock.machine import native

LEGACY_STREAM = 1  # the default stream, which others call 0 too


class GpuMemory:
    """Given back when the last tensor that shows it is gone. Every method says whether it waits for the GPU."""

    __slots__ = ("_destroy", "_handle", "_pid", "device")

    def __init__(self, handle: int | None, device: int):
        self._destroy = native.quick().ps_gpu_destroy
        self._handle, self.device, self._pid = handle, device, os.getpid()
        if not handle:
            raise native.failure()

    def __del__(self, getpid: Any = os.getpid) -> None:
        if self._handle and getpid() == self._pid:  # a forked child has no GPU
            self._destroy(self._handle)

    @classmethod
    def of_batch(cls, batch: int, value: int, device: int) -> GpuMemory:
        """That of a value, for a native handle of an iteration."""
        return cls(native.quick().ps_gpu_of_batch(batch, value), device)

    @classmethod
    def join(cls, parts: Sequence[GpuMemory]) -> GpuMemory:
        """All of them as one. DeviceError if they are not on one device."""
        parts = list(dict.fromkeys(parts))
        if len(parts) == 1:
            return parts[0]
        handles = (c.c_void_p * len(parts))(*[p._handle for p in parts])
        return cls(native.quick().ps_gpu_join(handles, len(parts)), parts[0].device)

    @classmethod
    def borrow(cls, device: int, owner: object, stream: int | None) -> GpuMemory:
        """Another library's, kept by a Python object. The contents are there after what ``stream`` has to do now."""
        token = next(_tokens)
        _borrowed[token] = owner
        return cls._borrow(device, stream, _release, token)

    @classmethod
    def of_dlpack(cls, device: int, managed: int, deleter: int, stream: int | None) -> GpuMemory:
        """A consumed DLPack tensor's."""
        return cls._borrow(device, stream, deleter, managed)

    @classmethod
    def _borrow(cls, device: int, stream: int | None, release: Any, owner: int) -> GpuMemory:
        after = None if stream is None else c.byref(c.c_uint64(stream))
        release = c.cast(release, c.c_void_p)
        return cls(native.blocking().ps_gpu_borrow(device, after, release, owner), device)

    @classmethod
    def upload(cls, device: int, samples: Any) -> tuple[GpuMemory, int]:
        """A copy of samples on the host, one behind the other, and its address. Waits."""
        address = c.c_void_p()
        handle = native.blocking().ps_gpu_upload(device, samples, len(samples), c.byref(address))
        return cls(handle, device), address.value or 0

    def gather(self, samples: Any) -> tuple[GpuMemory, int]:
        """A copy of samples in this memory, one behind the other, and its address. Waits for foreign memory only."""
        address = c.c_void_p()
        handle = native.blocking().ps_gpu_gather(self._handle, samples, len(samples), c.byref(address))
        return GpuMemory(handle, self.device), address.value or 0

    def download(self, samples: Any, to: int) -> None:
        """Copies samples, one behind the other, to the host. Waits."""
        _check(native.blocking().ps_gpu_download(self._handle, samples, len(samples), to))

    def copy_out(self, samples: Any, to: int, stream: int, wait: bool) -> None:
        """Copies samples, one behind the other, to an address on the device, in this stream."""
        _check(native.blocking().ps_gpu_copy_out(self._handle, samples, len(samples), to, stream, wait))

    def wait(self) -> None:
        """Waits until the contents are there."""
        if not _check(native.quick().ps_gpu_passed(self._handle)):
            _check(native.blocking().ps_gpu_wait(self._handle))

    def order(self, stream: int) -> None:
        """Work enqueued in the stream from now on finds the contents ready. Does not wait."""
        _check(native.quick().ps_gpu_order(self._handle, stream))

    def lend(self) -> None:
        """A consumer borrows the address: memory is used again only after the work enqueued when this object goes."""
        _check(native.quick().ps_gpu_lend(self._handle))

    def export(self, sample: native.Tensor, versioned: bool, copied: bool) -> tuple[int, int]:
        """A DLPack tensor that borrows this memory, and the address of its capsule's name. Does not wait."""
        managed = c.c_void_p()
        flags = native.DLPACK_VERSIONED * versioned | native.DLPACK_COPIED * copied
        name = native.quick().ps_dlpack_export(self._handle, c.byref(sample), flags, c.byref(managed))
        if not name:
            raise native.failure()
        return managed.value or 0, name


def copy_stream(device: int) -> int:
    """The handle of the CUDA stream that copies of a device go into."""
    stream = c.c_uint64()
    _check(native.blocking().ps_gpu_copy_stream(device, c.byref(stream)))
    return stream.value


def device_at(address: int) -> int:
    """The number of the GPU that an address belongs to."""
    return _check(native.blocking().ps_gpu_device_at(address))


def stream_handle(stream: Any) -> int:
    """The handle of a CUDA stream: an integer, or an object of PyTorch, CuPy, Numba or ctypes; None is the default."""
    if stream is None:
        return LEGACY_STREAM
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    if backend := backend_of(stream):
        return stream_handle(backend.stream_handle(stream))
    for name in ("handle", "value"):  # Numba's, ctypes'
        if hasattr(stream, name):
            return stream_handle(getattr(stream, name))
    try:
        return int(stream) or LEGACY_STREAM
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{stream!r} is no CUDA stream: neither a handle nor a stream object") from None


def _check(result: int) -> int:
    if result < 0:
        raise native.failure()
    return result


# Owners of foreign memory by token: native code releases them on any thread, which then takes the GIL.
_borrowed: dict[int, object] = {}
_tokens = itertools.count(1)


_release = c.CFUNCTYPE(None, c.c_void_p)(lambda token: _borrowed.pop(token, None) and None)
