"""The memory of GPUs, by the names that DALI has for it; the limit on decoded pixels; and tensors.

All pipelines of a process share one pool of device memory and one of page-locked host memory per GPU. They keep what
they once got, since asking the driver for memory stops the GPU. ``PENSTOCK_DEVICE_MEMORY`` and
``PENSTOCK_PINNED_MEMORY`` (bytes, or such as ``8G``; read when a GPU is first used) limit each. A batch for which there
is no room waits until consumers have released older ones; `penstock.errors.OutOfMemoryError` is raised where that
can't help.
"""

from __future__ import annotations

from penstock._values import whole_number
from penstock.machine import codecs, gpu
from penstock.tensors import TensorCPU, TensorGPU, TensorListCPU, TensorListGPU

__all__ = [
    "PreallocateDeviceMemory",
    "PreallocatePinnedMemory",
    "ReleaseUnusedMemory",
    "TensorCPU",
    "TensorGPU",
    "TensorListCPU",
    "TensorListGPU",
    "max_decoded_pixels",
    "set_max_decoded_pixels",
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
