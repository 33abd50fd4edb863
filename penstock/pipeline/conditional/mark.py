"""Functions whose conditionals are Python's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

UNCONVERTED = "_penstock_do_not_convert"
_Function = TypeVar("_Function", bound=Callable[..., Any])


def do_not_convert(func: _Function | None = None) -> _Function:
    """Marks a function whose ``if``, ``and``, ``or`` and ``not`` are Python's own, also where a definition calls it."""
    if func is None:
        return do_not_convert  # type: ignore[return-value]
    setattr(func, UNCONVERTED, True)
    return func
