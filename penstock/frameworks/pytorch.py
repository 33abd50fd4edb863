"""PyTorch as the library sees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock.frameworks.backend import Backend, Facts


class PyTorch(Backend):
    """Tensors by DLPack, on CPUs and GPUs."""

    name = "PyTorch"
    module = distribution = "torch"
    plugin = "penstock.plugin.pytorch"
    extra = "torch"
    has_sparse = True

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

    def sparse(self, arrays: Sequence[Any]) -> Any:
        import torch

        first = arrays[0]
        sizes = [max(array.shape[axis] for array in arrays) for axis in range(first.ndim)]
        within = [torch.ones(a.shape, dtype=torch.bool, device=a.device).nonzero() for a in arrays]
        number = [torch.full((len(w), 1), i, device=w.device) for i, w in enumerate(within)]
        places = torch.cat([torch.cat(pair, 1) for pair in zip(number, within, strict=True)]).T
        values = torch.cat([a.reshape(-1) for a in arrays])
        return torch.sparse_coo_tensor(places, values, (len(arrays), *sizes), check_invariants=False)

    def channels_first(self, array: Any) -> Any:
        return array.movedim(-1, 1)

    def empty(self, like: Any, device: int) -> Any:
        import torch

        where = f"cuda:{device}" if like.is_cuda else "cpu"
        if like.is_sparse:
            nowhere = torch.empty((like.ndim, 0), dtype=torch.int64, device=where)
            nothing = torch.empty(0, dtype=like.dtype, device=where)
            return torch.sparse_coo_tensor(nowhere, nothing, (0, *like.shape[1:]), check_invariants=False)
        return torch.empty_like(like[:0], device=where)
