"""Codecs of pictures: the libraries that Pillow's wheel brings, and the limit on decoded pixels."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from penstock.run import native

# What the native library calls them, and how the files of Pillow's wheel begin.
_LIBRARIES = {"libopenjp2": "libopenjp2-", "libtiff": "libtiff-", "libwebp": "libwebp-"}


@cache
def prepare() -> None:
    """Tells the native library where Pillow has the libraries that the system may lack. Loads nothing."""
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


def max_pixels() -> int:
    """The limit that decoders made from now on have."""
    return int(native.quick().ps_decode_max_pixels())


def set_max_pixels(pixels: int) -> None:
    """Sets it; 0 goes back to the environment's, or the default."""
    native.quick().ps_decode_set_max_pixels(pixels)
