"""Python processes that tests start, with or without a faulty disk."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def script(text: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """A Python process; it says on its output how far it is."""
    command = [sys.executable, "-c", textwrap.dedent(text), *arguments]
    return subprocess.Popen(
        command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **environment},
    )  # fmt: skip


def finish(process: subprocess.Popen[str], seconds: float = 30) -> tuple[str, str]:
    """What it wrote; it must end by itself, within the time."""
    try:
        return process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        pytest.fail(f"the process still ran after {seconds} s\n{out}\n{err}")


def faulty(text: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """A process under libfaults.so, which it steers by `tests.faults.steering`."""
    programs = Path(os.environ.get("PENSTOCK_TEST_PROGRAMS") or ROOT / "build" / "release" / "bin")
    library = programs / "faults" / "libfaults.so"
    if not library.exists():
        pytest.skip(f"{library} is not built: run ./dev test")
    return script(text, *arguments, LD_PRELOAD=str(library), **environment)


def runs(process: subprocess.Popen[str], seconds: float = 30) -> str:
    """What it wrote; it must end in time and well, and have nothing to complain of."""
    out, err = finish(process, seconds)
    assert (err, process.returncode) == ("", 0), f"{out}\n{err}"
    return out
