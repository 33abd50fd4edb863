"""How functions that no module has are pickled: lambdas, local functions, those of notebooks, and marked ones."""

from __future__ import annotations

import dis
import importlib
import marshal
import pickle
import sys
import types
from collections.abc import Iterator
from typing import Any

BY_VALUE = "_dali_pickle_by_value"  # an attribute of functions, as scripts for DALI may have it
_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"}


class DaliCallbackPickler(pickle.Pickler):
    """A pickler that takes what ``pickle`` takes, modules, and functions that cannot be imported by their names.

    Such a function is pickled by value: its code, and what of its module's globals the code names. So is one that
    `penstock.pickling.pickle_by_value` has marked. ``pickle.loads`` restores it, in the same version of Python.

    Example:
        >>> import io, pickle
        >>> file, offset = io.BytesIO(), 3
        >>> DaliCallbackPickler(file).dump(lambda i: i + offset)
        >>> pickle.loads(file.getvalue())(4)
        7
    """

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, types.ModuleType) and "__reduce__" not in vars(type(obj)):
            return importlib.import_module, (obj.__name__,)
        if isinstance(obj, types.CellType):
            return _cell, (), _contents(obj), None, None, _fill_cell
        if isinstance(obj, types.FunctionType) and (getattr(obj, BY_VALUE, False) or not _can_be_imported(obj)):
            return _by_value(obj)
        return NotImplemented


def _can_be_imported(function: types.FunctionType) -> bool:
    module = sys.modules.get(function.__module__ or "")
    if module is None or (module.__name__ == "__main__" and not hasattr(module, "__file__")):
        return False  # as of a notebook, or of what was typed
    found: Any = module
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function


def _by_value(function: types.FunctionType) -> Any:
    state = {
        "globals": {n: function.__globals__[n] for n in _names(function.__code__) if n in function.__globals__},
        "__defaults__": function.__defaults__,
        "__kwdefaults__": function.__kwdefaults__,
        "__dict__": function.__dict__,
        "__qualname__": function.__qualname__,
        "__module__": function.__module__,
    }
    made_of = marshal.dumps(function.__code__), function.__name__, function.__closure__
    return _function, made_of, state, None, None, _fill_function


def _names(code: types.CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in _GLOBAL:
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _function(code: bytes, name: str, closure: tuple[types.CellType, ...] | None) -> types.FunctionType:
    return types.FunctionType(marshal.loads(code), {"__builtins__": __builtins__}, name, None, closure)


def _fill_function(function: types.FunctionType, state: dict[str, Any]) -> None:
    function.__globals__.update(state.pop("globals"))
    function.__dict__.update(state.pop("__dict__"))
    for name, value in state.items():
        setattr(function, name, value)


def _cell() -> types.CellType:
    return types.CellType()


def _contents(cell: types.CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # nothing was assigned yet
        return []


def _fill_cell(cell: types.CellType, contents: list[Any]) -> None:
    for value in contents:
        cell.cell_contents = value
