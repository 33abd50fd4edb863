"""The state of a pipeline as a short text: the seed, and where each reader and source is. All else follows from it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from penstock._document import Field, parse
from penstock.errors import ArgumentError
from penstock.graph.blame import warn
from penstock.run.executor import Executor
from penstock.run.inputs import Inputs

_FORMAT = 1
_PARTS = frozenset(["penstock", "seed", "samples", "readers"])
_OTHER_PARTS = frozenset(["sources", "broken"])
_ACTIONS = frozenset(["skip", "replace"])
_MOST = 1 << 60  # no data set and no training is as large, and what is computed of such numbers has 64 bits


def save(executor: Executor, inputs: Inputs, seed: int) -> str:
    """The state before the first batch that nobody has taken yet, as JSON."""
    for name in inputs.forgetful():
        warn(
            f"checkpoint: the source of {name!r} cannot be told where to go on: only callables that take an argument "
            "can. The user must see to it that it goes on with the right batch",
            UserWarning,
        )
    positions, counted = executor.position()
    readers = {node.name: list(p) for (node, _), p in zip(executor.program.readers, positions, strict=True)}
    sources = inputs.places()
    orders = {node.name: node.op.cursor.order for node, _ in executor.program.readers}  # type: ignore[attr-defined]
    broken = {name: found for name, order in orders.items() if (found := order.broken.state())}
    state = {"penstock": _FORMAT, "seed": seed, "samples": counted, "readers": readers}
    more = {"sources": sources, "broken": broken}
    return json.dumps({**state, **{key: value for key, value in more.items() if value}})


@dataclass(frozen=True)
class _State:
    """What such a text says, once it is checked."""

    seed: int
    samples: int
    readers: dict[str, tuple[int, int]]
    sources: dict[str, list[int]]
    broken: dict[str, dict[str, list[int]]]


def seed_of(text: str) -> int:
    """The seed that a saved state was made with."""
    return _parse(text).seed


def restore(executor: Executor, inputs: Inputs, text: str) -> None:
    """Goes on where the state was saved; the readers must have the same names."""
    state = _parse(text)
    names = [node.name for node, _ in executor.program.readers]
    if set(names) != set(state.readers):
        raise ArgumentError(
            f"checkpoint: it was made with the readers {sorted(state.readers)}, but the pipeline has {sorted(names)}"
        )
    inputs.go_to(state.sources)
    for node, _ in executor.program.readers:
        node.op.cursor.order.broken.restore(state.broken.get(node.name, {}))  # type: ignore[attr-defined]
    executor.set_position([state.readers[name] for name in names], state.samples)


def _parse(text: str) -> _State:
    document = parse(text, "checkpoint", "a state that Pipeline.checkpoint() gave")
    fields = document.fields_of(_PARTS, _OTHER_PARTS)
    if fields["penstock"].whole() != _FORMAT:
        raise fields["penstock"].wrong(f"{_FORMAT}, the version of such texts")

    def named(part: str) -> dict[str, Field]:
        return fields[part].fields() if part in fields else {}

    return _State(
        fields["seed"].whole(),
        fields["samples"].whole(0, _MOST),
        {name: (place[0], place[1]) for name, field in named("readers").items() if (place := _place(field))},
        {name: _place(field) for name, field in named("sources").items()},
        {
            name: {
                action: [index.whole(0, _MOST) for index in indices.items()]
                for action, indices in found.fields_of(frozenset(), _ACTIONS).items()
            }
            for name, found in named("broken").items()
        },
    )


def _place(field: Field) -> list[int]:
    """An epoch, and a number in it."""
    return [number.whole(0, _MOST) for number in field.items(2)]
