"""Capture: what DALI's dynamic mode does on request, and this one always.

Calls whose results are not asked for are joined into plans, which are compiled once and kept; readers read ahead. So
there is nothing to mark: `invariant` is here for scripts that do.
"""

from __future__ import annotations

from typing import TypeVar

_Value = TypeVar("_Value")


def invariant(value: _Value) -> _Value:
    """The value itself.

    >>> import penstock.experimental.dynamic as ndd
    >>> ndd.capture.invariant([1, 2])
    [1, 2]
    """
    return value
