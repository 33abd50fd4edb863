"""GPUs: which there are, and what the native library has to know before it uses one."""

from __future__ import annotations

import ctypes as c
from functools import cache
from pathlib import Path

from penstock.machine import kernels, libraries, native


@cache
def prepare() -> None:
    """Sets the native library's paths of CUDA's libraries, and its compiler of kernels. Loads nothing."""
    for name in ("nvjpeg", "nvimgcodec", "nvtx", "nvcuvid", "nvof", "cufile"):
        path = libraries.located(name)
        if path:
            native.quick().ps_gpu_set_library(name.encode(), path.encode())
    kernels.provide()


def count() -> int:
    """How many GPUs there are; DeviceError where there is no driver."""
    found = native.blocking().ps_gpu_count()
    if found < 0:
        raise native.failure()
    return int(found)


def describe(device: int) -> native.GpuInfo:
    """What a GPU is, and this process's memory of it. DeviceError if there is none of that number."""
    info = native.GpuInfo()
    if native.blocking().ps_gpu_describe(device, c.byref(info)) < 0:
        raise native.failure()
    return info


def release_unused() -> None:
    """Gives unused memory back to the system, of all GPUs that were used so far. Waits for their work."""
    if native.blocking().ps_gpu_release_unused(-1) < 0:
        raise native.failure()


def preallocate(device: int, *, device_bytes: int = 0, pinned_bytes: int = 0) -> None:
    """Takes memory in advance, for all pipelines of the process. OutOfMemoryError if there is not so much."""
    if native.blocking().ps_gpu_preallocate(device, device_bytes, pinned_bytes) < 0:
        raise native.failure()


def near_cpus(device: int) -> list[int]:
    """The processors of the NUMA node that the GPU is attached to; none if the system does not say."""
    bus = describe(device).bus.decode().lower()
    try:
        text = (Path("/sys/bus/pci/devices") / bus / "local_cpulist").read_text().strip()
        node = int((Path("/sys/bus/pci/devices") / bus / "numa_node").read_text())
    except (OSError, ValueError):
        return []
    return numbers(text) if node >= 0 else []


def numbers(text: str) -> list[int]:
    """The kernel's lists of processors, such as ``0-3,8``."""
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
