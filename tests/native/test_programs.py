"""Runs the C++ test programs (tests/native/*.cpp) at every instruction-set level that was built and runs here."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.programs import LEVELS, built

HERE = Path(__file__).parent
PROGRAMS = sorted(path.stem for path in HERE.glob("*.cpp"))


def run(name: str, level: str, *arguments: str | Path) -> None:
    """Runs a program that ./dev test has built: with sanitizers for ./dev test fuzz, else as the library is."""
    path = built(level, name)
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}  # it is for Python
    done = subprocess.run([path, *arguments], capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, f"{name} at {level}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, level: str, photographs: Path) -> None:
    """Each program is given JPEG photographs, and exits with 0 where all is well."""
    run(name, level, *sorted(photographs.glob("*/*.jpg")))


@pytest.mark.fuzz
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_program_under_sanitizers(name: str, level: str, photographs: Path) -> None:
    run(name, level, *sorted(photographs.glob("*/*.jpg")))
