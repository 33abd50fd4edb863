"""How much memory a process has."""

from __future__ import annotations


def memory() -> dict[str, float]:
    """Megabytes of this process: the peak of the resident set, and its share of the memory in use (PSS) now."""

    def field(path: str, name: str) -> float:
        with open(path) as file:
            return next(float(line.split()[1]) / 1024 for line in file if line.startswith(name + ":"))

    return {"peak": field("/proc/self/status", "VmHWM"), "pss": field("/proc/self/smaps_rollup", "Pss")}
