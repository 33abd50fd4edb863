"""Random cases of every operator beside DALI, for as long as there is time: `./dev test random` takes an hour.

PENSTOCK_RANDOM_SECONDS is the time for each of PENSTOCK_RANDOM_PARTS, PENSTOCK_RANDOM_CASES the most cases of each:
without it those are the same ones on a quick machine as on a slow one. PENSTOCK_RANDOM_SEED is the seed. Each finding
is added to the file PENSTOCK_RANDOM_LOG, if there is one, at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.random.compare import compare
from tests.random.known import Known
from tests.random.known_differences import KNOWN
from tests.random.processes import Library, both
from tests.random.search import search

pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
SECONDS = float(os.environ.get("PENSTOCK_RANDOM_SECONDS", "60"))
CASES = float(os.environ.get("PENSTOCK_RANDOM_CASES", "3000"))
SEED = int(os.environ.get("PENSTOCK_RANDOM_SEED", "1"))
PARTS = int(os.environ.get("PENSTOCK_RANDOM_PARTS", "2"))


@pytest.fixture(scope="module")
def libraries() -> Iterator[tuple[Library, Library]]:
    with Library("nvidia.dali") as dali, Library("penstock") as ours:
        yield dali, ours


@pytest.mark.parametrize("known", [k for k in KNOWN if k.example], ids=lambda known: known.reason)
def test_known_differences_are_still_there(known: Known, libraries: tuple[Library, Library]) -> None:
    assert known.example is not None
    dali, ours = both(*libraries, known.example.text())
    found = compare(known.example, dali, ours)
    if dali.died:
        pytest.skip(f"DALI {dali}")
    assert found is not None, f"there is no difference any more: DALI has {dali}"
    assert known.matches(known.example, found), found


@pytest.mark.parametrize("part", range(PARTS))
def test_random_cases(part: int, capfd: pytest.CaptureFixture[str]) -> None:
    with capfd.disabled():
        report = search(SEED, SECONDS, part, PARTS, cases=CASES)
    print(report)
    assert sum(report.counts.values()) > min(SECONDS / 10, CASES / 2)
    assert not report.findings, report
