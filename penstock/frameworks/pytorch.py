"""PyTorch as the library sees it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.frameworks.backend import Backend, Facts


class PyTorch(Backend):
    """Tensors by DLPack, on CPUs and GPUs."""

    name = "PyTorch"
    module = distribution = "torch"
    plugin = "penstock.plugin.pytorch"
    extra = "torch"

    def facts(self, array: Any) -> Facts:
        dense = array.is_cuda and array.is_contiguous() and not array.requires_grad
        return Facts(array.data_ptr(), tuple(array.shape), array.dtype, dense, array.get_device())

    def dense(self, array: Any) -> Any:
        return array.contiguous()

    def stream(self, device: int) -> int | None:
        import torch

        return int(torch.cuda.current_stream(device).cuda_stream) if torch.cuda.is_available() else None

    @contextmanager
    def working_in(self, device: int, stream: int) -> Iterator[None]:
        """What it does in this block goes into a CUDA stream, given by its handle."""
        import torch

        with torch.cuda.stream(torch.cuda.ExternalStream(stream, device)):
            yield

    def stream_handle(self, stream: Any) -> Any:
        return stream.cuda_stream

    def array(self, tensor: Any) -> Any:
        from torch.utils.dlpack import from_dlpack

        return from_dlpack(tensor)

    def channels_first(self, array: Any) -> Any:
        return array.movedim(-1, 1)

    def empty(self, like: Any, device: int) -> Any:
        import torch

        return torch.empty_like(like[:0], device=f"cuda:{device}" if like.is_cuda else "cpu")
