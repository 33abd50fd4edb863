"""Tries random cases for a time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.random.case import Case, snippet
from tests.random.cases import draw
from tests.random.compare import Difference, compare
from tests.random.known import known_difference
from tests.random.processes import Library, both
from tests.random.shrink import shrunk

MOST = 40  # findings, one of each kind for each operator


@dataclass
class Report:
    """What became of the cases."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: dict[tuple[str, str], str] = field(default_factory=dict)

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {what}" for what, count in self.counts.most_common())
        return "\n\n".join([counts, *(f"# {' '.join(key)}\n{text}" for key, text in self.findings.items())])


def search(seed: int, seconds: float, part: int = 0, parts: int = 1, log: Callable[[str], None] = print) -> Report:
    """Every ``parts``-th case from ``part`` on."""
    report = Report()
    with Library("nvidia.dali") as dali, Library("penstock") as ours:
        known = dali.ask("")
        until = time.monotonic() + seconds
        number = part
        while time.monotonic() < until and len(report.findings) < MOST:
            case = draw(seed, number, known)
            found = difference(case, dali, ours, report.counts)
            if found and note(report, case, found, dali, ours, f"seed {seed}, case {number}"):
                log(f"\n{list(report.findings.values())[-1]}")
            number += parts
    return report


def difference(case: Case, dali: Library, ours: Library, counts: Counter[str]) -> Difference | None:
    """Unless it is a known one."""
    theirs, mine = both(dali, ours, case.text())
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


def note(report: Report, case: Case, found: Difference, dali: Library, ours: Library, where: str) -> bool:
    """The smallest case that differs so, unless one of its operator was found before."""

    def fails(smaller: Case) -> bool:
        again = difference(smaller, dali, ours, Counter())
        return again is not None and again.kind == found.kind

    if (case.last.operator, found.kind) in report.findings:
        return False
    small = shrunk(case, fails)
    last = difference(small, dali, ours, Counter()) or found
    key = (small.last.operator, found.kind)
    is_new = key not in report.findings
    report.findings.setdefault(key, f"{where}: {last.kind}: {last.detail}\n{snippet(small)}")
    return is_new
