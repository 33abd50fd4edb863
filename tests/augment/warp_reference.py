"""Affine warps by plain NumPy, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock import types
from tests.cases import Apart, Array

# Positions on a GPU are not summed up along rows.
ON_GPU = Apart(off_by=1, share=0.02, tolerance=0.02)
NOISE_ON_GPU = Apart(off_by=8, share=0.5, tolerance=8)  # of neighbours tens of thousands apart
NEAREST_ON_GPU = Apart(off_by=1 << 32, share=0.001, tolerance=1e9)


def space_of(layout: str) -> list[int]:
    return [i for i, axis in enumerate(layout) if axis in "DHW"]


def rounded(values: Array, dtype: np.dtype[Any]) -> Array:
    """Halves away from zero; what does not fit saturates."""
    if dtype.kind == "f":
        return values.astype(dtype)
    info = np.iinfo(dtype)
    return np.clip(np.trunc(values + np.copysign(0.5, values)), info.min, info.max).astype(dtype)


def sample(picture: Array, position: Array, nearest: bool, fill: float | None, dtype: Any) -> Array:
    """The picture (space first, then channels) at positions, whose last axis is in the order of the picture's axes."""
    n = position.shape[-1]
    stored = None if fill is None else rounded(np.array(fill), np.dtype(dtype))
    if stored is not None and not nearest:
        stored = rounded(stored.astype(float), picture.dtype)

    def at(index: Array) -> Array:
        inside = np.ones(index.shape[:-1], bool)
        clamped = []
        for k in range(n):
            inside &= (index[..., k] >= 0) & (index[..., k] < picture.shape[k])
            clamped.append(np.clip(index[..., k], 0, picture.shape[k] - 1))
        values = picture[tuple(clamped)].astype(np.float64)
        return values if stored is None else np.where(inside[..., None], values, float(stored))

    if nearest:
        return rounded(at(np.floor(position).astype(int)), np.dtype(dtype))
    low = np.floor(position - 0.5)
    part = position - 0.5 - low
    total = np.zeros((*position.shape[:-1], picture.shape[-1]))
    for corner in np.ndindex(*[2] * n):
        weight = np.prod([part[..., k] if corner[k] else 1 - part[..., k] for k in range(n)], axis=0)
        total += weight[..., None] * at((low + corner).astype(int))
    return rounded(total, np.dtype(dtype))


def warped(
    picture: Array,
    matrix: Array,
    shape: tuple[int, ...],
    interp_type: Any = types.INTERP_LINEAR,
    fill_value: float | None = None,
    dtype: Any = None,
    output_dtype: Any = None,
    **_: Any,
) -> Array:
    """One picture or volume. The matrix (rows x, y, z) goes from the output to the input."""
    dtype = dtype if dtype is not None else output_dtype
    target = picture.dtype if dtype is None else np.dtype(types.to_numpy_type(dtype))
    grid = np.stack(np.meshgrid(*[np.arange(s) + 0.5 for s in shape], indexing="ij"), -1)[..., ::-1]
    position = (grid @ matrix[:, :-1].T + matrix[:, -1])[..., ::-1]
    return sample(picture, position, int(interp_type) == 0, fill_value, target)


def by_frame(layout: str, one: Callable[[Array, int], Array], x: Array) -> Array:
    return np.stack([one(frame, i) for i, frame in enumerate(x)]) if layout[0] == "F" else one(x, 0)
