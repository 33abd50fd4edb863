"""Tries random cases for a time."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.random.case import Case, snippet
from tests.random.cases import draw
from tests.random.compare import Difference, compare, compare_fusion
from tests.random.known_differences import known_difference
from tests.random.processes import Library, both, unfused
from tests.random.shrink import shrunk

MOST = 40  # findings, one of each kind for each operator
SLOW = 15.0  # seconds for one case, in all libraries: worth a look


@dataclass
class Libraries:
    """What runs each case; ``alone``: this library without fusion."""

    dali: Library
    ours: Library
    alone: Library


@dataclass
class Report:
    """What became of the cases."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: dict[tuple[str, str], str] = field(default_factory=dict)

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {what}" for what, count in self.counts.most_common())
        return "\n\n".join([counts, *(f"# {' '.join(key)}\n{text}" for key, text in self.findings.items())])


def search(
    seed: int,
    seconds: float,
    part: int = 0,
    parts: int = 1,
    log: Callable[[str], None] = print,
    cases: float = math.inf,
) -> Report:
    """Every ``parts``-th case from ``part`` on, ``cases`` of them at most."""
    report = Report()
    with Library("nvidia.dali") as dali, Library("penstock") as ours, unfused() as alone:
        libraries = Libraries(dali, ours, alone)
        known = dali.ask("")
        until = time.monotonic() + seconds
        number = part
        last = part + cases * parts
        while number < last and time.monotonic() < until and len(report.findings) < MOST:
            case, where, began = draw(seed, number, known), f"seed {seed}, case {number}", time.monotonic()
            found = difference(case, libraries, report.counts)
            if time.monotonic() - began > SLOW:
                keep(f"\n{where}: {time.monotonic() - began:.0f} s\n{snippet(case)}")
            if found and note(report, case, found, libraries, where):
                text = f"\n{list(report.findings.values())[-1]}"
                log(text)
                keep(text)
            number += parts
    return report


def keep(text: str) -> None:
    """In the file that PENSTOCK_RANDOM_LOG names: of parts that run at a time, and of those that are cut off."""
    name = os.environ.get("PENSTOCK_RANDOM_LOG")
    if name:
        with open(name, "a") as file:
            file.write(f"{text}\n")


def difference(case: Case, libraries: Libraries, counts: Counter[str]) -> Difference | None:
    """Unless it is a known one."""
    theirs, mine = both(libraries.dali, libraries.ours, case.text())
    if len(case.calls) > 1 and mine.ran:
        counts["unfused, too"] += 1
        changed = compare_fusion(mine, libraries.alone.ask(case.text()))
        if changed:
            counts["differ"] += 1
            return changed
    found = compare(case, theirs, mine)
    if found and known_difference(case, found):
        counts["known differences"] += 1
        return None
    counts["differ" if found else outcome(theirs.ran, mine.ran, theirs.died)] += 1
    return found


def outcome(dali: bool, ours: bool, died: str) -> str:
    if died:
        return "end DALI"
    return {(True, True): "alike", (False, False): "both refuse", (False, True): "only DALI refuses"}[dali, ours]


def note(report: Report, case: Case, found: Difference, libraries: Libraries, where: str) -> bool:
    """The smallest case that differs so, unless one of its operator was found before."""
    keep(f"\n{where}: {found.kind}, to be made smaller")  # that may take longer than there is time

    def fails(smaller: Case) -> bool:
        again = difference(smaller, libraries, Counter())
        return again is not None and again.kind == found.kind

    if (case.last.operator, found.kind) in report.findings:
        return False
    small = case if "hangs" in found.detail else shrunk(case, fails)  # each try would take the longest time again
    last = difference(small, libraries, Counter()) or found
    key = (small.last.operator, found.kind)
    is_new = key not in report.findings
    report.findings.setdefault(key, f"{where}: {last.kind}: {last.detail}\n{snippet(small)}")
    return is_new
