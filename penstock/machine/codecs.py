"""Codecs of pictures: the libraries that Pillow's wheel brings, and the limit on decoded pixels."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from penstock import _settings
from penstock.machine import native

# What the native library calls them, and how the files of Pillow's wheel begin.
_LIBRARIES = {"libopenjp2": "libopenjp2-", "libtiff": "libtiff-", "libwebp": "libwebp-"}


def prepare() -> None:
    """Tells the native library what decoders are to know: the limit, and where libraries lie."""
    native.quick().ps_decode_set_max_pixels(max_pixels())
    _set_libraries()


@cache
def _set_libraries() -> None:
    """Says where Pillow has the libraries that the system may lack. Loads nothing."""
    for name, start in _LIBRARIES.items():
        path = packaged(start)
        if path:
            native.quick().ps_decode_set_library(name.encode(), path.encode())


def packaged(start: str) -> str | None:
    """The library's path beside the Python packages, where wheels put what they bring."""
    for root in map(Path, sys.path):
        for path in sorted((root / "pillow.libs").glob(f"{start}*.so*")):
            return str(path)
    return None


_max_pixels: int | None = None  # as a program has set it


def max_pixels() -> int:
    """The limit that decoders made from now on have."""
    return int(_settings.MAX_PIXELS.value()) if _max_pixels is None else _max_pixels


def set_max_pixels(pixels: int | None) -> None:
    """Sets it; None goes back to the environment's, or the default."""
    global _max_pixels
    _max_pixels = pixels
