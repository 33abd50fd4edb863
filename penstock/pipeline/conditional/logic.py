"""What converted functions call: ``if``, ``and``, ``or``, ``not``, ``a < b < c``, and ``a if b else c``.

Each does what Python does where the values that decide are no nodes: nothing more is evaluated, and in the same order.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

from penstock.errors import ArgumentError, ArgumentTypeError, NodeContentsError
from penstock.graph.node import DataNode
from penstock.pipeline.conditional.merge import fork, merge, truth
from penstock.pipeline.conditional.missing import Missing, Unassigned

Thunk = Callable[[], Any]
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name.lower()) for name in ("Eq", "Lt", "Gt")},
    "NotEq": operator.ne,
    "LtE": operator.le,
    "GtE": operator.ge,
    "Is": operator.is_,
    "IsNot": operator.is_not,
    "In": lambda a, b: a in b,
    "NotIn": lambda a, b: a not in b,
}


class If:
    """One ``if`` statement. The code around it runs the branches, and moves variables' values.

    ``yes`` and ``no`` say which branches run. For a node both do: before the second the variables get back the values
    that they had, and `after` has what to assign when both are through. Lists and dictionaries whose elements are
    assigned get them back in place.
    """

    def __init__(self, test: Any, names: Sequence[str], values: Sequence[Thunk], wholes: int, jumps: str | None):
        self._names, self._values, self._wholes = names, values, wholes
        self._node = isinstance(test, DataNode)
        self.yes = self._node or bool(test)
        self.no = self._node or not self.yes
        if not self._node:
            return
        if jumps:
            raise NodeContentsError(
                f"`{jumps}` in an `if` on a node: all samples go through the whole definition. Assign variables in "
                "the branches instead"
            )
        self._fork = fork(truth(test), "if")
        self._wholes_before = [self._whole(k) for k in range(wholes, len(names))]
        self._before = self._now()

    @contextmanager
    def first(self) -> Iterator[None]:
        """The branch of what is true."""
        if not self._node:
            yield
            return
        with self._fork.branch(True):
            yield
        self._yes = self._now()
        for whole, values in zip(self._wholes_before, self._before[self._wholes :], strict=True):
            _fill(whole, values)

    @contextmanager
    def second(self) -> Iterator[None]:
        """The other branch."""
        if not self._node:
            yield
            return
        with self._fork.branch(False):
            yield

    def before(self) -> list[Any]:
        """The values of variables for the second branch."""
        return (self._before if self._node else self._now())[: self._wholes]

    def after(self) -> list[Any]:
        """The values of variables behind the statement."""
        if not self._node:
            return self._now()[: self._wholes]
        values = zip(self._names, self._yes, self._now(), strict=True)
        merged = [merge(name, yes, no, self._fork) for name, yes, no in values]
        for whole, value in zip(self._wholes_before, merged[self._wholes :], strict=True):
            _fill(whole, value)
        return merged[: self._wholes]

    def _now(self) -> list[Any]:
        """What the variables are, and what is in lists and dictionaries."""
        found = [_value(name, value) for name, value in zip(self._names, self._values, strict=True)]
        return found[: self._wholes] + [copy(whole) for whole in found[self._wholes :]]

    def _whole(self, k: int) -> Any:
        found = _value(self._names[k], self._values[k])
        if not isinstance(found, (list, dict, Missing)):
            raise ArgumentTypeError(
                f"an element of {self._names[k]} is assigned in an `if` on a node: it is a {type(found).__name__}, and "
                "elements of lists and dictionaries alone can be merged"
            )
        return found


def _fill(whole: Any, values: Any) -> None:
    if isinstance(whole, Missing):
        return
    if isinstance(values, Missing):
        raise ArgumentError(repr(values))
    if isinstance(whole, list):
        whole[:] = values
    else:
        whole.clear()
        whole.update(values)


def _value(name: str, value: Thunk) -> Any:
    try:
        return value()
    except (NameError, AttributeError, LookupError):
        return Unassigned(f"{name} has no value")


def unassigned(value: Any) -> bool:
    """Whether a variable is to have no value, as before."""
    return isinstance(value, Unassigned)


def if_expression(test: Any, yes: Thunk, no: Thunk) -> Any:
    """``yes if test else no``."""
    if not isinstance(test, DataNode):
        return yes() if test else no()
    return _both(truth(test), yes, no, "the value of `if` and `else`")


def conjunction(*operands: Thunk) -> Any:
    """``a and b``; with a node, which is BOOL then, one BOOL for each sample."""
    return _logic("and", operands, True)


def disjunction(*operands: Thunk) -> Any:
    """``a or b``; with a node, which is BOOL then, one BOOL for each sample."""
    return _logic("or", operands, False)


def negation(value: Any) -> Any:
    """``not value``."""
    if not isinstance(value, DataNode):
        return not value
    return _both(truth(value), lambda: False, lambda: True, "`not`", "not")


def comparison(first: Any, *others: tuple[str, Thunk]) -> Any:
    """``first < a <= b``: the pairs have the operators' names in Python's syntax tree, and what is compared."""
    (name, right), *more = others
    value = right()
    result = _COMPARE[name](first, value)
    if not more:
        return result
    return _logic("and", [lambda: result, lambda: comparison(value, *more)], True)


def _logic(word: str, operands: Sequence[Thunk], goes_on: bool) -> Any:
    first, *more = operands
    value = first()
    if not more:
        return value
    if not isinstance(value, DataNode):
        return _logic(word, more, goes_on) if bool(value) is goes_on else value

    def rest() -> Any:
        return _logic(word, more, goes_on)

    yes, no = (rest, lambda: False) if goes_on else (lambda: True, rest)
    return _both(value, yes, no, f"the result of `{word}`", word)


def _both(test: DataNode, yes: Thunk, no: Thunk, what: str, word: str = "if") -> Any:
    at = fork(test, word)
    with at.branch(True):
        first = yes()
    with at.branch(False):
        second = no()
    return merge(what, first, second, at)
