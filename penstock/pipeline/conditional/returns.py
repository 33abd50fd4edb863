"""``return`` in branches: what follows the ``if`` goes into the branch that goes on, so that each path ends in one."""

from __future__ import annotations

import ast
import copy
from typing import TypeVar

_Tree = TypeVar("_Tree", bound=ast.AST)


def with_one_return(function: ast.FunctionDef, variable: str) -> None:
    """Where an ``if`` of the function's own block returns, the function returns a variable at its end instead.

    An ``if`` in a loop, ``try`` or ``with`` keeps its ``return``: such a one can depend on what Python knows.
    """
    if not any(isinstance(s, ast.If) and _returns(s) for s in function.body):
        return
    function.body = _assigning(_ended(function.body), variable)
    last = function.body[-1]
    function.body.append(_at(last, ast.Return(_at(last, ast.Name(variable, ast.Load())))))


def _returns(statement: ast.If) -> bool:
    """Whether one of its paths returns, but for those in loops and the like."""
    return any(
        isinstance(s, ast.Return) or (isinstance(s, ast.If) and _returns(s))
        for s in (*statement.body, *statement.orelse)
    )


def _ended(block: list[ast.stmt]) -> list[ast.stmt]:
    """The block, such that all its paths end in ``return``."""
    done: list[ast.stmt] = []
    for i, statement in enumerate(block):
        if isinstance(statement, ast.Return):
            return [*done, statement]
        if isinstance(statement, ast.If) and _returns(statement):
            rest = block[i + 1 :]
            statement.body = _ended([*statement.body, *rest])
            statement.orelse = _ended([*statement.orelse, *copy.deepcopy(rest)])
            return [*done, statement]
        done.append(statement)
    last = block[-1] if block else None
    return [*done, _at(last, ast.Return(_at(last, ast.Constant(None))))]


def _assigning(block: list[ast.stmt], variable: str) -> list[ast.stmt]:
    last = block[-1]
    if isinstance(last, ast.Return):
        value = last.value or _at(last, ast.Constant(None))
        return [*block[:-1], _at(last, ast.Assign([_at(last, ast.Name(variable, ast.Store()))], value))]
    assert isinstance(last, ast.If)
    last.body, last.orelse = _assigning(last.body, variable), _assigning(last.orelse, variable)
    return block


def _at(place: ast.AST | None, node: _Tree) -> _Tree:
    return ast.copy_location(node, place) if place is not None else node
