"""Where `penstock.operator` keeps what it has compiled: by many processes at a time, and nothing of others'."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock import errors
from penstock.machine import compiler

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import numpy as np, penstock, sys
from penstock import pipeline_def, types

@penstock.operator
class bright:
    'Brighter.'
    by: float = 2.0
    takes = types.UINT8
    element = "v * by"
    python = lambda v, by: v * by

@penstock.operator
class tinted:
    on: bool = True
    tint: tuple[int, int] = (1, 10)
    channels = 2
    pixel = "for (int k = 0; k < 2; k++) out[k] = on ? in[k] + tint[k] : in[k];"
    @staticmethod
    def python(out, in_, on, tint):
        for k in range(2):
            out[k] = in_[k] + tint[k] if on else in_[k]

@penstock.operator
class mirrored:
    where = "sx = width - x;"
    python = lambda x, y, width, height: (width - x, y)

@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def pipe():
    x = types.Constant(np.uint8([[[1, 2], [3, 4], [5, 6]]]), layout="HWC")
    return bright(x, by=3.0), tinted(x, tint=[1, 20]), tinted(x, on=False), mirrored(x)

bright_, tinted_, same, mirrored_ = (output.at(0).tolist() for output in pipe().run())
assert bright_ == [[[3, 6], [9, 12], [15, 18]]], bright_
assert tinted_ == [[[2, 22], [4, 24], [6, 26]]], tinted_
assert same == [[[1, 2], [3, 4], [5, 6]]], same
assert mirrored_ == [[[5, 6], [3, 4], [1, 2]]], mirrored_
try:
    pipe2 = pipeline_def(batch_size=1, num_threads=1, device_id=None)(lambda: bright(np.float32([1])))
    pipe2().run()
except penstock.errors.InputError:
    pass
else:
    raise AssertionError
"""
# What it has made is kept by its text, and copied.
COMPILER = """#!/bin/sh
case "$*" in *--version*) exec {real} "$@" ;; esac
echo called >> "$PENSTOCK_CACHE.notes"
for made; do case "$made" in *.cpp) text=$made ;; esac; done
kept={compiled}/$(sha256sum < "$text" | cut -c 1-64)
if ! cp "$kept" "$made" 2> /dev/null; then
  {real} "$@" && cp "$made" "$kept.$$" && mv "$kept.$$" "$kept"
fi
"""
Start = Callable[..., subprocess.Popen[str]]
needs_compiler = pytest.mark.skipif(compiler.compiler() is None, reason="needs a C++ compiler")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the script lies, and a compiler that notes each call beside the folder of the cache.

    What it compiles, the text of which names the script, it compiles once: these tests are about what becomes of it.
    """
    folder = tmp_path_factory.mktemp("place")
    (folder / "compiled").mkdir()
    command = folder / "noting"
    command.write_text(COMPILER.format(real=shutil.which("c++"), compiled=folder / "compiled"))
    command.chmod(0o755)
    return folder


@pytest.fixture
def start(place: Path, tmp_path: Path) -> Start:
    """Starts the script, or another text in its place."""

    def started(text: str = SCRIPT, **environment: str) -> subprocess.Popen[str]:
        (place / "script.py").write_text(text)
        variables = {"PYTHONPATH": str(ROOT), "PENSTOCK_CACHE": str(tmp_path / "cache"), "CXX": str(place / "noting")}
        return subprocess.Popen(
            [sys.executable, str(place / "script.py")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **variables, **environment},
        )  # fmt: skip

    return started


def done(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, out + err
    return err


def calls(tmp_path: Path) -> int:
    """How often the compiler was called to compile."""
    return (tmp_path / "cache.notes").read_text().count("called")


@needs_compiler
def test_once_for_all_processes_and_places_in_the_script(tmp_path: Path, start: Start) -> None:
    together = [start() for _ in range(2)]
    for process in together:
        done(process)
    kept = list((tmp_path / "cache" / "operators").iterdir())
    assert len(kept) == 3  # nothing half-made is left
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o700 for path in kept)
    before = calls(tmp_path)
    assert 3 <= before <= 6
    done(start("\n\n# moved\n" + SCRIPT))
    assert calls(tmp_path) == before


@needs_compiler
def test_what_others_could_have_written_is_not_loaded(tmp_path: Path, start: Start) -> None:
    done(start())
    for path in (tmp_path / "cache" / "operators").iterdir():
        path.write_bytes(b"not a library")
        path.chmod(0o777)
    assert "not kept" not in done(start())  # made anew
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o700 for path in (tmp_path / "cache" / "operators").iterdir())
    (tmp_path / "cache" / "operators").chmod(0o777)
    assert "others than you can write to" in done(start())
    (tmp_path / "cache" / "operators").chmod(0o700)
    (tmp_path / "cache").chmod(0o777)  # so that the folder in it can be replaced
    assert "others than you can write to" in done(start())


@needs_compiler
def test_a_damaged_file_is_made_anew(tmp_path: Path, start: Start) -> None:
    done(start())
    for path in (tmp_path / "cache" / "operators").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    done(start())


@needs_compiler
def test_a_folder_that_cannot_be_written(tmp_path: Path, start: Start) -> None:
    (tmp_path / "cache").write_text("a file")
    assert "compiled operators are not kept in" in done(start())


def test_without_a_compiler_numba_takes_its_place(tmp_path: Path, start: Start) -> None:
    pytest.importorskip("numba")
    done(start(PATH=str(tmp_path), CXX=""))
    assert not (tmp_path / "cache").exists()


def test_without_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import penstock

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)

    class nowhere:
        element = "v"

    with pytest.raises(
        errors.PluginError, match=r"there is no C\+\+ compiler, .*no member `python`.*apt install g\+\+"
    ):
        penstock.operator(nowhere)
    monkeypatch.setenv("CXX", "no-such-compiler -m64")
    with pytest.raises(errors.PluginError, match="the compiler CXX='no-such-compiler -m64' does not run"):
        penstock.operator(nowhere)
