"""Pictures read at any positions, by NumPy: the reference of warp_perspective and remap."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import types
from tests.cases import Array

_MODES = {"replicate": "edge", "reflect": "symmetric", "reflect_101": "reflect", "wrap": "wrap"}


def _places(n: int, at: Array, border: str) -> Array:
    """Indices of n elements; -1 beyond the border."""
    if border == "constant":
        return np.where((at >= 0) & (at < n), at, -1)
    reach = max(int(np.abs(at).max(initial=0)) + 1, n)
    return np.asarray(np.pad(np.arange(n), (reach, reach), _MODES[border])[at + reach])  # type: ignore[call-overload]


def _cubic(t: Array) -> list[Array]:
    def weight(d: Array) -> Array:
        a = -0.75
        near, far = (a + 2) * d**3 - (a + 3) * d**2 + 1, a * (d**3 - 5 * d**2 + 8 * d - 4)
        return np.where(d <= 1, near, far)

    return [weight(np.abs(t - k)) for k in (-1, 0, 1, 2)]


def _lanczos(t: Array) -> list[Array]:
    """Weights of six pixels, which are 1 together."""
    weights = np.stack([np.sinc(t - k) * np.sinc((t - k) / 3) for k in range(-2, 4)])
    return list(weights / weights.sum(0))


def sampled(
    x: Array, xs: Array, ys: Array, interp: types.DALIInterpType, border: str = "constant", fill: Any = 0
) -> Array:
    """The HWC picture at these positions, pixel (0, 0) at (0, 0)."""
    limit = 4.0 * max(x.shape)
    xs, ys = (np.clip(v.astype(np.float64), -limit, limit) for v in (xs, ys))
    if interp == types.INTERP_NN:
        left, top = np.rint(xs).astype(int), np.rint(ys).astype(int)
        across = down = [np.ones_like(xs)]
        first = 0
    else:
        left, top = np.floor(xs).astype(int), np.floor(ys).astype(int)
        parts = xs - left, ys - top
        if interp == types.INTERP_LINEAR:
            (across, down), first = ([1 - t, t] for t in parts), 0
        elif interp == types.INTERP_CUBIC:
            (across, down), first = (_cubic(t) for t in parts), -1
        else:
            (across, down), first = (_lanczos(t) for t in parts), -2
    total: Any = 0.0
    for j, wy in enumerate(down):
        for i, wx in enumerate(across):
            row, column = (
                _places(n, at, border) for n, at in ((x.shape[0], top + first + j), (x.shape[1], left + first + i))
            )
            inside = (row >= 0) & (column >= 0)
            pixel = np.where(inside[..., None], x[np.maximum(row, 0), np.maximum(column, 0)].astype(np.float64), fill)
            total = total + (wx * wy)[..., None] * pixel
    if x.dtype.kind == "f":
        return np.asarray(total).astype(x.dtype)
    return np.clip(np.rint(total), np.iinfo(x.dtype).min, np.iinfo(x.dtype).max).astype(x.dtype)


def by_planes(x: Array, layout: str, make: Any) -> Array:
    """make(HWC picture, frame) of each frame, put together again."""
    if layout[0] == "F":
        return np.stack([by_planes(frame, layout[1:], lambda v, _, k=k: make(v, k)) for k, frame in enumerate(x)])
    if layout == "CHW":
        return np.moveaxis(make(np.moveaxis(x, 0, -1), 0), -1, 0)
    return make(x[..., None], 0)[..., 0] if layout == "HW" else make(x, 0)
