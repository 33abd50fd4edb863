"""Runs scripts, modules and notebooks with Penstock for DALI, and so processes that they start."""

from __future__ import annotations

import json
import os
import runpy
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from penstock.compat import notebook
from penstock.compat.finder import install
from penstock.compat.notebook import NotRunnableError

_CHILD = "penstock.compat.child"
_VARIABLE = "_PENSTOCK_COMPAT_PROGRAM"  # tells processes that are not forked what to run


class Program(NamedTuple):
    """What is run."""

    kind: str  # "module" or "file"
    name: str


def run(program: Program, arguments: list[str]) -> None:
    """Runs it as the main module, which it stays to the end of the process."""
    sys.argv = [program.name, *arguments]
    if program.kind == "file":
        program = Program("file", os.path.abspath(program.name))
    os.environ[_VARIABLE] = json.dumps(program)
    _find_beside(program)
    install()
    _run(program, "__main__")


def run_in_child(run_name: str) -> dict[str, Any]:
    """Runs the program of the process that started this one, in this one, which ``multiprocessing`` has asked for."""
    program = Program(*json.loads(os.environ[_VARIABLE]))
    if run_name == "__main__":  # else multiprocessing has set both
        sys.argv[0] = program.name
        _find_beside(program)
    install()
    return _run(program, run_name)


def _find_beside(program: Program) -> None:
    """Modules beside a file can be imported, as Python has it."""
    if program.kind == "file":
        sys.path[0:1] = [program.name if os.path.isdir(program.name) else os.path.dirname(program.name)]


def _run(program: Program, run_name: str) -> dict[str, Any]:
    module = ModuleType(run_name)
    code = None
    if program.kind == "module":
        spec, code = _module(program.name)
        vars(module).update(__file__=spec.origin, __package__=spec.parent, __loader__=spec.loader)
        if run_name == "__main__":
            sys.argv[0] = str(spec.origin)
    elif os.path.isdir(program.name):
        return runpy.run_path(program.name, run_name=run_name)
    elif not program.name.endswith(".ipynb"):
        module.__file__ = program.name
        code = _compiled(program.name)
    # By it processes that multiprocessing spawns, which import the main module anew, know what to import.
    module.__spec__ = ModuleSpec(_CHILD, None)
    if run_name == "__main__":
        sys.modules["__main__"] = module
    if code is None:
        notebook.run(program.name, vars(module))
    else:
        exec(code, vars(module))
    return vars(module)


def _compiled(path: str) -> CodeType:
    try:
        with open(path, "rb") as file:
            return compile(file.read(), path, "exec", dont_inherit=True)
    except OSError as e:
        raise NotRunnableError(f"penstock.compat cannot read {path}: {e.strerror}") from e


def _module(name: str) -> tuple[ModuleSpec, CodeType]:
    """The module's, or where that is a package, of what ``python -m`` runs of it."""
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:  # of what it lies in
        spec = None
    if spec is not None and spec.submodule_search_locations is not None:
        return _module(f"{name}.__main__")
    loader: Any = spec and spec.loader
    code = loader.get_code(name) if hasattr(loader, "get_code") else None
    if spec is None or code is None:
        raise NotRunnableError(f"penstock.compat: there is no module {name!r} that can be run")
    return spec, code
