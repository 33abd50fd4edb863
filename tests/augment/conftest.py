"""Operators that write files write them elsewhere than here."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _elsewhere(elsewhere: Path) -> Path:
    return elsewhere
