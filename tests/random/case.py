"""A case: a small pipeline as text, which either library can run and a person can read."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_VARIABLE = re.compile(r"\bv\d+\b")


def variables(*texts: str) -> set[str]:
    """The names of values in these expressions."""
    return {name for text in texts for name in _VARIABLE.findall(text)}


@dataclass(frozen=True)
class Source:
    """An external source: one expression per sample, of tests/random/data.py and NumPy."""

    name: str
    samples: tuple[str, ...]
    layout: str = ""

    def text(self) -> str:
        layout = f", layout={self.layout!r}" if self.layout else ""
        return f"{self.name} = fn.external_source(lambda: [{', '.join(self.samples)}]{layout})"

    def used(self) -> set[str]:
        return set()


@dataclass(frozen=True)
class Call:
    """A call of an operator: expressions for its inputs and arguments, in which ``v0`` is the value of that name."""

    name: str
    function: str
    inputs: tuple[str, ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()

    @property
    def operator(self) -> str:
        return self.function.removeprefix("fn.")

    def given(self) -> dict[str, str]:
        return dict(self.arguments)

    def text(self) -> str:
        words = [*self.inputs, *(f"{name}={value}" for name, value in self.arguments)]
        return f"{self.name} = {self.function}({', '.join(words)})"

    def used(self) -> set[str]:
        return variables(self.function, *self.inputs, *self.given().values())


@dataclass(frozen=True)
class Branch:
    """Two expressions, of which a condition of Python's takes one for each sample: as a statement, or in one line."""

    name: str
    condition: str
    taken: str
    otherwise: str
    statement: bool = False

    def text(self) -> str:
        if self.statement:
            return f"if {self.condition}:\n    {self.name} = {self.taken}\nelse:\n    {self.name} = {self.otherwise}"
        return f"{self.name} = {self.taken} if {self.condition} else {self.otherwise}"

    def used(self) -> set[str]:
        return variables(self.condition, self.taken, self.otherwise)


@dataclass(frozen=True)
class Case:
    """Sources and calls in order; the outputs of the last one are the pipeline's."""

    values: tuple[Source | Call, ...]
    batch: int

    @property
    def calls(self) -> list[Call]:
        return [value for value in self.values if isinstance(value, Call)]

    @property
    def last(self) -> Call:
        return self.calls[-1]

    def sources(self) -> dict[str, Source]:
        return {value.name: value for value in self.values if isinstance(value, Source)}

    def operators(self) -> list[str]:
        return [call.operator for call in self.calls]

    def text(self) -> str:
        last = self.values[-1].name
        lines = [
            f"pipe = Pipeline(batch_size={self.batch}, num_threads=2, device_id=None, seed=7)",
            "with pipe:",
            *(f"    {value.text()}" for value in self.values),
            f"    pipe.set_outputs(*several({last}))",
            "outputs = pipe.run()",
        ]
        return "\n".join(lines)

    def pruned(self) -> Case:
        """Without what the last value does not need."""
        needed, kept = {self.values[-1].name}, []
        for value in reversed(self.values):
            if value.name in needed:
                needed |= value.used()
                kept.append(value)
        return replace(self, values=tuple(reversed(kept)))


def snippet(case: Case) -> str:
    """To be run in a checkout with ``python``; another import tries the other library."""
    return (
        "import operator\n\nimport numpy as np\n"
        "from penstock import Pipeline, fn, math, newaxis, tfrecord, types  # or: nvidia.dali\n"
        f"from tests.random.data import *\n\n{case.text()}\nprint(*outputs, sep='\\n')"
    )
