"""The benchmark of operators leaves none out."""

from __future__ import annotations

import pytest

from bench.operators import CASES
from tools.parity import operators

# They only fill memory or wrap another one that is timed; or what they do is timed with all others.
_ELSEWHERE = {
    "cast_like", "constant", "external_source", "full_like", "ones", "ones_like", "readers.file", "zeros", "zeros_like",
}  # fmt: skip


@pytest.mark.parametrize("name", operators())
def test_each_operator_is_timed(name: str) -> None:
    group = name.partition(".")[0]
    assert name in CASES or group in CASES or name in _ELSEWHERE, f"{name} has no case in bench/operators.py"
