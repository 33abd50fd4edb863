"""`./dev bench cpu`: Penstock on CPUs beside DALI and DataLoaders over Pillow and OpenCV, in one run.

Every table alternates its contestants round by round, each in a process of its own, and gives medians, the spread from
the slowest to the fastest round, and the median of the rounds' ratios to DALI.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench import machine, operators
from bench.contest import Contestant, contest, ratio
from bench.photos import REWRITTEN, describe, index_of, photos
from bench.report import Section, arguments, choose, table

RESULT = Path(__file__).parent / "results" / "cpu.md"


class Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self.rounds, self.seconds, self.count = options.rounds, options.seconds, options.count

    def rate_rows(self, work: str, set_name: str, loaders: bool) -> list[list[str]]:
        root, batch = photos(set_name, self.count), 32 if set_name == "12mp" else 256
        who = ["penstock", "dali", *(["pillow", "opencv"] if loaders else [])]
        contestants = [Contestant(name, work, root, batch=batch) for name in who]
        contest(contestants, self.rounds, self.seconds)
        dali = contestants[1]
        return [[f"{work} {set_name}", c.who, f"{c.rate:.0f}", c.spread, f"{ratio(c, dali):.2f}"] for c in contestants]

    def rates(self) -> Iterator[str]:
        yield "Images per second, 2 threads (or 2 workers)."
        for name in ("420", "444", "12mp"):
            yield f"{name}: {describe(photos(name, self.count))}."
        yield ""
        rows = []
        for work, sets, loaders in (
            ("train", ("420", "444", "12mp"), True),
            ("val", ("420", "444"), True),
            ("random_resized_crop", ("420", "444"), False),
            ("decode", ("420", "444"), False),
            ("read", ("420",), False),
        ):
            for name in sets:
                rows += self.rate_rows(work, name, loaders)
        yield from table(["work", "who", "images/s", "spread", "times DALI"], rows)

    def formats(self) -> Iterator[str]:
        yield "Images per second, 2 threads, and milliseconds of all processors for a picture, which a busy machine"
        yield "changes less. mixed: 20 of 25 are baseline JPEG, 4 progressive, 1 is PNG."
        for name in REWRITTEN:
            yield f"{name}: {describe(photos(name, self.count))}."
        yield ""
        rows = []
        for name in REWRITTEN:
            for work in ("train", "decode"):
                pair = [Contestant(who, work, photos(name, self.count), batch=128) for who in ("penstock", "dali")]
                contest(pair, self.rounds, self.seconds)
                for c in pair:
                    times, spent = f"{ratio(c, pair[1]):.2f}", f"{pair[1].spent / c.spent:.2f}"
                    rows.append([f"{work} {name}", c.who, f"{c.rate:.0f}", c.spread, times, f"{c.spent:.2f}", spent])
        yield from table(["work", "who", "images/s", "spread", "times DALI", "processor ms", "times DALI"], rows)

    def conditionals(self) -> Iterator[str]:
        yield "Images per second, 2 threads: pictures decoded, resized and mirrored by a number per sample, given to"
        yield "`flip` as an argument, or by `if` on it."
        yield ""
        rows = []
        for who in ("penstock", "dali"):
            pair = [Contestant(who, work, photos("420", self.count)) for work in ("mirrored", "mirrored_if")]
            contest(pair, self.rounds, self.seconds)
            argument, branch = pair
            rates = (f"{c.rate:.0f} ({c.spread})" for c in pair)
            rows.append([who, *rates, f"{100 * (1 - ratio(branch, argument)):+.1f} %"])
        yield from table(["who", "argument", "if", "cost"], rows)

    def operators(self) -> Iterator[str]:
        yield from (operators.__doc__ or "").strip().splitlines()
        yield ""
        rows = list(operators.rows(photos("420", self.count), self.rounds, self.seconds / 10))
        yield from table(["operator", "arguments", "Penstock ms", "DALI ms", "times DALI"], rows)

    def index(self) -> Iterator[str]:
        yield "Images per second, one thread, with an index of the photographs (`jpeg_index=`) and without. `train`"
        yield "decodes a random crop, `patch` 224 x 224 pixels at a random place."
        yield ""
        rows = []
        for name in ("420", "12mp"):
            root = photos(name, self.count)
            for work in ("train", "patch"):
                without = Contestant("penstock", work, root, 1, batch=32)
                with_index = replace(without, index=str(index_of(root)), rates=[])
                contest([with_index, without], self.rounds, self.seconds)
                rates = (f"{c.rate:.0f} ({c.spread})" for c in (with_index, without))
                rows.append([name, work, *rates, f"{ratio(with_index, without):.2f}"])
        yield from table(["set", "work", "with an index", "without", "times"], rows)

    def scaling(self) -> Iterator[str]:
        yield "Images per second, and how many times those of one thread; batches of 128."
        yield ""
        cores = os.cpu_count() or 1
        counts = sorted({*(1 << k for k in range(cores.bit_length())), cores})
        rows = []
        for work, name in (("train", "420"), ("val", "420"), ("decode", "420"), ("train", "png")):
            root = photos(name, self.count)
            for who in ("penstock", "dali"):
                by_threads = [Contestant(who, work, root, n, batch=128) for n in counts]
                contest(by_threads, self.rounds, self.seconds)
                rates = (f"{c.rate:.0f}" for c in by_threads)
                rows.append([f"{work} {name}", who, *rates, f"{ratio(by_threads[-1], by_threads[0]):.2f}"])
        threads = ("1 thread" if n == 1 else f"{n} threads" for n in counts)
        yield from table(["work", "who", *threads, "times"], rows)

    def busy(self) -> Iterator[str]:
        yield "One loader thread. A second Python thread takes the batches, while pure Python runs all the time: in the"
        yield "main thread of the same process, or in another process."
        yield ""
        rows = []
        for who in ("penstock", "dali"):
            root = photos("420", self.count)
            pair = [Contestant(who, "train", root, 1, kind=kind) for kind in ("busy", "beside")]
            contest(pair, self.rounds, self.seconds)
            busy, beside = pair
            rows.append([who, f"{busy.rate:.0f}", f"{beside.rate:.0f}", f"{100 * (ratio(busy, beside) - 1):+.1f} %"])
        yield from table(["who", "same process", "another process", "difference"], rows)

    def imports(self) -> Iterator[str]:
        rows = []
        for module in ("numpy", "penstock", "nvidia.dali"):
            code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
            times = [
                float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
                for _ in range(7)
            ]
            rows.append([module, f"{1000 * statistics.median(times):.0f}", f"{1000 * max(times):.0f}"])
        yield from table(["import", "median ms", "slowest of 7"], rows)

    def memory(self) -> Iterator[str]:
        rows = []
        for work in ("train", "val", "decode"):
            pair = [Contestant(who, work, photos("420", self.count)) for who in ("penstock", "dali")]
            contest(pair, 2, self.seconds)
            for c in pair:
                rows.append([work, c.who, f"{c.peak:.0f}", f"{c.peak / pair[1].peak:.2f}", f"{c.pss:.0f}"])
        yield from table(["work (420, 2 threads)", "who", "peak RSS MB", "times DALI", "PSS MB"], rows)

    def growth(self) -> Iterator[str]:
        root, epochs = photos("demo", self.count), 200 if not self.count else 20
        command = [sys.executable, "-m", "bench.growth", str(root), str(epochs)]
        figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
        yield f"PSS of the process through {epochs} epochs of {describe(root)}, PyTorch iterator, batch 128:"
        yield ""
        yield from table(
            ["epoch", *(str(epoch) for epoch, _ in figures)], [["MB", *(f"{mb:.0f}" for _, mb in figures)]]
        )


def main() -> None:
    parser = arguments("cpu", "rates formats operators index scaling busy imports memory growth", 5, 2.5)
    options = parser.parse_args()
    bench = Bench(options)
    sections: dict[str, Section] = {
        "rates": ("Rates", bench.rates),
        "formats": ("Other formats", bench.formats),
        "conditionals": ("Conditionals", bench.conditionals),
        "operators": ("Operators", bench.operators),
        "index": ("With an index of JPEG files", bench.index),
        "scaling": ("From one thread to all", bench.scaling),
        "busy": ("A busy main thread", bench.busy),
        "imports": ("Import time", bench.imports),
        "memory": ("Memory", bench.memory),
        "growth": ("Memory over many epochs", bench.growth),
    }
    chosen = choose(parser, options.sections or list(sections), sections)
    about = [*machine.describe(), f"Besides: {machine.load()} at the start"]
    lines = [f"# Added: {', '.join(chosen)}" if options.append else "# Penstock on CPUs", ""]
    lines += [*(f"- {line}" for line in about), ""]
    for title, body in chosen.values():
        lines += [f"## {title}", ""]
        print(f"\n## {title}\n", flush=True)
        for line in body():
            print(line, flush=True)
            lines.append(line)
        lines.append("")
    lines.append(f"At the end: {machine.load()}.")
    whole = list(chosen) == list(sections) and not options.count  # a part of the tables never takes the place of all
    if whole or options.append:
        RESULT.parent.mkdir(exist_ok=True)
        with open(RESULT, "a" if options.append else "w") as file:
            file.write(("\n" if options.append else "") + "\n".join(lines) + "\n")
        print(f"\nwritten: {RESULT}")


if __name__ == "__main__":
    main()
