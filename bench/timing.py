"""How long things take: what the benchmarks that run in turns have in common."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence


def seconds_each(run: Callable[[], object], seconds: float, warm_up: int = 4, least: int = 3) -> float:
    """Of one run: as many as fit into so many seconds, and no fewer than ``least``, behind some that are not counted.

    These throw away what was prepared before.
    """
    for _ in range(warm_up):
        run()
    count, begin = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - begin) < seconds or count < least:
        run()
        count += 1
    return elapsed / count


def medians(rounds: Iterable[Sequence[float]]) -> list[float]:
    """Of each contestant, whose figures have the same place in each round."""
    return [statistics.median(column) for column in zip(*rounds, strict=True)]
