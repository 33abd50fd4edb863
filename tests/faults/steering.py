"""Steers libfaults.so, inside the process that it was preloaded into: a disk that fails or blocks, memory refused."""

from __future__ import annotations

import ctypes as c
import os
import time

_KINDS = ("none", "open fails", "open blocks", "read fails", "read blocks", "reads are short", "size is")
_library = c.CDLL(None)
_library.faults_file.argtypes = [c.c_char_p, c.c_int, c.c_long, c.c_long, c.c_long]
_library.faults_memory.argtypes = [c.c_size_t, c.c_long]


def harm(suffix: str, kind: str, value: int = 0, *, after: int = 0, times: int = -1) -> None:
    """Harms files whose names end like this, after some calls, so many times: by an errno, or a number of bytes."""
    _library.faults_file(suffix.encode(), _KINDS.index(kind), value, after, times)


def heal() -> None:
    """From now on all works; threads that are blocked go on."""
    _library.faults_file(b"", 0, 0, 0, 0)


def blocked() -> int:
    """How many threads are blocked."""
    return int(_library.faults_blocked())


def wait_until_blocked(threads: int = 1) -> None:
    """Until so many threads are blocked."""
    end = time.monotonic() + 10
    while blocked() < threads:
        assert time.monotonic() < end, f"{blocked()} threads are blocked, not {threads}"
        time.sleep(0.005)


def refuse(least: int, after: int = 0) -> None:
    """Refuses requests for at least so many bytes, but for the first ones; 0: none."""
    _library.faults_memory(least, after)


def refusals() -> int:
    """How many requests were refused."""
    return int(_library.faults_refusals())


def threads() -> list[str]:
    """The names of the pipelines' threads."""
    names = []
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/comm") as file:
                name = file.read().strip()
        except OSError:  # it has just ended
            continue
        if name.startswith("penstock"):
            names.append(name)
    return sorted(names)


def descriptors() -> int:
    """How many files are open."""
    return len(os.listdir("/proc/self/fd"))
