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
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bench.report import comparison, script, show, under_load
from bench.timing import BESIDE, beside, both_times

LIBRARIES = ("penstock", "nvidia.dali")
HEAD = ["a pipeline", *BESIDE]
_NUMBERS = [np.arange(4, dtype=np.float32)]
_PICTURES = [np.zeros((1, 4, 4, 3), np.uint8) for _ in range(64)]


def fed(library: Any) -> Any:
    """Four numbers from an external source, times two"""
    return library.fn.external_source(lambda: _NUMBERS) * 2.0


def random(library: Any) -> Any:
    """A random number"""
    return library.fn.random.uniform(range=[0.0, 1.0])


def chain(library: Any) -> Any:
    """A picture of 4x4 from an external source, through five operators"""
    fn = library.fn
    x = fn.external_source(lambda: _PICTURES[:1], layout="FHWC")
    x = fn.flip(fn.squeeze(x, axes=[0]), horizontal=1)
    return fn.crop(fn.brightness(fn.cast(x, dtype=library.types.FLOAT), brightness=2.0), crop=(2, 2))


def batch(library: Any) -> Any:
    """64 pictures of 4x4 from an external source that copies nothing, without an axis"""
    return library.fn.squeeze(library.fn.external_source(lambda: _PICTURES, no_copy=True), axes=[0])


CASES: dict[str, tuple[Callable[[Any], Any], int]] = {
    f.__name__: (f, size) for f, size in ((fed, 1), (random, 1), (chain, 1), (batch, len(_PICTURES)))
}


def measure(library: str, case: str, threads: int, seconds: float) -> None:
    """Prints microseconds per iteration, by the clock and of all processors."""
    module = importlib.import_module(library)
    for part in ("fn", "types"):
        importlib.import_module(f"{library}.{part}")
    make, size = CASES[case]
    pipe = module.Pipeline(size, threads, None)
    with pipe:
        pipe.set_outputs(make(module))
    pipe.build()
    each, spent = both_times(pipe.run, seconds, warm_up=100)
    print(json.dumps({"us": each * 1e6, "spent": spent * 1e6}), flush=True)
    os._exit(0)


def rows(names: list[str], rounds: int, seconds: float, threads: int) -> Iterator[list[str]]:
    for case, (make, _) in CASES.items():
        if names and not any(name in case for name in names):
            continue
        found = []
        for _ in range(rounds):
            pair = [script("bench.iteration", "--measure", name, case, threads, seconds) for name in LIBRARIES]
            found.append([one[what] for what in ("us", "spent") for one in pair])
        yield [make.__doc__ or "", *beside(found)]


def lines(options: argparse.Namespace) -> Iterator[str]:
    about = (
        f"Threads of each library: {options.threads}. Medians of {options.rounds} rounds of {options.seconds:g} s in\n"
        "turn, and of their quotients."
    )
    yield from under_load(about, HEAD, rows(options.names, options.rounds, options.seconds, options.threads))


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
