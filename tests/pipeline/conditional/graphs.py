"""Definitions with conditionals, in terms of a library (`fn`, `types`), of numbers `x` and truth values `b`."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

Graph = Callable[[Any, Any, Any, Any], Any]


def both(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if x > 0:
        y = x * 10
    else:
        y = -x
    return y


def one(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if b:
        x = x + 1
        x += 1
    return x


def number_as_condition(fn: Any, types: Any, x: Any, b: Any) -> Any:
    y = 0
    if x:
        y = 1
    return y


def several(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if x > 3:
        y, z = x, 1
    elif x > 0:
        y, z = x * 2, 2
    elif b:
        y, z = x * 3, 3
    else:
        y, z = x * 4, 4
    return y, z


def nested(fn: Any, types: Any, x: Any, b: Any) -> Any:
    y = x
    if x > 0:
        z = y * 2
        if b:
            y = z + x
        else:
            y = z - x
    elif b:
        y = y * 100
    return y, x


def temporary(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if b:
        t = x * 2
        y = t + 1
    else:
        y = x
    return y


def returns(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if x > 0:
        return x + 1
    else:
        return x - 1


def early_returns(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if x > 3:
        return x + 1
    x = x * 2
    if b:
        x = x + 100
    else:
        return x
    return x + 1


def structures(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if b:
        y = [x, {"a": (x + 1, 5)}]
    else:
        y = [x * 2, {"a": (x - 1, 6)}]
    return y[0], y[1]["a"][0], y[1]["a"][1]


def attributes_and_elements(fn: Any, types: Any, x: Any, b: Any) -> Any:
    kept, table, row = SimpleNamespace(y=x), {"k": x}, [x, x]
    if b:
        kept.y = x * 5
        table["k"] = x * 6
        table["new"] = x * 7
        row[0] = x * 8
    else:
        table["new"] = x * 9
    return kept.y, table["k"], table["new"], *row


def logic(fn: Any, types: Any, x: Any, b: Any) -> Any:
    return (x > 3) and b, (x > 3) or b, not b, not x, b and (x > 0) and (x < 4), True and b, False or b


def logic_in_conditions(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if not b and (x > 0 or x < -4):
        y = x
    else:
        y = x * 2
    return y


def lazily(fn: Any, types: Any, x: Any, b: Any) -> Any:
    """What is on the right is found for the samples alone that need it: there is no division by zero."""
    return x != 0 and (12 // x > 2)


def known_to_python(fn: Any, types: Any, x: Any, b: Any) -> Any:
    for i in range(4):
        if i == 1:
            continue
        if i == 3 and not [x]:
            break
        if b:
            x = x + i
    return x if i else b


def called(fn: Any, types: Any, x: Any, b: Any) -> Any:
    def inner(v: Any, twice: bool = True) -> Any:
        if v > 0 and twice:
            v = v + v
        return v

    return inner(x), inner(v=x, twice=False), both(fn, types, x, b)


def methods(fn: Any, types: Any, x: Any, b: Any) -> Any:
    class Doubler:
        def __init__(self, by: int):
            self.by = by

        def __call__(self, v: Any) -> Any:
            if v > 0:
                v = v * self.by
            return v

        def times(self, v: Any) -> Any:
            return self(v) * 2

    return Doubler(3)(x), Doubler(4).times(x)


def loops(fn: Any, types: Any, x: Any, b: Any) -> Any:
    found = []
    for factor in (1, 2, 3):
        if x > factor:
            y = x * factor
        else:
            y = x
        found.append(y)
    return tuple(found)


def drawn(fn: Any, types: Any, x: Any, b: Any) -> Any:
    """Nothing that is drawn can be compared: only that it is in its range."""
    if b:
        y = fn.random.uniform(range=[2.0, 2.5])
    else:
        y = -1.0
    return y > 1, b


def arrays(fn: Any, types: Any, x: Any, b: Any) -> Any:
    v = fn.stack(x, x * 2)
    if b:
        v = v * 10
        v = fn.cat(v, v)
    return v


def constants(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if b:
        y = types.Constant([1, 2], dtype=types.UINT8)
    else:
        y = types.Constant([3], dtype=types.UINT8)
    return y


def unused(fn: Any, types: Any, x: Any, b: Any) -> Any:
    """What cannot be merged does not matter where nobody reads it."""
    if b:
        _t, _u, _v = "a", x, None
    else:
        _t, _u, _v = "b", fn.cast(x, dtype=types.FLOAT), None
    return x


def assigned_from_outside(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if b:
        y = x
    else:
        y = b
        y = x
    z = y
    return z


GRAPHS: list[Graph] = [
    both, one, number_as_condition, several, nested, temporary, returns, early_returns, structures,
    attributes_and_elements, logic, logic_in_conditions, lazily, known_to_python, called, methods, loops, drawn, arrays,
    constants, unused, assigned_from_outside,
]  # fmt: skip
