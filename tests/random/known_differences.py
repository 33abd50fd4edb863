"""All differences from DALI that are meant: each says why, and has an example that shows that it is still there."""

from __future__ import annotations

from tests.random.case import Case
from tests.random.compare import Difference
from tests.random.known import Known
from tests.random.known_refusals import REFUSALS
from tests.random.known_results import RESULTS

KNOWN = [*REFUSALS, *RESULTS]


def known_difference(case: Case, found: Difference) -> Known | None:
    return next((known for known in KNOWN if known.matches(case, found)), None)
