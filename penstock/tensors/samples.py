"""What lists of tensors are on every device: descriptors of the samples, and what follows from these."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.errors import TensorError, TensorIndexError
from penstock.machine import native
from penstock.tensors.arrays import DESCRIPTOR, Array, check_layout, numpy_type
from penstock.types import NO_TYPE, DALIDataType, to_dali_type

_UNKNOWN = native.Tensor(dtype=NO_TYPE)


class Samples:
    """One descriptor per sample; the owner keeps what they point to.

    ``_none`` is what the samples of an empty list would be: a descriptor without data.
    """

    __slots__ = ("__weakref__", "_flags", "_none", "_owner", "_samples")
    _flags: int
    _none: native.Tensor
    _owner: object
    _samples: Any

    def _show(self, owner: object, samples: Any, flags: int | None = None, none: native.Tensor = _UNKNOWN) -> None:
        self._owner, self._samples, self._none = owner, samples, none
        self._flags = flags_of(samples) if flags is None else flags

    def _show_some(self, other: Samples, indices: range) -> None:
        samples = (native.Tensor * len(indices))()
        if len(indices):
            rows_of(samples)[:] = rows_of(other._samples)[np.arange(indices.start, indices.stop, indices.step)]
        # Descriptors hold the names of the sources.
        self._show((other._owner, other._samples), samples, none=_UNKNOWN if len(indices) else other._like())

    def _one(self) -> native.Tensor:
        """A sample: the first one, or what the samples of an empty list would be."""
        return self._samples[0] if len(self._samples) else self._none

    def _facts(self) -> tuple[DALIDataType, int, str]:
        """Type, number of axes and layout."""
        one = self._one()
        return DALIDataType(one.dtype), one.ndim, one.layout.decode()

    def _like(self) -> native.Tensor:
        """What the samples of an empty list of the same kind would be."""
        one = self._one()
        none = native.Tensor(dtype=one.dtype, ndim=one.ndim, layout=one.layout)
        none.shape[: one.ndim] = one.shape[: one.ndim]
        return none

    def _rows(self) -> Array:
        return rows_of(self._samples)

    def _index(self, i: int) -> int:
        n = len(self._samples)
        if not -n <= i < n:
            raise TensorIndexError(f"there is no sample {i}: the batch has {n}")
        return i % n

    def _source(self, i: int) -> str:
        return str((self._samples[i].source or b"").decode(errors="surrogateescape"))

    def _volume(self) -> int:
        if self._flags & native.UNIFORM:
            one = self._one()
            return len(self._samples) * int(math.prod(one.shape[: one.ndim]))
        return int(self._rows()["shape"][:, : self.ndim()].prod(1).sum())

    def _check_uniform(self) -> None:
        if not self.is_dense_tensor():
            shapes = self.shape()
            other = next(i for i, shape in enumerate(shapes) if shape != shapes[0])
            raise TensorError(
                f"the samples have different shapes, so they make no one array: sample 0 has {shapes[0]}, "
                f"sample {other} has {shapes[other]}"
            )

    def _check_volume(self, shape: tuple[int, ...]) -> None:
        volume = self._volume()
        if any(d < 0 for d in shape) or np.prod(shape, dtype=np.int64) != volume:
            raise TensorError(f"the batch has {volume} elements, which do not make the shape {shape}")

    @property
    def dtype(self) -> DALIDataType:
        """Type of the elements; NO_TYPE of an empty list that was not made of an array."""
        return DALIDataType(self._one().dtype)

    def shape(self) -> list[tuple[int, ...]]:
        """Shapes of the samples."""
        n = len(self._samples)
        if n and self._flags & native.UNIFORM:
            return [tuple(self._samples[0].shape[: self.ndim()])] * n
        return [tuple(row) for row in self._rows()["shape"][:, : self.ndim()].tolist()]

    def ndim(self) -> int:
        """Number of axes of one sample; 0 of an empty list that was not made of an array."""
        return int(self._one().ndim)

    def layout(self) -> str:
        """Names of the axes of one sample, or ""."""
        return str(self._one().layout.decode())

    def set_layout(self, layout: str | None) -> None:
        """Names the axes anew; None takes their names away. Raises TensorError if it names more or fewer."""
        if self.dtype is NO_TYPE:
            return
        axes = check_layout(layout, self.ndim()).encode()
        if len(self._samples):
            self._rows()["layout"] = axes
        else:
            self._none = self._like()  # it may be another list's, too
            self._none.layout = axes

    def source_info(self) -> list[str]:
        """Per sample: where it comes from, such as a file's name, or ""."""
        return [self._source(i) for i in range(len(self._samples))]

    def is_dense_tensor(self) -> bool:
        """Whether all samples have one shape, so that `as_tensor` works."""
        return bool(self._flags & native.UNIFORM)

    def reinterpret(self, new_type: int) -> None:
        """Takes the same bytes for elements of another type; TensorError if that has another size."""
        if self.dtype is NO_TYPE:
            return
        dtype = check_reinterpret(self.dtype, new_type)
        if len(self._samples):
            self._rows()["dtype"] = dtype
        else:
            self._none = self._like()
            self._none.dtype = dtype

    def _repr_html_(self) -> str:
        from penstock.display import html_of

        return html_of(self)

    def __len__(self) -> int:
        return len(self._samples)


def check_reinterpret(old: DALIDataType, new_type: int) -> DALIDataType:
    """The new type, if its elements have the old one's size; else TensorError."""
    new = to_dali_type(new_type)
    if numpy_type(new).itemsize != numpy_type(old).itemsize:
        raise TensorError(f"{old} cannot be taken for {new}, which has another size")
    return new


def common(of_samples: list[tuple[DALIDataType, tuple[int, ...], str]]) -> str:
    """The one layout of samples with these types, shapes and layouts.

    TypeError if they differ in type, TensorError if in their number of axes or in layout.
    """
    for i, (dtype, shape, _) in enumerate(of_samples):
        if dtype != of_samples[0][0]:
            raise TypeError(f"sample {i} is {dtype}, but sample 0 is {of_samples[0][0]}")
        if len(shape) != len(of_samples[0][1]):
            raise TensorError(f"sample {i} has the shape {shape}, but sample 0 {of_samples[0][1]}")
    layouts = sorted({layout for _, _, layout in of_samples if layout})
    if len(layouts) > 1:
        raise TensorError(f"the samples have different layouts: {', '.join(layouts)}")
    return layouts[0] if layouts else ""


def rows_of(samples: Any) -> Array:
    """Descriptors as NumPy sees them, to be read and written."""
    return np.frombuffer(samples, DESCRIPTOR) if len(samples) else np.empty(0, DESCRIPTOR)


def flags_of(samples: Any) -> int:
    """Whether samples lie one behind the other, and whether they have one shape: flags of ``native``."""
    if not len(samples):
        return native.CONTIGUOUS | native.UNIFORM
    rows = rows_of(samples)
    shapes, data = rows["shape"][:, : samples[0].ndim], rows["data"]
    uniform = (shapes == shapes[0]).all()
    volumes = shapes[0].prod() if uniform else shapes[:-1].prod(1)
    sizes = volumes.astype(np.uintp) * np.uintp(numpy_type(samples[0].dtype).itemsize)
    contiguous = (data[1:] == data[:-1] + sizes).all()
    return (native.UNIFORM if uniform else 0) | (native.CONTIGUOUS if contiguous else 0)
