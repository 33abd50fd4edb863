"""Batches of PyTorch's and CuPy's tensors on a GPU, taken as they are.

DLPack's way, tensor by tensor, takes ten times as long, which counts for batches of hundreds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.tensors.arrays import DESCRIPTOR, Array
from penstock.types import to_dali_type

# Of one tensor: its address, shape, type, whether it is dense and on a GPU, and the GPU's number.
_Facts = tuple[int, tuple[int, ...], Any, bool, int]


def _torch(tensor: Any) -> _Facts:
    dense = tensor.is_cuda and tensor.is_contiguous() and not tensor.requires_grad
    return tensor.data_ptr(), tuple(tensor.shape), tensor.dtype, dense, tensor.get_device()


def _cupy(array: Any) -> _Facts:
    return array.data.ptr, array.shape, array.dtype, array.flags.c_contiguous, array.device.id


def _torch_stream(device: int) -> int:
    return int(sys.modules["torch"].cuda.current_stream(device).cuda_stream)


def _cupy_stream(device: int) -> int:
    return int(sys.modules["cupy"].cuda.get_current_stream().ptr)


_FRAMEWORKS: dict[str, tuple[Callable[[Any], _Facts], Callable[[int], int]]] = {
    "torch": (_torch, _torch_stream),
    "cupy": (_cupy, _cupy_stream),
}


def current_stream(array: Any) -> int | None:
    """The handle of the stream in which the array's framework works now; None: it is of no framework known here."""
    framework = _FRAMEWORKS.get(type(array).__module__.partition(".")[0])
    if framework is None:
        return None
    facts, stream = framework
    return stream(facts(array)[-1])


def descriptors(tensors: Sequence[Any]) -> tuple[Array, int, int] | None:
    """Rows of descriptors, the GPU's number, and the stream that the framework works in now.

    None where the tensors are not all of one framework, type and GPU, and dense: then DLPack tells what is wrong.
    """
    kinds = {type(t) for t in tensors}
    framework = _FRAMEWORKS.get(kinds.pop().__module__.partition(".")[0]) if len(kinds) == 1 else None
    if framework is None:
        return None
    facts, stream = framework
    addresses, shapes, dtypes, dense, devices = zip(*map(facts, tensors), strict=True)
    if not all(dense) or len(set(dtypes)) > 1 or len(set(devices)) > 1 or len(set(map(len, shapes))) > 1:
        return None
    try:
        dtype = to_dali_type(np.dtype(str(dtypes[0]).removeprefix("torch.")))
    except TypeError:
        return None
    rows = np.zeros(len(tensors), DESCRIPTOR)
    rows["data"], rows["dtype"], rows["ndim"] = addresses, int(dtype), len(shapes[0])
    rows["shape"][:, : len(shapes[0])] = shapes
    return rows, devices[0], stream(devices[0])
