"""What a process may use of the machine that it runs on."""

from __future__ import annotations

import os
from pathlib import Path

_CGROUPS, _OWN = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def usable_processors() -> float:
    """How many processors this process may use: those it may run on, or as much of their time as its cgroup gets."""
    allowed = len(os.sched_getaffinity(0))
    quota = processor_quota()
    return min(allowed, quota) if quota else allowed


def processor_quota() -> float | None:
    """The limit of this process's cgroup, in processors; None: there is none."""
    limits = []
    for folder in _cgroup_folders():
        try:
            quota, period = (folder / "cpu.max").read_text().split()
        except (OSError, ValueError):
            continue
        if quota != "max":
            limits.append(int(quota) / int(period))
    for folder in _version_1("cpu"):
        try:
            quota1, period1 = (int((folder / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period"))
        except (OSError, ValueError):
            continue
        if quota1 > 0:
            limits.append(quota1 / period1)
    return min(limits, default=None)


def memory_limit() -> int | None:
    """That of this process's cgroup in bytes; None: there is none."""
    limits = []
    files = [folder / "memory.max" for folder in _cgroup_folders()]
    files += [folder / "memory.limit_in_bytes" for folder in _version_1("memory")]
    for file in files:
        try:
            limits.append(int(file.read_text()))
        except (OSError, ValueError):
            continue
    return min((limit for limit in limits if limit < 1 << 60), default=None)


def _cgroup_folders() -> list[Path]:
    """This process's cgroup of version 2, and those above it: each may set limits."""
    own = _own_path("")
    return [] if own is None else _upwards(_CGROUPS, own)


def _version_1(controller: str) -> list[Path]:
    """The same for a controller of version 1. In a container, the root shows its limits, under whatever path it has."""
    own = _own_path(controller)
    return _upwards(_CGROUPS / controller, "/" if own is None else own)


def _own_path(controller: str) -> str | None:
    """Where this process is in the hierarchy of a controller, or of version 2 for ""."""
    try:
        lines = _OWN.read_text().splitlines()
    except OSError:
        return None
    rows = (line.split(":", 2) for line in lines)
    return next((path for _, controllers, path in rows if controller in controllers.split(",")), None)


def _upwards(root: Path, own: str) -> list[Path]:
    folder = root / own.lstrip("/")
    return [folder, *(f for f in folder.parents if f.is_relative_to(root))]
