"""`./dev bench gpu`: Penstock on a GPU beside DALI, in one run.

DALI is tuned first: short rounds over its threads and its hardware decoder's load; the tables compare with the best.
Where DALI is not installed, Penstock's figures stand alone.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench import machine
from bench.contest import Contestant, contest, ratio
from bench.cpu import table
from bench.photos import describe, photos

RESULT = Path(__file__).parent / "results" / "gpu.md"
THREADS, LOADS = (4, 8, 16), (0.0, 0.65, 0.9, 1.0)


def has_dali() -> bool:
    try:
        return importlib.util.find_spec("nvidia.dali") is not None
    except ModuleNotFoundError:
        return False


class Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self.rounds, self.seconds, self.count = options.rounds, options.seconds, options.count
        self.who = ["penstock", *(["dali"] if has_dali() else [])]

    def contestant(self, who: str, work: str, threads: int, load: float | None, **more: Any) -> Contestant:
        batch = more.pop("batch", 256)
        return Contestant(who, work, photos(more.pop("set", "420"), self.count), threads, batch, load, **more)

    def tuned(self, who: str, work: str, **more: Any) -> Contestant:
        """The fastest settings, by one short round of each."""
        best: Contestant | None = None
        for threads in THREADS:
            for load in LOADS:
                c = self.contestant(who, work, threads, load, **more)
                contest([c], 1, min(self.seconds, 1.2))
                print(f"  {who} {work}: {threads} threads, load {load}: {c.rate:.0f}", flush=True)
                if best is None or c.rate > best.rate:
                    best = c
        assert best
        return self.contestant(who, work, best.threads, best.load, **more)

    def rates(self) -> Iterator[str]:
        yield f"Images per second, mixed decoding, batch 256; {describe(photos('420', self.count))}. The best of "
        yield f"{'/'.join(map(str, THREADS))} threads and a hardware decoder's load of {'/'.join(map(str, LOADS))}."
        yield ""
        rows = []
        for work in ("train", "val"):
            best = [self.tuned(who, work) for who in self.who]
            contest(best, self.rounds, self.seconds)
            for c in best:
                against = f"{ratio(c, best[1]):.2f}" if len(best) > 1 else "-"
                rows.append([work, c.who, str(c.threads), str(c.load), f"{c.rate:.0f}", c.spread, against])
        yield from table(["work", "who", "threads", "load", "images/s", "spread", "times DALI"], rows)

    def reading(self) -> Iterator[str]:
        yield "Reading alone: files from the page cache into pinned memory, and from there to the GPU; 16 threads."
        yield ""
        rows = []
        for work in ("read", "read_gpu"):
            pair = [self.contestant(who, work, 16, 0.0) for who in self.who]
            contest(pair, self.rounds, self.seconds)
            rows += [[work, c.who, f"{c.rate:.0f}", c.spread] for c in pair]
        yield from table(["work", "who", "files/s", "spread"], rows)

    def augmentation(self) -> Iterator[str]:
        yield "256 pictures of 500x375 that are on the GPU: random resized crop to 224, colour twist, brightness and"
        yield "contrast, crop-mirror-normalize to FP16 CHW. Medians of rounds in turn; GPU time: kernels and copies."
        yield ""
        figures: dict[str, list[dict[str, Any]]] = {who: [] for who in self.who}
        for _ in range(self.rounds):
            for who in self.who:
                figures[who].append(_script("bench.gpu_augment", who))
        rows = []
        for who, found in figures.items():
            wall, gpu = (statistics.median(f[k] for f in found) for k in ("wall_ms", "gpu_ms"))
            rows.append([who, f"{wall:.3f}", f"{gpu:.3f}", str(found[0]["kernels"]), str(found[0]["copies"])])
        yield from table(["who", "wall ms", "GPU ms", "kernels", "copies"], rows)

    def gpus(self) -> Iterator[str]:
        yield "One pipeline per GPU in one process, 16 threads each."
        yield ""
        rows = []
        for who in self.who:
            pair = [self.contestant(who, "train", 16, 0.9, gpus=n) for n in (1, 2)]
            contest(pair, self.rounds, self.seconds)
            rows.append([who, f"{pair[0].rate:.0f}", f"{pair[1].rate:.0f}", f"{ratio(pair[1], pair[0]):.2f}"])
        yield from table(["who", "1 GPU", "2 GPUs", "times"], rows)

    def training(self) -> Iterator[str]:
        yield "ResNet-50, bf16, channels_last, torch.compile, batch 256, on one GPU. Synthetic: one batch that stays on"
        yield "it; rounds of both alternate. For each number of threads, the best share of the hardware decoder."
        yield ""
        root, rows = str(photos("420", self.count)), []
        for who in self.who:
            results = _script("bench.gpu_training", who, root)["results"]
            for threads in dict.fromkeys(r["threads"] for r in results):
                best = max((r for r in results if r["threads"] == threads), key=lambda r: r["share"])
                figures = (f"{best['rate']:.0f}", f"{best['synthetic']:.0f}", f"{100 * best['share']:.1f} %")
                rows.append([who, str(threads), f"{best['load']:g}", *figures])
        yield from table(["images from", "threads", "hw_decoder_load", "images/s", "synthetic", "share"], rows)

    def busy(self) -> Iterator[str]:
        yield "Train, 8 threads. A second Python thread takes the batches, while pure Python runs all the time: in the"
        yield "main thread of the same process, or in another process."
        yield ""
        rows = []
        for who in self.who:
            pair = [self.contestant(who, "train", 8, 0.9, kind=kind) for kind in ("busy", "beside")]
            contest(pair, self.rounds, self.seconds)
            rows.append([who, *(f"{c.rate:.0f}" for c in pair), f"{100 * (ratio(*pair) - 1):+.1f} %"])
        yield from table(["who", "same process", "another process", "difference"], rows)

    def first(self) -> Iterator[str]:
        yield "From the start of Python's process to the first batch of train (import, CUDA, kernels and all)."
        yield ""
        root, rows = str(photos("420", self.count)), []
        for who in self.who:
            with tempfile.TemporaryDirectory() as cache:
                environment = {**os.environ, "PENSTOCK_CACHE": cache}
                times = [_script("bench.gpu_first", who, root, env=environment)["seconds"] for _ in range(4)]
            rows.append([who, f"{times[0]:.2f}", f"{statistics.median(times[1:]):.2f}"])
        yield from table(["who", "cold cache s", "warm cache s"], rows)


def _script(module: str, *words: Any, env: dict[str, str] | None = None) -> dict[str, Any]:
    command = [sys.executable, "-m", module, *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=env)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev bench gpu")
    parser.add_argument("sections", nargs="*", help="some of: rates reading augmentation gpus training busy first")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each contestant (5)")
    parser.add_argument("--seconds", type=float, default=2.5, help="length of one round (2.5)")
    parser.add_argument("--count", type=int, help="photographs in each set, for a short trial (2048)")
    parser.add_argument("--append", action="store_true", help="add the sections to bench/results/gpu.md")
    options = parser.parse_args()
    bench = Bench(options)
    sections: dict[str, tuple[str, Callable[[], Iterator[str]]]] = {
        "rates": ("Rates", bench.rates),
        "reading": ("Reading", bench.reading),
        "augmentation": ("Augmentation alone", bench.augmentation),
        "gpus": ("Two GPUs", bench.gpus),
        "training": ("Training", bench.training),
        "busy": ("A busy main thread", bench.busy),
        "first": ("The first batch", bench.first),
    }
    chosen = options.sections or [name for name in sections if name != "gpus" or _gpus() > 1]
    if unknown := set(chosen) - set(sections):
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    lines = [] if options.append else ["# Penstock on GPUs", ""]
    for title, body in (sections[name] for name in chosen):
        lines += [f"## {title}", ""]
        print(f"\n## {title}\n", flush=True)
        for line in body():
            print(line, flush=True)
            lines.append(line)
        lines.append("")
    lines += [*(f"- {line}" for line in [*machine.describe(), *machine.gpus()]), ""]
    RESULT.parent.mkdir(exist_ok=True)
    with open(os.environ.get("PENSTOCK_BENCH_RESULT", RESULT), "a" if options.append else "w") as file:
        file.write("\n".join(lines) + "\n")


def _gpus() -> int:
    from penstock.run.gpu import count

    return count()


if __name__ == "__main__":
    main()
