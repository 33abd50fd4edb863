"""Which processors a pipeline's threads are bound to with ``set_affinity=True``.

Those near its GPU, shared out by cores: first among the processes that a launcher such as torchrun has started on
this machine (``LOCAL_RANK``, ``LOCAL_WORLD_SIZE``), then among the pipelines of this process, which get those with the
fewest threads so far.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from weakref import WeakSet

from penstock.errors import ArgumentError
from penstock.machine import gpu

_SYSTEM = Path("/sys/devices/system/cpu")


class Processors:
    """Those of one pipeline: thread i runs on ``cpus[i % len(cpus)]``. They are taken as long as this object lives."""

    def __init__(self, cpus: Sequence[int]):
        self.cpus = list(cpus)


_taken: WeakSet[Processors] = WeakSet()


def choose(threads: int, device: int | None) -> Processors:
    """For so many threads, near this GPU. ``DALI_AFFINITY_MASK``, a list such as ``3,5,6``, says otherwise."""
    mask = os.environ.get("DALI_AFFINITY_MASK")
    if mask:
        try:
            return Processors([int(part) for part in mask.split(",") if part.strip()])
        except ValueError as e:
            raise ArgumentError(f"DALI_AFFINITY_MASK={mask!r}: expected processor numbers, such as '3,5,6'") from e
    allowed = os.sched_getaffinity(0)
    near = allowed if device is None else allowed & set(gpu.near_cpus(device)) or allowed
    position, processes = _place_among_processes(device)
    cores = _cores(near)
    if len(cores) >= processes:
        cores = cores[position * len(cores) // processes : (position + 1) * len(cores) // processes]
    busy = Counter(cpu for other in _taken for cpu in other.cpus)
    ranked = sorted((busy[cpu], sibling, cpu) for core in cores for sibling, cpu in enumerate(core))
    chosen = Processors([cpu for _, _, cpu in ranked[:threads]])
    _taken.add(chosen)
    return chosen


def _place_among_processes(device: int | None) -> tuple[int, int]:
    """This process's place among those near the same GPUs, and how many they are. Rank i is taken to use GPU i."""
    try:
        rank, processes = int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
    except (KeyError, ValueError):
        return 0, 1
    if not 0 <= rank < processes:
        return 0, 1
    if device is None or gpu.count() < processes:  # each process sees its own GPU alone: which one is unknown
        return rank, processes
    here = gpu.near_cpus(device)
    peers = [r for r in range(processes) if gpu.near_cpus(r) == here]
    return (peers.index(rank), len(peers)) if rank in peers else (rank, processes)


def _cores(cpus: set[int]) -> list[list[int]]:
    """These processors by the core that they are threads of."""
    cores: dict[tuple[int, ...], list[int]] = {}
    for cpu in sorted(cpus):
        try:
            text = (_SYSTEM / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text()
            siblings = tuple(gpu.numbers(text))
        except (OSError, ValueError):
            siblings = (cpu,)
        cores.setdefault(siblings, []).append(cpu)
    return list(cores.values())
