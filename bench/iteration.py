"""`./dev bench iteration`: what an iteration costs beside its work, on the CPU: small tensors, beside DALI.

    ./dev bench iteration              all pipelines, into bench/results/iteration.md
    ./dev bench iteration chain        those whose names have one of these in them, nowhere

The libraries take turns, each in a process of its own, with one thread; what is told is the median of the rounds, and
of their quotients. The time of all processors for an iteration is told, too: a busy machine changes it less.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bench.machine import load
from bench.report import comparison, script, show, table
from bench.timing import medians, seconds_each

LIBRARIES = ("penstock", "nvidia.dali")
HEAD = [
    "a pipeline",
    "Penstock, us",
    "DALI, us",
    "times as fast",
    "Penstock, us of CPU",
    "DALI, us of CPU",
    "times less",
]
_NUMBERS = [np.arange(4, dtype=np.float32)]
_PICTURES = [np.zeros((1, 4, 4, 3), np.uint8) for _ in range(64)]


def fed(fn: Any) -> Any:
    """Four numbers from an external source, times two"""
    return fn.external_source(lambda: _NUMBERS) * 2.0


def random(fn: Any) -> Any:
    """A random number"""
    return fn.random.uniform(range=[0.0, 1.0])


def chain(fn: Any) -> Any:
    """A picture of 4x4 from an external source, through five operators"""
    x = fn.external_source(lambda: _PICTURES[:1], layout="FHWC")
    x = fn.flip(fn.squeeze(x, axes=[0]), horizontal=1)
    return fn.crop(fn.brightness(fn.cast(x, dtype=_float(fn)), brightness=2.0), crop=(2, 2))


def batch(fn: Any) -> Any:
    """64 pictures of 4x4 from an external source that copies nothing, without an axis"""
    return fn.squeeze(fn.external_source(lambda: _PICTURES, no_copy=True), axes=[0])


def _float(fn: Any) -> Any:
    return importlib.import_module(fn.__name__.rpartition(".")[0] + ".types").FLOAT


CASES: dict[str, tuple[Callable[[Any], Any], int]] = {
    f.__name__: (f, size) for f, size in ((fed, 1), (random, 1), (chain, 1), (batch, len(_PICTURES)))
}


def measure(library: str, case: str, threads: int, seconds: float) -> None:
    """Prints microseconds per iteration, by the clock and of all processors."""
    module, fn = importlib.import_module(library), importlib.import_module(f"{library}.fn")
    make, size = CASES[case]
    pipe = module.Pipeline(size, threads, None)
    with pipe:
        pipe.set_outputs(make(fn))
    pipe.build()
    count = 0

    def run() -> None:
        nonlocal count
        count += 1
        pipe.run()

    for _ in range(100):
        pipe.run()
    begin = time.process_time()
    elapsed = seconds_each(run, seconds, warm_up=0)
    print(json.dumps({"us": elapsed * 1e6, "spent": (time.process_time() - begin) / count * 1e6}), flush=True)
    os._exit(0)


def rows(names: list[str], rounds: int, seconds: float, threads: int) -> Iterator[list[str]]:
    for case, (make, _) in CASES.items():
        if names and not any(name in case for name in names):
            continue
        found = []
        for _ in range(rounds):
            pair = [script("bench.iteration", "--measure", name, case, threads, seconds) for name in LIBRARIES]
            found.append([one[what] for what in ("us", "spent") for one in pair])
        ours, theirs, our_share, their_share = medians(found)
        times = statistics.median(one[1] / one[0] for one in found)
        less = statistics.median(one[3] / one[2] for one in found)
        figures = [f"{ours:.0f}", f"{theirs:.0f}", f"{times:.2f}"]
        yield [make.__doc__ or "", *figures, f"{our_share:.0f}", f"{their_share:.0f}", f"{less:.2f}"]


def lines(options: argparse.Namespace) -> Iterator[str]:
    yield f"Threads of each library: {options.threads}. Medians of {options.rounds} rounds of {options.seconds:g} s in"
    yield f"turn, and of their quotients. Before it: {load()}."
    yield ""
    yield from table(HEAD, rows(options.names, options.rounds, options.seconds, options.threads))
    yield ""
    yield f"After it: {load()}."


def main() -> None:
    parser = comparison("iteration", __doc__, "parts of pipelines' names", rounds=5, seconds=1.0)
    parser.add_argument("--measure", nargs=4, metavar=("LIBRARY", "CASE", "THREADS", "SECONDS"), help=argparse.SUPPRESS)
    parser.set_defaults(threads=1)
    options = parser.parse_args()
    if options.measure:
        library, case, threads, seconds = options.measure
        measure(library, case, int(threads), float(seconds))
    show(options.names, "iteration", "What an iteration costs", {"lines": ("Pipelines", lambda: lines(options))})


if __name__ == "__main__":
    main()
