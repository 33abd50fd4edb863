"""What the benchmarks' pages have in common: tables, sections, scripts in processes of their own."""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import machine

Section = tuple[str, Callable[[], Iterator[str]]]  # its title, and its lines
RESULTS = Path(__file__).parent / "results"


def table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    """Each line as soon as its row is there."""
    for line in itertools.chain([head, ["---"] + ["---:"] * (len(head) - 1)], rows):
        yield "| " + " | ".join(line) + " |"


def under_load(about: str, head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    """A table, behind what it is about, and how busy the machine was before it and after it."""
    yield f"{about} Before it: {machine.load()}."
    yield ""
    yield from table(head, rows)
    yield ""
    yield f"After it: {machine.load()}."


def has_dali() -> bool:
    try:
        return importlib.util.find_spec("nvidia.dali") is not None
    except ModuleNotFoundError:
        return False


def script(module: str, *words: Any, env: dict[str, str] | None = None) -> dict[str, Any]:
    """The line of JSON that a module prints last."""
    command = [sys.executable, "-m", module, *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=env)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def arguments(
    name: str, sections: str, rounds: int, seconds: float, first: Sequence[argparse.ArgumentParser] = ()
) -> argparse.ArgumentParser:
    """Of ``./dev bench NAME``, with the defaults for ``rounds`` and ``seconds``; those of ``first`` come before."""
    parser = argparse.ArgumentParser(prog=f"./dev bench {name}", parents=first)
    parser.add_argument("sections", nargs="*", help=f"some of: {sections} (default: all)")
    parser.add_argument("--rounds", type=int, default=rounds, help=f"rounds of each contestant ({rounds})")
    parser.add_argument("--seconds", type=float, default=seconds, help=f"length of one round ({seconds})")
    parser.add_argument("--count", type=int, help="photographs in each set, for a short trial")
    parser.add_argument("--append", action="store_true", help=f"add the sections to bench/results/{name}.md")
    return parser


def comparison(
    name: str, about: str | None, names: str, rounds: int, seconds: float,
    parallel: tuple[str, str] = ("--threads", "of each pipeline"),
) -> argparse.ArgumentParser:  # fmt: skip
    """Of a ``./dev bench NAME`` beside DALI, whose page `show` makes.

    ``names``: what the page's rows are called. ``parallel``: the option that says how much is done at a time.
    """
    parser = argparse.ArgumentParser(prog=f"./dev bench {name}", description=about)
    parser.add_argument("names", nargs="*", help=f"{names} (default: all)")
    parser.add_argument(parallel[0], type=int, default=2, help=parallel[1])
    parser.add_argument("--rounds", type=int, default=rounds, help="rounds of each library")
    parser.add_argument("--seconds", type=float, default=seconds, help="length of one round")
    return parser


def show(names: Sequence[str], name: str, title: str, sections: Mapping[str, Section]) -> None:
    """The page, as `write` has it; of some of its rows nothing is kept. Ends where there is no DALI."""
    if not has_dali():
        sys.exit("DALI, which is compared with, is not installed")
    if not names:
        write(name, title, sections, False)
        return
    for _, lines in sections.values():
        print("\n".join(lines()))


def write(
    name: str, title: str, sections: Mapping[str, Section], append: bool, output: str | Path | None = None
) -> None:
    """Prints the sections as they come; then all goes to `output`, or where PENSTOCK_BENCH_RESULT says, or to
    bench/results/NAME.md.
    """
    lines = [] if append else [f"# {title}", ""]
    for heading, body in sections.values():
        lines += [f"## {heading}", ""]
        print(f"\n## {heading}\n", flush=True)
        for line in body():
            print(line, flush=True)
            lines.append(line)
        lines.append("")
    lines += [*(f"- {line}" for line in [*machine.describe(), *machine.gpus()]), ""]
    RESULTS.mkdir(exist_ok=True)
    where: str | Path = output or os.environ.get("PENSTOCK_BENCH_RESULT") or RESULTS / f"{name}.md"
    with open(where, "a" if append else "w") as file:
        file.write("\n".join(lines) + "\n")


def choose(parser: argparse.ArgumentParser, named: list[str], sections: Mapping[str, Section]) -> dict[str, Section]:
    """The sections that the command names."""
    if unknown := set(named) - set(sections):
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    return {name: sections[name] for name in named}
