"""Between NumPy arrays, other libraries' tensors and the native library's descriptors, without copying."""

from __future__ import annotations

import ctypes as c
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import DeviceError, TensorError
from penstock.machine import native
from penstock.types import DALIDataType, to_dali_type, to_numpy_type

Array = npt.NDArray[Any]

# native.Tensor as NumPy sees it, for what concerns all samples at once.
DESCRIPTOR = np.dtype(
    [
        ("data", np.uintp),
        ("dtype", np.int32),
        ("ndim", np.int32),
        ("shape", np.int64, (native.MAX_DIMS,)),
        ("layout", "S16"),
        ("source", np.uintp),
    ]
)
_PACKED = struct.Struct(f"@Pii{native.MAX_DIMS}q16sP")  # the same, for a single one
FEW = 6  # arrays that are sooner described one by one
_ZEROS = (0,) * native.MAX_DIMS
_CPU = 1  # DLPack's kDLCPU
_NUMPY_TYPES = {int(d): np.dtype(to_numpy_type(d)) for d in DALIDataType if 0 <= d <= DALIDataType.BOOL}
TYPES = {t: DALIDataType(d) for d, t in _NUMPY_TYPES.items()}
KNOWN = frozenset(TYPES)
_TYPESTRINGS = {d: t.str for d, t in _NUMPY_TYPES.items()}
_HEAD = object.__basicsize__  # bytes of what all of Python's objects begin with


def _pointers(arrays: Sequence[Array]) -> list[int]:
    pointer = c.c_size_t.from_address
    return [pointer(id(array) + _HEAD).value for array in arrays]


def _attributes(arrays: Sequence[Array]) -> list[int]:
    return [array.ctypes.data for array in arrays]


def _choose() -> Callable[[Sequence[Array]], list[int]]:
    probe: list[Array] = [np.empty(3, np.uint8), np.empty((2, 2), np.float32)[1:]]
    return _pointers if _pointers(probe) == _attributes(probe) else _attributes


# Where arrays' data lies. It is the first member that the struct of NumPy's C API has behind the object's head; the
# attributes that tell it make a dictionary or an object each time, which takes ten times as long, and most of the time
# that feeding a batch takes.
addresses = _choose()


class _Memory:
    """Lends memory at an address to NumPy: arrays made of it keep the owner alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: object, address: int, shape: tuple[int, ...], typestring: str, writable: bool):
        self.owner = owner
        self.__array_interface__ = {
            "data": (address, not writable), "shape": shape, "typestr": typestring, "version": 3,
        }  # fmt: skip


def numpy_type(dtype: int) -> np.dtype[Any]:
    """NumPy's type for a descriptor's number."""
    return _NUMPY_TYPES[dtype]


def array_at(owner: object, address: int | None, shape: tuple[int, ...], dtype: int, writable: bool = True) -> Array:
    """An array of memory at an address; it keeps the owner alive."""
    if not address or 0 in shape:
        return np.empty(shape, _NUMPY_TYPES[dtype])
    return np.asarray(_Memory(owner, address, shape, _TYPESTRINGS[dtype], writable))


def writable(array: Array) -> Array:
    """The same memory for consumers that know of none which is to be read only; it keeps the array."""
    return array_at(array, array.ctypes.data, array.shape, int(to_dali_type(array.dtype)))


class _Capsule:
    """A bare DLPack capsule as an object that NumPy's from_dlpack takes."""

    def __init__(self, capsule: Any):
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU, 0


def as_array(data: Any) -> Array:
    """The data as a dense array that shares its memory.

    Takes arrays and all that has the buffer protocol, ``__array_interface__``, DLPack (capsules too) or ``__array__``;
    numbers and lists of them are copied. Raises TypeError for elements that no tensor can have, TensorError for
    strided data, DeviceError for data on other devices.
    """
    array = data if isinstance(data, np.ndarray) else _share(data)
    if array.dtype not in KNOWN:
        to_dali_type(array.dtype)  # raises
    if not array.flags.c_contiguous:
        raise TensorError(
            f"an array of shape {array.shape} with strides {array.strides} is not dense: "
            "numpy.ascontiguousarray() makes a dense copy"
        )
    if array.ndim > native.MAX_DIMS:
        raise TensorError(f"{array.ndim} dimensions are too many: tensors have at most {native.MAX_DIMS}")
    return array


def _share(data: Any) -> Array:
    if type(data).__name__ == "PyCapsule":
        data = _Capsule(data)
    if isinstance(data, bytes):
        return np.frombuffer(data, np.uint8)
    if not hasattr(data, "__dlpack__") or hasattr(data, "__array_interface__"):
        return np.asarray(data)
    device = int(data.__dlpack_device__()[0])
    if device != _CPU:
        raise DeviceError(f"the data is on a device of DLPack's kind {device}: copy it to the CPU first")
    try:
        return np.from_dlpack(data)
    except (RuntimeError, BufferError) as e:
        raise TypeError(f"this tensor cannot be shared: {e}") from e


def check_layout(layout: str | None, ndim: int) -> str:
    """The layout, if it names this many axes or none; else TensorError."""
    layout = str(layout or "")
    if layout and len(layout) != ndim:
        raise TensorError(f"the layout {layout!r} names {len(layout)} axes, but the data has {ndim}")
    return layout


def describe(arrays: Sequence[Array], layout: str, sources: Sequence[str]) -> tuple[c.Array[native.Tensor], int]:
    """Descriptors of arrays of one type and number of axes, which they do not keep alive, and flags of ``native``."""
    samples: Any = (native.Tensor * len(arrays))()
    if not arrays:
        return samples, native.CONTIGUOUS | native.UNIFORM
    data, shapes = addresses(arrays), [array.shape for array in arrays]
    uniform = shapes.count(shapes[0]) == len(shapes)
    dtype, ndim = int(to_dali_type(arrays[0].dtype)), arrays[0].ndim
    if len(arrays) <= FEW:
        _pack(samples, data, dtype, ndim, shapes, layout)
    else:
        rows: Array = np.frombuffer(samples, DESCRIPTOR)  # at once, which is faster than one by one
        rows["data"], rows["dtype"], rows["ndim"] = data, dtype, ndim
        rows["shape"][:, :ndim] = shapes[0] if uniform else shapes
        if layout:
            rows["layout"] = layout.encode()
    for i, source in enumerate(sources):
        if source:
            samples[i].source = source.encode(errors="surrogateescape")
    contiguous = all(a + one.nbytes == b for a, b, one in zip(data, data[1:], arrays, strict=False))
    return samples, (native.UNIFORM if uniform else 0) | (native.CONTIGUOUS if contiguous else 0)


def describe_few(arrays: Sequence[Array], dtype: int, ndim: int, layout: str) -> c.Array[native.Tensor]:
    """Descriptors of a few arrays of this type and number of axes, which they do not keep alive."""
    samples = (native.Tensor * len(arrays))()
    _pack(samples, addresses(arrays), dtype, ndim, [array.shape for array in arrays], layout)
    return samples


def _pack(samples: Any, data: list[int], dtype: int, ndim: int, shapes: list[tuple[int, ...]], layout: str) -> None:
    names = layout.encode()
    for i, shape in enumerate(shapes):
        _PACKED.pack_into(samples, i * _PACKED.size, data[i], dtype, ndim, *shape, *_ZEROS[ndim:], names, 0)


def describe_batch(batch: Array) -> c.Array[native.Tensor]:
    """Descriptors of the parts of an array along its first axis; they do not keep it alive."""
    samples = (native.Tensor * len(batch))()
    if len(batch):
        rows = _described(samples, batch.dtype, batch.ndim - 1)
        size = batch.nbytes // len(batch)
        rows["data"] = batch.ctypes.data + np.arange(len(batch)) * size
        rows["shape"][:, : batch.ndim - 1] = batch.shape[1:]
    return samples


def describe_extents(dtype: np.dtype[Any], extents: Array, layout: str) -> c.Array[native.Tensor]:
    """Descriptors without data: of samples of these extents, a row for each."""
    samples = (native.Tensor * len(extents))()
    if len(extents):
        rows = _described(samples, dtype, extents.shape[1])
        rows["shape"][:, : extents.shape[1]] = extents
        if layout:
            rows["layout"] = layout.encode()
    return samples


def describe_one(batch: Array) -> native.Tensor:
    """What the parts of an array along its first axis are, without data."""
    one = native.Tensor(dtype=to_dali_type(batch.dtype), ndim=batch.ndim - 1)
    one.shape[: one.ndim] = batch.shape[1:]
    return one


def _described(samples: Any, dtype: np.dtype[Any], ndim: int) -> Array:
    rows: Array = np.frombuffer(samples, DESCRIPTOR)  # at once, which is much faster than one by one
    rows["dtype"], rows["ndim"] = int(to_dali_type(dtype)), ndim
    return rows


def copy_to(destination: Any, pieces: Sequence[Array]) -> None:
    """Copies arrays, one behind the other, to an address (int or ctypes pointer) or into a writable buffer."""
    if isinstance(destination, (int, c.c_void_p)) or destination is None:
        address = destination.value if isinstance(destination, c.c_void_p) else destination
        if not address:
            raise TensorError("the destination is a null pointer")
    elif hasattr(destination, "contents"):
        address = c.cast(destination, c.c_void_p).value or 0
    else:
        target = as_array(destination)
        needed = sum(a.nbytes for a in pieces)
        if target.nbytes != needed or not target.flags.writeable:
            raise TensorError(f"the destination must be a writable buffer of {needed} bytes, not of {target.nbytes}")
        address = target.ctypes.data
    for piece in pieces:
        c.memmove(address, piece.ctypes.data, piece.nbytes)
        address += piece.nbytes
