"""`./dev bench external`: sources in worker processes, `fn.external_source(parallel=True)`, beside DALI's.

    ./dev bench external               all of them, into bench/results/external.md
    ./dev bench external small         those whose names have one of these in them, nowhere

Both libraries call the same functions in as many processes, each with the depth of its queue at which it is fastest,
which is found beforehand. They take turns, each in a process of its own, for a time; what is told is the median of the
rounds, and of their quotients. So is the processors' time that a sample takes, in all processes together: other work on
the machine changes it little.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.report import comparison, script, show, under_load

LIBRARIES = ("penstock", "nvidia.dali")
DEPTHS = (1, 3)
_NOISE = np.random.default_rng(1).integers(0, 256, (1080, 1920, 3), dtype=np.uint8)


def tiny(info: Any) -> Any:
    """What tells of the cost of everything else."""
    return _NOISE[0, :64] + np.uint8(info.idx_in_batch)


def small(info: Any) -> Any:
    """A row of a table, made a little noisier."""
    row = np.random.default_rng(info.idx_in_epoch).standard_normal(256)
    return (row + 1).astype(np.float32)


def decoded(info: Any) -> Any:
    """Work on a picture of 256x256 as simple decoders do: a table, a transform of channels, rounding."""
    picture = _NOISE[:256, :256].astype(np.float32)
    luma = picture @ np.array([0.299, 0.587, 0.114], np.float32)
    chroma = picture - luma[..., None]
    return np.clip(np.rint(chroma * 1.4 + luma[..., None] + info.idx_in_batch), 0, 255).astype(np.uint8)


def floats(info: Any) -> Any:
    """A picture of 512x512, normalized in floats."""
    picture = _NOISE[:512, :512].astype(np.float32)
    return (picture - picture.mean((0, 1))) / picture.std((0, 1)) + info.idx_in_batch


def large(info: Any) -> Any:
    """A frame of 1920x1080, mirrored."""
    return np.ascontiguousarray(_NOISE[:, ::-1]) + np.uint8(info.idx_in_batch)


def frames(info: Any) -> Any:
    """A frame of 1920x1080 as it is."""
    return _NOISE


_BOTH = ("fork", "spawn")
CASES: dict[str, tuple[Callable[[Any], Any], str, int, Sequence[str]]] = {
    "tiny": (tiny, "192 bytes, an addition", 256, _BOTH),
    "small": (small, "1 KB, random numbers", 256, ["fork"]),
    "decoded": (decoded, "256x256x3, colours changed", 32, _BOTH),
    "floats": (floats, "512x512x3 floats, normalized", 16, ["fork"]),
    "large": (large, "1920x1080x3, mirrored", 8, _BOTH),
    "frames": (frames, "1920x1080x3, as it is", 8, ["fork"]),
}


def measure(library: str, case: str, method: str, depth: int, workers: int, seconds: float) -> None:
    """Prints samples per second, and microseconds of processors' time per sample."""
    module, fn = importlib.import_module(library), importlib.import_module(f"{library}.fn")
    source, _, batch, _ = CASES[case]
    pipe = module.Pipeline(batch, 1, None, py_num_workers=workers, py_start_method=method)
    with pipe:
        pipe.set_outputs(fn.external_source(source, parallel=True, batch=False, prefetch_queue_depth=depth))
    pipe.build()
    for _ in range(8):
        pipe.run()
    processes = multiprocessing.active_children()
    before, count, begin = _used(processes), 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        pipe.run()
        count += batch
    took, used = time.perf_counter() - begin, _used(processes) - before
    print(json.dumps({"rate": count / took, "used": used / count * 1e6}), flush=True)
    for process in processes:
        process.kill()
    os._exit(0)  # DALI's pools may not end by themselves


def _used(processes: Sequence[Any]) -> float:
    """Seconds of processors' time of this process and these, so far."""
    ticks = 0
    for pid in [os.getpid(), *(process.pid for process in processes)]:
        stat = Path(f"/proc/{pid}/stat").read_text()
        ticks += sum(map(int, stat.rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _measured(*arguments: Any) -> dict[str, float]:
    return script("bench.external", "--measure", *arguments)


def _median(found: list[dict[str, dict[str, float]]], what: str) -> list[float]:
    """Ours, DALI's, and ours by DALI's."""
    each = [statistics.median(one[library][what] for one in found) for library in LIBRARIES]
    return [*each, statistics.median(one[LIBRARIES[0]][what] / one[LIBRARIES[1]][what] for one in found)]


def rows(names: list[str], rounds: int, seconds: float, workers: int) -> Iterator[list[str]]:
    for case, (_, title, batch, methods) in CASES.items():
        for method in methods if not names or case in names else ():
            rest = workers, seconds
            tried = {(lib, d): _measured(lib, case, method, d, *rest)["rate"] for lib in LIBRARIES for d in DEPTHS}
            best = {lib: max(DEPTHS, key=lambda d: tried[lib, d]) for lib in LIBRARIES}
            found = [{lib: _measured(lib, case, method, best[lib], *rest) for lib in LIBRARIES} for _ in range(rounds)]
            rate, used = _median(found, "rate"), _median(found, "used")
            yield [
                title, method, str(batch), *(f"{r:.0f} ({best[lib]})" for r, lib in zip(rate, LIBRARIES, strict=False)),
                f"{rate[2]:.2f}", f"{used[0]:.0f}", f"{used[1]:.0f}", f"{1 / used[2]:.2f}",
            ]  # fmt: skip


HEAD = [
    "a sample, and the work", "start", "batch", "Penstock, samples/s (depth)", "DALI, samples/s (depth)", "times DALI",
    "Penstock, us of CPU", "DALI, us of CPU", "times less",
]  # fmt: skip


def main() -> None:
    parser = comparison("external", __doc__, f"some of {', '.join(CASES)}", 5, 1.0, ("--workers", "processes"))
    parser.add_argument("--measure", nargs=6, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        library, case, method, depth, workers, seconds = options.measure
        measure(library, case, method, int(depth), int(workers), float(seconds))

    def lines() -> Iterator[str]:
        about = (
            f"Sources of samples in {options.workers} processes, the pipeline's output as they give it. Each library\n"
            f"with the best of the depths {', '.join(map(str, DEPTHS))}, which is in brackets. Medians of\n"
            f"{options.rounds} rounds of {options.seconds:g} s in turn, and of their quotients."
        )
        yield from under_load(about, HEAD, rows(options.names, options.rounds, options.seconds, options.workers))

    show(options.names, "external", "Sources in worker processes", {"": ("Samples", lines)})


if __name__ == "__main__":
    main()
