"""Memory of GPUs, libraries, schemas of operators, tensors, by the names that DALI has for them; the limit on pixels.

All pipelines of a process share one pool of device memory and one of page-locked host memory per GPU. They keep what
they once got, since asking the driver for memory stops the GPU. ``PENSTOCK_DEVICE_MEMORY`` and
``PENSTOCK_PINNED_MEMORY`` (bytes, or such as ``8G``; read when a GPU is first used) limit each. A batch for which there
is no room waits until consumers have released older ones; `penstock.errors.OutOfMemoryError` is raised where that
can't help.
"""

from __future__ import annotations

import enum
import os
from typing import Any

from penstock import tfrecord, types
from penstock._values import convert, whole_number
from penstock.errors import ArgumentError, DeviceError, PluginError
from penstock.machine import codecs, gpu, versions
from penstock.plugin_manager import load_directory, load_library
from penstock.schemas import (
    GetSchema,
    GetSchemaAndTarget,
    OpSchema,
    RegisteredCPUOps,
    RegisteredGPUOps,
    RegisteredMixedOps,
    TryGetSchema,
)
from penstock.tensors import TensorCPU, TensorGPU, TensorListCPU, TensorListGPU, dlpack

__all__ = [
    "CheckDLPackCapsule",
    "DLDeviceType",
    "GetCUDADeviceCount",
    "GetCudaVersion",
    "GetDeviceBufferGrowthFactor",
    "GetHostBufferGrowthFactor",
    "GetHostBufferShrinkThreshold",
    "GetNvimgcodecVersion",
    "GetNvjpegVersion",
    "GetSchema",
    "GetSchemaAndTarget",
    "LoadDirectory",
    "LoadLibrary",
    "OpSchema",
    "PreallocateDeviceMemory",
    "PreallocatePinnedMemory",
    "RegisteredCPUOps",
    "RegisteredGPUOps",
    "RegisteredMixedOps",
    "ReleaseUnusedMemory",
    "SetBufferGrowthFactor",
    "SetDeviceBufferGrowthFactor",
    "SetHostBufferGrowthFactor",
    "SetHostBufferShrinkThreshold",
    "TensorCPU",
    "TensorGPU",
    "TensorListCPU",
    "TensorListGPU",
    "TryGetSchema",
    "max_decoded_pixels",
    "set_max_decoded_pixels",
    "tfrecord",
    "types",
]


def ReleaseUnusedMemory() -> None:  # noqa: N802  # DALI's names
    """Gives all unused memory of GPUs, and unused page-locked memory, back to the system.

    Waits for work of GPUs that still uses it. Pipelines may be running: they take new memory when they need it.

    Example:
        >>> from penstock import backend
        >>> backend.ReleaseUnusedMemory()
    """
    gpu.release_unused()


def PreallocateDeviceMemory(bytes: int, device_id: int = 0) -> None:  # noqa: N802
    """Takes so much memory of a GPU in advance: batches get it without asking the driver.

    `ReleaseUnusedMemory` gives it back. Raises DeviceError where there is no such GPU, OutOfMemoryError if the GPU does
    not have so much.
    """
    gpu.preallocate(device_id, device_bytes=whole_number("PreallocateDeviceMemory: bytes", bytes, least=0))


def PreallocatePinnedMemory(bytes: int, device_id: int = 0) -> None:  # noqa: N802
    """The same for page-locked memory of the host, of which each GPU has a pool of its own."""
    gpu.preallocate(device_id, pinned_bytes=whole_number("PreallocatePinnedMemory: bytes", bytes, least=0))


def set_max_decoded_pixels(pixels: int | None) -> None:
    """Limits how many pixels (width times height, as stored) a picture may have, in pipelines built from now on.

    A file of some bytes can claim any size, and memory for it is taken before the first pixel is there: what is larger
    is a DecodeError instead. Of pixels with more than 4 channels each 4 count as one. None goes back to the
    environment's ``PENSTOCK_MAX_PIXELS`` (such as ``100M``), or where that is not set to 2**29. Raises ArgumentError
    for less than 1.

    Example:
        >>> from penstock import backend
        >>> backend.set_max_decoded_pixels(100_000_000)
        >>> backend.max_decoded_pixels()
        100000000
        >>> backend.set_max_decoded_pixels(None)
    """
    if pixels is None:
        codecs.set_max_pixels(None)
        return
    limit = whole_number("set_max_decoded_pixels: pixels", pixels, least=1)
    codecs.set_max_pixels(min(limit, 2**62))


def max_decoded_pixels() -> int:
    """The limit that `set_max_decoded_pixels` or the environment set."""
    return codecs.max_pixels()


# Of buffers that grow, which there are none of here; they are what DALI's are at first.
_growth = {"host": 1.1, "device": 1.1}
_shrink_threshold = 0.5


def SetBufferGrowthFactor(factor: float) -> None:  # noqa: N802
    """`SetHostBufferGrowthFactor` and `SetDeviceBufferGrowthFactor` at once."""
    _set_growth("SetBufferGrowthFactor", factor, "host", "device")


def SetHostBufferGrowthFactor(factor: float) -> None:  # noqa: N802
    """Notes by what DALI's buffers on the host would grow: 1 to 4, else ArgumentError, a ValueError.

    That is all it does: a batch takes blocks of the size that it needs, which is known before, from a pool that lets
    go of what lies unused, but for a quarter of what was in use lately. Nothing grows step by step.
    """
    _set_growth("SetHostBufferGrowthFactor", factor, "host")


def SetDeviceBufferGrowthFactor(factor: float) -> None:  # noqa: N802
    """The same for buffers on GPUs."""
    _set_growth("SetDeviceBufferGrowthFactor", factor, "device")


def _set_growth(function: str, factor: float, *kinds: str) -> None:
    number = float(convert("number", factor))
    if not 1 <= number <= 4:
        raise ArgumentError(f"{function}: factor={factor!r}: expected 1 to 4")
    _growth.update(dict.fromkeys(kinds, number))


def GetHostBufferGrowthFactor() -> float:  # noqa: N802
    """What `SetHostBufferGrowthFactor` has noted."""
    return _growth["host"]


def GetDeviceBufferGrowthFactor() -> float:  # noqa: N802
    """What `SetDeviceBufferGrowthFactor` has noted."""
    return _growth["device"]


def SetHostBufferShrinkThreshold(fraction: float) -> None:  # noqa: N802
    """Notes below which part of its size DALI's buffers on the host would shrink: 0 (never) to 1, else ArgumentError.

    That is all it does, see `SetHostBufferGrowthFactor`.

    Example:
        >>> from penstock import backend
        >>> backend.SetHostBufferShrinkThreshold(0.25)
        >>> backend.GetHostBufferShrinkThreshold()
        0.25
        >>> backend.SetHostBufferShrinkThreshold(0.5)
    """
    global _shrink_threshold
    number = float(convert("number", fraction))
    if not 0 <= number <= 1:
        raise ArgumentError(f"SetHostBufferShrinkThreshold: fraction={fraction!r}: expected 0 to 1")
    _shrink_threshold = number


def GetHostBufferShrinkThreshold() -> float:  # noqa: N802
    """What `SetHostBufferShrinkThreshold` has noted."""
    return _shrink_threshold


def GetCUDADeviceCount() -> int:  # noqa: N802
    """How many GPUs there are; 0 where there is no driver."""
    try:
        return gpu.count()
    except DeviceError:
        return 0


def GetCudaVersion() -> int:  # noqa: N802
    """The version of CUDA that the driver is for, such as 13000 for 13.0; 0 where there is no driver."""
    return versions.driver() or 0


def GetNvjpegVersion() -> int:  # noqa: N802
    """nvJPEG's, such as 13302 for 13.3.2; -1 where it is not installed."""
    return _number(versions.nvjpeg())


def GetNvimgcodecVersion() -> int:  # noqa: N802
    """nvImageCodec's, such as 900 for 0.9.0; -1 where it is not installed."""
    return _number(versions.nvimgcodec())


def _number(version: tuple[int, int, int] | None) -> int:
    return version[0] * 1000 + version[1] * 100 + version[2] if version else -1


class DLDeviceType(enum.IntEnum):
    """Where the memory of a DLPack tensor is, by DLPack's numbers."""

    kDLCPU = 1  # noqa: N815
    kDLCUDA = 2  # noqa: N815
    kDLCUDAHost = 3  # noqa: N815
    kDLOpenCL = 4  # noqa: N815
    kDLVulkan = 7  # noqa: N815
    kDLMetal = 8  # noqa: N815
    kDLVPI = 9  # noqa: N815
    kDLROCM = 10  # noqa: N815
    kDLROCMHost = 11  # noqa: N815
    kDLExtDev = 12  # noqa: N815
    kDLCUDAManaged = 13  # noqa: N815
    kDLOneAPI = 14  # noqa: N815
    kDLWebGPU = 15  # noqa: N815
    kDLHexagon = 16  # noqa: N815
    kDLMAIA = 17  # noqa: N815


def CheckDLPackCapsule(ptr: Any) -> tuple[bool, bool]:  # noqa: N802
    """Whether it is a DLPack capsule that was not consumed yet, and whether its memory is a GPU's.

    Example:
        >>> from penstock import backend
        >>> backend.CheckDLPackCapsule(np.zeros(3).__dlpack__()), backend.CheckDLPackCapsule(3)
        ((True, False), (False, False))
    """
    kind = dlpack.device_kind(ptr)
    return kind is not None, kind in (dlpack.CUDA, dlpack.CUDA_MANAGED)


def LoadLibrary(  # noqa: N802
    lib_path: str | os.PathLike[str], global_symbols: bool = False, allow_fail: bool = False
) -> None:
    """`penstock.plugin_manager.load_library`; ``allow_fail``: a library that cannot be loaded is passed over."""
    try:
        load_library(lib_path, global_symbols)
    except PluginError:
        if not allow_fail:
            raise


def LoadDirectory(  # noqa: N802
    dir_path: str | os.PathLike[str], global_symbols: bool = False, allow_fail: bool = False
) -> None:
    """`penstock.plugin_manager.load_directory`; ``allow_fail``: at the first that cannot be loaded it stops quietly."""
    try:
        load_directory(dir_path, global_symbols)
    except PluginError:
        if not allow_fail:
            raise
