"""What Python knows it decides as before: functions of many kinds, converted and as they are."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from penstock.pipeline.conditional.convert import convert

LOG: list[str] = []
COUNT = 0


def said(value: Any) -> Any:
    LOG.append(repr(value))
    return value


def returns_in_loops(n: int) -> Any:
    for i in range(n):
        if i == 3:
            return said(i)
        if i % 2:
            continue
        said(i)
    else:
        return "through"
    return None  # type: ignore[unreachable]


def early(n: int) -> Any:
    if n < 0:
        return "negative"
    if n == 0:
        return "none"
    elif n == 1:
        said("one")
    else:
        if n > 5:
            return "many"
        n = n + 1
    return n


def falls_off(n: int) -> Any:
    if n > 2:
        return n


def in_try(n: int) -> Any:
    try:
        if n == 0:
            raise ValueError("none")
        if n == 1:
            return "one"
    except ValueError as e:
        if str(e) == "none":
            return "caught"
    finally:
        said("finally")
    return n


def order(n: int) -> Any:
    return (
        (said(n) and said(n - 1)) or not said(n - 2),
        said(0) < said(n) <= said(3) != said(n + 1),
        1 if said(n) else 2,
    )


def operands_as_they_are(n: int) -> Any:
    return (n and "yes", n or [], (n or None) is None, not n, n in (1, 2) not in [3])


def unassigned(n: int) -> Any:
    if n:
        found = n
    try:
        return found
    except UnboundLocalError as e:
        return str(e).count("found")


def deleted(n: int) -> Any:
    value = 1
    if n:
        del value
    return "value" in locals()


def closures(n: int) -> Any:
    total = 0

    def add(k: int) -> None:
        nonlocal total
        if k > 1:
            total += k

    for k in range(n):
        add(k)
    return total


def with_global(n: int) -> Any:
    if n:
        global COUNT
        COUNT = n
    return COUNT


def walrus(n: int) -> Any:
    if (m := n * 2) > 4 and (k := m + 1):
        return k
    return [y for x in range(n) if (y := x * 2) or m]


def comprehensions(n: int) -> Any:
    x = "mine"
    return [x if x else -1 for x in range(n) if x != 1], {k: k and v for k, v in zip("ab", range(n), strict=False)}, x


def patterns(n: int) -> Any:
    if n >= 0:
        match [n, n + 1]:
            case [0, rest]:
                found = ("zero", rest)
            case [first, *others] if first > 2:
                found = ("more", *others)
            case _:
                found = ("else",)
        return found
    return None


def context(n: int) -> Any:
    @contextmanager
    def noted() -> Iterator[int]:
        said("in")
        yield n
        said("out")

    with noted() as m:
        if m > 1:
            return m
    return "less"


class Base:
    def shown(self, n: int) -> Any:
        return ["base", n]


class Derived(Base):
    __private = 7

    def shown(self, n: int) -> Any:
        if n > 1:
            return [*super().shown(n), self.__private]
        return super().shown(-n)

    @staticmethod
    def alone(n: int) -> Any:
        return "some" if n else "none"

    @classmethod
    def of_class(cls, n: int) -> Any:
        return cls.__name__ if n else cls.alone(n)

    def __call__(self, n: int) -> Any:
        return self.shown(n) if n else self.alone(n)


def classes(n: int) -> Any:
    return Derived().shown(n), Derived.alone(n), Derived.of_class(n), Derived()(n)


def defaults(n: int, /, more: int = 4, *rest: int, word: str = "w", **others: Any) -> Any:
    if n:
        return n, more, rest, word, others
    return None


def twice(function: Callable[[int], Any]) -> Callable[[int], Any]:
    @functools.wraps(function)
    def both(n: int) -> Any:
        return (function(n), function(n + 1)) if n else function(n)

    return both


@twice
def decorated(n: int) -> Any:
    return "odd" if n % 2 else "even"


def generator(n: int) -> Any:
    def numbers() -> Iterator[int]:
        for i in range(n):
            if i and i != 2:
                yield i

    return list(numbers())


def recursive(n: int) -> Any:
    return 1 if n < 2 else n * recursive(n - 1)


def partial(n: int) -> Any:
    return functools.partial(defaults, more=n)(2, word="p")


def library(n: int) -> Any:
    return pytest.approx(n), sorted(range(n), key=lambda k: -k if k else 9)


def imports(n: int) -> Any:
    if n:
        import os.path as path
        from math import pi

        found = path.basename("a/b"), pi > 3
    else:
        found = None
    return found


def annotated(n: int) -> Any:
    value: int | str
    if n:
        value = 3
    else:
        value = "none"
    return value


FUNCTIONS: list[Callable[[int], Any]] = [
    returns_in_loops, early, falls_off, in_try, order, operands_as_they_are, unassigned, deleted, closures, with_global,
    walrus, comprehensions, patterns, context, classes, defaults, decorated, generator, recursive, partial, library,
    imports, annotated, lambda n: n and (n > 2 or "less"),
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_and_order_are_python_s(function: Callable[[int], Any]) -> None:
    global COUNT
    made = convert(function)
    assert made is not function
    for n in range(-1, 8):
        results = []
        for called in (function, made):
            COUNT = 5
            LOG.clear()
            results.append((called(n), [*LOG], COUNT))
        assert results[0] == results[1]


def test_exceptions_show_the_line_of_the_source() -> None:
    def fails(n: int) -> Any:
        if n:
            return 1 // (n - 1)
        return 0

    with pytest.raises(ZeroDivisionError) as e:
        convert(fails)(1)
    entry = e.traceback[-1]
    assert entry.path.name == "test_python.py"
    assert str(entry.statement).strip() == "return 1 // (n - 1)"


def test_an_unassigned_variable_is_named() -> None:
    def fails(n: int) -> Any:
        if n:
            value = 1
        return value

    assert convert(fails)(1) == 1
    with pytest.raises(UnboundLocalError, match="value"):
        convert(fails)(0)


@pytest.mark.parametrize("what", [len, int, "text", None, functools.partial(len, "abc"), str.upper, generator(3)])
def test_what_is_no_function_of_the_user_s_stays(what: Any) -> None:
    made = convert(what)
    assert made is what or (made.func, made.args) == (what.func, what.args)


def test_without_source_functions_stay() -> None:
    names: dict[str, Any] = {}
    exec("def f(n): return 1 if n else 2", names)
    assert convert(names["f"]) is names["f"]


def test_lambdas_of_one_line_are_told_apart_or_left() -> None:
    first, second = (lambda n: n or 1), (lambda m: m and 1)
    assert convert(first)(0) == 1
    assert convert(second)(0) == 0
    same = [lambda n: n or 1, lambda n: n and 2]
    assert [convert(f)(0) for f in same] == [1, 0]
