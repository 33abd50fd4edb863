"""How long things take: what the benchmarks that run in turns have in common."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence

from bench.memory import memory


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


def measured(rate: Callable[[], float]) -> dict[str, float]:
    """What a contestant answers (bench/contest.py): its rate, how many processors it kept busy, and its memory."""
    begin, spent = time.perf_counter(), time.process_time()
    value = rate()
    return {"rate": value, "cores": (time.process_time() - spent) / (time.perf_counter() - begin), **memory()}


def both_times(run: Callable[[], object], seconds: float, warm_up: int = 4, least: int = 3) -> tuple[float, float]:
    """The same by the clock, and of all processors, which other work on the machine changes less."""
    for _ in range(warm_up):
        run()
    begin, spent = time.perf_counter(), time.process_time()
    each = seconds_each(run, seconds, 0, least)
    return each, each * (time.process_time() - spent) / (time.perf_counter() - begin)


# What `beside` tells, as the head of a table.
BESIDE = ["Penstock, us", "DALI, us", "times as fast", "Penstock, us of CPU", "DALI, us of CPU", "times less"]


def beside(rounds: Sequence[Sequence[float]]) -> list[str]:
    """Of rounds in turn, each of our and DALI's microseconds by the clock, and of all processors: the medians of these,
    and of their quotients.
    """
    ours, theirs, our_share, their_share = medians(rounds)
    times = statistics.median(one[1] / one[0] for one in rounds)
    less = statistics.median(one[3] / one[2] for one in rounds)
    return [
        f"{ours:.0f}", f"{theirs:.0f}", f"{times:.2f}", f"{our_share:.0f}", f"{their_share:.0f}", f"{less:.2f}",
    ]  # fmt: skip


def medians(rounds: Iterable[Sequence[float]]) -> list[float]:
    """Of each contestant, whose figures have the same place in each round."""
    return [statistics.median(column) for column in zip(*rounds, strict=True)]
