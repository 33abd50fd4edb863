"""`Tensor`: one array, on the CPU or a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.experimental.dynamic._lazy import Lazy
from penstock.tensors import TensorCPU, TensorGPU


class Tensor(Lazy):
    """One array: what `tensor` and `as_tensor` make, and operators that were given no batch.

    Arithmetic, comparisons and slicing work as on nodes of a pipeline, on what is there now: with numbers, arrays,
    other tensors and batches. It has a truth value if it has one element, NumPy and DLPack see its memory, and it can
    be printed.

    >>> import penstock.experimental.dynamic as ndd
    >>> x = ndd.tensor([[1, 2], [3, 4]])
    >>> (x * 2)[1, 0].item(), x.shape, x.dtype, np.asarray(x[:, 1])
    (6, (2, 2), DType(i32), array([2, 4], dtype=int32))
    """

    def _array(self) -> TensorCPU | TensorGPU:
        return self._value()[0]

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents. Computes it."""
        return self._value().shape()[0]

    @property
    def size(self) -> int:
        """The number of its elements. Computes it."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        """Bytes of an element. Computes it."""
        return self.dtype.bytes

    @property
    def nbytes(self) -> int:
        """Bytes of all elements. Computes it."""
        return self.size * self.itemsize

    def item(self) -> Any:
        """Its one element as a number of Python's. ValueError where there are others."""
        return np.asarray(self).item()

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __index__(self) -> int:
        return np.asarray(self).item().__index__()  # type: ignore[no-any-return]

    def __getitem__(self, key: Any) -> Tensor:
        """A part, as of a node of a pipeline: indices and ranges, `...`, and tensors of whole numbers."""
        from penstock.experimental.dynamic._call import subscript

        return subscript(self, key)  # type: ignore[no-any-return]

    def __iter__(self) -> Any:
        if not self.shape:
            raise TypeError("a tensor without axes cannot be iterated over")
        return (self[k] for k in range(self.shape[0]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.cpu()._array().__array__(dtype, copy)

    def __dlpack__(self, **options: Any) -> Any:
        return self._array().__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array().__dlpack_device__()

    @property
    def __cuda_array_interface__(self) -> Any:
        return self._array().__cuda_array_interface__  # type: ignore[union-attr]

    def torch(self, copy: bool = False) -> Any:
        """As a tensor of PyTorch's: of the same memory, or a copy."""
        import torch.utils.dlpack

        array = torch.utils.dlpack.from_dlpack(self._array())
        return array.clone() if copy else array

    def __repr__(self) -> str:
        return _shown("Tensor", np.asarray(self), self.dtype, self.device, self.layout)


def _shown(kind: str, array: Any, dtype: Any, device: Any, layout: str | None) -> str:
    text = np.array2string(array, prefix=f"{kind}(")
    named = f", layout={layout!r}" if layout else ""
    return f"{kind}({text}, dtype={dtype}, device='{device}', shape={tuple(array.shape)}{named})"
