"""`python -m bench.gpu_video FOLDER`: frames a second of the videos in a folder on a GPU, beside DALI's readers.

Sequences of 16 frames, one behind the other and in random order, these also resized. Each library has several settings;
all take turns.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from bench.contest import Contestant, contest
from bench.report import has_dali, table
from bench.timing import measured, seconds_each
from bench.worker import LIBRARIES

LENGTH, BATCH, RESIZED = 16, 8, 256
ORDERS: dict[str, dict[str, Any]] = {
    "in order": {},
    "random": {"step": 7, "random_shuffle": True},
    "random, resized": {"step": 7, "random_shuffle": True, "resize_x": RESIZED, "resize_y": RESIZED},
}
# What decodes, and with how many threads; DALI's readers have one of their own, and read ahead.
SETTINGS: dict[str, list[tuple[str, int, dict[str, Any]]]] = {
    "penstock": [("nvdec", threads, {"video_engine": "nvdec"}) for threads in (4, 8)]
    + [("cpu", 16, {"video_engine": "cpu"})],
    "dali": [("", 4, {}), ("read_ahead", 4, {"read_ahead": True, "additional_decode_surfaces": 8})],
}


@dataclass
class Viewer(Contestant):
    """A library that reads sequences; ``work``: their order."""

    title: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    def command(self) -> list[str]:
        names = ("who", "work", "threads", "depth", "options")
        settings = {name: getattr(self, name) for name in names}
        return [sys.executable, "-m", "bench.gpu_video", "--worker", json.dumps({**settings, "root": str(self.root)})]


def start(who: str, work: str, root: str, threads: int, depth: int, options: dict[str, Any]) -> Callable[[], object]:
    """What gives the next batch."""
    library = importlib.import_module(LIBRARIES[who])
    fn = importlib.import_module(f"{LIBRARIES[who]}.fn")
    files = sorted(str(path) for path in Path(root).iterdir())
    order = ORDERS[work]
    make = fn.readers.video_resize if "resize_x" in order else fn.readers.video
    pipe = library.Pipeline(batch_size=BATCH, num_threads=threads, device_id=0, seed=1, prefetch_queue_depth=depth)
    with pipe:
        pipe.set_outputs(make(device="gpu", filenames=files, sequence_length=LENGTH, **order, **options))
    pipe.build()
    run: Callable[[], object] = pipe.run
    return run


def work(settings: dict[str, Any]) -> None:
    """Answers as bench/worker.py does."""
    run = start(**settings)
    run()
    print("ready", flush=True)
    for line in sys.stdin:
        seconds = json.loads(line)["seconds"]
        print(json.dumps(measured(partial(rate, run, seconds))), flush=True)


def rate(run: Callable[[], object], seconds: float) -> float:
    """Frames a second."""
    return BATCH * LENGTH / seconds_each(run, seconds, warm_up=5)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.gpu_video", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="of videos of one size")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each setting")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one round")
    parser.add_argument("--orders", nargs="+", default=list(ORDERS), choices=ORDERS, help="of sequences")
    parser.add_argument("--worker", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(options.worker)
    rows = chain.from_iterable(compared(order, options) for order in options.orders)
    for text in table(["sequences", "who", "by", "threads", "frames/s", "spread", "times DALI's best"], rows):
        print(text, flush=True)
    return None


def compared(order: str, options: argparse.Namespace) -> Iterator[list[str]]:
    """The rows of one order of sequences."""
    viewers = [
        Viewer(who, order, options.folder, threads, BATCH, title=title, options=more)
        for who in ("penstock", *["dali"] * has_dali())
        for title, threads, more in SETTINGS[who]
    ]
    contest(viewers, options.rounds, options.seconds)
    best = max((v.rate for v in viewers if v.who == "dali"), default=0.0)
    for v in viewers:
        times = f"{v.rate / best:.2f}" if best else "-"
        yield [order, v.who, v.title, str(v.threads), f"{v.rate:.0f}", v.spread, times]


if __name__ == "__main__":
    main()
