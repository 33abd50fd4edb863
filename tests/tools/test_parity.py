"""docs/operators.md is made of what the cases state, which needs neither DALI nor its media."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import Apart, case, samples
from tools import parity

ROOT = Path(__file__).resolve().parents[2]
# As where DALI is not installed.
WITHOUT_DALI = """
import runpy, sys
sys.modules["nvidia.dali"] = None
sys.argv = ["parity.py", "--check"]
runpy.run_path("tools/parity.py", run_name="__main__")
"""


def test_it_is_up_to_date_without_dali() -> None:
    variables = {name: value for name, value in os.environ.items() if name != "DALI_EXTRA_PATH"}
    done = subprocess.run([sys.executable, "-c", WITHOUT_DALI], cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_row_has_the_greatest_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = samples([[1, 2]])
    cases = [
        case("flip", numbers),
        case("flip", numbers, from_dali=Apart(off_by=2, share=0.01, why="one reason")),
        case("flip", numbers, from_dali=Apart(off_by=1, share=0.025, tolerance=1e-6, why="one reason")),
        case("flip", numbers, differs="another one"),
        case("random.normal"),
    ]
    monkeypatch.setattr("tests.augment.test_sweep.CASES", cases)
    rows = {line.split("|")[1].strip(): line for line in parity.lines()}
    assert rows["`flip`"] == "| `flip` | cpu, gpu | 3 | 2 | 2.5 % | 1e-06 | one reason; another one |"
    assert rows["`random.normal`"] == "| `random.normal` | cpu, gpu | 1 |  |  |  |  |"
    assert rows["`crop`"] == "| `crop` | cpu, gpu |  |  |  |  |  |"


def test_a_table_that_is_not_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parity, "RESULT", tmp_path / "operators.md")
    monkeypatch.setattr(parity, "ROOT", tmp_path)
    monkeypatch.setattr(parity, "dali_version", lambda: "2.4.0")
    monkeypatch.setattr(sys, "argv", ["parity.py", "--check"])
    assert parity.main()
    assert "operators.md is not up to date: run ./dev stubs" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["parity.py"])
    assert not parity.main()
    monkeypatch.setattr(sys, "argv", ["parity.py", "--check"])
    assert not parity.main()
