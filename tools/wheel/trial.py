"""Installs a wheel into fresh environments, where neither compilers nor other programs are found, and uses it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.console import note, step
from tools.environment import BUILD
from tools.wheel.ondemand import LOADED

_SAMPLE = Path(__file__).with_name("sample.py")
_WRITERS = ("pillow", "soundfile")  # they go before the files are read: they have such libraries, too


def environment(bin: Path, home: Path) -> dict[str, str]:
    """The variables there: nothing of the system's is on the path; pip's own settings are in files, and apply."""
    return {"HOME": str(home), "LANG": "C.UTF-8", "PATH": str(bin), "CC": "/nowhere/cc", "CXX": "/nowhere/c++"}


def run(wheel: Path, pythons: Sequence[str] = ()) -> None:
    """Writes files of all formats in a fresh environment of each Python, and decodes them there."""
    for python in pythons or [sys.executable]:
        with tempfile.TemporaryDirectory() as name:
            _try(wheel, python, Path(name))


def _try(wheel: Path, base: str, folder: Path) -> None:
    log = BUILD / "wheel" / "trial.log"
    step("Making a fresh environment", [base, "-m", "venv", folder / "venv"], log)
    python = folder / "venv" / "bin" / "python"
    variables = environment(python.parent, folder)
    pip: list[str | Path] = [python, "-m", "pip", "--disable-pip-version-check"]
    install = [*pip, "install", "--only-binary", ":all:", wheel]
    step(f"Installing {wheel.name}", install, log, variables)
    step(f"Installing {' and '.join(_WRITERS)}", [*pip, "install", *_WRITERS], log, variables)
    files = folder / "files"
    step("Writing pictures and sounds", [python, "-I", _SAMPLE, "write", files], log, variables)
    step(f"Removing {' and '.join(_WRITERS)}", [*pip, "uninstall", "--yes", *_WRITERS], log, variables)
    used = [library.file for library in LOADED]
    step("Decoding them, and the README's pipeline", [python, "-I", _SAMPLE, "read", files, *used], log, variables)
    note("".join(f"  {line}\n" for line in log.read_text().splitlines()).rstrip())
    version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    note(f"  {wheel.name} works with {version}")
