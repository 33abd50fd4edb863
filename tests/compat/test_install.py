"""`install` and `uninstall`, with DALI there and without, beside other packages of its namespace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock import compat

ROOT = Path(__file__).resolve().parents[2]


def run(code: str, path: Path | None = None) -> str:
    """What a process of its own prints."""
    folders = os.pathsep.join(str(folder) for folder in (path, ROOT) if folder)
    env = {**os.environ, "PYTHONPATH": folders}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def package(folder: Path, name: str, text: str, namespace: str | None = None) -> None:
    """Writes a package below a folder ``nvidia``, which is a namespace package, or has this ``__init__.py``."""
    (folder / "nvidia" / name).mkdir(parents=True)
    (folder / "nvidia" / name / "__init__.py").write_text(text)
    if namespace is not None:
        (folder / "nvidia" / "__init__.py").write_text(namespace)


IMPORTS = """
from penstock import compat
compat.install()
import nvidia.dali as dali
import nvidia.dali.plugin.base_iterator as base
from nvidia.dali import fn, ops
from nvidia.dali.fn import readers
print(dali.fn.resize.__module__, base.LastBatchPolicy.__name__, readers.file is fn.readers.file, compat.is_installed())
"""


@pytest.mark.parametrize("namespace", [None, "", "__path__ = __import__('pkgutil').extend_path(__path__, __name__)"])
def test_dali_is_not_imported_where_it_is_there(tmp_path: Path, namespace: str | None) -> None:
    package(tmp_path, "dali", "raise SystemExit('the real one')", namespace)
    package(tmp_path, "neighbour", "name = 'neighbour'")
    said = run(IMPORTS + "\nfrom nvidia import neighbour\nprint(neighbour.name)", tmp_path)
    assert said.split() == ["penstock.fn", "LastBatchPolicy", "True", "True", "neighbour"]


def test_where_nothing_is_called_nvidia() -> None:
    code = """
from importlib.machinery import PathFinder
real = PathFinder.find_spec
PathFinder.find_spec = lambda name, path=None, target=None: None if name == "nvidia" else real(name, path, target)
"""
    assert run(code + IMPORTS).split() == ["penstock.fn", "LastBatchPolicy", "True", "True"]
    gone = """
compat.uninstall()
try:
    import nvidia.dali
except ModuleNotFoundError as error:
    print("gone", error.name)
"""
    assert run(code + IMPORTS + gone).split()[-2:] == ["gone", "nvidia"]


def test_the_real_package_comes_back(tmp_path: Path) -> None:
    package(tmp_path, "dali", "name = 'the real one'", namespace="")
    code = """
import warnings
from penstock import compat
import nvidia.dali
real = nvidia.dali
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    compat.install()
    compat.install()
print(len(said), "was imported before" in str(said[0].message), said[0].filename)
import nvidia.dali
print(hasattr(nvidia.dali, "fn"), real.name)
compat.uninstall()
compat.uninstall()
import nvidia.dali
print(nvidia.dali is real, compat.is_installed())
"""
    lines = run(code, tmp_path).splitlines()
    assert lines == ["1 True <string>", "True the real one", "True False"]


def test_the_installed_dali_beside_ours() -> None:
    """In one process, as the tests of this folder have it."""
    real = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    with pytest.warns(UserWarning, match="was imported before"):
        compat.install()
    try:
        import nvidia.dali

        assert nvidia.dali.fn is not real.fn
        assert nvidia.dali.types.FLOAT is not real.types.FLOAT
        assert nvidia.dali.fn.readers is not real.fn.readers
    finally:
        compat.uninstall()
    import nvidia.dali

    assert nvidia.dali is real
    import nvidia.nvimgcodec

    assert nvidia.nvimgcodec.__file__
