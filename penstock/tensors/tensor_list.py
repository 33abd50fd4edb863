"""One tensor per sample of a batch, on the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from penstock.errors import TensorError, TensorIndexError
from penstock.run import native
from penstock.tensors.arrays import (
    DESCRIPTOR,
    Array,
    array_at,
    as_array,
    check_layout,
    copy_to,
    describe,
    numpy_type,
)
from penstock.tensors.tensor import TensorCPU
from penstock.tensors.text import describe_list
from penstock.types import NO_TYPE, DALIDataType, to_dali_type


class TensorListCPU:
    """The tensors of a batch: one per sample, of one type and number of axes, each with its own shape.

    Pipelines give them. They are also made of ``data``, which is shared and not copied:

    - an array with the samples along its first axis: NumPy's, or anything with the buffer protocol,
      ``__array_interface__`` or DLPack (capsules too);
    - a list of such arrays or of TensorCPU, one per sample;
    - another TensorListCPU.

    ``layout`` names the axes of one sample, such as "HWC". ``contiguous=True`` copies the samples of a list one behind
    the other, which `data_ptr` needs; `as_tensor` and `as_array` do so by themselves where it is needed.

    Raises TypeError for types that no tensor has or that differ between samples, TensorError (a ValueError and
    RuntimeError) for strided samples, for samples with different numbers of axes, and for a layout that does not fit.

    >>> batch = TensorListCPU([np.zeros((2, 3), np.uint8), np.ones((1, 3), np.uint8)], layout="HW")
    >>> len(batch), batch.shape(), batch.at(1)
    (2, [(2, 3), (1, 3)], array([[1, 1, 1]], dtype=uint8))
    """

    __slots__ = ("__weakref__", "_flags", "_owner", "_samples", "_writable")

    def __init__(self, data: Any, layout: str | None = None, is_pinned: bool = False, contiguous: bool = False):
        self._writable = True
        if isinstance(data, TensorListCPU):
            self._take(data, range(len(data)))
        elif isinstance(data, (list, tuple)):
            self._make([d if isinstance(d, TensorCPU) else TensorCPU(d) for d in data], contiguous)
        else:
            batch = as_array(data)
            if batch.ndim == 0:
                raise TensorError("a batch has at least one axis, for its samples; this data has none")
            self._make([TensorCPU._of(batch[i, ...], "", "") for i in range(len(batch))], False)
        if layout is not None:
            self.set_layout(layout)

    @classmethod
    def _from_native(cls, owner: object, samples: Any, flags: int) -> TensorListCPU:
        """A list of what descriptors tell; the owner is kept as long as anything of its memory is in use."""
        tensors = cls.__new__(cls)
        tensors._owner, tensors._samples, tensors._flags, tensors._writable = owner, samples, flags, True
        return tensors

    def _make(self, tensors: Sequence[TensorCPU], contiguous: bool) -> None:
        arrays = [t._array for t in tensors]
        for i, array in enumerate(arrays):
            if array.dtype != arrays[0].dtype:
                raise TypeError(f"sample {i} is {tensors[i].dtype}, but sample 0 is {tensors[0].dtype}")
            if array.ndim != arrays[0].ndim:
                raise TensorError(f"sample {i} has the shape {array.shape}, but sample 0 {arrays[0].shape}")
        layouts = sorted({t._layout for t in tensors if t._layout})
        if len(layouts) > 1:
            raise TensorError(f"the samples have different layouts: {', '.join(layouts)}")
        if contiguous and arrays:
            arrays = _together(arrays)
        self._writable = all(a.flags.writeable for a in arrays)
        self._owner: object = arrays
        self._samples: Any = describe(arrays, layouts[0] if layouts else "", [t._source for t in tensors])
        self._flags: int = _flags_of(self._samples)

    def _take(self, other: TensorListCPU, indices: range) -> None:
        self._samples = (native.Tensor * len(indices))()
        self._rows()[:] = other._rows()[np.arange(indices.start, indices.stop, indices.step)]
        self._owner = (other._owner, other._samples)  # descriptors hold the names of the sources
        self._writable = other._writable
        self._flags = _flags_of(self._samples)

    def _rows(self) -> Array:
        return np.frombuffer(self._samples, DESCRIPTOR) if len(self._samples) else np.empty(0, DESCRIPTOR)

    def _arrays(self) -> list[Array]:
        return [self.at(i) for i in range(len(self))]

    def _index(self, i: int) -> int:
        n = len(self._samples)
        if not -n <= i < n:
            raise TensorIndexError(f"there is no sample {i}: the batch has {n}")
        return i % n

    @property
    def dtype(self) -> DALIDataType:
        """Type of the elements; NO_TYPE if there are no samples."""
        return DALIDataType(self._samples[0].dtype) if len(self._samples) else NO_TYPE

    def shape(self) -> list[tuple[int, ...]]:
        """Shapes of the samples."""
        n = len(self._samples)
        if n and self._flags & native.UNIFORM:
            return [tuple(self._samples[0].shape[: self.ndim()])] * n
        return [tuple(row) for row in self._rows()["shape"][:, : self.ndim()].tolist()]

    def ndim(self) -> int:
        """Number of axes of one sample; 0 if there are no samples."""
        return int(self._samples[0].ndim) if len(self._samples) else 0

    def layout(self) -> str:
        """Names of the axes of one sample, or ""."""
        return str(self._samples[0].layout.decode()) if len(self._samples) else ""

    def set_layout(self, layout: str | None) -> None:
        """Names the axes anew; None takes their names away. Raises TensorError if it names more or fewer."""
        if len(self._samples):
            self._rows()["layout"] = check_layout(layout, self.ndim()).encode()

    def source_info(self) -> list[str]:
        """Per sample: where it comes from, such as a file's name, or ""."""
        return [(s.source or b"").decode(errors="surrogateescape") for s in self._samples]

    def is_dense_tensor(self) -> bool:
        """Whether all samples have one shape, so that `as_tensor` and `as_array` work."""
        return bool(self._flags & native.UNIFORM)

    def at(self, i: int) -> Array:
        """Sample ``i`` as an array of the same memory; negative numbers count from the end."""
        s = self._samples[self._index(i)]
        return array_at(self._owner, s.data, tuple(s.shape[: s.ndim]), s.dtype, self._writable)

    @overload
    def __getitem__(self, i: int) -> TensorCPU: ...
    @overload
    def __getitem__(self, i: slice) -> TensorListCPU: ...
    def __getitem__(self, i: int | slice) -> TensorCPU | TensorListCPU:
        """A sample, or with a slice a list of some; all share this list's memory."""
        if isinstance(i, slice):
            part = TensorListCPU.__new__(TensorListCPU)
            part._take(self, range(*i.indices(len(self))))
            return part
        s = self._samples[self._index(i)]
        return TensorCPU._of(self.at(i), s.layout.decode(), (s.source or b"").decode(errors="surrogateescape"))

    def __len__(self) -> int:
        return len(self._samples)

    def __iter__(self) -> Iterator[TensorCPU]:
        return (self[i] for i in range(len(self)))

    def as_array(self) -> Array:
        """The batch as one array, its samples along the first axis.

        The array shares the memory of samples that lie one behind the other, as pipelines' outputs of one shape do;
        others are copied together. TensorError if the samples have different shapes.
        """
        n = len(self._samples)
        if not n:
            return np.empty(0, np.float32)
        if not self.is_dense_tensor():
            raise TensorError(f"the samples have different shapes, so they make no one array: {_first_two(self)}")
        if self._flags & native.CONTIGUOUS:
            s = self._samples[0]
            return array_at(self._owner, s.data, (n, *s.shape[: s.ndim]), s.dtype, self._writable)
        return np.stack(self._arrays())

    def as_tensor(self) -> TensorCPU:
        """As `as_array`, as a tensor; if the samples' axes have names, the first one's is "N"."""
        if not len(self._samples):
            raise TensorError("an empty list makes no tensor: the shape of its samples is not known")
        layout = self.layout()
        return TensorCPU._of(self.as_array(), layout and "N" + layout, "")

    def as_reshaped_tensor(self, shape: Sequence[int]) -> TensorCPU:
        """All elements, one sample behind the other, as one tensor of this shape; it has no layout.

        Shares the samples' memory where they lie one behind the other. TensorError if the number of elements differs.
        """
        flat = self._flat()
        if any(d < 0 for d in shape) or np.prod(shape, dtype=np.int64) != flat.size:
            raise TensorError(f"the batch has {flat.size} elements, which do not make the shape {tuple(shape)}")
        return TensorCPU(flat.reshape(shape))

    def _flat(self) -> Array:
        if not len(self._samples):
            return np.empty(0, np.float32)
        if not self._flags & native.CONTIGUOUS:
            return np.concatenate([a.ravel() for a in self._arrays()])
        s = self._samples[0]
        volume = int(self._rows()["shape"][:, : s.ndim].prod(1).sum())
        return array_at(self._owner, s.data, (volume,), s.dtype, self._writable)

    def data_ptr(self) -> int | None:
        """Address of the first sample's first element, or None of an empty list.

        TensorError if the samples do not lie one behind the other.
        """
        if not self._flags & native.CONTIGUOUS:
            raise TensorError("the samples lie apart, so there is no one address: TensorListCPU(..., contiguous=True)")
        return self._samples[0].data if len(self._samples) else None

    def copy_to_external(self, ptr: Any) -> None:
        """Copies all samples, one behind the other, to an address (``ctypes.c_void_p`` or an int) or into a buffer."""
        copy_to(ptr, [self._flat()] if self._flags & native.CONTIGUOUS else self._arrays())

    def as_cpu(self) -> TensorListCPU:
        """This list: it is on the CPU."""
        return self

    def reinterpret(self, new_type: int) -> None:
        """Takes the same bytes for elements of another type; TensorError if that has another size."""
        new = to_dali_type(new_type)
        if len(self._samples):
            if numpy_type(new).itemsize != numpy_type(self.dtype).itemsize:
                raise TensorError(f"{self.dtype} cannot be taken for {new}, which has another size")
            self._rows()["dtype"] = new

    def reset(self) -> None:
        """Lets go of all samples: the list is empty then."""
        self._make([], False)

    @staticmethod
    def broadcast(tensor: TensorCPU, n: int) -> TensorListCPU:
        """The same tensor ``n`` times, sharing its memory."""
        return TensorListCPU([tensor] * n)

    @staticmethod
    def from_dlpack_list(
        list_of_objects: Sequence[Any], layout: str | None = None, contiguous: bool = False
    ) -> TensorListCPU:
        """A list of tensors of other libraries, one per sample, through DLPack."""
        return TensorListCPU(list(list_of_objects), layout, contiguous=contiguous)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False and not self._flags & native.CONTIGUOUS:
            raise ValueError("the samples lie apart: one array of them is a copy")
        return TensorCPU._of(self.as_array(), "", "").__array__(dtype, copy)

    def __dlpack__(self, **options: Any) -> Any:
        """The batch as a DLPack capsule, by `as_tensor`; the keywords are those of TensorCPU."""
        return self.as_tensor().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __str__(self) -> str:
        return describe_list(self, show_data=True)

    def __repr__(self) -> str:
        return describe_list(self, show_data=False)


def _together(arrays: Sequence[Array]) -> list[Array]:
    """Copies of the arrays in one piece of memory."""
    memory = np.concatenate([a.ravel() for a in arrays])
    ends = np.cumsum([a.size for a in arrays])
    return [memory[end - a.size : end].reshape(a.shape) for a, end in zip(arrays, ends, strict=True)]


def _flags_of(samples: Any) -> int:
    if not len(samples):
        return native.CONTIGUOUS | native.UNIFORM
    rows = np.frombuffer(samples, DESCRIPTOR)
    shapes = rows["shape"][:, : rows["ndim"][0]]
    sizes = shapes.prod(1).astype(np.uintp) * np.uintp(numpy_type(samples[0].dtype).itemsize)
    flags = native.UNIFORM if (shapes == shapes[0]).all() else 0
    contiguous = (rows["data"][1:] == rows["data"][:-1] + sizes[:-1]).all()
    return flags | (native.CONTIGUOUS if contiguous else 0)


def _first_two(tensors: TensorListCPU) -> str:
    shapes = tensors.shape()
    other = next(i for i, shape in enumerate(shapes) if shape != shapes[0])
    return f"sample 0 has {shapes[0]}, sample {other} has {shapes[other]}"
