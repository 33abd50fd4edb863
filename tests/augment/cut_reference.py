"""What crop, slice and crop_mirror_normalize cut out, by NumPy alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock import types
from tests.cases import Array

_PAD_MODES = {
    "edge": "edge",
    "clamp": "edge",
    "reflect": "symmetric",
    "reflect_1001": "symmetric",
    "reflect_101": "reflect",
    "wrap": "wrap",
}


def round_away(v: float) -> int:
    """To the nearest whole number, halves away from zero."""
    return int(np.sign(v) * np.floor(abs(v) + 0.5))


def crop_window(
    shape: Sequence[int],
    layout: str,
    crop: Any = None,
    crop_w: float = 0,
    crop_h: float = 0,
    crop_d: float = 0,
    crop_pos_x: float = 0.5,
    crop_pos_y: float = 0.5,
    crop_pos_z: float = 0.5,
    rounding: str = "round",
) -> tuple[list[int], list[int]]:
    """Anchor and shape."""
    sizes = {"W": crop_w, "H": crop_h, "D": crop_d}
    if crop is not None:
        sizes = dict(zip("WHD", list(reversed(np.ravel(crop))), strict=False))
    places = {"W": crop_pos_x, "H": crop_pos_y, "D": crop_pos_z}
    if "D" not in layout:
        sizes["F"], places["F"] = sizes.get("D", 0), crop_pos_z
    anchor, extent = [0] * len(shape), list(shape)
    for axis, name in enumerate(layout):
        size = int(sizes.get(name, 0))
        if size > 0:
            start = float(np.float32(places[name])) * (shape[axis] - size)
            anchor[axis] = int(start) if rounding == "truncate" else round_away(start)
            extent[axis] = size
    return anchor, extent


def cut(
    x: Array,
    anchor: Sequence[int],
    shape: Sequence[int],
    layout: str,
    policy: str = "error",
    fill_values: Any = 0,
) -> Array:
    """That part of x."""
    ends = [a + s for a, s in zip(anchor, shape, strict=True)]
    if policy == "trim_to_shape":
        return x[
            tuple(slice(min(max(a, 0), n), min(max(e, 0), n)) for a, e, n in zip(anchor, ends, x.shape, strict=True))
        ]
    before = [max(0, -a) for a in anchor]
    after = [max(0, e - n) for e, n in zip(ends, x.shape, strict=True)]
    place = tuple(slice(a + b, e + b) for a, e, b in zip(anchor, ends, before, strict=True))
    widths = list(zip(before, after, strict=True))
    if policy in _PAD_MODES:
        return np.pad(x, widths, _PAD_MODES[policy])[place]  # type: ignore[call-overload]
    padded = np.pad(x, widths)[place]
    filled = np.pad(np.zeros(x.shape, bool), widths, constant_values=True)[place]
    axis = layout.index("C") if "C" in layout else x.ndim - 1
    fills = np.trunc(np.ravel(fill_values)).astype(x.dtype) if x.dtype.kind in "iu" else np.ravel(fill_values)
    values = np.moveaxis(np.broadcast_to(fills, (*np.delete(padded.shape, axis), padded.shape[axis])), -1, axis)
    return np.where(filled, values, padded).astype(x.dtype)


def truncated(x: Array, dtype: types.DALIDataType | None) -> Array:
    """As that type: fractions are cut off, and what does not fit saturates, floats too."""
    if dtype is None:
        return x
    target = np.dtype(types.to_numpy_type(dtype))
    if target.kind == "b":
        return x != 0
    limits = np.iinfo(target) if target.kind in "iu" else np.finfo(target)
    wide = np.clip(x.astype(np.float64), float(limits.min), float(limits.max))
    return (np.trunc(np.nan_to_num(wide)) if target.kind in "iu" else wide).astype(target)
