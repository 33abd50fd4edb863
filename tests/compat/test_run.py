"""``python -m penstock.compat``: scripts, modules and notebooks, and processes that they start."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = '''
"""A script."""
import os, sys
from nvidia.dali import fn, pipeline_def
import neighbour

def annotated(x: str(1 + 1)): pass
assert annotated.__annotations__ == {"x": "2"}  # no feature of the future is on

@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def pipeline():
    return fn.random.coin_flip(probability=1.0)

def main():
    import __main__
    assert __main__.main is main
    print(__name__, sys.argv[1:], neighbour.name, pipeline().run()[0].as_array().tolist())

if __name__ == "__main__":
    print(__doc__, __file__ == os.path.abspath(sys.argv[0]))
    main()
'''
SAID = ["A script. True", "__main__ ['--epochs', '2'] neighbour [1, 1]"]


def compat(*words: str | Path, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "penstock.compat", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=env, cwd=folder)


def said(*words: str | Path, folder: Path = ROOT) -> list[str]:
    done = compat(*words, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def write(folder: Path) -> None:
    (folder / "script.py").write_text(SCRIPT)
    (folder / "neighbour.py").write_text("name = 'neighbour'")
    (folder / "inside").mkdir()
    (folder / "inside" / "__init__.py").write_text("")
    (folder / "inside" / "__main__.py").write_text(SCRIPT)


def test_a_script(tmp_path: Path) -> None:
    write(tmp_path)
    assert said("script.py", "--epochs", "2", folder=tmp_path) == SAID


def test_a_package(tmp_path: Path) -> None:
    write(tmp_path)
    assert said("-m", "inside", "--epochs", "2", folder=tmp_path) == SAID


def test_how_a_script_ends(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import sys\nsys.exit(7)")
    assert compat(tmp_path / "script.py").returncode == 7
    (tmp_path / "script.py").write_text("from nvidia.dali.backend import OpSpec")
    done = compat(tmp_path / "script.py")
    assert done.returncode == 1
    assert f'File "{tmp_path}/script.py", line 1' in done.stderr
    assert "nvidia.dali.backend.OpSpec is not supported: a part of DALI's inside: fn and ops make" in done.stderr


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ([], "usage: "),
        (["none.py"], "cannot read .*none.py: No such file"),
        (["-m", "no.such_module"], "there is no module 'no.such_module' that can be run"),
        (["broken.ipynb"], "broken.ipynb is no notebook"),
    ],
)
def test_what_cannot_be_run(words: list[str], error: str, tmp_path: Path) -> None:
    (tmp_path / "broken.ipynb").write_text("{}")
    done = compat(*words, folder=tmp_path)
    assert done.returncode == 2
    assert re.search(error, done.stderr)
    assert "Traceback" not in done.stderr


def notebook(path: Path, *cells: str) -> Path:
    made = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    made.insert(1, {"cell_type": "markdown", "source": ["# Not code"]})
    path.write_text(json.dumps({"nbformat": 4, "cells": made}))
    return path


def test_a_notebook(tmp_path: Path) -> None:
    path = notebook(
        tmp_path / "a.ipynb",
        "%matplotlib inline\nfrom nvidia.dali import fn, pipeline_def\nn = 10",
        "@pipeline_def(enable_conditionals=True)\n"
        "def pipeline():\n"
        "    if fn.random.coin_flip(probability=1.0) == 1:\n        x = fn.full(n)\n"
        "    else:\n        x = fn.full(0)\n    return x",
        "pipe = pipeline(batch_size=2, num_threads=1, device_id=None)\nprint(pipe.run()[0].as_array().tolist())",
        "text = '''\n%kept\n!kept\n'''\nprint(text.split())",
        "for i in range(2):\n    !echo said\nprint(5 % 3)",
        "1 / 0",
    )
    done = compat(path)
    assert done.stdout.splitlines() == ["[10, 10]", "['%kept', '!kept']", "said", "said", "2"]
    assert f'File "{path}, cell 6", line 1' in done.stderr
    assert "ZeroDivisionError" in done.stderr
    done = compat(notebook(path, "%%bash\necho said"))
    assert done.returncode == 2
    assert "cell 1: '%%bash' is IPython's" in done.stderr


SPAWNS = """
import multiprocessing
import numpy as np
from nvidia.dali import fn, pipeline_def, types

dtype = types.FLOAT

def whose(number):
    import nvidia.dali
    return number, nvidia.dali.fn.resize.__module__

class Source:
    def __call__(self, info):
        if info.iteration == 2:
            raise StopIteration
        return np.full(2, info.idx_in_epoch + int(dtype is types.FLOAT), np.int32)

@pipeline_def(batch_size=2, num_threads=1, device_id=None, py_num_workers=1, py_start_method="spawn")
def pipeline():
    return fn.external_source(Source(), parallel=True, batch=False)

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(whose, [3]))
    pipe = pipeline()
    print(pipe.run()[0].as_array().tolist())
"""


@pytest.mark.parametrize("as_module", [False, True], ids=["file", "module"])
def test_processes_that_are_spawned(as_module: bool, tmp_path: Path) -> None:
    (tmp_path / "spawns.py").write_text(SPAWNS)
    words = ["-m", "spawns"] if as_module else ["spawns.py"]
    assert said(*words, folder=tmp_path) == ["[(3, 'penstock.fn')]", "[[1, 1], [2, 2]]"]


def test_a_launcher_that_starts_the_main_module_anew(tmp_path: Path) -> None:
    """As those of PyTorch Lightning do."""
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "neighbour.py").write_text("")
    (tmp_path / "below" / "launches.py").write_text("""
import os, subprocess, sys
import __main__
import nvidia.dali
import neighbour
if "RANK" in os.environ:
    print("rank", os.environ["RANK"], sys.argv[1:], nvidia.dali.fn.resize.__module__)
else:
    again = [sys.executable, "-m", __main__.__spec__.name, *sys.argv[1:]]
    subprocess.run(again, env={**os.environ, "RANK": "1"}, check=True)
""")
    assert said("below/launches.py", "x", folder=tmp_path) == ["rank 1 ['x'] penstock.fn"]
