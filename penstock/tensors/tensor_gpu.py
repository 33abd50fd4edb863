"""One tensor on a GPU."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from penstock.errors import ArgumentError, DeviceError
from penstock.machine import native
from penstock.tensors import dlpack
from penstock.tensors.arrays import Array, check_layout, numpy_type
from penstock.tensors.gpu_memory import GpuMemory, stream_handle
from penstock.tensors.samples import check_reinterpret
from penstock.tensors.tensor import TensorCPU, axes_kept
from penstock.tensors.text import describe_tensor
from penstock.types import DALIDataType


class TensorGPU:
    """A dense array in a GPU's memory, with names for its axes: one sample, or a whole batch.

    - ``data``: what another library has on a GPU: a DLPack capsule, or anything with ``__dlpack__`` or
      ``__cuda_array_interface__``. It must be dense (C order); nothing is copied. `TensorCPU` copies to a GPU by
      ``_as_gpu()``.
    - ``layout``: names of the axes, such as "HWC", or None.
    - ``device_id``: with ``__cuda_array_interface__``, the number of the GPU; -1: the one that the address belongs to.
    - ``stream``: with a capsule, the CUDA stream in which its elements are being written (a handle, or a stream object
      of PyTorch or CuPy); None: the default stream.

    Frameworks share the memory: ``torch.from_dlpack(tensor)``, ``cupy.asarray(tensor)``. What was made of a tensor
    stays valid after it is gone, and its memory is used again only when all work has ended that was enqueued on the
    GPU, on whatever stream, when the last user released it. The GPU may still be computing a pipeline's output:
    ``__dlpack__(stream=...)`` makes the stream wait for it, and whatever reads the elements or gives their address to a
    stream that it does not know waits itself.

    Raises TypeError for types that no tensor has, TensorError (a ValueError and RuntimeError) for strided data and for
    a layout with another number of axes, DeviceError for data that is not on a GPU.

    >>> tensor = TensorCPU(np.zeros((2, 3, 1), np.float32), layout="HWC")._as_gpu()
    >>> tensor.shape(), tensor.dtype, tensor.layout(), tensor.device_id()
    ([2, 3, 1], DALIDataType.FLOAT, 'HWC', 0)
    >>> np.asarray(tensor.as_cpu()).sum().item()
    0.0
    """

    __slots__ = ("__weakref__", "_memory", "_sample", "_source")
    _memory: GpuMemory
    _sample: native.Tensor
    _source: str

    def __init__(self, data: Any, layout: str | None = None, device_id: int = -1, stream: Any = None):
        self._source = ""
        if isinstance(data, TensorGPU):
            layout = data.layout() if layout is None else layout
            self._memory, self._source = data._memory, data._source
            self._sample = native.Tensor.from_buffer_copy(data._sample)
        else:
            shared = dlpack.share(data, device_id, stream)
            self._memory = shared.memory
            self._sample = native.Tensor(shared.address, shared.dtype, len(shared.shape))
            self._sample.shape[: len(shared.shape)] = shared.shape
        self.set_layout(layout)

    @classmethod
    def _of(cls, memory: GpuMemory, sample: native.Tensor, source: str = "") -> TensorGPU:
        """The tensor of a descriptor, which belongs to it from then on."""
        tensor = cls.__new__(cls)
        tensor._memory, tensor._sample, tensor._source = memory, sample, source
        return tensor

    @property
    def dtype(self) -> DALIDataType:
        """Type of the elements."""
        return DALIDataType(self._sample.dtype)

    def shape(self) -> list[int]:
        """Extents of the axes, outermost first."""
        return list(self._sample.shape[: self._sample.ndim])

    def ndim(self) -> int:
        """Number of axes."""
        return int(self._sample.ndim)

    def layout(self) -> str:
        """Names of the axes, or ""."""
        return str(self._sample.layout.decode())

    def set_layout(self, layout: str | None) -> None:
        """Names the axes anew; None takes their names away. Raises TensorError if it names more or fewer."""
        self._sample.layout = check_layout(layout, self.ndim()).encode()

    def source_info(self) -> str:
        """Where the data comes from, such as a file's name, or ""."""
        return self._source

    def get_property(self, name: str) -> str | None:
        """The property "layout" or "source_info"; None for all other names."""
        return {"layout": self.layout(), "source_info": self._source}.get(name)

    def device_id(self) -> int:
        """Number of the GPU."""
        return self._memory.device

    def data_ptr(self) -> int:
        """Address of the first element, once the elements are there: waits for the GPU."""
        self._memory.lend()
        self._memory.wait()
        return int(self._sample.data or 0)

    def as_cpu(self) -> TensorCPU:
        """A copy in the CPU's memory. Waits for the GPU."""
        array = np.empty(self.shape(), numpy_type(self.dtype))
        self._memory.download(one(self._sample), array.ctypes.data)
        return TensorCPU._of(array, self.layout(), self._source)

    def squeeze(self, dim: int | None = None) -> bool:
        """Drops axis ``dim``, or all axes, of extent 1; says whether there were any.

        Raises TensorError if there is no axis ``dim``.
        """
        shape, layout = self.shape(), self.layout()
        kept = axes_kept(shape, dim)
        self._sample.ndim = len(kept)
        self._sample.shape[: len(kept)] = [shape[i] for i in kept]
        self._sample.layout = "".join(layout[i] for i in kept if layout).encode()
        return len(kept) < len(shape)

    def reinterpret(self, new_type: int) -> None:
        """Takes the same bytes for elements of another type; TensorError if that has another size."""
        self._sample.dtype = check_reinterpret(self.dtype, new_type)

    def copy_to_external(
        self, ptr: Any, cuda_stream: Any = None, non_blocking: bool = False, use_copy_kernel: bool = False
    ) -> None:
        """Copies the elements to an address on the same GPU (``ctypes.c_void_p`` or an int).

        The copy goes into ``cuda_stream`` (a handle, or a stream object of PyTorch or CuPy; None: the default stream)
        and is waited for, unless ``non_blocking`` says otherwise. ``use_copy_kernel`` has no effect.
        """
        copy_out(self._memory, one(self._sample), ptr, cuda_stream, non_blocking)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The elements for CuPy, Numba and others, in version 3. Waits for the GPU, so that any stream may be used."""
        return {
            "data": (self.data_ptr(), False), "shape": tuple(self.shape()), "strides": None,
            "typestr": numpy_type(self.dtype).str, "version": 3, "stream": None,
        }  # fmt: skip

    def __dlpack__(
        self,
        stream: Any = None,
        *,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of the same memory, or of a copy, or of a copy on the CPU.

        - ``stream``: handle of the CUDA stream that is going to use it, which waits for the elements; the host does
          not. 1 is the legacy default stream, 2 the thread's. None: any stream, the host waits. -1: no wait.
        - ``max_version``: the newest DLPack that the consumer knows; None: one before 1.0.
        - ``dl_device``: None, this GPU, or (1, 0), the CPU.

        Raises BufferError if it is asked for on another device, ArgumentError for the ambiguous stream 0.
        """
        if dl_device is not None and (wanted := (int(dl_device[0]), int(dl_device[1]))) != self.__dlpack_device__():
            if wanted[0] != dlpack.CPU or copy is False:
                raise BufferError(f"data on GPU {self.device_id()} cannot be given to DLPack's device {wanted}")
            return self.as_cpu().__dlpack__(max_version=max_version)
        if stream == 0:
            raise ArgumentError("stream=0 may be one or the other default stream: 1 is the legacy one, 2 the thread's")
        memory, sample = self._memory, self._sample
        if copy:
            memory, address = memory.gather(one(sample))
            sample = native.Tensor.from_buffer_copy(sample)
            sample.data = address
        if stream is None:
            memory.wait()
        elif stream != -1:
            memory.order(stream_handle(stream))
        return dlpack.export(memory, sample, max_version, bool(copy))

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, self.device_id()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        refuse_array(self)

    def _repr_html_(self) -> str:
        from penstock.display import html_of

        return html_of(self)

    def __str__(self) -> str:
        return describe_tensor(self, show_data=True)

    def __repr__(self) -> str:
        return describe_tensor(self, show_data=False)


def one(sample: native.Tensor) -> Any:
    """The descriptor as an array of one."""
    return (native.Tensor * 1)(sample)


def copy_out(memory: GpuMemory, samples: Any, ptr: Any, stream: Any, non_blocking: bool) -> None:
    """Copies samples, one behind the other, to an address on their GPU."""
    address = ptr if isinstance(ptr, int) or ptr is None else ptr.value
    if not address:
        raise ArgumentError("the destination is a null pointer")
    memory.copy_out(samples, address, stream_handle(stream), not non_blocking)


def refuse_array(data: object) -> NoReturn:
    """NumPy would copy behind the user's back."""
    raise DeviceError(f"a {type(data).__name__} is no array of NumPy, which knows no GPUs: as_cpu() copies it")
