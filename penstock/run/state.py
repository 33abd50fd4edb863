"""What a checkpoint says, as a text of JSON and taken apart."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from penstock import _document
from penstock._document import Field
from penstock.read.order import Position
from penstock.read.stages import ReadBefore, Stage

_FORMAT = 1
_PARTS = frozenset(["penstock", "seed", "samples", "readers"])
_OTHER_PARTS = frozenset(["batch_size", "sources", "read", "broken", "random", "shards", "stages", "iterator"])
_ACTIONS = frozenset(["skip", "replace"])
_ITERATOR = frozenset(["kind", "epoch", "batch", "origin", "ended", "epoch_began", "sources_began"])
_STAGE = frozenset(["epoch", "readers"])
_APART = 100  # epochs: readers that share a data set go through it together
_MOST = 1 << 60  # no data set and no training is as large, and what is computed of such numbers has 64 bits


class Taker(NamedTuple):
    """One of the readers that share a data set.

    Attributes:
        shard: its ``shard_id``.
        seed: of the order within its part.
        place: where it is, in a state of all of them; in a state of one reader that is its position.
    """

    shard: int
    seed: int
    place: Position | None = None

    def read_of(self, epoch: int) -> ReadBefore:
        """What it has read of an epoch."""
        assert self.place is not None
        done = self.place.epoch > epoch
        return ReadBefore(self.seed, None if done else self.place.position if self.place.epoch == epoch else 0)


@dataclass(frozen=True)
class State:
    """The state of a pipeline. What older versions did not tell is left out.

    Attributes:
        seed: of the pipeline.
        samples: handed out so far, where no reader says which they are.
        readers: where each is.
        batch_size: of the pipeline.
        sources: epoch and iteration of each that is told what to give.
        read: what the position of each reader depends on (`Reader.identity`).
        broken: the samples of each reader that were found broken, by action.
        random: the operators that draw random numbers, in order; None: not known.
        takers: the readers of each name that share a data set: one, or in a merged state all.
        stages: of each reader, in order.
        iterator: what an iterator noted (`penstock.plugin.base`).
    """

    seed: int
    samples: int
    readers: Mapping[str, Position]
    batch_size: int | None = None
    sources: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    read: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    broken: Mapping[str, Mapping[str, Sequence[int]]] = field(default_factory=dict)
    random: Sequence[str] | None = None
    takers: Mapping[str, Sequence[Taker]] = field(default_factory=dict)
    stages: Mapping[str, Sequence[Stage]] = field(default_factory=dict)
    iterator: Mapping[str, Any] | None = None

    def is_merged(self, reader: str) -> bool:
        """Whether it tells where all readers of this name are that share a data set."""
        return any(taker.place for taker in self.takers.get(reader, ()))

    def text(self) -> str:
        """As JSON."""
        more = {
            "batch_size": self.batch_size,
            "sources": self.sources,
            "broken": self.broken,
            "read": self.read,
            "shards": {name: [_flat(taker) for taker in takers] for name, takers in self.takers.items()},
            "stages": {name: [_stage(stage) for stage in some] for name, some in self.stages.items()},
            "iterator": self.iterator,
        }
        state = {"penstock": _FORMAT, "seed": self.seed, "samples": self.samples, "readers": self.readers}
        random = {} if self.random is None else {"random": list(self.random)}
        return json.dumps({**state, **{key: value for key, value in more.items() if value}, **random})


def _flat(taker: Taker) -> list[int]:
    return [taker.shard, taker.seed, *(taker.place or ())]


def _stage(stage: Stage) -> dict[str, Any]:
    broken = {"broken": stage.broken} if stage.broken else {}
    return {"epoch": stage.epoch, "readers": [list(reader) for reader in stage.readers], **broken}


def parse(text: Any, what: str = "checkpoint") -> State:
    """The state that a text of JSON says, or the object that JSON makes of it. ArgumentError for anything else."""
    expected = "a state that Pipeline.checkpoint() gave"
    document = Field(text, what) if isinstance(text, Mapping) else _document.parse(text, what, expected)
    fields = document.fields_of(_PARTS, _OTHER_PARTS)
    if fields["penstock"].whole() != _FORMAT:
        raise fields["penstock"].wrong(f"{_FORMAT}, the version of such texts")

    def named(part: str) -> dict[str, Field]:
        return fields[part].fields() if part in fields else {}

    return State(
        seed=fields["seed"].whole(),
        samples=fields["samples"].whole(0, _MOST),
        readers={name: Position(*_place(field)) for name, field in named("readers").items()},
        batch_size=fields["batch_size"].whole(1, _MOST) if "batch_size" in fields else None,
        sources={name: _place(field) for name, field in named("sources").items()},
        read={
            name: {key: value.value for key, value in field.fields().items()} for name, field in named("read").items()
        },
        broken={name: _broken(found) for name, found in named("broken").items()},
        random=[name.text() for name in fields["random"].items()] if "random" in fields else None,
        takers={name: _takers(some) for name, some in named("shards").items()},
        stages={name: [_to_stage(stage) for stage in some.items()] for name, some in named("stages").items()},
        iterator=_iterator(fields["iterator"]) if "iterator" in fields else None,
    )


def _broken(found: Field) -> dict[str, list[int]]:
    actions = found.fields_of(frozenset(), _ACTIONS)
    return {a: [index.whole(0, _MOST) for index in indices.items()] for a, indices in actions.items()}


def _takers(some: Field) -> list[Taker]:
    """One, or in a merged state all with their places, in order."""
    takers = []
    for k, one in enumerate(some.items()):
        numbers = one.items(2 if isinstance(one.value, list) and len(one.value) == 2 else 4)
        place = Position(*(n.whole(0, _MOST) for n in numbers[2:])) if len(numbers) == 4 else None
        taker = Taker(numbers[0].whole(0, _MOST), numbers[1].whole(), place)
        if taker.shard != k if place else len(some.value) > 1:
            raise one.wrong(f"the reader of shard {k}, and its place")
        takers.append(taker)
    if not takers:
        raise some.wrong("a list of one reader or more")
    epochs = [taker.place.epoch for taker in takers if taker.place]
    if epochs and max(epochs) - min(epochs) > _APART:
        raise some.wrong(f"readers that are at most {_APART} epochs apart")
    return takers


def _to_stage(stage: Field) -> Stage:
    fields = stage.fields_of(_STAGE, frozenset(["broken"]))
    readers = []
    for reader in fields["readers"].items():
        seed, samples = reader.items(2)
        readers.append(ReadBefore(seed.whole(), None if samples.value is None else samples.whole(0, _MOST)))
    if not readers:
        raise fields["readers"].wrong("a list of one reader or more")
    return Stage(fields["epoch"].whole(0, _MOST), readers, _broken(fields["broken"]) if "broken" in fields else {})


def _iterator(noted: Field) -> dict[str, Any]:
    fields = noted.fields_of(_ITERATOR)
    numbers = {name: field.whole(0, _MOST) for name, field in fields.items() if name not in ("kind", "ended")}
    return {"kind": fields["kind"].text(), "ended": fields["ended"].flag(), **numbers}


def _place(field: Field) -> tuple[int, int]:
    """An epoch, and a number in it."""
    epoch, number = (number.whole(0, _MOST) for number in field.items(2))
    return epoch, number
