"""Where CUDA's libraries are: in NVIDIA's Python packages (the extras ``cuda13`` and ``cuda12``), or in the system."""

from __future__ import annotations

import ctypes as c
import os
import sys
from functools import cache
from pathlib import Path

from penstock.machine import native

# What its file name ends with, newest first.
_VERSIONS = {
    "nvrtc": ("13", "12"), "nvjpeg": ("13", "12"), "nvimgcodec": ("0",), "nvtx": ("1",), "nvcuvid": ("1",),
    "nvof": ("1",), "cufile": ("0",),
}  # fmt: skip
_FILES = {"nvtx": "nvtx3interop", "nvof": "nvidia-opticalflow"}  # where they have other names


@cache
def packaged(name: str) -> str | None:
    """The library's path in NVIDIA's Python packages, if they are installed."""
    for root in map(Path, sys.path):
        for folder in ("cu13/lib", "cu12/lib", f"cuda_{name}/lib", f"{name}/lib", name):
            for version in _VERSIONS[name]:
                path = root / "nvidia" / folder / f"lib{_FILES.get(name, name)}.so.{version}"
                if path.exists():
                    return str(path)
    return None


def located(name: str) -> str | None:
    """The library's path, as an environment variable such as ``PENSTOCK_NVJPEG`` says, or in NVIDIA's packages."""
    return os.environ.get(f"PENSTOCK_{name.upper()}") or packaged(name)


def found(name: str) -> bool:
    """Whether the native library will find it. Where it may be in the system's folders, tries to load it."""
    if located(name):
        return True
    for version in _VERSIONS[name]:
        try:
            c.CDLL(f"lib{_FILES.get(name, name)}.so.{version}")
        except OSError:
            continue
        return True
    return False


def image_codec_problem() -> str | None:
    """Why nvImageCodec is not used; None: it is. Loads it, where it was found."""
    if not found("nvimgcodec"):
        return "nvImageCodec was not found"
    if path := located("nvimgcodec"):
        native.quick().ps_gpu_set_library(b"nvimgcodec", path.encode())
    problem = native.blocking().ps_gpu_check_image_codec() < 0
    return native.last_error().message.decode(errors="replace") if problem else None


def candidates(name: str) -> list[str]:
    """What may be opened, best first."""
    names = [f"lib{name}.so.{version}" for version in _VERSIONS[name]]
    found = packaged(name)
    return [*([found] if found else []), *names, *(f"/usr/local/cuda/lib64/{file}" for file in names)]
