"""What the expressions of a case are made of: arrays and files that are the same in each process."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from PIL import Image

from tests.random.stored import harmed, name_of, npy, sound, stored, stored_files
from tools.photographs import Style, photograph

__all__ = [
    "file", "harmed", "name_of", "noise", "npy", "several", "sound", "stored", "stored_files", "wild",
]  # fmt: skip

Array = np.ndarray[Any, Any]


def noise(dtype: str, shape: Sequence[int], seed: int, largest: float = 255) -> Array:
    """Integers up to ``largest``, or down to its negative where there are negative ones; floats around 0."""
    random = np.random.default_rng([seed, *shape])
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return random.random(shape) < 0.5
    if kind.kind == "f":
        return (np.round(random.normal(0, largest / 3, shape) * 8) / 8).astype(kind)
    limits = np.iinfo(kind)
    low, high = max(limits.min, -int(largest)), min(limits.max, int(largest))
    return random.integers(low, high, shape, kind, endpoint=True)


def wild(dtype: str, shape: Sequence[int], seed: int, largest: float = 255) -> Array:
    """As noise makes floats, with a few that are infinite or no numbers."""
    array = noise(dtype, shape, seed, largest)
    random = np.random.default_rng([seed, *shape, 1])
    count = min(array.size, 1 + array.size // 50)
    array.flat[random.permutation(array.size)[:count]] = random.choice([np.inf, -np.inf, np.nan], count)
    return array


def several(found: Any) -> list[Any]:
    """What an operator returns, as a list of nodes."""
    return [*found.values()] if isinstance(found, dict) else [*found] if isinstance(found, (list, tuple)) else [found]


FORMATS = (
    "4:2:0", "4:4:4", "4:2:2", "gray", "progressive", "turned", "png", "png gray", "png alpha", "bmp", "tiff", "webp",
    "cut off", "text",
)  # fmt: skip


@cache
def file(kind: str, width: int, height: int, seed: int) -> Array:
    """The bytes of a photograph as a file of this kind."""
    subsampling = kind if ":" in kind else "4:2:0"
    style = Style(width, height, subsampling=subsampling, kilobytes=(1, 6))
    jpeg = photograph(("cat", "coffee", "rocket")[seed % 3], seed, style)
    if kind == "cut off":
        jpeg = jpeg[: len(jpeg) * 2 // 3]
    elif kind == "text":
        jpeg = b"This is no picture.\n" * 3
    elif ":" not in kind:
        jpeg = _saved(Image.open(io.BytesIO(jpeg)).convert("RGB"), kind, seed)
    return np.frombuffer(jpeg, np.uint8)


def _saved(picture: Image.Image, kind: str, seed: int) -> bytes:
    name, _, detail = kind.partition(" ")
    options: dict[str, Any] = {}
    if "gray" in kind:
        picture = picture.convert("L")
    if detail == "alpha":
        picture.putalpha(128)
    if kind == "turned":
        exif = Image.Exif()
        exif[0x0112] = 2 + seed % 7
        options["exif"] = exif
    if kind == "progressive":
        options["progressive"] = True
    if kind == "webp":
        options["lossless"] = True
    stream = io.BytesIO()
    picture.save(stream, name.upper() if name in ("png", "bmp", "tiff", "webp") else "JPEG", **options)
    return stream.getvalue()
