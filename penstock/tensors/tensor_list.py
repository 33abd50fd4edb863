"""One tensor per sample of a batch, on the CPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from penstock.errors import TensorError
from penstock.machine import native
from penstock.tensors.arrays import (
    Array,
    array_at,
    as_array,
    copy_to,
    describe,
    describe_batch,
    describe_one,
    numpy_type,
)
from penstock.tensors.samples import Samples, common
from penstock.tensors.tensor import TensorCPU
from penstock.tensors.text import describe_list
from penstock.types import NO_TYPE, to_dali_type

if TYPE_CHECKING:
    from penstock.tensors.tensor_list_gpu import TensorListGPU


class TensorListCPU(Samples):
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

    __slots__ = ("_writable",)

    def __init__(self, data: Any, layout: str | None = None, is_pinned: bool = False, contiguous: bool = False):
        if isinstance(data, TensorListCPU):
            self._take(data, range(len(data)))
        elif isinstance(data, (list, tuple)):
            if set(map(type, data)) <= {np.ndarray}:
                self._make_plain(list(data), contiguous)  # which keeps them, whatever becomes of the caller's
            else:
                self._make([d if isinstance(d, TensorCPU) else TensorCPU(d) for d in data], contiguous)
        else:
            batch = as_array(data)
            if batch.ndim == 0:
                raise TensorError("a batch has at least one axis, for its samples; this data has none")
            self._writable = batch.flags.writeable
            self._show(batch, describe_batch(batch), none=describe_one(batch))
        if layout is not None:
            self.set_layout(layout)

    @classmethod
    def _from_native(cls, owner: object, samples: Any, flags: int) -> TensorListCPU:
        """A list of what descriptors describe; the owner is kept as long as anything of its memory is in use."""
        tensors = cls.__new__(cls)
        tensors._show(owner, samples, flags)
        tensors._writable = True
        return tensors

    def _make(self, tensors: Sequence[TensorCPU], contiguous: bool) -> None:
        layout = common([(t.dtype, t._array.shape, t._layout) for t in tensors])
        arrays = [t._array for t in tensors]
        self._share(arrays, arrays, layout, [t._source for t in tensors], contiguous)

    def _make_plain(self, arrays: Sequence[Array], contiguous: bool) -> None:
        # As `_make`, for what training loops give batch after batch: one array of each kind is looked at.
        kinds = {(a.dtype, a.ndim, a.flags.num): a for a in reversed(arrays)}
        for one in kinds.values():
            as_array(one)
        if len({kind[:2] for kind in kinds}) > 1:
            common([(to_dali_type(a.dtype), a.shape, "") for a in arrays])
        self._share(arrays, kinds.values(), "", (), contiguous)

    def _share(
        self, arrays: Sequence[Array], some: Iterable[Array], layout: str, sources: Sequence[str], contiguous: bool
    ) -> None:
        """``some`` have all flags that the arrays have."""
        if contiguous and arrays:
            arrays = some = _together(arrays)
        self._writable = all(a.flags.writeable for a in some)
        self._show(arrays, *describe(arrays, layout, sources))

    def _take(self, other: TensorListCPU, indices: range) -> None:
        self._show_some(other, indices)
        self._writable = other._writable

    def _arrays(self) -> list[Array]:
        return [self.at(i) for i in range(len(self))]

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
        return TensorCPU._of(self.at(i), self.layout(), self._source(self._index(i)))

    def __iter__(self) -> Iterator[TensorCPU]:
        return (self[i] for i in range(len(self)))

    def as_array(self) -> Array:
        """The batch as one array, its samples along the first axis.

        The array shares the memory of samples that lie one behind the other, as pipelines' outputs of one shape do;
        others are copied together. TensorError if the samples have different shapes.
        """
        n = len(self._samples)
        if not n:
            return self._nothing()
        self._check_uniform()
        if self._flags & native.CONTIGUOUS:
            s = self._samples[0]
            return array_at(self._owner, s.data, (n, *s.shape[: s.ndim]), s.dtype, self._writable)
        return np.stack(self._arrays())

    def as_tensor(self) -> TensorCPU:
        """As `as_array`, as a tensor; if the samples' axes have names, the first one's is "N"."""
        if self.dtype is NO_TYPE:
            raise TensorError("an empty list makes no tensor: the shape of its samples is not known")
        layout = self.layout()
        return TensorCPU._of(self.as_array(), layout and "N" + layout, "")

    def as_reshaped_tensor(self, shape: Sequence[int]) -> TensorCPU:
        """All elements, one sample behind the other, as one tensor of this shape; it has no layout.

        Shares the samples' memory where they lie one behind the other. TensorError if the number of elements differs.
        """
        self._check_volume(tuple(shape))
        return TensorCPU(self._flat().reshape(shape))

    def _nothing(self) -> Array:
        if self.dtype is NO_TYPE:
            return np.empty(0, np.float32)
        return np.empty((0, *self._none.shape[: self.ndim()]), numpy_type(self.dtype))

    def _flat(self) -> Array:
        if not len(self._samples):
            return self._nothing().reshape(-1)
        if not self._flags & native.CONTIGUOUS:
            return np.concatenate([a.ravel() for a in self._arrays()])
        s = self._samples[0]
        return array_at(self._owner, s.data, (self._volume(),), s.dtype, self._writable)

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

    def _as_gpu(self, device_id: int = 0) -> TensorListGPU:
        """A copy of this list on a GPU. DeviceError if there is no such GPU, OutOfMemoryError if it has no room."""
        from penstock.tensors.tensor_list_gpu import TensorListGPU

        return TensorListGPU._upload(self, device_id)

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

    def __reduce__(self) -> tuple[Any, ...]:
        whole = self.dtype is not NO_TYPE and self._flags & native.CONTIGUOUS and self._flags & native.UNIFORM
        data: Any = self.as_array() if whole else self._arrays()
        return _restored, (data, self.layout(), self.source_info())

    def __str__(self) -> str:
        return describe_list(self, show_data=True)

    def __repr__(self) -> str:
        return describe_list(self, show_data=False)


def _together(arrays: Sequence[Array]) -> list[Array]:
    """Copies of the arrays in one piece of memory."""
    memory = np.concatenate([a.ravel() for a in arrays])
    ends = np.cumsum([a.size for a in arrays])
    return [memory[end - a.size : end].reshape(a.shape) for a, end in zip(arrays, ends, strict=True)]


def _restored(data: Any, layout: str, sources: Sequence[str]) -> TensorListCPU:
    """The list that was pickled as this, or copied."""
    tensors = TensorListCPU(data, layout or None)
    for sample, source in zip(tensors._samples, sources, strict=True):
        sample.source = source.encode(errors="surrogateescape") or None
    return tensors
