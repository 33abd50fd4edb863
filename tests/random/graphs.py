"""Random graphs: operators of the registry that read each other's outputs, readers, branches, random numbers."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, replace

from tests.random.case import Branch, Call, Source
from tests.random.draw import Draw
from tests.random.graph_steps import GPU_STEPS, STEPS, root

ITERATIONS = 4  # of each graph


@dataclass(frozen=True)
class Graph:
    """Sources and calls in order, and which of them are the outputs. Sources are fed: they have their names.

    Attributes:
        middle: how many iterations are behind the checkpoint that it is resumed from.
        gpu: whether it has operators there.
    """

    values: tuple[Source | Call | Branch, ...]
    batch: int
    outputs: tuple[str, ...]
    middle: int = 2
    gpu: bool = False

    def lines(self) -> list[str]:
        """Each defines one value."""
        layout = {v.name: f", layout={v.layout!r}" for v in self.values if isinstance(v, Source) and v.layout}
        return [
            f"{v.name} = fn.external_source(name={v.name!r}{layout.get(v.name, '')})" if isinstance(v, Source)
            else v.text() for v in self.values
        ]  # fmt: skip

    def text(self) -> str:
        """The definition, in a function that gives the outputs."""
        body = "\n".join([*self.lines(), f"return flat([{', '.join(self.outputs)}])"])
        return f"def define():\n{textwrap.indent(body, '    ')}\n"

    def sources(self) -> list[Source]:
        """Those that are fed."""
        return [value for value in self.values if isinstance(value, Source)]

    def functions(self) -> set[str]:
        """What it is made of: functions, ways to another device, `if`."""
        calls = {v.function for v in self.values if isinstance(v, Call)}
        others = {"if" if isinstance(v, Branch) else "external_source" for v in self.values if not isinstance(v, Call)}
        return {re.sub(r"^v\d+", "", name) for name in calls} | others

    def decides(self) -> bool:
        """Whether it has branches."""
        return any(isinstance(v, Branch) or "_conditional" in v.text() for v in self.values)

    def giving(self, *outputs: str) -> Graph:
        """What these outputs need."""
        needed, kept = set(outputs), []
        for value in reversed(self.values):
            if value.name in needed:
                needed |= value.used()
                kept.append(value)
        return replace(self, values=tuple(reversed(kept)), outputs=outputs)

    def __str__(self) -> str:
        fed = [f"# {source.name} is fed: {', '.join(source.samples)}" for source in self.sources()]
        return "\n".join([f"# batch_size={self.batch}, checkpoint after {self.middle}", *fed, self.text()])


def draw(seed: int, number: int, gpu: bool = False) -> Graph:
    """Each seed and number is one graph."""
    d = Draw([seed, number, 8 if gpu else 7])
    d.batch = d.choose([2, 2, 3, 4])
    pool = [root(d, gpu and k == 0) for k in range(d.whole(1, 2 if gpu else 3))]
    for _ in range(d.whole(2, 5 if gpu else 8)):
        step = d.choose(GPU_STEPS if gpu else STEPS)
        before, batch = len(d.values), d.batch
        try:
            step(d, pool)
        except (LookupError, ValueError):  # arguments cannot be drawn for such an input
            del d.values[before:]
            d.first, d.batch = None, batch
    names = [value.name for value in d.values if not isinstance(value, Source)]
    used = {name for value in d.values for name in value.used()}
    leaves = [name for name in names if name not in used] or names[-1:]
    parts = {value.name for value in d.values if "_conditional.split" in value.text()}  # are no outputs
    some = [name for name in names if name in used - parts and d.chance(0.1)]
    return Graph(tuple(d.values), d.batch, tuple((leaves + some)[-6:]), d.whole(1, ITERATIONS - 1), gpu)
