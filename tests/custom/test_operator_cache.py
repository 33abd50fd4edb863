"""Where `penstock.operator` keeps what it has compiled: by many processes at a time, and nothing of others'."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
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
needs_compiler = pytest.mark.skipif(compiler.compiler() is None, reason="needs a C++ compiler")


def start(folder: Path, **environment: str) -> subprocess.Popen[str]:
    script = folder.with_suffix(".py")
    script.write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PENSTOCK_CACHE": str(folder), **environment},
    )  # fmt: skip


def done(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, out + err
    return err


def compilers(tmp_path: Path) -> tuple[Path, Path]:
    """A compiler that notes each call, and the file of notes."""
    real, notes = shutil.which("c++"), tmp_path / "notes"
    command = tmp_path / "noting"
    command.write_text(f'#!/bin/sh\ncase "$*" in *--version*) ;; *) echo called >> {notes};; esac\nexec {real} "$@"\n')
    command.chmod(0o755)
    notes.touch()
    return command, notes


@needs_compiler
def test_once_for_all_processes_and_places_in_the_script(tmp_path: Path) -> None:
    command, notes = compilers(tmp_path)
    together = [start(tmp_path / "cache", CXX=str(command)) for _ in range(2)]
    for process in together:
        done(process)
    kept = list((tmp_path / "cache" / "operators").iterdir())
    assert len(kept) == 3  # nothing half-made is left
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o700 for path in kept)
    calls = notes.read_text().count("called")
    assert 3 <= calls <= 6
    global SCRIPT
    before, SCRIPT = SCRIPT, "\n\n# moved\n" + SCRIPT
    try:
        done(start(tmp_path / "cache", CXX=str(command)))
    finally:
        SCRIPT = before
    assert notes.read_text().count("called") == calls


@needs_compiler
def test_what_others_could_have_written_is_not_loaded(tmp_path: Path) -> None:
    done(start(tmp_path / "cache"))
    for path in (tmp_path / "cache" / "operators").iterdir():
        path.write_bytes(b"not a library")
        path.chmod(0o777)
    assert "not kept" not in done(start(tmp_path / "cache"))  # made anew
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o700 for path in (tmp_path / "cache" / "operators").iterdir())
    (tmp_path / "cache" / "operators").chmod(0o777)
    assert "others than you can write to" in done(start(tmp_path / "cache"))
    (tmp_path / "cache" / "operators").chmod(0o700)
    (tmp_path / "cache").chmod(0o777)  # so that the folder in it can be replaced
    assert "others than you can write to" in done(start(tmp_path / "cache"))


@needs_compiler
def test_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    done(start(tmp_path / "cache"))
    for path in (tmp_path / "cache" / "operators").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    done(start(tmp_path / "cache"))


@needs_compiler
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    assert "compiled operators are not kept in" in done(start(tmp_path / "cache"))


def test_without_a_compiler_numba_takes_its_place(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    done(start(tmp_path / "cache", PATH=str(tmp_path), CXX=""))
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
