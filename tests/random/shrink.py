"""Makes a failing case smaller, as long as it fails in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.random.case import Call, Case, Source

Fails = Callable[[Case], bool]


def shrunk(case: Case, fails: Fails, most: int = 80) -> Case:
    """``fails`` is asked up to ``most`` times."""
    asked = 0
    again = True
    while again:
        again = False
        for smaller in candidates(case):
            asked += 1
            if asked > most:
                return case
            if fails(smaller):
                case, again = smaller, True
                break
    return case


def candidates(case: Case) -> Iterator[Case]:
    """What to leave out, the largest parts first."""
    if case.batch > 1:
        for keep in range(case.batch):
            values = tuple(replace(v, samples=(v.samples[keep],)) if isinstance(v, Source) else v for v in case.values)
            yield Case(values, 1)
    for at, value in reversed(list(enumerate(case.values[:-1]))):
        if isinstance(value, Call):  # an earlier value is the result
            yield Case(case.values[: at + 1], case.batch).pruned()
    for at, value in enumerate(case.values):
        if not isinstance(value, Call):
            continue
        if at + 1 < len(case.values) and value.inputs:  # its input instead of it
            yield renamed(case, value.name, value.inputs[0])
        for name, text in value.arguments:
            others = tuple(pair for pair in value.arguments if pair[0] != name)
            yield with_value(case, at, replace(value, arguments=others))
            if text in case.sources():
                constant = case.sources()[text].samples[0]
                yield with_value(case, at, replace(value, arguments=replaced(value, name, constant)))
    for at, value in enumerate(case.values):
        if isinstance(value, Source) and value.layout:
            yield with_value(case, at, replace(value, layout=""))


def replaced(call: Call, name: str, text: str) -> tuple[tuple[str, str], ...]:
    return tuple((n, text if n == name else old) for n, old in call.arguments)


def with_value(case: Case, at: int, value: Source | Call) -> Case:
    return replace(case, values=(*case.values[:at], value, *case.values[at + 1 :])).pruned()


def renamed(case: Case, old: str, new: str) -> Case:
    """All users of one value use another."""
    values = []
    for value in case.values:
        if isinstance(value, Call) and value.name != old:
            inputs = tuple(new if text == old else text for text in value.inputs)
            arguments = tuple((name, new if text == old else text) for name, text in value.arguments)
            value = replace(value, inputs=inputs, arguments=arguments)
        values.append(value)
    return replace(case, values=tuple(values)).pruned()
