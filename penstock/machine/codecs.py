"""Codecs: which pictures there are, the libraries that wheels bring, the limit on decoded pixels."""

from __future__ import annotations

import ctypes as c
import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from penstock import _settings
from penstock.machine import native
from penstock.machine.loader import beside


@dataclass(frozen=True)
class Codec:
    """A picture format, as the file in native/decode that decodes it says.

    Attributes:
        patterns: of its files' names, such as ``*.jp2``.
        library: that decodes it, such as ``"libtiff"``; "" where none is needed.
        sample: a picture of 8x8 pixels.
    """

    name: str
    patterns: tuple[str, ...]
    library: str
    sample: bytes


@cache
def codecs() -> tuple[Codec, ...]:
    """The formats that can be decoded, where their libraries are there; by their names."""
    room = (native.Codec * 64)()
    count = native.quick().ps_decode_codecs(room, len(room))
    return tuple(
        Codec(
            found.name.decode(),
            tuple(found.patterns.decode().split()),
            found.library.decode(),
            c.string_at(found.sample, found.sample_bytes),
        )
        for found in room[:count]
    )


def prepare() -> None:
    """Sets what the native library's decoders need: the limit, and the paths of libraries."""
    native.quick().ps_decode_set_max_pixels(max_pixels())
    _set_libraries()


@cache
def _set_libraries() -> None:
    """Says where that for videos lies; and where no wheel brings them (in a checkout, say), what Pillow and soundfile
    have that the system may lack. Loads nothing.
    """
    if not bundled("libsndfile") and (path := packaged("libsndfile", "_soundfile_data")):
        native.quick().ps_decode_set_library(b"libsndfile", path.encode())
    native.quick().ps_decode_set_library(b"libpenstock_video", os.fsencode(beside("libpenstock_video.so")))
    for codec in codecs():
        if not codec.library or bundled(codec.library):
            continue
        if path := packaged(f"{codec.library}-"):
            native.quick().ps_decode_set_library(codec.library.encode(), path.encode())


def bundled(library: str) -> bool:
    """Whether the wheel has it: beside the native library, which looks there first (native/decode/library.cpp)."""
    return beside(f"{library}-penstock.so").exists()


def packaged(start: str, folder: str = "pillow.libs") -> str | None:
    """The library's path beside the Python packages, where wheels put what they bring."""
    for root in map(Path, sys.path):
        for path in sorted((root / folder).glob(f"{start}*.so*")):
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
