"""Libraries of operators of one's own: ``load_library("libmine.so")`` puts them into `fn` and `ops`.

docs/custom-operators.md shows how such a library is made.
"""

from __future__ import annotations

import importlib
import os
import threading
from pathlib import Path

from penstock import _catalog
from penstock.custom import compiled
from penstock.errors import PluginError
from penstock.machine import operator_library

_loaded: set[str] = set()
_lock = threading.Lock()


def load_library(library_path: str | os.PathLike[str], global_symbols: bool = False) -> None:
    """Loads a library of operators, which are in `fn` and `ops` from then on; nothing if that was done before.

    A library stays loaded to the end of the process. ``global_symbols``: what it exports is seen by libraries that are
    loaded later (RTLD_GLOBAL). Raises PluginError, a RuntimeError, where it cannot be loaded, was made for another
    version of penstock/operator.h, or has an operator whose name is taken; then none of its operators is there.
    """
    path = os.fsdecode(library_path)
    path = os.path.realpath(path) if os.path.exists(path) else path  # others are looked for as the system does
    with _lock:
        if path in _loaded:
            return
        for module in ("penstock.fn", "penstock.ops"):  # whose names must be known
            importlib.import_module(module)
        found = operator_library.load(path, global_symbols)
        names: list[str] = []
        try:
            for one in found:
                compiled.check(one)
                _catalog.check_free(one.name, names)
                names.append(one.name)
        except PluginError as e:
            raise PluginError(f"{path}: {e}") from None
        for one in found:
            _catalog.put(compiled.declare(one, os.path.basename(path)))
        _loaded.add(path)


def load_directory(plugin_dir_path: str | os.PathLike[str], global_symbols: bool = False) -> None:
    """Loads all libraries named ``libdali_*.so`` in a folder and below it, in the order of their paths.

    That is DALI's pattern for names. A folder without any, or that does not exist, is no error there, and none here.
    """
    for path in sorted(Path(os.fsdecode(plugin_dir_path)).rglob("libdali_*.so")):
        load_library(path, global_symbols)
