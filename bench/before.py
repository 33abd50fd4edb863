"""`./dev bench before CHECKOUT`: this library beside that of another checkout, which is built, in one run.

Every piece of work is done by both in turn, each in a process of its own. What matters is the last column: the median
of the rounds' ratios. A figure under 0.97 asks for an explanation.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from bench import operators
from bench.contest import Contestant, contest, ratio
from bench.inputs import BATCH
from bench.photos import photos
from bench.report import Section, arguments, choose, table, write

WORK = {
    "train": ("420", "444", "12mp"),
    "val": ("420", "444"),
    "random_resized_crop": ("420", "444"),
    "decode": ("420", "444"),
    "read": ("420",),
}
HEAD = ["work", "before", "now", "times"]


class Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self.checkout: Path = options.checkout.resolve()
        self.rounds, self.seconds, self.count = options.rounds, options.seconds, options.count

    def row(self, work: str, title: str, root: Path, batch: int, seconds: float) -> list[str]:
        now = Contestant("penstock", work, root, batch=batch)
        before = Contestant("penstock", work, root, batch=batch, checkout=self.checkout)
        contest([before, now], self.rounds, seconds)
        return [title, *(f"{c.rate:.0f} ({c.spread})" for c in (before, now)), f"{ratio(now, before):.2f}"]

    def rates(self) -> Iterator[str]:
        yield "Images per second, 2 threads."
        yield ""
        rows = [
            self.row(work, f"{work} {name}", photos(name, self.count), 32 if name == "12mp" else 256, self.seconds)
            for work, names in WORK.items()
            for name in names
        ]
        yield from table(HEAD, rows)

    def operators(self) -> Iterator[str]:
        yield f"Samples per second, batches of {BATCH}, 2 threads, inputs from memory."
        yield ""
        root, rows = photos("420", self.count), []
        for name, cases in operators.CASES.items():
            for i, (_, what, _) in enumerate(cases):
                title = f"{name} {what}".strip()
                rows.append(self.row(f"operator {name} {i}", title, root, BATCH, self.seconds / 5))
        yield from table(HEAD, rows)


def main() -> None:
    checkout = argparse.ArgumentParser(add_help=False)
    checkout.add_argument("checkout", type=Path, help="of another version, in which ./dev build was run")
    parser = arguments("before", "rates operators (their rounds are a fifth as long)", 7, 2.0, [checkout])
    options = parser.parse_args()
    bench = Bench(options)
    sections: dict[str, Section] = {
        "rates": ("Rates", bench.rates),
        "operators": ("Operators", bench.operators),
    }
    chosen = choose(parser, options.sections or list(sections), sections)
    write("before", "This version beside the one before", chosen, options.append)


if __name__ == "__main__":
    main()
