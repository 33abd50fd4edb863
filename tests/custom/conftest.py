"""What libraries of operators put into this process is taken away again: other tests look at all that there are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock import _catalog, fn, ops, plugin_manager
from penstock.experimental import dynamic
from penstock.op import registry
from tests.custom import build

DYNAMIC = dynamic.__name__  # which has all operators, too


@pytest.fixture
def registered() -> Iterator[None]:
    yield from _restoring()


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The library of examples/custom_operator, loaded for the tests of a module."""
    path = build.example(tmp_path_factory.mktemp("example"))
    restoring = _restoring()
    next(restoring)
    plugin_manager.load_library(path)
    yield path
    next(restoring, None)


def _restoring() -> Iterator[None]:
    groups = [m for name, m in sys.modules.items() if name.startswith(("penstock.fn.", "penstock.ops.", DYNAMIC))]
    waiting = [lazy._waiting for lazy in _catalog._lazy.values()]
    scopes: list[dict[str, Any]] = [registry.ops, _catalog._lazy, *waiting, *map(vars, (fn, ops, *groups))]
    before = [dict(scope) for scope in scopes]
    modules, loaded = set(sys.modules), set(plugin_manager._loaded)
    yield
    for scope, names in zip(scopes, before, strict=True):
        for name in set(scope) - set(names):
            del scope[name]
    for name in set(sys.modules) - modules:
        if name.startswith(("penstock.fn.", "penstock.ops.", DYNAMIC)):
            del sys.modules[name]
    plugin_manager._loaded &= loaded
