"""Pixels moved one by one, by NumPy: the reference of sphere, water and others."""

from __future__ import annotations

import numpy as np

from penstock import types
from tests.augment.fills import cast_like_c
from tests.augment.pixels import rounded
from tests.cases import Array


def moved(x: Array, xs: Array, ys: Array, interp_type: types.DALIInterpType, fill_value: float) -> Array:
    """The HWC picture at these positions, whose first pixel reaches from 0 to 1."""
    height, width = x.shape[:2]
    fill = cast_like_c(fill_value, x.dtype)

    def pixels(column: Array, row: Array) -> Array:
        inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
        found = x[np.where(inside, row, 0), np.where(inside, column, 0)]
        return np.where(inside[..., None], found, fill)

    with np.errstate(invalid="ignore"):
        if interp_type == types.INTERP_NN:
            return pixels(*(np.nan_to_num(np.floor(v), nan=-1e6).astype(np.int64) for v in (xs, ys)))
        left, top = (np.nan_to_num(np.floor(v - np.float32(0.5)), nan=-1e6) for v in (xs, ys))
        part_x, part_y = (np.nan_to_num((v - np.float32(0.5)) - f)[..., None] for v, f in ((xs, left), (ys, top)))
    left, top = left.astype(np.int64), top.astype(np.int64)
    taps = [[pixels(left + i, top + k).astype(np.float64) for i in (0, 1)] for k in (0, 1)]
    rows = [a * (1 - part_x) + b * part_x for a, b in taps]
    return rounded(rows[0] * (1 - part_y) + rows[1] * part_y, x.dtype)
