"""From Penstock's tensors to PyTorch's."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.dlpack import from_dlpack

from penstock.plugin.pytorch import feed_ndarray, to_torch_type
from penstock.tensors import TensorGPU

__all__ = ["feed_ndarray", "to_torch_tensor", "to_torch_type"]


def to_torch_tensor(dali_tensor: Any, copy: bool) -> torch.Tensor:
    """A PyTorch tensor of a tensor, or of a list whose tensors have one shape: a copy, or one that shares the memory.

    Errors: TensorError for a list of tensors of several shapes.

    Example:
        >>> from penstock.plugin.pytorch.torch_utils import to_torch_tensor
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return np.uint8([1, 2, 3])
        >>> to_torch_tensor(pipeline().run()[0][1], copy=True).tolist()
        [1, 2, 3]
    """
    tensor = dali_tensor.as_tensor() if hasattr(dali_tensor, "as_tensor") else dali_tensor
    if not copy:
        return from_dlpack(tensor)
    device = torch.device("cuda", tensor.device_id()) if isinstance(tensor, TensorGPU) else torch.device("cpu")
    target = torch.empty(tuple(tensor.shape()), dtype=to_torch_type[tensor.dtype], device=device)
    return feed_ndarray(tensor, target)
