"""GPUs: what is there, and what the native library must be told before it uses one."""

from __future__ import annotations

import ctypes as c
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from penstock.graph.blame import warn
from penstock.run import kernels, libraries, native
from penstock.run.decoders import JpegEngine


@cache
def prepare() -> None:
    """Tells the native library where CUDA's libraries are and who compiles kernels. Loads nothing."""
    for name in ("nvjpeg", "nvimgcodec", "nvtx"):
        path = libraries.located(name)
        if path:
            native.quick().ps_gpu_set_library(name.encode(), path.encode())
    kernels.provide()


def warn_of_missing(engines: Iterable[JpegEngine]) -> None:
    """Warns, once in a process, where NVIDIA's decoders are wanted, and the CPU must do what a library would do."""
    wanted = {engine.wanted for engine in engines} - {"cpu"}
    if "hardware" in wanted:
        _warn_without_libraries()
    if wanted:
        _warn_of_image_codec()


@cache
def _warn_without_libraries() -> None:
    formats = {"nvjpeg": ("nvJPEG", "JPEG"), "nvimgcodec": ("nvImageCodec", "JPEG 2000, TIFF and lossless JPEG")}
    missing = [names for library, names in formats.items() if not libraries.found(library)]
    if missing:
        titles, pictures = (" and ".join(words) for words in zip(*missing, strict=True))
        warn(
            f"{titles} {'was' if len(missing) == 1 else 'were'} not found, so device='mixed' decodes {pictures} on "
            "the CPU, which is slower: pip install 'penstock[cuda13]' brings what is missing, or penstock[cuda12] for "
            "older drivers (jpeg_engine='cpu' asks for the CPU, without this warning)",
            UserWarning,
        )


@cache
def _warn_of_image_codec() -> None:
    """Of one that is installed: who does without may want to."""
    if libraries.found("nvimgcodec") and (problem := libraries.image_codec_problem()):
        warn(
            "device='mixed' decodes JPEG 2000, TIFF and lossless JPEG on the CPU, which is slower (jpeg_engine='cpu' "
            f"asks for the CPU, without this warning): {problem}",
            UserWarning,
        )


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
    """Gives memory that nobody uses back to the system, of all GPUs that were used so far. Waits for their work."""
    if native.blocking().ps_gpu_release_unused(-1) < 0:
        raise native.failure()


def preallocate(device: int, *, device_bytes: int = 0, pinned_bytes: int = 0) -> None:
    """Takes memory in advance, for all pipelines of the process. OutOfMemoryError if there is not so much."""
    if native.blocking().ps_gpu_preallocate(device, device_bytes, pinned_bytes) < 0:
        raise native.failure()


def near_cpus(device: int) -> list[int]:
    """The processors of the NUMA node that the GPU is attached to; none if the system does not tell."""
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
