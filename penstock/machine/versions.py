"""Versions of CUDA's libraries, as they tell them themselves."""

from __future__ import annotations

import ctypes as c
import os

from penstock.machine import libraries

_MAJOR, _MINOR, _PATCH = range(3)  # CUDA's libraryPropertyType


class _Properties(c.Structure):
    """nvimgcodecProperties_t."""

    _fields_ = [
        ("type", c.c_int32),
        ("size", c.c_size_t),
        ("next", c.c_void_p),
        ("version", c.c_uint32),
        ("cudart_version", c.c_uint32),
    ]


_PROPERTIES = 1  # its number among nvImageCodec's structs


def driver() -> int | None:
    """That of CUDA which the driver is for, such as 13000 for 13.0; None: there is no driver."""
    version = c.c_int()
    try:
        library = c.CDLL(os.environ.get("PENSTOCK_CUDA_DRIVER") or "libcuda.so.1")
        return None if library.cuDriverGetVersion(c.byref(version)) else version.value
    except (OSError, AttributeError):
        return None


def nvjpeg() -> tuple[int, int, int] | None:
    """Major, minor, patch; None: it is not there."""
    library = _opened("nvjpeg")
    found = [c.c_int() for _ in range(3)]
    if library is None or not hasattr(library, "nvjpegGetProperty"):
        return None
    if any(library.nvjpegGetProperty(which, c.byref(found[which])) for which in (_MAJOR, _MINOR, _PATCH)):
        return None
    return found[_MAJOR].value, found[_MINOR].value, found[_PATCH].value


def nvimgcodec() -> tuple[int, int, int] | None:
    """Major, minor, patch; None: it is not there."""
    library = _opened("nvimgcodec")
    if library is None or not hasattr(library, "nvimgcodecGetProperties"):
        return None
    found = _Properties(_PROPERTIES, c.sizeof(_Properties))
    if library.nvimgcodecGetProperties(c.byref(found)):
        return None
    return found.version // 1000, found.version // 100 % 10, found.version % 100


def _opened(name: str) -> c.CDLL | None:
    for path in filter(None, (libraries.located(name), *libraries.candidates(name))):
        try:
            return c.CDLL(path)
        except OSError:
            continue
    return None
