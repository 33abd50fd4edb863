"""What a process may use of the machine that it runs on."""

from __future__ import annotations

import os
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")


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
    try:  # version 1
        quota1 = int((_CGROUPS / "cpu" / "cpu.cfs_quota_us").read_text())
        if quota1 > 0:
            limits.append(quota1 / int((_CGROUPS / "cpu" / "cpu.cfs_period_us").read_text()))
    except (OSError, ValueError):
        pass
    return min(limits, default=None)


def memory_limit() -> int | None:
    """That of this process's cgroup in bytes; None: there is none."""
    limits = []
    for file in [*(f / "memory.max" for f in _cgroup_folders()), _CGROUPS / "memory" / "memory.limit_in_bytes"]:
        try:
            limits.append(int(file.read_text()))
        except (OSError, ValueError):
            continue
    return min((limit for limit in limits if limit < 1 << 60), default=None)


def _cgroup_folders() -> list[Path]:
    """This process's cgroup of version 2, and those above it: each may set limits."""
    try:
        own = next(line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
    except (OSError, StopIteration):
        return []
    folder = _CGROUPS / own.lstrip("/")
    return [folder, *(f for f in folder.parents if f.is_relative_to(_CGROUPS))]
