"""Resampling by NumPy alone, in double precision: weights of each axis as a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock import types
from tests.cases import Apart, Array, Samples, samples

# Where the CPU sums rows up in whole numbers the GPU has floats, so a value may be rounded the other way.
FROM_DALI = Apart(1, 0.004, 5e-6, why="sums are formed in another order, and halves are rounded to even ones")
ON_GPU = Apart(off_by=1, share=0.01, tolerance=1e-6)


def _cubic(x: Array) -> Array:
    x = np.abs(x)
    near, far = 1.5 * x**3 - 2.5 * x**2 + 1, -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _lanczos(x: Array) -> Array:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


# radius, and the points between which the filter is linear
_FILTERS = {
    types.INTERP_LINEAR: (1, 2, lambda x: 1 - np.abs(x)),
    types.INTERP_TRIANGULAR: (1, 2, lambda x: 1 - np.abs(x)),
    types.INTERP_CUBIC: (2, 128, _cubic),
    types.INTERP_LANCZOS3: (3, 192, _lanczos),
    types.INTERP_GAUSSIAN: (1, 64, lambda x: np.exp(-4 * x**2)),
}


def weights(n: int, m: int, lo: float, hi: float, kind: int, antialias: bool = True) -> Array:
    """The matrix that makes m samples of lo..hi in n samples."""
    scale = (hi - lo) / m
    centres = lo + (np.arange(m) + 0.5) * scale - 0.5
    matrix = np.zeros((m, n))
    if kind == types.INTERP_NN:
        matrix[np.arange(m), np.clip(np.floor(centres + 0.5).astype(int), 0, n - 1)] = 1
        return matrix
    radius, steps, curve = _FILTERS[types.DALIInterpType(kind)]
    stretch = max(1.0, abs(scale)) if antialias else 1.0
    points = np.linspace(-radius, radius, steps + 1)
    for i, centre in enumerate(centres):
        first = int(np.ceil(centre - radius * stretch))
        taps = np.arange(first, first + int(np.ceil(2 * radius * stretch)))
        # a tap beyond the end counts where the filter, cut off above zero, is continued down to it
        padded = np.concatenate([[-radius - 2 * radius / steps], points, [radius + 2 * radius / steps]])
        values = np.interp((taps - centre) / stretch, padded, np.concatenate([[0], curve(points), [0]]))
        np.add.at(matrix[i], np.clip(taps, 0, n - 1), values / values.sum())
    return matrix


def extents(
    shape: Sequence[int],
    *,
    size: Any = None,
    resize_x: float = 0,
    resize_y: float = 0,
    resize_z: float = 0,
    resize_shorter: float = 0,
    resize_longer: float = 0,
    mode: str = "default",
    max_size: Any = None,
    subpixel_scale: bool = True,
    roi_start: Any = None,
    roi_end: Any = None,
    roi_relative: bool = False,
) -> tuple[list[int], list[float], list[float]]:
    """Extents of the output, and begin and end of the region of the input, of each axis of space."""
    n = len(shape)
    if size is not None:
        wanted = np.broadcast_to(np.asarray(size, float), n)
    elif resize_shorter or resize_longer:
        wanted = np.full(n, resize_shorter or resize_longer, float)
        mode = "not_smaller" if resize_shorter else "not_larger"
    else:
        wanted = np.array([resize_z, resize_y, resize_x][3 - n :], float)
    unit = np.array(shape, float) if roi_relative else np.ones(n)
    lo = np.zeros(n) if roi_start is None else np.broadcast_to(roi_start, n) * unit
    hi = np.array(shape, float) if roi_end is None else np.broadcast_to(roi_end, n) * unit
    lo, hi = np.where(wanted < 0, hi, lo), np.where(wanted < 0, lo, hi)
    wanted, extent = np.abs(wanted), np.abs(hi - lo)
    most = np.inf if max_size is None or not wanted.any() else np.broadcast_to(np.asarray(max_size, float), n)
    scales = (wanted / extent)[wanted > 0]
    if mode in ("not_larger", "not_smaller"):
        scale = (scales.min() if mode == "not_larger" else scales.max()) if len(scales) else 1.0
        sizes = extent * min(scale, np.min(most / extent))
    else:
        other = 1.0 if mode == "stretch" or not len(scales) else np.exp(np.log(scales).mean())
        missing = wanted == 0
        sizes = np.minimum(np.where(missing, extent * other, wanted), most)
        lo, hi = np.where(missing, np.minimum(lo, hi), lo), np.where(missing, np.maximum(lo, hi), hi)
    out = np.maximum(1, np.floor(sizes + 0.5)).astype(int)
    if subpixel_scale:
        middle, half = (lo + hi) / 2, (hi - lo) / 2 * out / np.maximum(sizes, 0.1)
        lo, hi = middle - half, middle + half
    return out.tolist(), lo.tolist(), hi.tolist()


def apply(x: Array, layout: str, out: Sequence[int], lo: Sequence[float], hi: Sequence[float], **how: Any) -> Array:
    """The array resampled along D, H and W (or H and W) of its layout."""
    return resampled(x, [layout.index(name) for name in "DHW"[3 - len(out) :]], out, lo, hi, **how)


def resampled(
    x: Array,
    axes: Sequence[int],
    out: Sequence[int],
    lo: Sequence[float],
    hi: Sequence[float],
    *,
    interp_type: int = types.INTERP_LINEAR,
    min_filter: int | None = None,
    mag_filter: int | None = None,
    antialias: bool = True,
    dtype: Any = None,
) -> Array:
    """The array resampled along these axes."""
    result = x.astype(float)
    for i, axis in enumerate(axes):
        given = min_filter if abs(hi[i] - lo[i]) > out[i] else mag_filter
        kind = interp_type if given is None else given
        matrix = weights(x.shape[axis], out[i], lo[i], hi[i], kind, antialias)
        result = np.moveaxis(np.tensordot(matrix, result, (1, axis)), 0, axis)
    if dtype == types.FLOAT or x.dtype == np.float32:
        return result.astype(np.float32)
    limits = np.iinfo(x.dtype)
    return np.clip(np.rint(result), limits.min, limits.max).astype(x.dtype)


_FILTER_ARGUMENTS = ("interp_type", "min_filter", "mag_filter", "antialias", "dtype")


def split(arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of `apply`, and those of `extents`; the others have no effect."""
    filters = {k: v for k, v in arguments.items() if k in _FILTER_ARGUMENTS}
    without_effect = {*filters, "minibatch_size", "temp_buffer_hint", "image_type"}
    return filters, {k: v for k, v in arguments.items() if k not in without_effect}


def scenes(
    layout: str = "HWC",
    dtype: Any = np.uint8,
    channels: int = 3,
    sizes: Sequence[tuple[int, int]] = ((61, 83), (97, 58), (40, 120)),
) -> Samples:
    """Pictures as photographs are: smooth, with edges and a little noise. (Of pure noise, every sum that ends up
    half-way between two integers would be a coin toss; photographs have few.)
    """
    arrays = []
    for i, (height, width) in enumerate(sizes):
        random = np.random.default_rng([i, channels])
        extent = {"F": 2, "D": 7 + i, "H": height, "W": width, "C": channels}
        z, y, x = np.mgrid[0 : extent["D"] if "D" in layout else 1, 0:height, 0:width]
        planes = []
        for c in range(channels):
            waves = np.sin(x / (7.3 + c) + i) + np.cos(y / (9.1 - c) + 0.3 * z) + (x + 2 * y > width + 3 * c + z)
            planes.append(waves + 0.02 * random.normal(size=waves.shape))
        picture = np.stack(planes)  # CDHW
        picture = 20 + 210 * (picture - picture.min()) / np.ptp(picture)
        frames = np.stack([picture, picture[..., ::-1]])[: extent["F"] if "F" in layout else 1]  # FCDHW
        if "D" not in layout:
            frames = frames[:, :, 0]
        names = "FCDHW" if "D" in layout else "FCHW"
        if "F" not in layout:
            frames, names = frames[0], names[1:]
        array = frames.transpose([names.index(axis) for axis in layout])
        arrays.append(np.ascontiguousarray(array if np.dtype(dtype).kind == "f" else np.rint(array)).astype(dtype))
    return samples(arrays, layout)
