"""Writes penstock/compat/dali_names.txt: the public modules of DALI and their names, from the DALI that is installed.

A line for each module, its path below ``nvidia.dali`` first. ``name=path`` is a module that is called so there, and
``name=path:other`` is what the module ``path`` calls ``other``. `penstock.compat` finds names by it. `--check` fails
where the file is not what would be written.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import sys
import warnings
from collections.abc import Iterator
from importlib.machinery import PathFinder
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent
if __name__ == "__main__":  # tools/coverage.py would be taken for the package of that name
    sys.path[0] = str(FOLDER)

from tools import kept  # noqa: E402

RESULT = FOLDER / "penstock" / "compat" / "dali_names.txt"
ROOT = "nvidia.dali"


def is_public(path: str) -> bool:
    return not any(part.startswith("_") for part in path.split("."))


def text() -> str:
    """The whole file."""
    import nvidia.dali as dali

    not_imported = {}
    for found in pkgutil.walk_packages(dali.__path__, f"{ROOT}.", onerror=lambda _: None):
        if is_public(found.name) and not found.name.rpartition(".")[2].startswith("lib"):  # of C++
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    importlib.import_module(found.name)
            except ImportError:  # what it needs is not installed
                not_imported[found.name] = sorted(defined(source(found.name)))
    modules = {k: m for k, m in list(sys.modules.items()) if k.startswith(ROOT) and is_public(k)}
    lines = {name: sorted(names(name, module)) for name, module in modules.items()} | not_imported
    shown = sorted((" ".join([inside(name) or ".", *found])) for name, found in lines.items() if found)
    return "\n".join([f"# DALI {dali.__version__}, by tools/dali_modules.py", *shown]) + "\n"


def inside(module: str) -> str:
    """The module's path below the package."""
    return module.removeprefix(ROOT).removeprefix(".")


def names(path: str, module: ModuleType) -> Iterator[str]:
    """The module's names, with where they come from if they are another module's."""
    file = getattr(module, "__file__", None) or ""
    tree = ast.parse(Path(file).read_text()) if file.endswith(".py") else None
    assigned = {*defined(tree), *taken(tree, str(module.__package__))} if tree else None
    for name in dir(module):
        value = getattr(module, name)
        if name.startswith("_") or type(value).__module__ in ("typing", "__future__"):
            continue
        if isinstance(value, ModuleType):
            if value.__name__.startswith(ROOT) and is_public(value.__name__) and any(names(value.__name__, value)):
                yield name if value.__name__ == f"{path}.{name}" else f"{name}={inside(value.__name__)}"
        elif inspect.isclass(value) or inspect.isroutine(value):
            home = value.__module__ if isinstance(value.__module__, str) else path
            if home.startswith(ROOT):
                known = is_public(home) and home != path and vars(sys.modules[home]).get(value.__name__) is value
                yield f"{name}={inside(home)}:{value.__name__}" if known else name
        elif assigned is None or name in assigned:
            yield name


def defined(tree: ast.AST) -> Iterator[str]:
    """Public names that a module itself gives to something, at its top."""
    for node in getattr(tree, "body", []):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found: list[Any] = [node.name]
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found = [target.id for target in targets if isinstance(target, ast.Name)]
        else:
            found = [*defined(node)] if isinstance(node, (ast.If, ast.Try)) else []
        yield from (name for name in found if not name.startswith("_"))


def taken(tree: ast.Module, package: str) -> Iterator[str]:
    """Names that it has from other modules of DALI's."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            home = resolve_name("." * node.level + (node.module or ""), package)
            for alias in node.names if home.startswith(ROOT) else ():
                yield from dir(sys.modules[home]) if alias.name == "*" else [alias.asname or alias.name]


def source(module: str) -> ast.Module:
    """That of a module that cannot be imported."""
    parent, _, name = module.rpartition(".")
    spec = PathFinder.find_spec(module, importlib.import_module(parent).__path__)
    return ast.parse(Path((spec and spec.origin) or name).read_text())


def main() -> int:
    return kept.main(RESULT, text, "tools/dali_modules.py", __doc__)


if __name__ == "__main__":
    sys.exit(main())
