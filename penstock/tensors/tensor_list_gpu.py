"""One tensor per sample of a batch, on a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from penstock.errors import TensorError
from penstock.machine import native
from penstock.tensors import dlpack
from penstock.tensors.arrays import DESCRIPTOR, Array, numpy_type
from penstock.tensors.frameworks import descriptors
from penstock.tensors.gpu_memory import LEGACY_STREAM, GpuMemory, stream_handle
from penstock.tensors.samples import Samples, common, rows_of
from penstock.tensors.tensor_gpu import TensorGPU, copy_out, refuse_array
from penstock.tensors.tensor_list import TensorListCPU
from penstock.tensors.text import describe_list


class TensorListGPU(Samples):
    """The tensors of a batch on a GPU: one per sample, of one type and number of axes, each with its own shape.

    Pipelines give them. They are also made of ``data``, which is shared and not copied:

    - an array on a GPU with the samples along its first axis: a DLPack capsule, or anything with ``__dlpack__`` or
      ``__cuda_array_interface__``;
    - a list of such arrays or of TensorGPU on one GPU, one per sample;
    - another TensorListGPU;
    - nothing: an empty list.

    `TensorListCPU` copies to a GPU by ``_as_gpu()``, and ``as_cpu()`` copies back. ``layout`` names the axes of one
    sample, such as "HWC". ``contiguous=True`` copies the samples of a list one behind the other, which `data_ptr`
    needs; `as_tensor` does so by itself where it is needed. ``device_id`` and ``stream`` are those of `TensorGPU`,
    which also says how memory is shared with frameworks.

    Raises TypeError for types that no tensor has or that differ between samples, TensorError (a ValueError and
    RuntimeError) for strided samples, for samples with different numbers of axes, and for a layout that does not fit,
    DeviceError for data that is not on a GPU, or on several.

    >>> from penstock.tensors import TensorListCPU
    >>> batch = TensorListCPU([np.zeros((2, 3), np.uint8), np.ones((1, 3), np.uint8)], layout="HW")._as_gpu()
    >>> len(batch), batch.shape(), batch.layout(), batch.device_id()
    (2, [(2, 3), (1, 3)], 'HW', 0)
    >>> batch.as_cpu().at(1)
    array([[1, 1, 1]], dtype=uint8)
    """

    __slots__ = ("_memory",)
    _memory: GpuMemory | None  # None: there are no samples

    def __init__(
        self,
        data: Any = (),
        layout: str | None = None,
        device_id: int = -1,
        contiguous: bool = False,
        stream: Any = None,
    ):
        if isinstance(data, TensorListGPU):
            self._show_some(data, range(len(data)))
            self._memory = data._memory
        elif isinstance(data, (list, tuple)):
            if not self._take_whole(data, stream):
                self._make([d if isinstance(d, TensorGPU) else TensorGPU(d, None, device_id, stream) for d in data])
        else:
            self._split(data, device_id, stream)
        if contiguous and not self._flags & native.CONTIGUOUS:
            self._memory, self._samples = self._together()
            self._flags |= native.CONTIGUOUS
        if layout is not None:
            self.set_layout(layout)

    @classmethod
    def _from_native(cls, owner: object, memory: GpuMemory | None, samples: Any, flags: int | None) -> TensorListGPU:
        """A list of what descriptors describe; the owner keeps the names of the sources."""
        tensors = cls.__new__(cls)
        tensors._show(owner, samples, flags)
        tensors._memory = memory
        return tensors

    @classmethod
    def _upload(cls, tensors: TensorListCPU, device_id: int) -> TensorListGPU:
        if not len(tensors):
            empty = cls()
            empty._none = tensors._like()
            return empty
        memory, address = GpuMemory.upload(device_id, tensors._samples)
        samples = _placed(tensors, address)
        return cls._from_native((tensors._owner, tensors._samples), memory, samples, None)

    def _take_whole(self, tensors: Sequence[Any], stream: Any) -> bool:
        """Takes a list of one framework's tensors at once; False where that is not possible."""
        found = descriptors(tensors) if tensors and stream is None else None
        if found is None:
            return False
        rows, device, current = found
        samples = (native.Tensor * len(rows)).from_buffer_copy(rows.data)
        self._memory = GpuMemory.borrow(device, list(tensors), current or LEGACY_STREAM)
        self._show(None, samples)
        return True

    def _make(self, tensors: Sequence[TensorGPU]) -> None:
        layout = common([(t.dtype, tuple(t.shape()), t.layout()) for t in tensors])
        sources = [t._source.encode(errors="surrogateescape") or None for t in tensors]
        samples = (native.Tensor * len(tensors))(*[t._sample for t in tensors])
        for sample, source in zip(samples, sources, strict=True):
            sample.layout, sample.source = layout.encode(), source
        self._show(sources, samples)
        self._memory = GpuMemory.join([t._memory for t in tensors]) if tensors else None

    def _split(self, data: Any, device_id: int, stream: Any) -> None:
        batch = TensorGPU(data, None, device_id, stream)
        if not batch.ndim():
            raise TensorError("a batch has at least one axis, for its samples; this data has none")
        n, *shape = batch.shape()
        rows = np.zeros(n, DESCRIPTOR)
        step = int(np.prod(shape)) * numpy_type(batch.dtype).itemsize
        rows["data"] = np.uintp(batch._sample.data or 0) + np.arange(n, dtype=np.uintp) * np.uintp(step)
        rows["dtype"], rows["ndim"] = int(batch.dtype), len(shape)
        rows["shape"][:, : len(shape)] = shape
        flags = native.CONTIGUOUS | native.UNIFORM
        none = native.Tensor(dtype=batch.dtype, ndim=len(shape))
        none.shape[: len(shape)] = shape
        self._show(None, (native.Tensor * n).from_buffer_copy(rows.data), flags, none)
        self._memory = batch._memory if n else None

    def _together(self) -> tuple[GpuMemory, Any]:
        """The samples' memory and descriptors if they lie one behind the other, else those of a copy that does."""
        memory = self._kept()
        if self._flags & native.CONTIGUOUS:
            return memory, self._samples
        memory, address = memory.gather(self._samples)
        return memory, _placed(self, address)

    def _kept(self) -> GpuMemory:
        if self._memory is None:
            raise TensorError("an empty list has no memory, and makes no tensor: the shape of its samples is not known")
        return self._memory

    def _ready(self, stream: Any) -> None:
        """Waits until the contents are there; or the stream does, if there is one."""
        if self._memory is None:
            return
        if stream is None:
            self._memory.wait()
        else:
            self._memory.order(stream_handle(stream))

    def device_id(self) -> int:
        """Number of the GPU; -1 of an empty list."""
        return -1 if self._memory is None else self._memory.device

    def at(self, i: int) -> TensorGPU:
        """Sample ``i``, in the same memory; negative numbers count from the end."""
        i = self._index(i)
        sample = native.Tensor.from_buffer_copy(self._samples[i])
        sample.source = None
        return TensorGPU._of(self._kept(), sample, self._source(i))

    @overload
    def __getitem__(self, i: int) -> TensorGPU: ...
    @overload
    def __getitem__(self, i: slice) -> TensorListGPU: ...
    def __getitem__(self, i: int | slice) -> TensorGPU | TensorListGPU:
        """A sample, or with a slice a list of some; all share this list's memory."""
        if isinstance(i, slice):
            part = TensorListGPU.__new__(TensorListGPU)
            part._show_some(self, range(*i.indices(len(self))))
            part._memory = self._memory if len(part) else None
            return part
        return self.at(i)

    def __iter__(self) -> Iterator[TensorGPU]:
        return (self[i] for i in range(len(self)))

    def as_tensor(self) -> TensorGPU:
        """The batch as one tensor, its samples along the first axis; if their axes have names, the first one's is "N".

        The tensor shares the memory of samples that lie one behind the other, as pipelines' outputs do; others are
        copied together on the GPU. TensorError if the samples have different shapes, or if there are none.
        """
        self._kept()
        self._check_uniform()
        shape = (len(self), *self.shape()[0])
        return self._tensor(shape, self.layout() and "N" + self.layout())

    def as_reshaped_tensor(self, shape: Sequence[int]) -> TensorGPU:
        """All elements, one sample behind the other, as one tensor of this shape; it has no layout.

        Shares the samples' memory where they lie one behind the other. TensorError if the number of elements differs.
        """
        self._kept()
        self._check_volume(tuple(shape))
        return self._tensor(tuple(shape), "")

    def _tensor(self, shape: tuple[int, ...], layout: str) -> TensorGPU:
        if len(shape) > native.MAX_DIMS:
            raise TensorError(f"{len(shape)} dimensions are too many: tensors have at most {native.MAX_DIMS}")
        memory, samples = self._together()
        tensor = native.Tensor(samples[0].data, self.dtype, len(shape))
        tensor.shape[: len(shape)] = shape
        tensor.layout = layout.encode()
        return TensorGPU._of(memory, tensor)

    def as_cpu(self) -> TensorListCPU:
        """A copy in the CPU's memory, its samples one behind the other. Waits for the GPU."""
        if self._memory is None:
            empty = TensorListCPU([])
            empty._none = self._like()
            return empty
        memory = np.empty(self._volume(), numpy_type(self.dtype))
        self._memory.download(self._samples, memory.ctypes.data)
        owner = (memory, self._owner, self._samples)
        return TensorListCPU._from_native(owner, _placed(self, memory.ctypes.data), self._flags | native.CONTIGUOUS)

    def as_array(self) -> Array:
        """Raises DeviceError: NumPy knows no GPUs. ``as_cpu().as_array()`` copies."""
        refuse_array(self)

    def data_ptr(self) -> int | None:
        """Address of the first sample's first element, or None of an empty list. Waits for the GPU.

        TensorError if the samples do not lie one behind the other.
        """
        if not self._flags & native.CONTIGUOUS:
            raise TensorError("the samples lie apart, so there is no one address: TensorListGPU(..., contiguous=True)")
        return self[0].data_ptr() if len(self) else None

    def copy_to_external(
        self, ptr: Any, cuda_stream: Any = None, non_blocking: bool = False, use_copy_kernel: bool = False
    ) -> None:
        """Copies all samples, one behind the other, to an address on the same GPU; see `TensorGPU.copy_to_external`."""
        if self._memory is not None:
            copy_out(self._memory, self._samples, ptr, cuda_stream, non_blocking)

    def reset(self) -> None:
        """Lets go of all samples: the list is empty then."""
        self._make([])

    @staticmethod
    def broadcast(tensor: TensorGPU, n: int) -> TensorListGPU:
        """The same tensor ``n`` times, sharing its memory."""
        return TensorListGPU([tensor] * n)

    @staticmethod
    def from_dlpack_list(
        list_of_objects: Sequence[Any], layout: str | None = None, stream: Any = None, contiguous: bool = False
    ) -> TensorListGPU:
        """A list of tensors of other libraries on one GPU, one per sample, through DLPack."""
        return TensorListGPU(list(list_of_objects), layout, contiguous=contiguous, stream=stream)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The batch as one array, by `as_tensor`. Waits for the GPU, so that any stream may be used."""
        return self.as_tensor().__cuda_array_interface__

    def __dlpack__(self, stream: Any = None, **options: Any) -> Any:
        """The batch as a DLPack capsule, by `as_tensor`; the arguments are those of `TensorGPU.__dlpack__`."""
        return self.as_tensor().__dlpack__(stream, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, self._kept().device

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        refuse_array(self)

    def __str__(self) -> str:
        return describe_list(self, show_data=True)

    def __repr__(self) -> str:
        return describe_list(self, show_data=False)


def _placed(tensors: Samples, address: int) -> Any:
    """Descriptors of the samples, one behind the other from an address on."""
    samples: Any = (native.Tensor * len(tensors))()
    placed = rows_of(samples)
    placed[:] = tensors._rows()
    sizes = placed["shape"][:, : tensors.ndim()].prod(1) * numpy_type(tensors.dtype).itemsize
    placed["data"] = address + np.cumsum(sizes) - sizes
    return samples
