"""DLPack capsules and ``__cuda_array_interface__``: memory of a GPU, shared with other libraries without a copy."""

from __future__ import annotations

import ctypes as c
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.errors import DeviceError, TensorError
from penstock.machine import native
from penstock.tensors.gpu_memory import LEGACY_STREAM, GpuMemory, copy_stream, device_at, stream_handle
from penstock.types import DALIDataType, to_dali_type

CPU, CUDA, CUDA_MANAGED = 1, 2, 13  # of DLPack's DLDeviceType
_BOOL = 6  # of its DLDataTypeCode
_KINDS = {0: "int", 1: "uint", 2: "float", _BOOL: "bool"}


class _Tensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("device_type", c.c_int32),
        ("device_id", c.c_int32),
        ("ndim", c.c_int32),
        ("code", c.c_uint8),
        ("bits", c.c_uint8),
        ("lanes", c.c_uint16),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    ]


class _Managed(c.Structure):
    _fields_ = [("tensor", _Tensor), ("context", c.c_void_p), ("deleter", c.c_void_p)]


class _ManagedVersioned(c.Structure):
    _fields_ = [
        ("major", c.c_uint32),
        ("minor", c.c_uint32),
        ("context", c.c_void_p),
        ("deleter", c.c_void_p),
        ("flags", c.c_uint64),
        ("tensor", _Tensor),
    ]


_FORMS: dict[bytes, type[_Managed | _ManagedVersioned]] = {
    b"dltensor": _Managed,
    b"dltensor_versioned": _ManagedVersioned,
}
_USED = {name: c.create_string_buffer(b"used_" + name) for name in _FORMS}  # capsules point to their names

_python = c.pythonapi
_new = c.PYFUNCTYPE(c.py_object, c.c_void_p, c.c_void_p, c.c_void_p)(("PyCapsule_New", _python))
_is_valid = c.PYFUNCTYPE(c.c_int, c.py_object, c.c_char_p)(("PyCapsule_IsValid", _python))
_get_pointer = c.PYFUNCTYPE(c.c_void_p, c.py_object, c.c_char_p)(("PyCapsule_GetPointer", _python))
_set_name = c.PYFUNCTYPE(c.c_int, c.py_object, c.c_void_p)(("PyCapsule_SetName", _python))


@dataclass
class Shared:
    """Dense elements in memory of a GPU."""

    memory: GpuMemory
    address: int
    dtype: DALIDataType
    shape: tuple[int, ...]


def share(data: Any, device: int = -1, stream: Any = None) -> Shared:
    """What another library has on a GPU: a DLPack capsule, or what has ``__dlpack__`` or ``__cuda_array_interface__``.

    What the library still has to do for it comes first; of bare capsules that is the work in ``stream``. ``device`` is
    the GPU of an address that the driver does not know.

    Raises TypeError for what shares nothing and for elements that no tensor has, DeviceError for data that is not on a
    GPU, TensorError for strided data.
    """
    if type(data).__name__ == "PyCapsule":
        return _consume(data, stream_handle(stream))
    if hasattr(data, "__dlpack__") and hasattr(data, "__dlpack_device__"):
        kind, gpu = map(int, data.__dlpack_device__())
        _check_device(kind)
        ours = copy_stream(gpu)
        return _consume(data.__dlpack__(stream=ours), ours)
    interface = getattr(data, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError(
            f"{type(data).__name__} is not on a GPU: it has neither __dlpack__ nor __cuda_array_interface__. "
            "TensorListCPU(...)._as_gpu() copies data to a GPU"
        )
    return _from_interface(data, interface, device)


def device_kind(value: Any) -> int | None:
    """Of a capsule that was not consumed: the kind of device, in DLPack's numbers; None: it is no such capsule."""
    name = next((name for name in _FORMS if type(value).__name__ == "PyCapsule" and _is_valid(value, name)), None)
    if name is None:
        return None
    return int(_FORMS[name].from_address(_get_pointer(value, name)).tensor.device_type)


def export(memory: GpuMemory, sample: native.Tensor, max_version: tuple[int, int] | None, copied: bool) -> Any:
    """A capsule of a sample, in the newest form that the consumer knows; it keeps the memory."""
    managed, name = memory.export(sample, versioned=max_version is not None and max_version[0] >= 1, copied=copied)
    return _new(managed, name, c.cast(native.quick().ps_dlpack_capsule_destructor, c.c_void_p))


def _consume(capsule: Any, stream: int) -> Shared:
    name = next((name for name in _FORMS if _is_valid(capsule, name)), None)
    if name is None:
        raise TypeError("the capsule holds no DLPack tensor, or one that was consumed already")
    address = _get_pointer(capsule, name)
    managed = _FORMS[name].from_address(address)
    if isinstance(managed, _ManagedVersioned) and managed.major != 1:
        raise TypeError(f"DLPack {managed.major}.{managed.minor} is not known here")
    t = managed.tensor
    _check_device(t.device_type)
    if t.code not in _KINDS or t.lanes != 1:
        raise TypeError(f"no tensor has elements of DLPack's type {t.code} with {t.bits} bits and {t.lanes} lanes")
    dtype = to_dali_type("bool" if t.code == _BOOL else f"{_KINDS[t.code]}{t.bits}")
    shape = tuple(t.shape[: t.ndim])
    _check_dense(shape, tuple(t.strides[: t.ndim]) if t.strides else None)
    data = (t.data or 0) + t.byte_offset
    # From here on it is ours, whatever happens.
    _set_name(capsule, c.addressof(_USED[name]))
    return Shared(GpuMemory.of_dlpack(t.device_id, address, managed.deleter, stream), data, dtype, shape)


def _from_interface(owner: object, interface: Mapping[str, Any], device: int) -> Shared:
    if interface.get("mask") is not None:
        raise TypeError("masked arrays are no tensors")
    dtype = np.dtype(interface["typestr"])
    shape = tuple(map(int, interface["shape"]))
    strides = interface.get("strides")
    _check_dense(shape, strides and tuple(s / dtype.itemsize for s in strides))
    address = interface["data"][0] or 0
    if device < 0:
        device = device_at(address) if address else 0
    # Versions before 3 say nothing of streams: the default one is the best guess.
    stream = interface.get("stream") if interface["version"] >= 3 else LEGACY_STREAM
    return Shared(GpuMemory.borrow(device, owner, stream), address, to_dali_type(dtype), shape)


def _check_device(kind: int) -> None:
    if kind not in (CUDA, CUDA_MANAGED):
        raise DeviceError(
            f"the data is on a device of DLPack's kind {kind}, not on an NVIDIA GPU: TensorListCPU(...)._as_gpu() "
            "copies what is on the CPU"
        )


def _check_dense(shape: tuple[int, ...], strides: tuple[float, ...] | None) -> None:
    """TensorError unless strides, in elements, are those of an array in C order."""
    if len(shape) > native.MAX_DIMS:
        raise TensorError(f"{len(shape)} dimensions are too many: tensors have at most {native.MAX_DIMS}")
    expected = 1
    for extent, stride in zip(reversed(shape), reversed(strides or ()), strict=False):
        if extent != 1 and stride != expected and 0 not in shape:
            raise TensorError(f"an array of shape {shape} with strides {strides} is not dense: make a dense copy first")
        expected *= extent
