"""CuPy as the library sees it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.frameworks.backend import Backend, Facts


class CuPy(Backend):
    """Arrays on GPUs. There are no iterators: outputs have ``__cuda_array_interface__``, which CuPy takes."""

    name = "CuPy"
    module = distribution = "cupy"

    def facts(self, array: Any) -> Facts:
        return Facts(array.data.ptr, array.shape, array.dtype, array.flags.c_contiguous, array.device.id)

    def dense(self, array: Any) -> Any:
        import cupy

        return cupy.ascontiguousarray(array)

    def array(self, tensor: Any) -> Any:
        import cupy

        return cupy.from_dlpack(tensor)

    @contextmanager
    def working_in(self, device: int, stream: int) -> Iterator[None]:
        """What it does in this block goes into a CUDA stream, given by its handle."""
        import cupy

        with cupy.cuda.Device(device), cupy.cuda.ExternalStream(stream, device):
            yield

    def stream(self, device: int) -> int | None:
        import cupy

        return int(cupy.cuda.get_current_stream().ptr)

    def stream_handle(self, stream: Any) -> Any:
        return stream.ptr
