"""Where the software GPU's libraries are, and whether they are needed."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from tests.programs import built


def library(name: str) -> Path:
    """libsoftcuda.so, for instance, as ./dev test has built it; without it the test is skipped."""
    return built("software_gpu", name)


def has_real_gpu() -> bool:
    """Whether NVIDIA's driver is there and has a GPU."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def environment() -> dict[str, str]:
    """What makes Penstock use two software GPUs; nothing where real ones are used, as PENSTOCK_TEST_REAL_GPU=1 asks.

    Their kernels, which are the host's machine code, are kept apart from those of real GPUs.
    """
    if os.environ.get("PENSTOCK_TEST_REAL_GPU") == "1" or has_real_gpu():
        return {}
    return {
        "PENSTOCK_CUDA_DRIVER": str(library("libsoftcuda.so")),
        "PENSTOCK_NVRTC": str(library("libsoftnvrtc.so")),
        "PENSTOCK_NVJPEG": str(library("libsoftnvjpeg.so")),
        "PENSTOCK_NVIMGCODEC": str(library("libsoftnvimgcodec.so")),
        **_nvcuvid(),
        "PENSTOCK_NVOF": str(library("libsoftnvof.so")),
        "PENSTOCK_CUFILE": str(library("libsoftcufile.so")),
        "PENSTOCK_CACHE": str(library("libsoftnvrtc.so").parent / "cache"),
        "SOFTWARE_GPUS": "2",
    }


def _nvcuvid() -> dict[str, str]:
    """It is built where FFmpeg is, as what decodes videos is."""
    path = library("libsoftcuda.so").with_name("libsoftnvcuvid.so")
    return {"PENSTOCK_NVCUVID": str(path)} if path.exists() else {}
