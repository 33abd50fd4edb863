"""What an output is to a reader of a page: a picture, a mask, a sound ... as its type, shape and layout say."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# What users can say that an output is, where it does not tell by itself.
KINDS = ("picture", "mask", "frames", "spectrogram", "audio", "file", "boxes", "values")

_FILES = {  # by their first bytes: those that browsers show
    b"\xff\xd8\xff": "image/jpeg",
    b"\x89PNG": "image/png",
    b"GIF8": "image/gif",
    b"BM": "image/bmp",
}
_CHANNELS = (1, 3, 4)
_LEAST = 8  # rows and columns of what is a picture, and no table of numbers
_SOUND = 256  # samples
_LABELS = 64


def kind_of(array: Array, layout: str) -> str:
    """One of `KINDS`, but never boxes: these look like any other numbers.

    Example:
        >>> kind_of(np.zeros((20, 30, 3), np.uint8), ""), kind_of(np.zeros((5, 4), np.float32), "")
        ('picture', 'values')
    """
    if array.size == 0:
        return "values"
    if array.ndim == 1:
        return _line(array)
    if array.ndim == 2:
        return _plane(array, layout)
    if array.ndim == 3 and (layout in ("HWC", "CHW") or (not layout and _channels(array.shape) is not None)):
        one = 1 in (array.shape[0], array.shape[2])
        return "mask" if one and _has_labels(array) else "picture"
    if array.ndim == 4 and layout[1:] in ("HWC", "CHW", ""):
        return "frames" if layout or _channels(array.shape[1:]) is not None else "values"
    return "values"


def _line(array: Array) -> str:
    if array.dtype == np.uint8:
        return "file" if file_type(array) else "values"
    return "audio" if len(array) >= _SOUND and array.dtype.kind in "fi" else "values"


def _plane(array: Array, layout: str) -> str:
    if min(array.shape) < _LEAST and layout != "HW":
        return "values"
    if array.dtype.kind == "f":
        return "picture" if layout == "HW" else "spectrogram"
    return "mask" if _has_labels(array) else "picture"


def _has_labels(array: Array) -> bool:
    """Whether these are whole numbers of which there are few: those of a mask. Of bytes, dark ones alone."""
    if array.dtype.kind == "f" or (array.dtype == np.uint8 and array.max() >= _LABELS):
        return False
    some = array.ravel()[:: max(1, array.size // 10_000)]
    return len(np.unique(some)) <= min(_LABELS, max(some.size // 8, 2))


def _channels(shape: tuple[int, ...]) -> int | None:
    """The axis of a picture's channels."""
    return 2 if shape[2] in _CHANNELS else 0 if shape[0] in _CHANNELS else None


def channels_last(array: Array, layout: str) -> Array:
    """A picture as HW or HWC."""
    if array.ndim == 3 and (layout == "CHW" or (layout != "HWC" and _channels(array.shape) == 0)):
        turned: Array = array.transpose(1, 2, 0)
        return turned
    return array


def file_type(array: Array) -> str | None:
    """The MIME type of a picture's file that browsers show."""
    head = array[:12].tobytes()
    if head[:4] == b"RIFF" and head[8:] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _FILES.items() if head.startswith(start)), None)
