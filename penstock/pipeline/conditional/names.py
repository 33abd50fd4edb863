"""Which variables a statement assigns, in Python's syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def inside(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All that belongs to these statements, without the insides of functions and classes that they define."""
    for node in statements:
        yield node
        if not isinstance(node, _SCOPES):
            yield from inside(ast.iter_child_nodes(node))


def assigned(statements: Iterable[ast.AST]) -> tuple[dict[str, ast.expr], dict[str, ast.expr]]:
    """What the statements assign, as its source and its tree: variables and attributes; wholes of which it is a part.

    A part's whole counts if it has a name that stays the same, as ``outputs`` in ``outputs[0] = x``. What is made in
    these statements is assigned as a whole anyway.
    """
    statements = list(statements)
    names: dict[str, ast.expr] = {name: ast.Name(name, ast.Load()) for name in _names(statements)}
    wholes: dict[str, ast.expr] = {}
    for node in inside(statements):
        if not isinstance(node, (ast.Attribute, ast.Subscript)) or isinstance(node.ctx, ast.Load):
            continue
        place, found = (node.value, wholes) if isinstance(node, ast.Subscript) else (node, names)
        if _is_path(place) and not {n.id for n in ast.walk(place) if isinstance(n, ast.Name)} & names.keys():
            found[ast.unparse(place)] = _loaded(place)
    return names, {name: tree for name, tree in wholes.items() if name not in names}


def _names(statements: Iterable[ast.AST]) -> Iterator[str]:
    hidden = {id(n) for node in inside(statements) if isinstance(node, _COMPREHENSIONS) for n in _targets(node)}
    for node in inside(statements):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and id(node) not in hidden:
            yield node.id
        elif isinstance(node, _SCOPES) and not isinstance(node, ast.Lambda):
            yield node.name
        elif isinstance(node, ast.alias) and node.name != "*":
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest


def _targets(comprehension: ast.AST) -> Iterator[ast.AST]:
    for generator in comprehension.generators:  # type: ignore[attr-defined]
        yield from ast.walk(generator.target)


def _is_path(node: ast.expr) -> bool:
    """Whether it can be evaluated again and again, as ``a.b`` can."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_path(node.value))


def _loaded(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Attribute):
        return ast.Attribute(node.value, node.attr, ast.Load())
    return node


def jump(statements: Iterable[ast.AST]) -> str | None:
    """``return``, ``break``, ``continue`` or ``yield``, where the statements leave what is around them by it."""
    for node in _leaving(statements, in_loop=False):
        return node
    return None


def _leaving(statements: Iterable[ast.AST], in_loop: bool) -> Iterator[str]:
    for node in statements:
        if isinstance(node, _SCOPES):
            continue
        if isinstance(node, ast.Return):
            yield "return"
        elif isinstance(node, (ast.Yield, ast.YieldFrom)):
            yield "yield"
        elif isinstance(node, (ast.Break, ast.Continue)) and not in_loop:
            yield type(node).__name__.lower()
        if isinstance(node, _LOOPS):
            yield from _leaving([*ast.iter_child_nodes(node)], True)
        else:
            yield from _leaving(ast.iter_child_nodes(node), in_loop)
