"""Arrays as pixels: of any type, no larger than a page needs them, with a word on what was done to their values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# Of heat maps: from dark violet by red to light yellow, with even steps of lightness.
_HEAT = np.array([[12, 8, 38], [87, 16, 110], [188, 55, 84], [249, 142, 9], [252, 255, 164]], np.float32)
_DECIBELS = 80  # below the loudest: more is not shown
_GOLDEN = 0.618034  # of a turn: neighbours among these hues differ most


class Pixels(NamedTuple):
    """A picture of UINT8, HW or HWC, and what its values were where it does not show them as they are."""

    pixels: npt.NDArray[np.uint8]
    note: str = ""


def smaller(array: Array, most: int) -> Array:
    """The means of squares of a picture, HW or HWC, so that no edge is longer than this."""
    step = -(-max(array.shape[:2]) // most)
    if step <= 1:
        return array
    sums = array.astype(np.float32)
    for axis in (0, 1):
        sums = np.add.reduceat(sums, np.arange(0, sums.shape[axis], step), axis)
    counts = [np.minimum(np.arange(0, n, step) + step, n) - np.arange(0, n, step) for n in array.shape[:2]]
    means: Array = sums / np.multiply.outer(*counts).reshape(*sums.shape[:2], *[1] * (array.ndim - 2))
    if array.dtype.kind in "iu":
        means = np.rint(means).astype(array.dtype)
    return means


def picture(array: Array, most: int) -> Pixels:
    """Of HW or HWC: UINT8 as it is; floats from 0 to 1, or to 255, by that range; all else stretched to its own."""
    if array.ndim == 3 and array.shape[2] == 2:
        array = array[..., :1]
    array = smaller(array[..., :4], most) if array.ndim == 3 else smaller(array, most)
    if array.dtype == np.uint8:
        return Pixels(array)
    if array.dtype == bool:
        return Pixels(array.astype(np.uint8) * 255)
    values = _finite(array)
    low, high = float(values.min()), float(values.max())
    if low >= 0 and array.dtype.kind == "f" and high <= 1:
        return Pixels(np.rint(values * 255).astype(np.uint8), "0 to 1")
    if low >= 0 and high <= 255:
        return Pixels(np.rint(values).astype(np.uint8))
    return Pixels(_stretched(values, low, high), f"{low:.3g} to {high:.3g}, stretched")


def mask(array: Array, most: int) -> Pixels:
    """Labels, HW or HW1, in a color each; 0 is dark. Labels are never mixed."""
    step = max(1, -(-max(array.shape[:2]) // most))
    labels = array.reshape(array.shape[:2])[::step, ::step].astype(np.int64)
    known, places = np.unique(labels, return_inverse=True)
    pixels = _colors(known)[places.reshape(labels.shape)]
    shown = ", ".join(map(str, known[:8].tolist())) + (", ..." if len(known) > 8 else "")
    return Pixels(pixels, f"labels {shown}")


def heat(array: Array, most: int) -> Pixels:
    """Numbers of two axes as colors, the first row at the bottom; powers over many magnitudes in decibels."""
    values = _finite(array)
    low, high = float(values.min()), float(values.max())
    unit = ""
    if low >= 0 and high > 0 and high > 100 * float(np.median(values)):
        values = np.maximum(10 * np.log10(np.maximum(values, high * 1e-12) / high), -_DECIBELS)
        low, high, unit = float(values.min()), 0.0, " dB"
    levels = _stretched(smaller(values, most), low, high)[::-1].astype(np.float32) / 255 * (len(_HEAT) - 1)
    below = np.minimum(levels.astype(int), len(_HEAT) - 2)
    part = (levels - below)[..., None]
    pixels = np.rint(_HEAT[below] * (1 - part) + _HEAT[below + 1] * part).astype(np.uint8)
    return Pixels(pixels, f"{low:.3g} to {high:.3g}{unit}")


def _finite(array: Array) -> npt.NDArray[np.float32]:
    values: npt.NDArray[np.float32] = np.nan_to_num(array.astype(np.float32), posinf=0, neginf=0)
    return values


def _stretched(values: Array, low: float, high: float) -> npt.NDArray[np.uint8]:
    levels = (values - low) * (255 / (high - low)) if high > low else np.zeros_like(values)
    pixels: npt.NDArray[np.uint8] = np.rint(np.clip(levels, 0, 255)).astype(np.uint8)
    return pixels


def _colors(labels: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """A color for each label, the same in all pictures."""
    hues = (labels * _GOLDEN) % 1.0
    turns = (hues[:, None] * 6 + np.array([0, 4, 2])) % 6  # as HSV is defined
    bright = np.clip(np.abs(turns - 3) - 1, 0, 1)
    colors: npt.NDArray[np.uint8] = np.rint(60 + 180 * bright).astype(np.uint8)
    colors[labels == 0] = 24
    return colors
