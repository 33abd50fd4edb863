"""The state of a pipeline as a short text: the seed, and where each reader and source is. All else follows from it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from penstock._document import Field, parse, short
from penstock.errors import ArgumentError
from penstock.feed.inputs import Inputs
from penstock.graph.blame import warn
from penstock.read.base import Reader
from penstock.run.executor import Executor
from penstock.run.readers import reader_of

_FORMAT = 1
_PARTS = frozenset(["penstock", "seed", "samples", "readers"])
_OTHER_PARTS = frozenset(["batch_size", "sources", "read", "broken"])
_ACTIONS = frozenset(["skip", "replace"])
_MOST = 1 << 60  # no data set and no training is as large, and what is computed of such numbers has 64 bits


def save(executor: Executor, inputs: Inputs, seed: int, batch_size: int) -> str:
    """The state before the first batch that nobody has taken yet, as JSON. All of it is read at one moment."""
    for name in inputs.forgetful():
        warn(
            f"checkpoint: the source of {name!r} cannot be told where to go on: only callables that take an argument "
            "can. The user must see to it that it goes on with the right batch",
            UserWarning,
        )
    place = executor.place
    named = _readers(executor)
    readers = {name: list(state) for name, state in zip(named, place.states, strict=True)}
    sources = {name: list(place.sources[name]) for name in inputs.indexed()}
    broken = {name: found for name, op in named.items() if (found := op.cursor.order.broken.state())}
    state = {"penstock": _FORMAT, "seed": seed, "samples": place.counted, "readers": readers, "batch_size": batch_size}
    more = {"sources": sources, "broken": broken, "read": {name: op.identity() for name, op in named.items()}}
    return json.dumps({**state, **{key: value for key, value in more.items() if value}})


@dataclass(frozen=True)
class _State:
    """What such a text says, once it is checked."""

    seed: int
    samples: int
    readers: dict[str, tuple[int, int]]
    batch_size: int | None  # states of older versions do not tell
    sources: dict[str, tuple[int, int]]
    read: dict[str, dict[str, Any]]
    broken: dict[str, dict[str, list[int]]]


def seed_of(text: str) -> int:
    """The seed that a saved state was made with."""
    return _parse(text).seed


def restore(executor: Executor, inputs: Inputs, text: str, batch_size: int) -> None:
    """Goes on where the state was saved; the readers must have the same names, and read the same."""
    state = _parse(text)
    readers = _readers(executor)
    if set(readers) != set(state.readers):
        raise ArgumentError(
            f"checkpoint: it was made with the readers {sorted(state.readers)}, but the pipeline has {sorted(readers)}"
        )
    for name, op in readers.items():
        _check_reader(name, op, state.read.get(name, {}), at_start=not state.readers[name][1])
    before = state.batch_size or batch_size
    sources = {name: inputs.in_batches(name, place, before, batch_size) for name, place in state.sources.items()}
    inputs.go_to(sources)
    for name, op in readers.items():
        op.cursor.order.broken.restore(state.broken.get(name, {}))
    executor.go_to([state.readers[name] for name in readers], state.samples, sources)


def _readers(executor: Executor) -> dict[str, Reader]:
    return {node.name: reader_of(node) for node, _ in executor.program.readers}


def _check_reader(name: str, op: Reader, before: dict[str, Any], at_start: bool) -> None:
    """Raises ArgumentError where a position of the reader it was would mean other samples of the reader it is."""
    now = op.identity()
    for key, value in before.items():
        # All shards begin an epoch together, so another number of them may, and so may another order.
        if key in now and now[key] != value and not (at_start and key in op.POLICY):
            where = "" if key not in op.POLICY else ", in the middle of an epoch"
            raise ArgumentError(
                f"checkpoint: the reader {name!r} had {key}={short(value)} when it was made{where}, and has "
                f"{now[key]!r} now: it cannot go on with the next sample"
            )


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
        {name: _place(field) for name, field in named("readers").items()},
        fields["batch_size"].whole(1, _MOST) if "batch_size" in fields else None,
        {name: _place(field) for name, field in named("sources").items()},
        {name: {key: value.value for key, value in field.fields().items()} for name, field in named("read").items()},
        {
            name: {
                action: [index.whole(0, _MOST) for index in indices.items()]
                for action, indices in found.fields_of(frozenset(), _ACTIONS).items()
            }
            for name, found in named("broken").items()
        },
    )


def _place(field: Field) -> tuple[int, int]:
    """An epoch, and a number in it."""
    epoch, number = (number.whole(0, _MOST) for number in field.items(2))
    return epoch, number
