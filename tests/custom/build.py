"""Compiles libraries of operators, as a user would: by the system's compiler, against the headers of the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import penstock

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "custom_operator"


def program(*names: str) -> str:
    """The first of these that is here; the test is skipped where none is."""
    for name in names:
        if path := shutil.which(name):
            return path
    pytest.skip(f"needs {' or '.join(names)}")


def run(*words: str | Path) -> None:
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 0, done.stdout + done.stderr


def library(source: str, to: Path, *options: str) -> Path:
    """A library of this C++."""
    to.with_suffix(".cpp").write_text(source)
    flags = ["-std=c++17", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden"]
    run(
        program("c++", "g++", "clang++"), *flags, "-shared", "-fPIC", f"-I{penstock.get_include()}",
        *options, to.with_suffix(".cpp"), "-o", to,
    )  # fmt: skip
    return to


def c_library(source: str, to: Path, *options: str) -> Path:
    """A library of this C, which knows nothing of C++."""
    to.with_suffix(".c").write_text(source)
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    run(
        program("cc", "gcc", "clang"), *flags, "-shared", "-fPIC", f"-I{penstock.get_include()}",
        *options, to.with_suffix(".c"), "-o", to,
    )  # fmt: skip
    return to


def example(folder: Path) -> Path:
    """That of examples/custom_operator, by its CMakeLists.txt."""
    cmake = program("cmake")
    program("c++", "g++", "clang++")
    run(cmake, "-S", EXAMPLE, "-B", folder, f"-DPython_EXECUTABLE={sys.executable}")
    run(cmake, "--build", folder)
    (made,) = folder.glob("*.so")
    return made
