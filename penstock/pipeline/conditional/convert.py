"""Functions of the user's with conditionals, made anew from their source."""

from __future__ import annotations
import __future__

import ast
import functools
import linecache
import sysconfig
import types
from collections.abc import Iterator
from typing import Any

from penstock.graph.location import PACKAGE
from penstock.graph.node import DataNode
from penstock.pipeline.conditional import logic
from penstock.pipeline.conditional.mark import UNCONVERTED
from penstock.pipeline.conditional.rewrite import TOOLS, rewrite

_FEATURES = [getattr(__future__, name) for name in __future__.all_feature_names]
_FUTURE = functools.reduce(int.__or__, (feature.compiler_flag for feature in _FEATURES))
_LIBRARIES = {"numpy", "torch", "tensorflow", "jax", "paddle", "cupy", "cv2", "PIL", "scipy", "nvidia", "pytest"}
_STANDARD = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
_SITES = tuple(sysconfig.get_path(name) for name in ("purelib", "platlib"))
_GENERATORS = 0x20 | 0x80 | 0x200  # of functions that run piecemeal: inspect.CO_GENERATOR and its like

_codes: dict[tuple[str, types.CodeType], types.CodeType | None] = {}  # equal code may be in several files


class Tools:
    """What converted functions call."""

    If = logic.If
    unassigned = staticmethod(logic.unassigned)
    if_expression = staticmethod(logic.if_expression)
    conjunction = staticmethod(logic.conjunction)
    disjunction = staticmethod(logic.disjunction)
    negation = staticmethod(logic.negation)
    comparison = staticmethod(logic.comparison)

    @staticmethod
    def convert(function: Any) -> Any:
        return convert(function)


def convert(function: Any) -> Any:
    """The function with conditionals for nodes; or itself if it is none of the user's, or its source cannot be had.

    Functions that it calls are converted when they are called, and so are methods, and objects that can be called.
    """
    if getattr(function, UNCONVERTED, False):
        return function
    if isinstance(function, types.MethodType):
        made = convert(function.__func__)
        return function if made is function.__func__ else types.MethodType(made, function.__self__)
    if isinstance(function, functools.partial):
        return functools.partial(convert(function.func), *function.args, **function.keywords)
    if isinstance(function, types.FunctionType):
        return _for_nodes(function) if function.__code__.co_filename.startswith(_SITES) else _converted(function)
    call = getattr(type(function), "__call__", None)  # noqa: B004 - its code is wanted
    if isinstance(call, types.FunctionType) and not isinstance(function, type):
        made = convert(call)
        return function if made is call else types.MethodType(made, function)
    return function


def _for_nodes(function: types.FunctionType) -> Any:
    """A function of a library that is installed: converted where it gets nodes, for which few are made."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        items = [i for value in given for i in (value if isinstance(value, (list, tuple)) else [value])]
        chosen = _converted(function) if any(isinstance(item, DataNode) for item in items) else function
        return chosen(*args, **kwargs)

    return call


def _converted(function: types.FunctionType) -> types.FunctionType:
    old = function.__code__
    key = (old.co_filename, old)
    if key not in _codes:
        _codes[key] = _compiled(old) if _can_have_nodes(function) else None
    code = _codes[key]
    if code is None:
        return function
    cells = dict(zip(old.co_freevars, function.__closure__ or (), strict=True))
    cells[TOOLS] = types.CellType(Tools)
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(made, function)
    vars(made).pop("__wrapped__")
    return made


def _can_have_nodes(function: types.FunctionType) -> bool:
    """Whether it may decide by nodes: not Python's own library, nor others that know none."""
    code = function.__code__
    library = (function.__module__ or "").partition(".")[0]
    if code.co_flags & _GENERATORS or code.co_filename.startswith(PACKAGE) or library in _LIBRARIES:
        return False
    return code.co_filename.startswith(_SITES) or not code.co_filename.startswith(_STANDARD)


def _compiled(old: types.CodeType) -> types.CodeType | None:
    """The code of a function with conditionals; None: its source is not there, or cannot be told from another's."""
    tree = _tree(old.co_filename)
    places = [] if tree is None else [place for place in _places(tree, None) if _is_at(place[0], old)]
    if len(places) != 1:
        return None
    function, owner = places[0]
    rewrite(function)
    function.args.defaults, function.args.kw_defaults = [], [None] * len(function.args.kwonlyargs)
    inner: ast.stmt
    if isinstance(function, ast.Lambda):
        inner = ast.Expr(function)
    else:
        function.decorator_list, function.returns = [], None
        inner = function
    if owner is not None:  # names of two underscores are the class's
        inner = ast.ClassDef(owner, [], [], [inner], [])
    free = [ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)) for name in (*old.co_freevars, TOOLS)]
    outer = ast.parse("def outer(): pass").body[0]
    assert isinstance(outer, ast.FunctionDef)
    own = {name for name in (old.co_name, owner) if name and name.isidentifier()} - {*old.co_freevars}
    outer.body = [*([ast.Global(sorted(own))] if own else []), *free, inner]  # it may call itself
    module = ast.fix_missing_locations(ast.Module([outer], []))
    code = compile(module, old.co_filename, "exec", flags=old.co_flags & _FUTURE, dont_inherit=True)
    for _ in range(2 if owner is None else 3):  # the module's, outer's, that of the class
        code = next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    assert isinstance(code, types.CodeType)
    return code


def _tree(filename: str) -> ast.Module | None:
    """Of a file: a new one each time, as it is changed."""
    lines = linecache.getlines(filename)
    try:
        return ast.parse("".join(lines), filename) if lines else None
    except SyntaxError:  # it was changed since it was read
        return None


def _places(node: ast.AST, owner: str | None) -> Iterator[tuple[ast.FunctionDef | ast.Lambda, str | None]]:
    """Functions, and the classes in whose blocks they are."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.Lambda)):
            yield child, owner
        inner = child.name if isinstance(child, ast.ClassDef) else None
        yield from _places(child, inner if isinstance(child, (ast.ClassDef, *_FUNCTIONS)) else owner)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _is_at(function: ast.FunctionDef | ast.Lambda, code: types.CodeType) -> bool:
    """Whether a function is the one of this code: by name and first line; lambdas by their names of arguments, too."""
    if isinstance(function, ast.FunctionDef):
        first = min([function.lineno, *(d.lineno for d in function.decorator_list)])
        return first == code.co_firstlineno and function.name == code.co_name
    arguments = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    own = list(code.co_varnames[: code.co_argcount])
    return code.co_name == "<lambda>" and function.lineno == code.co_firstlineno and arguments == own
