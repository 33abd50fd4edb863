"""`./dev bench gpu`: Penstock on a GPU beside DALI, in one run.

Each is tuned first, by short rounds over its threads and the engine that decodes: the loads of DALI's hardware decoder,
and the engines of Penstock. The tables compare the best. Where DALI is not installed, Penstock's figures stand alone.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Iterator
from typing import Any

from bench.contest import Contestant, contest, fastest, gpu_memory, ratio
from bench.photos import describe, photos
from bench.pipelines import LOADS
from bench.report import Section, arguments, choose, has_dali, script, table, write

THREADS = (4, 8, 16)
BUDGETS = ("", "16G", "8G", "4G", "1G")
FORMATS = ("420", "progressive", "png", "webp", "mixed")
DEPTHS = (2, 4)  # prefetch_queue_depth: what takes long for a batch is hidden behind others
# Who decodes, and the share of the pictures that it gets.
ENGINES = {
    "penstock": (("cuda", 1.0), ("hardware", 0.65), ("hardware", 1.0), ("cpu", 0.0)),
    "dali": (("", 0.0), ("", 0.65), ("", 0.9), ("", 1.0)),
}


class Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self.rounds, self.seconds, self.count = options.rounds, options.seconds, options.count
        self.who = ["penstock", *(["dali"] if has_dali() else [])]

    def contestant(self, who: str, work: str, threads: int, load: float | None, **more: Any) -> Contestant:
        batch = more.pop("batch", 256)
        return Contestant(who, work, photos(more.pop("set", "420"), self.count), threads, batch, load, **more)

    def tuned(self, who: str, work: str, **more: Any) -> Contestant:
        """The fastest settings, by one short round of each."""
        settings = [(threads, *by) for by in ENGINES[who] for threads in THREADS]
        candidates = [
            self.contestant(who, work, threads, load, engine=engine, **more) for threads, engine, load in settings
        ]
        return fastest(candidates, min(self.seconds, 1.2))

    def rates(self) -> Iterator[str]:
        yield f"Images per second, mixed decoding, batch 256; {describe(photos('420', self.count))}. The best of"
        yield f"{'/'.join(map(str, THREADS))} threads, of DALI's hw_decoder_load 0/0.65/0.9/1, of Penstock's engines."
        yield ""
        rows = []
        for work in ("train", "val"):
            best = [self.tuned(who, work) for who in self.who]
            contest(best, self.rounds, self.seconds)
            for c in best:
                against = f"{ratio(c, best[1]):.2f}" if len(best) > 1 else "-"
                rows.append([work, c.who, c.engine, str(c.threads), str(c.load), f"{c.rate:.0f}", c.spread, against])
        yield from table(["work", "who", "engine", "threads", "load", "images/s", "spread", "times DALI"], rows)

    def formats(self) -> Iterator[str]:
        yield "Images per second of train, mixed decoding, 16 threads, batch 256, a format at a time, by how many"
        yield "batches are prefetched. mixed: of 25 files 20 are baseline JPEG, 4 progressive, 1 is PNG. Times are"
        yield "those of DALI's best of the format. GPU memory: of each alone, with CUDA's own context."
        yield ""
        rows = []
        for name in FORMATS:
            root = photos(name, self.count)
            all_of = [
                Contestant(who, "train", root, 16, 256, LOADS[who], "cuda" * (who == "penstock"), depth=depth)
                for who in self.who
                for depth in DEPTHS
            ]
            contest(all_of, self.rounds, self.seconds)
            best = max((c for c in all_of if c.who == "dali"), key=lambda c: c.rate, default=None)
            for c in all_of:
                against = f"{ratio(c, best):.2f}" if best else "-"
                rate, memory = f"{c.rate:.0f}", str(gpu_memory(c, self.seconds))
                rows.append([name, c.who, str(c.depth), rate, c.spread, against, memory])
        yield from table(["files", "who", "prefetched", "images/s", "spread", "times DALI", "GPU memory MB"], rows)

    def memory(self) -> Iterator[str]:
        yield "Train, mixed decoding by the GPU's kernels, 16 threads, batch 256; GPU memory of each alone, with CUDA's"
        yield "own context. Pictures decoded at a time take a sixteenth of the budget, 2 GB without one."
        yield ""
        rows, root = [], photos("420", self.count)
        ours = [Contestant("penstock", "train", root, 16, 256, 1.0, "cuda", budget=b) for b in BUDGETS]
        dali = [Contestant("dali", "train", root, 16, 256, LOADS["dali"])] if has_dali() else []
        contest([*ours, *dali], self.rounds, self.seconds)
        for c in [*ours, *dali]:
            against = f"{ratio(c, dali[0]):.2f}" if dali else "-"
            rows.append([c.who, c.budget or "none", f"{c.rate:.0f}", against, str(gpu_memory(c, self.seconds))])
        yield from table(["who", "PENSTOCK_DEVICE_MEMORY", "images/s", "times DALI", "GPU memory MB"], rows)

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
                figures[who].append(script("bench.gpu_augment", who))
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
            pair = [self.contestant(who, "train", 16, LOADS[who], gpus=n) for n in (1, 2)]
            contest(pair, self.rounds, self.seconds)
            rows.append([who, f"{pair[0].rate:.0f}", f"{pair[1].rate:.0f}", f"{ratio(pair[1], pair[0]):.2f}"])
        yield from table(["who", "1 GPU", "2 GPUs", "times"], rows)

    def training(self) -> Iterator[str]:
        yield "ResNet-50, bf16, channels_last, torch.compile, batch 256, on one GPU. Synthetic: one batch that stays on"
        yield "it; rounds of both alternate. For each number of threads, the best engine and share."
        yield ""
        root, rows = str(photos("420", self.count)), []
        for who in self.who:
            results = script("bench.gpu_training", who, root)["results"]
            for threads in dict.fromkeys(r["threads"] for r in results):
                best = max((r for r in results if r["threads"] == threads), key=lambda r: r["share"])
                figures = (f"{best['rate']:.0f}", f"{best['synthetic']:.0f}", f"{100 * best['share']:.1f} %")
                rows.append([who, str(threads), best["engine"], f"{best['load']:g}", *figures])
        yield from table(
            ["images from", "threads", "engine", "hw_decoder_load", "images/s", "synthetic", "share"], rows
        )

    def busy(self) -> Iterator[str]:
        yield "Train, 8 threads. A second Python thread takes the batches, while pure Python runs all the time: in the"
        yield "main thread of the same process, or in another process."
        yield ""
        rows = []
        for who in self.who:
            pair = [self.contestant(who, "train", 8, LOADS[who], kind=kind) for kind in ("busy", "beside")]
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
                times = [script("bench.gpu_first", who, root, env=environment)["seconds"] for _ in range(4)]
            rows.append([who, f"{times[0]:.2f}", f"{statistics.median(times[1:]):.2f}"])
        yield from table(["who", "cold cache s", "warm cache s"], rows)


def main() -> None:
    parser = arguments("gpu", "rates formats memory reading augmentation gpus training busy first", 5, 2.5)
    options = parser.parse_args()
    bench = Bench(options)
    sections: dict[str, Section] = {
        "rates": ("Rates", bench.rates),
        "formats": ("Formats", bench.formats),
        "memory": ("Memory", bench.memory),
        "reading": ("Reading", bench.reading),
        "augmentation": ("Augmentation alone", bench.augmentation),
        "gpus": ("Two GPUs", bench.gpus),
        "training": ("Training", bench.training),
        "busy": ("A busy main thread", bench.busy),
        "first": ("The first batch", bench.first),
    }
    named = options.sections or [name for name in sections if name != "gpus" or _gpus() > 1]
    write("gpu", "Penstock on GPUs", choose(parser, named, sections), options.append)


def _gpus() -> int:
    from penstock.machine.gpu import count

    return count()


if __name__ == "__main__":
    main()
