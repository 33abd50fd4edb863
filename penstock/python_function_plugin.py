"""What functions on DLPack tensors (`fn.dl_tensor_python_function`) are written with."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.custom.function import stream
from penstock.tensors import TensorCPU
from penstock.tensors.arrays import as_array

__all__ = ["ArrayToDLTensor", "DLTensorToArray", "current_dali_stream"]


def current_dali_stream() -> int | None:
    """The handle of the pipeline's CUDA stream, within a function that it calls on a GPU; None: there is none."""
    return stream()


def DLTensorToArray(dltensor: Any) -> np.ndarray[Any, Any]:  # noqa: N802 (DALI's name)
    """The memory of a DLPack capsule on the CPU as a NumPy array, without a copy; the capsule is used up."""
    return as_array(dltensor)


def ArrayToDLTensor(array: Any) -> Any:  # noqa: N802
    """A DLPack capsule of a dense NumPy array, without a copy.

    >>> DLTensorToArray(ArrayToDLTensor(np.uint8([1, 2]))).tolist()
    [1, 2]
    """
    return TensorCPU(np.asarray(array)).__dlpack__()
