"""Programs and libraries for tests, in C++, as ./dev test has built them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.machine import loader

ROOT = Path(__file__).resolve().parents[1]
LEVELS = loader._levels()  # of instruction sets, that run here


def folder() -> Path:
    """Where they are; ``PENSTOCK_TEST_PROGRAMS`` names another place."""
    return Path(os.environ.get("PENSTOCK_TEST_PROGRAMS") or ROOT / "build" / "release" / "bin")


def built(*parts: str) -> Path:
    """The path of one, in this folder; without it the test is skipped."""
    path = folder().joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is not built: run ./dev test")
    return path


def all_levels(name: str) -> list[Path]:
    """A program at the levels that are built, the best one first; without any the test is skipped."""
    programs = [path for level in reversed(LEVELS) if (path := folder() / level / name).exists()]
    if not programs:
        pytest.skip(f"no {name} is built in {folder()}: run ./dev test")
    return programs
