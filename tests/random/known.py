"""A difference from DALI that is meant, and what its examples are made of."""

from __future__ import annotations

from dataclasses import dataclass

from tests.random.case import Call, Case, Source
from tests.random.matchers import Matches


@dataclass(frozen=True)
class Known:
    """``matches`` says of a case and its difference whether it is this one; no example where DALI's result varies."""

    reason: str
    example: Case | None
    matches: Matches


def example(function: str, *sources: str, layout: str = "", **arguments: str) -> Case:
    """A call with these samples as inputs."""
    made = tuple(Source(f"v{i}", (text,), layout) for i, text in enumerate(sources))
    inputs = tuple(source.name for source in made)
    return Case((*made, Call(f"v{len(made)}", function, inputs, tuple(arguments.items()))), 1)


def expression(function: str, source: str, *others: str) -> Case:
    """One of Python's operators, or a slice."""
    return Case((Source("v0", (source,)), Call("v1", function, tuple(o.replace("_", "v0") for o in others))), 1)


SMALL, FOUR = "noise('uint8', (2, 4, 3), 461)", "noise('uint8', (6, 8, 4), 1)"
