"""Whether files are read straight into a GPU's memory: by cuFile, NVIDIA's library of GPUDirect Storage."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from penstock import _settings
from penstock.graph.blame import warn
from penstock.machine import libraries, native

_MODULE = Path("/proc/driver/nvidia-fs")  # is there while the kernel's module is loaded
_DEVICES = Path("/sys/bus/pci/devices")
_NVIDIA = "0x10de"
_MODULES = Path("/proc/modules")


@dataclass(frozen=True)
class Storage:
    """The way of elements from files into a GPU's memory.

    Attributes:
        by_cufile: cuFile reads them there; else they are read into pinned memory of the host and copied.
        why: the reason, for users to read.
    """

    by_cufile: bool
    why: str

    def __str__(self) -> str:
        if self.by_cufile:
            return (
                f"elements: cuFile reads them into the GPU's memory ({self.why}), where nothing is to be done to them"
            )
        return f"elements: read into pinned memory and copied to the GPU ({self.why})"


def choose() -> Storage:
    """The way that the setting and this machine say. It opens cuFile's driver only where that may be of use."""
    said = f"{_settings.GDS.name}={_settings.GDS.value()}"
    if _settings.GDS.value() == "off":
        return Storage(False, said)
    forced = _settings.GDS.value() == "on"
    if not forced and not _is_supported():
        return Storage(False, f"this machine has no GPUDirect Storage: {kernel_support()}")
    try:
        direct = _opened()
    except _Missing as missing:
        if forced:
            _warn(f"{said}, but elements are read into the host's memory and copied: {missing}")
        return Storage(False, f"{said}, but {missing}" if forced else str(missing))
    if direct:
        return Storage(True, f"{said}, GPUDirect Storage" if forced else "GPUDirect Storage")
    if forced:
        return Storage(
            True, f"{said}, in its compatibility mode: there is no GPUDirect Storage, so that it copies, too"
        )
    return Storage(False, "cuFile says that GPUDirect Storage is not set up here")


def kernel_support() -> str:
    """What the kernel has for GPUDirect Storage, in words."""
    if _MODULE.exists():
        return "the module nvidia-fs is loaded"
    peers = [device.name for device in _peers()]
    return f"P2PDMA with {', '.join(peers)}" if peers else "neither nvidia-fs nor P2PDMA of a GPU"


def _is_supported() -> bool:
    return _MODULE.exists() or any(_peers())


def _peers() -> Iterator[Path]:
    """The GPUs whose memory the kernel's PCI P2PDMA knows."""
    for memory in _DEVICES.glob("*/p2pmem"):
        try:
            if (memory.parent / "vendor").read_text().strip() == _NVIDIA:
                yield memory.parent
        except OSError:
            continue


class _Missing(Exception):  # noqa: N818
    """Why cuFile cannot be used."""


def _opened() -> bool:
    """Opens cuFile's driver; whether it goes past the host."""
    if not libraries.found("cufile"):
        raise _Missing("cuFile was not found: pip install 'penstock[gds]' brings it")
    if not _MODULES.exists() and not os.environ.get("PENSTOCK_CUFILE"):  # a library that is named was chosen
        raise _Missing("this system has no /proc/modules, and without it cuFile 1.20 never comes back from opening")
    if path := libraries.located("cufile"):
        native.quick().ps_gpu_set_library(b"cufile", path.encode())
    direct = native.blocking().ps_gpu_open_storage()
    if direct < 0:
        raise _Missing(native.last_error().message.decode(errors="replace"))
    _close_at_exit()
    return bool(direct)


class _Owner:
    """Of the open driver: as long as the process."""


_owner = _Owner()


@cache
def _close_at_exit() -> None:
    """Pipelines that were made later, which all that use cuFile are, are closed by then: what `weakref` does at the
    exit, it does in the opposite order.
    """
    weakref.finalize(_owner, _close, os.getpid())


def _close(pid: int) -> None:
    if os.getpid() == pid:  # a forked child has only a copy of what the driver knows
        native.blocking().ps_gpu_close_storage()


@cache
def _warn(text: str) -> None:
    warn(text, UserWarning)
