"""Python processes that tests start, with or without a faulty disk."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from tests.programs import ROOT, built


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
    return script(text, *arguments, LD_PRELOAD=str(built("faults", "libfaults.so")), **environment)


def runs(process: subprocess.Popen[str], seconds: float = 30) -> str:
    """What it wrote; it must end in time and well, and have nothing to complain of."""
    out, err = finish(process, seconds)
    assert (err, process.returncode) == ("", 0), f"status {process.returncode}\n{out}\n{err}"
    return out
