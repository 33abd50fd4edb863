"""What `penstock.backend` has, and `types`, by the name of the module that scripts for DALI import tensors from."""

from __future__ import annotations

from penstock import types
from penstock.backend import (
    PreallocateDeviceMemory,
    PreallocatePinnedMemory,
    ReleaseUnusedMemory,
    TensorCPU,
    TensorGPU,
    TensorListCPU,
    TensorListGPU,
)

__all__ = [
    "PreallocateDeviceMemory",
    "PreallocatePinnedMemory",
    "ReleaseUnusedMemory",
    "TensorCPU",
    "TensorGPU",
    "TensorListCPU",
    "TensorListGPU",
    "types",
]
