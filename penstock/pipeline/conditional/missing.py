"""What a variable is that has no value in all branches."""

from __future__ import annotations

from typing import Any, NoReturn

from penstock.errors import ArgumentError

_READS = [
    "add",
    "radd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "truediv",
    "rtruediv",
    "floordiv",
    "rfloordiv",
    "mod",
    "rmod",
    "pow",
    "rpow",
    "and",
    "rand",
    "or",
    "ror",
    "xor",
    "rxor",
    "lshift",
    "rshift",
    "matmul",
    "neg",
    "pos",
    "abs",
    "invert",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "bool",
    "iter",
    "len",
    "getitem",
    "setitem",
    "delitem",
    "call",
    "contains",
    "enter",
    "exit",
    "index",
    "int",
    "float",
    "str",
    "format",
]


class Missing:
    """Stands for a value that could not be merged: to use it in any way raises ArgumentError, which says why.

    That a variable has none is no mistake as long as nobody reads it: most are of use in one branch alone.
    """

    def __init__(self, why: str):
        object.__setattr__(self, "_why", why)

    def __repr__(self) -> str:
        return f"<no value: {self._why}>"

    def __getattr__(self, name: str) -> Any:
        _refuse(self)

    __hash__ = object.__hash__


class Unassigned(Missing):
    """No value because none was assigned."""


def _refuse(self: Missing, *_: object, **__: object) -> NoReturn:
    raise ArgumentError(object.__getattribute__(self, "_why"))


for _name in _READS:
    setattr(Missing, f"__{_name}__", _refuse)
