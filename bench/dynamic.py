"""`./dev bench dynamic`: dynamic mode beside DALI's, on the CPU.

    ./dev bench dynamic                all programs, into bench/results/dynamic.md
    ./dev bench dynamic chain          those whose names have one of these in them, nowhere

Both libraries run the same programs, each in the mode that is its default, with as many threads; what is made is there
when a round ends. They take turns, each in a process of its own; what is told is the median of the rounds, and of their
quotients. The time of all processors is told, too: a busy machine changes it less.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from bench.report import comparison, script, show, under_load
from bench.timing import BESIDE, beside, both_times
from tools.photographs import Style, photograph

LIBRARIES = ("penstock.experimental.dynamic", "nvidia.dali.experimental.dynamic")
_ENDS = ExitStack()  # what is left of a program's files
_PICTURES = [np.random.default_rng(k).integers(0, 256, (64, 64, 3), dtype=np.uint8) for k in range(32)]


def _jpegs(count: int) -> list[Any]:
    style = Style(500, 375)
    return [np.frombuffer(photograph("cat", k, style), np.uint8) for k in range(count)]


def one_call(ndd: Any) -> Callable[[], Any]:
    """One operator on one small picture: what a call costs."""
    x = ndd.tensor(_PICTURES[0], layout="HWC")
    return lambda: ndd.flip(x).evaluate()


def one_call_of_a_batch(ndd: Any) -> Callable[[], Any]:
    """One operator on 32 small pictures."""
    x = ndd.batch(_PICTURES, layout="HWC")
    return lambda: ndd.flip(x).evaluate()


def arithmetic(ndd: Any) -> Callable[[], Any]:
    """Four operations on a small tensor."""
    x = ndd.tensor(np.arange(100, dtype=np.float32))
    return lambda: ((x * 2 + 1) / 3 - x).evaluate()


def random(ndd: Any) -> Callable[[], Any]:
    """32 random numbers, and pictures that are turned by them."""
    x = ndd.batch(_PICTURES, layout="HWC")
    return lambda: ndd.rotate(x, angle=ndd.random.uniform(range=[-30.0, 30.0], batch_size=32)).evaluate()


def other_numbers(ndd: Any) -> Callable[[], Any]:
    """A number of Python's that is another one in each call."""
    x, state = ndd.batch(_PICTURES, layout="HWC"), iter(range(1 << 30))
    return lambda: ndd.brightness_contrast(x, brightness=1 + next(state) * 1e-6).evaluate()


def chain(ndd: Any) -> Callable[[], Any]:
    """Five operators one behind the other, on 32 small pictures."""
    x = ndd.batch(_PICTURES, layout="HWC")

    def run() -> Any:
        y = ndd.resize(x, size=[48, 48])
        y = ndd.flip(y)
        y = ndd.brightness_contrast(y, brightness=1.2)
        y = ndd.crop(y, crop=[32, 32])
        return ndd.crop_mirror_normalize(y, dtype=ndd.float32, mean=[100.0], std=[50.0]).evaluate()

    return run


def reader(ndd: Any) -> Callable[[], Any]:
    """A reader's loop: batches of 32 small JPEG files, decoded and turned."""
    root = Path(_ENDS.enter_context(tempfile.TemporaryDirectory(prefix="penstock-bench-")))
    (root / "class").mkdir()
    for k in range(64):
        Image.fromarray(_PICTURES[k % 32]).save(root / "class" / f"{k:02}.jpg", quality=90)
    files = ndd.readers.File(file_root=str(root))

    def batches() -> Iterator[Any]:
        while True:
            yield from files.next_epoch(batch_size=32)

    all_of_them = batches()

    def run() -> Any:
        jpegs, labels = next(all_of_them)
        labels.evaluate()
        return ndd.flip(ndd.decoders.image(jpegs, device="cpu")).evaluate()

    return run


def training(ndd: Any) -> Callable[[], Any]:
    """16 photographs of 500x375: decoded, cropped and resized by chance, normalized."""
    jpegs = ndd.batch(_jpegs(16))

    def run() -> Any:
        x = ndd.decoders.image_random_crop(jpegs, device="cpu")
        x = ndd.resize(x, size=[224, 224])
        mirror = ndd.random.coin_flip(batch_size=16)
        return ndd.crop_mirror_normalize(x, dtype=ndd.float32, mirror=mirror, mean=[120.0], std=[60.0]).evaluate()

    return run


CASES: dict[str, Callable[[Any], Callable[[], Any]]] = {
    f.__name__.replace("_", " "): f
    for f in (one_call, one_call_of_a_batch, arithmetic, random, other_numbers, chain, reader, training)
}


def measure(library: str, case: str, threads: int, seconds: float) -> None:
    """Prints microseconds per run, by the clock and of all processors."""
    ndd = importlib.import_module(library)
    ndd.set_num_threads(threads)
    with _ENDS:
        each, spent = both_times(CASES[case](ndd), seconds, warm_up=10, least=1)
    print(json.dumps({"us": each * 1e6, "spent": spent * 1e6}), flush=True)
    os._exit(0)


def rows(names: list[str], rounds: int, seconds: float, threads: int) -> Iterator[list[str]]:
    for case, make in CASES.items():
        if names and not any(name in case for name in names):
            continue
        found = []
        for _ in range(rounds):
            pair = [script("bench.dynamic", "--measure", library, case, threads, seconds) for library in LIBRARIES]
            found.append([one[what] for what in ("us", "spent") for one in pair])
        yield [(make.__doc__ or "").rstrip("."), *beside(found)]


HEAD = ["a program", *BESIDE]


def main() -> None:
    parser = comparison("dynamic", __doc__, f"some of {', '.join(CASES)}", 5, 1.0, ("--threads", "of each library"))
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        library, case, threads, seconds = options.measure
        measure(library, case, int(threads), float(seconds))

    def lines() -> Iterator[str]:
        about = (
            f"Each library with {options.threads} threads, in its default mode. Medians of {options.rounds} rounds of\n"
            f"{options.seconds:g} s in turn, and of their quotients."
        )
        yield from under_load(about, HEAD, rows(options.names, options.rounds, options.seconds, options.threads))

    show(options.names, "dynamic", "Dynamic mode", {"": ("Programs", lines)})


if __name__ == "__main__":
    main()
