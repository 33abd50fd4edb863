"""`./dev bench jpeg`: JPEG files to pictures on a GPU, by Penstock's kernels, by nvJPEG in Penstock, and by DALI.

Each is tuned first, by short rounds. Where DALI is not installed, the others' figures stand alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from bench.contest import Contestant, contest, fastest, ratio
from bench.jpeg_work import Work, measure
from bench.photos import describe, index_of, photos
from bench.report import Section, arguments, choose, has_dali, script, table, write

BATCHES = {"420": 256, "444": 256, "12mp": 32}  # of the sets of bench/photos.py
THREADS, LOADS = (4, 8, 16), (0.65, 0.9, 1.0)
# The loop that decodes to coefficients takes about so many for a symbol. The one before it, which only has to know how
# long symbols are, may find several at a time.
INSTRUCTIONS = 30


class Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self.rounds, self.seconds, self.count = options.rounds, options.seconds, options.count

    def tuned(
        self, who: str, engine: str, work: str, set: str, threads: Iterable[int], loads: Sequence[float]
    ) -> Contestant:
        root, batch = photos(set, self.count), BATCHES[set]
        settings = [(load, n) for load in loads for n in threads]
        candidates = [Contestant(who, work, root, n, batch, load, engine) for load, n in settings]
        return fastest(candidates, min(self.seconds, 0.8)) if len(candidates) > 1 else candidates[0]

    def rows(self, title: str, contestants: list[Contestant]) -> Iterator[list[str]]:
        contest(contestants, self.rounds, self.seconds)
        for c in contestants:
            by = {"cuda": "own kernels", "hardware": "nvJPEG", "": "nvJPEG"}[c.engine]
            who = f"{c.who}, {by}{', interpolated' if c.fancy else ''}"
            against = f"{ratio(c, contestants[-1]):.2f}" if contestants[-1].who == "dali" else "-"
            yield [title, who, str(c.threads), f"{c.load:g}", f"{c.rate:.0f}", c.spread, against]

    def decode(self) -> Iterator[str]:
        yield "Images per second from files in the page cache to RGB in the GPU's memory; the best of 4/8/16 threads,"
        yield "and of hw_decoder_load 0.65/0.9/1 for nvJPEG (in Penstock with 16 threads) and DALI. Chroma is repeated,"
        yield "which is both libraries' default; interpolated: as the CPU decodes it, bit for bit."
        for name, batch in BATCHES.items():
            yield f"{name}: {describe(photos(name, self.count))}, batch {batch}."
        yield ""
        rows: list[list[str]] = []
        for name in BATCHES:
            own = self.tuned("penstock", "cuda", "decode", name, THREADS, (1.0,))
            contestants = [own, replace(own, fancy=True, rates=[])]
            contestants.append(self.tuned("penstock", "hardware", "decode", name, (16,), LOADS))
            if has_dali():
                contestants.append(self.tuned("dali", "", "decode", name, THREADS, LOADS))
            rows += self.rows(name, contestants)
        yield from table(["set", "who", "threads", "load", "images/s", "spread", "times DALI"], rows)

    def train(self) -> Iterator[str]:
        root = photos("420", self.count)
        yield f"Files to normalized FP32 CHW crops of 224x224 on the GPU, batch 256; {describe(root)}. DALI's"
        yield "hw_decoder_load is the best of 0.65/0.9/1 for each number of threads."
        yield ""
        rows: list[list[str]] = []
        bounds = []
        for threads in (16, 4):
            contestants = [self.tuned("penstock", "cuda", "train", "420", (threads,), (1.0,))]
            if has_dali():
                contestants.append(self.tuned("dali", "", "train", "420", (threads,), LOADS))
            rows += self.rows(f"train, {threads} threads", contestants)
            found = script("bench.gpu_bound", root, threads)
            busy = ", ".join(f"{what} {100 * share:.0f} %" for what, share in found["busy"].items())
            bounds.append(f"- {threads} threads: **{found['bottleneck']}**. {found['evidence']} At work: {busy}.")
            bounds.append(f"  Decoded by: {found['decoded']}.")
        yield from table(["work", "who", "threads", "load", "images/s", "spread", "times DALI"], rows)
        yield ""
        yield "What bounds Penstock, by `penstock.profile`:"
        yield ""
        yield from bounds

    def index(self) -> Iterator[str]:
        yield "Images per second with an index of the photographs (`jpeg_index=`), beside those without; 16 threads."
        yield "decode: whole pictures, train: normalized FP32 CHW crops of 224x224."
        yield ""
        rows: list[list[str]] = []
        for name, batch in BATCHES.items():
            root = photos(name, self.count)
            for work in ("decode", "train"):
                without = Contestant("penstock", work, root, 16, batch, 1.0, "cuda")
                with_index = replace(without, index=str(index_of(root)), rates=[])
                contest([with_index, without], self.rounds, self.seconds)
                rates = (f"{c.rate:.0f} ({c.spread})" for c in (with_index, without))
                rows.append([name, work, *rates, f"{ratio(with_index, without):.2f}"])
        yield from table(["set", "work", "with an index", "without", "times"], rows)
        yield ""
        yield "Microseconds of each kernel a batch, with an index:"
        yield ""
        columns = [self.kernel_figures(name, "--index")["kernels"] for name in BATCHES]
        kernels = dict.fromkeys(kernel for c in columns for kernel in c)
        rows = [[kernel, *(f"{c[kernel]:.0f}" if kernel in c else "-" for c in columns)] for kernel in kernels]
        rows.append(["all", *(f"{sum(c.values()):.0f}" for c in columns)])
        yield from table(["kernel", *BATCHES], rows)

    def kernel_figures(self, name: str, *more: str) -> dict[str, Any]:
        words = ["--photos", name, "--batch", BATCHES[name], *more, "--loads"]
        return script("bench.gpu_jpeg", *words, *(["--count", self.count] if self.count else []))

    def kernels(self) -> Iterator[str]:
        yield "Microseconds of each kernel a batch, by PyTorch's profiler, chroma interpolated; and floors: the"
        yield "bytes that must be read and written once (MB), at the rate of copies within this GPU (a cache may be"
        yield f"quicker); and the symbols, if every lane of the GPU decoded one in each {INSTRUCTIONS} instructions."
        for name, batch in BATCHES.items():
            root = photos(name, self.count)
            found = self.kernel_figures(name)
            work = measure(root)
            symbols, copies = batch * work.symbols, found["copies"]
            yield ""
            size, blocks = f"{batch * work.bytes / 1e6:.1f} MB", f"{batch * work.blocks / 1e6:.2f} million blocks"
            yield f"{name}, a batch of {batch}: {size}, {blocks}, {symbols / 1e6:.1f} million symbols. Copies run"
            yield f"at {copies / 1e12:.2f} TB/s. All together: {found['rates']['cuda']:.0f} images/s."
            yield ""
            rows, moved = [], kernel_bytes(work)
            for kernel, spent in found["kernels"].items():
                megabytes = batch * moved.get(kernel, 0) / 1e6
                of_bytes = [f"{megabytes:.0f}", f"{megabytes / copies * 1e12:.0f}"] if megabytes else ["-", "-"]
                floor = symbols * INSTRUCTIONS / found["lanes"] * 1e6
                of_symbols = f"{floor:.0f}" if kernel in ("synchronize", "coefficients") else "-"
                rows.append([kernel, f"{spent:.0f}", *of_bytes, of_symbols])
            rows.append(["all", f"{sum(found['kernels'].values()):.0f}", "", "", ""])
            yield from table(["kernel", "us", "MB", "floor us: bytes", "floor us: symbols"], rows)


def kernel_bytes(work: Work) -> dict[str, float]:
    """What each kernel has to read and write of a picture. The others' share is small, or depends on the scan."""
    words, dc, samples = 4 * work.symbols, 2 * work.blocks, 64 * work.blocks
    return {
        "count": work.bytes,
        "unstuff": 2 * work.bytes,
        "synchronize": work.bytes,
        "coefficients": work.bytes + words + dc,
        "dc": 2 * dc,
        "transform": words + dc + samples,
        "pixels": samples + 3 * work.pixels,
        "direct": words + dc + 3 * work.pixels,
    }


def main() -> None:
    parser = arguments("jpeg", "decode train index kernels", 4, 1.2)
    options = parser.parse_args()
    bench = Bench(options)
    sections: dict[str, Section] = {
        "decode": ("Decoding", bench.decode),
        "train": ("End to end", bench.train),
        "index": ("With an index", bench.index),
        "kernels": ("Kernels", bench.kernels),
    }
    chosen = choose(parser, options.sections or list(sections), sections)
    write("jpeg", "JPEG on GPUs", chosen, options.append)


if __name__ == "__main__":
    main()
