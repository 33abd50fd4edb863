"""`Batch`: arrays of one type and number of axes, each with its own shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from penstock.eager.compute import select
from penstock.experimental.dynamic._lazy import Lazy
from penstock.experimental.dynamic._tensor import Tensor


class Batch(Lazy):
    """Samples of one type and number of axes: what `batch` and `as_batch` make, readers, and operators given batches.

    Arithmetic works sample by sample; of a `Tensor` beside a batch each sample gets the same. ``batch.slice[...]``
    takes a part of each sample, `select` some of the samples, and ``for sample in batch`` goes over them.

    >>> import penstock.experimental.dynamic as ndd
    >>> x = ndd.batch([np.arange(3), np.arange(2)])
    >>> x.batch_size, x.shape, [np.asarray(sample).tolist() for sample in x.slice[1:] + 1]
    (2, [(3,), (2,)], [[2, 3], [2]])
    """

    @property
    def batch_size(self) -> int:
        """The number of samples."""
        return self._count

    @property
    def shape(self) -> list[tuple[int, ...]]:
        """The samples' extents. Computes it."""
        return self._value().shape()

    @property
    def tensors(self) -> TensorsOf:
        """The samples, as a sequence of tensors."""
        return TensorsOf(self)

    def select(self, samples: int | slice | Sequence[int]) -> Any:
        """A sample, by its number, as a `Tensor`; or a batch of those of a range or a list, of the same memory."""
        value: Any = self._value()
        if isinstance(samples, slice):
            return Batch._known(value[samples])
        if isinstance(samples, Sequence):
            return Batch._known(select(value, [int(k) for k in samples]))
        return Tensor._known(select(value, [range(self._count)[samples]]))

    def __iter__(self) -> Iterator[Tensor]:
        return (self.select(k) for k in range(self._count))

    @staticmethod
    def broadcast(sample: Any, batch_size: int, device: Any = None, dtype: Any = None) -> Batch:
        """A batch that has the same sample so many times; its memory is there once."""
        from penstock.experimental.dynamic._make import as_tensor

        value = as_tensor(sample, dtype=dtype, device=device)._value()
        return Batch._known(select(value, [0] * batch_size))  # type: ignore[no-any-return]

    def torch(self, copy: bool | None = None, pad: bool = False) -> Any:
        """As one tensor of PyTorch's, the samples along its first axis; ``pad``: see `as_tensor`."""
        from penstock.experimental.dynamic._make import as_tensor

        return as_tensor(self, pad=pad).torch(copy=bool(copy))

    def __repr__(self) -> str:
        shown = ",\n      ".join(np.array2string(np.asarray(sample), prefix="      ") for sample in self)
        named = f", layout={self.layout!r}" if self._count and self.layout else ""
        return f"Batch([{shown}], dtype={self.dtype}, device='{self.device}', batch_size={self._count}{named})"

    @property
    def slice(self) -> Slicer:
        """``batch.slice[key]``: that part of each sample, see `Tensor`; what is in the key may be a batch, too."""
        return Slicer(self)


class TensorsOf(Sequence[Any]):
    """The samples of a batch."""

    def __init__(self, batch: Batch):
        self._batch = batch

    def __len__(self) -> int:
        return self._batch.batch_size

    def __getitem__(self, samples: Any) -> Any:
        found = self._batch.select(samples)
        return found.tensors if isinstance(found, Batch) else found

    def select(self, samples: Any) -> Any:
        """As ``[samples]``."""
        return self[samples]

    def tolist(self) -> list[Tensor]:
        """All of them."""
        return list(self)

    def as_batch(self) -> Batch:
        """The batch of these samples."""
        return self._batch


class Slicer:
    """What `Batch.slice` gives."""

    def __init__(self, batch: Batch):
        self._batch = batch

    def __getitem__(self, key: Any) -> Batch:
        from penstock.experimental.dynamic._call import subscript

        return subscript(self._batch, key)  # type: ignore[no-any-return]
