"""The syntax tree of a converted function: what decides in it asks `logic`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from penstock.pipeline.conditional.names import assigned, inside, jump
from penstock.pipeline.conditional.returns import with_one_return

TOOLS = "__penstock__"  # the name under which a converted function has what it calls
_RETURNED = "__penstock_returned__"
_FRAMES = {"super", "locals", "vars", "dir", "eval", "exec", "globals"}  # look at the frame that calls them


def rewrite(function: ast.FunctionDef | ast.Lambda) -> None:
    """Changes a function's tree. All that Python decides without nodes is decided as before."""
    if isinstance(function, ast.Lambda):
        function.body = _Rewriter().visit(function.body)
    else:
        with_one_return(function, _RETURNED)
        outermost = [*function.args.posonlyargs, *function.args.args]
        others = [n for n in inside(function.body) if isinstance(n, (ast.Global, ast.Nonlocal))]
        function.body = [*others, *_Rewriter(outermost[0].arg if outermost else None).block(function.body)]
        for argument in ast.walk(function.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
    ast.fix_missing_locations(function)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, first: str | None = None) -> None:
        self._first = first  # argument of the function, which `super` means
        self._count = 0

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in statements:
            made = self.visit(statement)
            done += made if isinstance(made, list) else [made]
        return done

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        names, wholes = assigned([*node.body, *node.orelse])
        jumps = jump([*node.body, *node.orelse])
        self._count += 1
        at, variable = _Place(node), f"__penstock_if_{self._count}__"
        shown = ["the returned value" if name == _RETURNED else name for name in (*names, *wholes)]
        thunks = [at.thunk(tree) for tree in (*names.values(), *wholes.values())]
        test = self.visit(node.test)
        made = at.tool("If", test, at.texts(shown), at.tuple(thunks), at.value(len(names)), at.value(jumps))
        targets = [_stored(tree) for tree in names.values()]
        body, orelse = self.block(node.body), self.block(node.orelse)
        return [
            at.assign([ast.Name(variable, ast.Store())], made),
            at.branch(variable, "yes", "first", [], body),
            at.branch(variable, "no", "second", at.move(targets, variable, "before"), orelse or [ast.Pass()]),
            *at.move(targets, variable, "after"),
        ]

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        if _has_statements([node.body, node.orelse]):
            return self._inside(node)
        at = _Place(node)
        return at.tool(
            "if_expression", self.visit(node.test), at.thunk(self.visit(node.body)), at.thunk(self.visit(node.orelse))
        )

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        if _has_statements(node.values):
            return self._inside(node)
        at = _Place(node)
        word = "conjunction" if isinstance(node.op, ast.And) else "disjunction"
        return at.tool(word, *(at.thunk(self.visit(value)) for value in node.values))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if not isinstance(node.op, ast.Not):
            return self._inside(node)
        return _Place(node).tool("negation", self.visit(node.operand))

    def visit_Global(self, node: ast.Global) -> Any:
        """It is said once, at the function's beginning: before any branch."""
        return _Place(node).at(ast.Pass())

    def visit_Nonlocal(self, node: ast.Nonlocal) -> Any:
        return _Place(node).at(ast.Pass())

    def visit_Compare(self, node: ast.Compare) -> Any:
        if len(node.ops) == 1 or _has_statements(node.comparators):
            return self._inside(node)
        at = _Place(node)
        pairs = [
            at.tuple([at.value(type(op).__name__), at.thunk(self.visit(value))])
            for op, value in zip(node.ops, node.comparators, strict=True)
        ]
        return at.tool("comparison", self.visit(node.left), *pairs)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args and self._first:
            node.args = [_Place(node).at(ast.Name(name, ast.Load())) for name in ("__class__", self._first)]
        if not (isinstance(node.func, ast.Name) and node.func.id in _FRAMES):
            node.func = _Place(node.func).tool("convert", node.func)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Functions that are defined inside are converted when they are called."""
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def _inside(self, node: Any) -> Any:
        self.generic_visit(node)
        return node


class _Place:
    """Makes trees that belong to a line of the user's."""

    def __init__(self, node: ast.AST):
        self._node = node

    def at(self, made: Any) -> Any:
        made = ast.copy_location(made, self._node)
        made.end_lineno, made.end_col_offset = (
            made.lineno,
            made.col_offset,
        )  # where the call of a method counts as being
        return made

    def value(self, value: Any) -> Any:
        return self.at(ast.Constant(value))

    def tuple(self, values: list[ast.expr]) -> Any:
        return self.at(ast.Tuple(values, ast.Load()))

    def texts(self, values: Sequence[str]) -> Any:
        return self.tuple([self.value(value) for value in values])

    def thunk(self, value: ast.expr) -> Any:
        arguments = ast.arguments([], [], None, [], [], None, [])
        return self.at(ast.Lambda(arguments, value))

    def assign(self, targets: list[ast.expr], value: ast.expr) -> Any:
        return self.at(ast.Assign(targets, value))

    def tool(self, name: str, *values: ast.expr) -> Any:
        tools = self.at(ast.Name(TOOLS, ast.Load()))
        return self.at(ast.Call(self.at(ast.Attribute(tools, name, ast.Load())), list(values), []))

    def branch(self, variable: str, which: str, with_: str, before: list[ast.stmt], body: list[ast.stmt]) -> Any:
        """``if variable.which:``, and in it ``with variable.with_():``."""
        block = self.at(ast.With([ast.withitem(self._call(variable, with_))], body))
        return self.at(ast.If(self._part(variable, which), [*before, block], []))

    def move(self, targets: list[ast.expr], variable: str, which: str) -> list[ast.stmt]:
        """Assigns values, and takes from variables without one what stands for that."""
        if not targets:
            return [self.at(ast.Expr(self._call(variable, which)))]
        done = [self.assign([self.at(ast.List(targets, ast.Store()))], self._call(variable, which))]
        for target in targets:
            test = self.tool("unassigned", _loaded(target))
            done.append(self.at(ast.If(test, [self.at(ast.Delete([_deleted(target)]))], [])))
        return done

    def _part(self, variable: str, name: str) -> Any:
        return self.at(ast.Attribute(self.at(ast.Name(variable, ast.Load())), name, ast.Load()))

    def _call(self, variable: str, name: str) -> Any:
        return self.at(ast.Call(self._part(variable, name), [], []))


def _with_context(tree: ast.expr, context: ast.expr_context) -> ast.expr:
    if isinstance(tree, ast.Attribute):
        return ast.Attribute(tree.value, tree.attr, context)
    assert isinstance(tree, ast.Name)
    return ast.Name(tree.id, context)


def _stored(tree: ast.expr) -> ast.expr:
    return _with_context(tree, ast.Store())


def _loaded(tree: ast.expr) -> ast.expr:
    return _with_context(tree, ast.Load())


def _deleted(tree: ast.expr) -> ast.expr:
    return _with_context(tree, ast.Del())


def _has_statements(nodes: Sequence[ast.AST]) -> bool:
    """What is no expression in a function of its own."""
    return any(isinstance(n, (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)) for n in inside(nodes))
