"""Every public name of DALI's modules is there under ``nvidia.dali``, or is refused by name, with a reason."""

from __future__ import annotations

import importlib
import io
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import penstock
from penstock import compat, fn, types
from penstock.compat import names
from penstock.compat.reasons import REASONS, reason
from penstock.errors import MissingPackageError, UnsupportedImportError, UnsupportedNameError

ROOT = Path(__file__).resolve().parents[2]
MODULES = names.table().names


@pytest.fixture(autouse=True)
def installed() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*was imported before penstock.compat")
        compat.install()
    yield
    compat.uninstall()


@pytest.mark.parametrize("path", MODULES)
def test_names_are_there_or_refused_with_a_reason(path: str) -> None:
    full = f"nvidia.dali.{path}".rstrip(".")
    if not names.is_module(path):
        assert reason(path)
        with pytest.raises(UnsupportedImportError, match=re.escape(f" is not supported: {reason(path)}")):
            importlib.import_module(full)
        return
    try:
        module = importlib.import_module(full)
    except (ModuleNotFoundError, MissingPackageError) as e:
        pytest.skip(f"needs {e.name}")
    unexplained = []
    for name in MODULES[path]:
        try:
            assert getattr(module, name) is not None
        except UnsupportedNameError as error:
            if isinstance(error.__cause__, ModuleNotFoundError):  # it is a module, which needs what is not installed
                continue
            why = names.why(path, name)
            if why is None:
                unexplained.append(name)
            refused = f"{full}.{name} is not supported: {why or ''}"
            with pytest.raises(AttributeError, match=re.escape(refused)):
                raise error
            with pytest.raises(UnsupportedImportError, match=re.escape(refused)):
                exec(f"from {full} import {name}", {})
    assert unexplained == [], f"{full}: neither there nor refused with a reason"


def test_each_reason_is_one_for_what_is_not_there() -> None:
    refused = {path for path in MODULES if not names.is_module(path)}
    for path in MODULES:
        for name in MODULES[path]:
            try:
                names.look_up(path, name)
            except LookupError:
                refused.add(f"{path}.{name}".lstrip("."))
    stale = [key for key in REASONS if not any(f"{name}.".startswith(f"{key}.") for name in refused)]
    assert stale == [], "what these reasons are for is there"


def test_the_table_is_that_of_the_installed_dali() -> None:
    pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    for package in ("torch", "jax", "numba"):  # without which modules of DALI's cannot be imported
        pytest.importorskip(package)
    command = [sys.executable, str(ROOT / "tools" / "dali_modules.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_names_are_the_librarys_own() -> None:
    import nvidia.dali
    from nvidia.dali import fn as their_fn
    from nvidia.dali import pipeline_def
    from nvidia.dali import types as their_types
    from nvidia.dali.auto_aug.core.decorator import augmentation
    from nvidia.dali.fn.experimental.hidden import debayer
    from nvidia.dali.pipeline import Pipeline, dali_pickle

    assert their_fn.readers.file is fn.readers.file
    assert debayer is fn.experimental.debayer
    assert their_types.FLOAT is types.FLOAT
    assert pipeline_def is penstock.pipeline_def
    assert Pipeline is penstock.Pipeline
    assert augmentation is penstock.auto_aug.core.augmentation
    assert dali_pickle is nvidia.dali.pickling
    assert nvidia.dali.__version__ == names.table().version


def test_names_that_nobody_has() -> None:
    import nvidia.dali

    with pytest.raises(AttributeError, match=r"nvidia\.dali\.fn\.resise is not supported: .* Did you mean .*'resize'"):
        nvidia.dali.fn.resise  # noqa: B018
    with pytest.raises(AttributeError, match=r"types\.FLOAT128 is not supported: DALI 2\.4\.0 does not have it"):
        nvidia.dali.types.FLOAT128  # noqa: B018
    with pytest.raises(AttributeError, match=r"'_is_mxnet_array'.*DALI's own"):
        nvidia.dali.types._is_mxnet_array  # noqa: B018
    with pytest.raises(ImportError, match="_utils: what begins with an underscore is DALI's own"):
        import nvidia.dali._utils
    with pytest.raises(ImportError, match="cannot import name 'FLOAT128'"):
        from nvidia.dali.types import FLOAT128  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'nvidia\.dali\.nothing'"):
        importlib.import_module("nvidia.dali.nothing")
    assert not hasattr(nvidia.dali.backend, "OpSpec")


def test_modules_whose_framework_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    import nvidia.dali.plugin

    for name in ("numba", "penstock.plugin.numba", "nvidia.dali.plugin.numba"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert not hasattr(nvidia.dali.plugin, "numba")
    with pytest.raises(ImportError, match="numba"):
        from nvidia.dali.plugin import numba  # noqa: F401


def test_dir_and_star() -> None:
    import nvidia.dali

    assert {"fn", "types", "plugin", "pipeline_def", "experimental"} <= set(dir(nvidia.dali))
    assert {"readers", "resize"} <= set(dir(nvidia.dali.fn))
    assert "OpSpec" not in dir(nvidia.dali.backend)
    found: dict[str, object] = {}
    exec("from nvidia.dali.types import *", found)
    assert found["FLOAT"] is types.FLOAT
    assert "np" not in found


def test_modules_go_to_other_processes() -> None:
    """As what a source uses does, that is pickled by value."""
    import nvidia.dali.types

    file = io.BytesIO()
    penstock.reducers.DaliCallbackPickler(file).dump(nvidia.dali.types)
    code = "import pickle, sys; module = pickle.loads(sys.stdin.buffer.read()); print(module.FLOAT, type(module))"
    done = subprocess.run(
        [sys.executable, "-c", code], input=file.getvalue(), capture_output=True, timeout=300, cwd=ROOT
    )
    assert done.stdout.decode().split()[0] == "DALIDataType.FLOAT", done.stderr.decode()
    assert "compat" in done.stdout.decode()
