"""One tensor on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.errors import TensorError
from penstock.tensors.arrays import Array, as_array, check_layout, copy_to, numpy_type
from penstock.tensors.samples import check_reinterpret
from penstock.tensors.text import describe_tensor
from penstock.types import DALIDataType, to_dali_type

if TYPE_CHECKING:
    from penstock.tensors.tensor_gpu import TensorGPU


class TensorCPU:
    """A dense array in the CPU's memory, with names for its axes: one sample, or a whole batch.

    - ``data``: what shares its memory: a NumPy array, anything with the buffer protocol, ``__array_interface__`` or
      DLPack (capsules too). It must be dense (C order); nothing is copied. Lists of numbers are copied.
    - ``layout``: names of the axes, such as "HWC", or None.
    - ``is_pinned``: whether the memory is page-locked; nothing on the CPU depends on it.

    NumPy and frameworks see the same memory: ``np.asarray(tensor)``, ``torch.from_dlpack(tensor)``, and from Python
    3.12 on ``memoryview(tensor)`` (older Pythons offer the buffer protocol to C extensions only: use
    ``memoryview(np.asarray(tensor))``). What was made of a tensor stays valid after it is gone.

    Raises TypeError for types that no tensor has, TensorError (a ValueError and RuntimeError) for strided data and for
    a layout with another number of axes.

    >>> tensor = TensorCPU(np.zeros((2, 3, 1), np.float32), layout="HWC")
    >>> tensor.shape(), tensor.dtype, tensor.layout()
    ([2, 3, 1], DALIDataType.FLOAT, 'HWC')
    """

    __slots__ = ("__weakref__", "_array", "_layout", "_source")

    def __init__(self, data: Any, layout: str | None = None, is_pinned: bool = False):
        self._source = ""
        if isinstance(data, TensorCPU):
            layout = data.layout() if layout is None else layout
            self._source = data.source_info()
            data = np.asarray(data)
        self._array: Array = as_array(data)
        self._layout = check_layout(layout, self._array.ndim)

    @classmethod
    def _of(cls, array: Array, layout: str, source: str) -> TensorCPU:
        tensor = cls.__new__(cls)
        tensor._array, tensor._layout, tensor._source = array, layout, source
        return tensor

    @property
    def dtype(self) -> DALIDataType:
        """Type of the elements."""
        return to_dali_type(self._array.dtype)

    def shape(self) -> list[int]:
        """Extents of the axes, outermost first."""
        return list(self._array.shape)

    def ndim(self) -> int:
        """Number of axes."""
        return self._array.ndim

    def layout(self) -> str:
        """Names of the axes, or ""."""
        return self._layout

    def set_layout(self, layout: str | None) -> None:
        """Names the axes anew; None takes their names away. Raises TensorError if it names more or fewer."""
        self._layout = check_layout(layout, self._array.ndim)

    def source_info(self) -> str:
        """Where the data comes from, such as a file's name, or ""."""
        return self._source

    def get_property(self, name: str) -> str | None:
        """The property "layout" or "source_info"; None for all other names."""
        return {"layout": self._layout, "source_info": self._source}.get(name)

    def data_ptr(self) -> int:
        """Address of the first element."""
        return self._array.ctypes.data

    def as_cpu(self) -> TensorCPU:
        """This tensor: it is on the CPU."""
        return self

    def _as_gpu(self, device_id: int = 0) -> TensorGPU:
        """A copy of this tensor on a GPU. DeviceError if there is no such GPU, OutOfMemoryError if it has no room."""
        from penstock.tensors.tensor_list import TensorListCPU
        from penstock.tensors.tensor_list_gpu import TensorListGPU

        return TensorListGPU._upload(TensorListCPU([self]), device_id)[0]

    def squeeze(self, dim: int | None = None) -> bool:
        """Drops axis ``dim``, or all axes, of extent 1; says whether there were any.

        Raises TensorError if there is no axis ``dim``.
        """
        shape = self._array.shape
        kept = axes_kept(shape, dim)
        self._array = self._array.reshape([shape[i] for i in kept])
        self._layout = self._layout and "".join(self._layout[i] for i in kept)
        return len(kept) < len(shape)

    def reinterpret(self, new_type: int) -> None:
        """Takes the same bytes for elements of another type; TensorError if that has another size."""
        self._array = self._array.view(numpy_type(check_reinterpret(self.dtype, new_type)))

    def copy_to_external(self, ptr: Any) -> None:
        """Copies the elements to an address (``ctypes.c_void_p`` or an int), or into a writable buffer."""
        copy_to(ptr, [self._array])

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._array.__array_interface__

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy:
            return np.array(self._array, dtype=dtype)
        if copy is False and dtype is not None and np.dtype(dtype) != self._array.dtype:
            raise ValueError(f"{self.dtype} cannot become {np.dtype(dtype)} without a copy")
        return np.asarray(self._array, dtype=dtype)

    def __buffer__(self, flags: int) -> memoryview:
        return self._array.data

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of the same memory, or of a copy. BufferError if it is asked for on another device."""
        if stream is not None:
            raise BufferError("data on the CPU has no stream")
        if dl_device is not None and tuple(map(int, dl_device)) != self.__dlpack_device__():
            raise BufferError(f"data on the CPU cannot be given to DLPack's device {tuple(dl_device)}")
        array = self._array.copy() if copy else self._array
        try:
            return array.__dlpack__(max_version=max_version)
        except TypeError:  # NumPy before 2.1: the capsule has no version
            return array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def _repr_html_(self) -> str:
        from penstock.display import html_of

        return html_of(self)

    def __str__(self) -> str:
        return describe_tensor(self, show_data=True)

    def __repr__(self) -> str:
        return describe_tensor(self, show_data=False)


def axes_kept(shape: Sequence[int], dim: int | None) -> list[int]:
    """The axes that stay when axis ``dim``, or every one, is dropped if its extent is 1."""
    if dim is not None and not -len(shape) <= dim < len(shape):
        raise TensorError(f"squeeze: there is no axis {dim} in the shape {tuple(shape)}")
    wanted = range(len(shape)) if dim is None else [dim % len(shape)]
    return [i for i in range(len(shape)) if i not in wanted or shape[i] != 1]
