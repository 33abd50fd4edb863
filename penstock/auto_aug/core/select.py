"""One of several functions for each sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.errors import ArgumentError
from penstock.graph.node import DataNode
from penstock.pipeline.conditional.merge import fork, merge, result


def select(data: Any, index: DataNode, functions: Sequence[Callable[[Any], Any]]) -> Any:
    """What function ``index`` makes of the data, where ``index`` is a number for each sample, on the CPU.

    Each function runs on the samples that take it, and on no others. All of them return what has the same structure.

    Raises ArgumentError for no functions.
    """
    if not functions:
        raise ArgumentError("select: no functions to choose from")
    return _between(data, index, functions, 0)


def _between(data: Any, index: DataNode, functions: Sequence[Callable[[Any], Any]], first: int) -> Any:
    """By halves, so that a sample passes few decisions."""
    if len(functions) == 1:
        return functions[0](data)
    half = len(functions) // 2
    at = fork(index < first + half, "select")
    with at.branch(True):
        low = _between(data, index, functions[:half], first)
    with at.branch(False):
        high = _between(data, index, functions[half:], first + half)
    return result(merge("what select() returns", low, high, at))
