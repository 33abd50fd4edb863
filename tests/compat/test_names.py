"""Every public name of DALI's modules is there under ``nvidia.dali``, or is refused by name, with a reason."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from penstock import compat, fn, types
from penstock.compat import names
from penstock.compat.module import Module
from penstock.compat.reasons import REASONS, reason
from penstock.errors import UnsupportedImportError, UnsupportedNameError

ROOT = Path(__file__).resolve().parents[2]
MODULES = names.table().names


@pytest.fixture(autouse=True)
def installed() -> Iterator[None]:
    compat.install()
    yield
    compat.uninstall()


def imported(path: str) -> ModuleType:
    return importlib.import_module(f"nvidia.dali.{path}".rstrip("."))


@pytest.mark.parametrize("path", MODULES)
def test_names_are_there_or_refused_with_a_reason(path: str) -> None:
    if not names.is_module(path):
        with pytest.raises(UnsupportedImportError, match=f"nvidia.dali.{path} is not supported: "):
            imported(path)
        assert reason(path)
        return
    try:
        module = imported(path)
    except ModuleNotFoundError as e:
        pytest.skip(f"needs {e.name}")
    unexplained = []
    for name in MODULES[path]:
        try:
            assert getattr(module, name) is not None
        except UnsupportedNameError as error:
            full = f"{path}.{name}".lstrip(".")
            if reason(full) is None:
                unexplained.append(name)
            assert f"nvidia.dali.{full} is not supported: " in str(error)
            with pytest.raises(ImportError, match=f"nvidia.dali.{full} is not supported: "):
                exec(f"from {module.__name__} import {name}", {})
        except ImportError as error:  # a module of its own, which needs what is not installed
            assert isinstance(error, UnsupportedImportError) is False
    assert unexplained == [], f"{module.__name__}: neither there nor refused with a reason"


def test_each_reason_is_one_for_what_is_not_there() -> None:
    refused = set()
    for path in MODULES:
        here = names.is_module(path)
        for name in MODULES[path]:
            full = f"{path}.{name}".lstrip(".")
            try:
                if here:
                    names.look_up(path, name) if names.other_module(path, name) is None else None
                else:
                    refused.add(path)
            except LookupError:
                refused.add(full)
            except ImportError:
                continue
    stale = [key for key in REASONS if not any(f"{name}.".startswith(f"{key}.") for name in refused)]
    assert stale == [], "what these reasons are for is there"
