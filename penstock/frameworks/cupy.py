"""CuPy as the library sees it."""

from __future__ import annotations

from typing import Any

from penstock.frameworks.backend import Backend, Facts


class CuPy(Backend):
    """Arrays on GPUs. There are no iterators: outputs have ``__cuda_array_interface__``, which CuPy takes."""

    name = "CuPy"
    module = distribution = "cupy"

    def facts(self, array: Any) -> Facts:
        return Facts(array.data.ptr, array.shape, array.dtype, array.flags.c_contiguous, array.device.id)

    def stream(self, device: int) -> int | None:
        import cupy

        return int(cupy.cuda.get_current_stream().ptr)

    def stream_handle(self, stream: Any) -> Any:
        return stream.ptr
