"""The state of a pipeline as a short text: the seed, and where each reader and source is. All else follows from it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from penstock._document import short
from penstock.errors import ArgumentError
from penstock.feed.inputs import Inputs
from penstock.graph.blame import warn
from penstock.read.base import Reader
from penstock.read.order import Cursor, EpochOrder, Position
from penstock.read.stages import Stage
from penstock.run.executor import Executor
from penstock.run.readers import reader_of
from penstock.run.state import State, Taker, parse


class Read(Protocol):
    """A reader as states know it: `penstock.read.base.Reader`, or one that is elsewhere."""

    cursor: Cursor

    def identity(self) -> dict[str, Any]: ...


def save(executor: Executor, inputs: Inputs, seed: int, batch_size: int, iterator: Mapping[str, Any] | None) -> str:
    """The state before the first batch that nobody has taken yet, as JSON. All of it is read at one moment."""
    warn_of_forgetful(inputs)
    place = executor.place
    state = State(
        seed=seed,
        samples=place.counted,
        readers={},
        batch_size=batch_size,
        sources={name: place.sources[name] for name in inputs.indexed()},
        random=executor.program.draws,
        iterator=iterator,
    )
    return with_readers(state, _readers(executor), place.states).text()


def with_readers(state: State, readers: Mapping[str, Read], places: Sequence[tuple[int, int]]) -> State:
    """A state, and what there is to know of readers that are at these places."""
    where = dict(zip(readers, (Position(*place) for place in places), strict=True))
    orders = {name: op.cursor.order for name, op in readers.items()}
    return replace(
        state,
        readers=where,
        read={name: op.identity() for name, op in readers.items()},
        broken={name: found for name, order in orders.items() if (found := order.broken.state())},
        takers={n: [Taker(o.shard_id, o.seed)] for n, o in orders.items() if isinstance(o, EpochOrder)},
        stages={name: left for name, order in orders.items() if (left := _from(order.stages, where[name].epoch))},
    )


def warn_of_forgetful(inputs: Inputs) -> None:
    """Warns of each source that will not go on by itself where it was."""
    for name in inputs.forgetful():
        warn(
            f"checkpoint: the source of {name!r} cannot be told where to go on: only callables that take an argument "
            "can. The user must see to it that it goes on with the right batch",
            UserWarning,
        )


def seed_of(text: Any) -> int:
    """The seed that a saved state was made with."""
    return parse(text).seed


def iterator_of(text: Any) -> Mapping[str, Any] | None:
    """What the iterator that made a saved state has noted in it."""
    return parse(text).iterator


def restore(executor: Executor, inputs: Inputs, text: Any, batch_size: int) -> None:
    """Goes on where the state was saved, in a pipeline that has the same readers, sources and random numbers."""
    state = parse(text)
    sources = check(executor, inputs, state, batch_size)
    inputs.go_to(sources)
    executor.go_to(restore_readers(_readers(executor), state), state.samples, sources)


def restore_readers(readers: Mapping[str, Read], state: State) -> list[Position]:
    """Tells readers what a state, which was checked, says of their epochs; gives the places where they go on."""
    places = []
    for name, op in readers.items():
        place, stages = _for_reader(op, name, state)
        op.cursor.order.broken.restore({a: list(indices) for a, indices in state.broken.get(name, {}).items()})
        op.cursor.order.stages = {e: tuple(some) for e, some in itertools.groupby(stages, lambda stage: stage.epoch)}
        places.append(place)
    return places


def check(executor: Executor, inputs: Inputs, state: State, batch_size: int) -> dict[str, tuple[int, int]]:
    """Raises ArgumentError where this pipeline is another one than that of the state, and says in what. Nothing is
    changed. Gives the places of the sources.
    """
    check_readers(_readers(executor), executor.program.draws, sorted(inputs.indexed()), state)
    before = state.batch_size or batch_size
    return {name: inputs.in_batches(name, place, before, batch_size) for name, place in state.sources.items()}


def check_readers(readers: Mapping[str, Read], draws: Sequence[str], sources: Sequence[str], state: State) -> None:
    """Raises ArgumentError where readers, operators that draw random numbers or sources are not the state's."""
    _same("readers", sorted(state.readers), sorted(readers))
    if state.random is not None:
        _same("operators that draw random numbers", state.random, draws)
        _same("sources that are told what to give", sorted(state.sources), sources)
    for name, op in readers.items():
        merged = state.is_merged(name)
        at_start = not state.readers[name].position and not merged
        _check_reader(name, op, state.read.get(name, {}), at_start, merged)


def _same(what: str, before: Sequence[str], now: Sequence[str]) -> None:
    if list(before) == list(now):
        return
    pairs = itertools.zip_longest(before, now)
    k, (was, is_) = next((k, pair) for k, pair in enumerate(pairs) if pair[0] != pair[1])
    raise ArgumentError(
        f"checkpoint: it was made by another pipeline, with {len(before)} {what}, and this one has {len(now)}: number "
        f"{k} was {_or_none(was)}, and is {_or_none(is_)} here"
    )


def _or_none(name: str | None) -> str:
    return "none" if name is None else short(name)


def _for_reader(op: Read, name: str, state: State) -> tuple[Position, list[Stage]]:
    """Where this one of the readers goes on, and what others have read before."""
    place, takers, order = state.readers[name], state.takers.get(name, ()), op.cursor.order
    stages = list(state.stages.get(name, ()))
    if not state.is_merged(name) or not isinstance(order, EpochOrder):
        return place, stages
    places = [taker.place for taker in takers if taker.place]
    if len(takers) == order.num_shards and len({taker.seed for taker in takers}) == 1:
        return places[order.shard_id], stages
    epochs = range(min(p.epoch for p in places), max(p.epoch for p in places) + 1)
    more = [Stage(e, [t.read_of(e) for t in takers], state.broken.get(name, {})) for e in epochs]
    by_epoch = sorted([*stages, *more], key=lambda stage: stage.epoch)  # which keeps the order within an epoch
    return Position(epochs[0], 0), by_epoch


def _from(stages: Mapping[int, Sequence[Stage]], epoch: int) -> list[Stage]:
    return [stage for number, some in sorted(stages.items()) if number >= epoch for stage in some]


def _readers(executor: Executor) -> dict[str, Reader]:
    return {node.name: reader_of(node) for node, _ in executor.program.readers}


def _check_reader(name: str, op: Read, before: Mapping[str, Any], at_start: bool, merged: bool) -> None:
    """Raises ArgumentError where a position of the reader it was would mean other samples of the reader it is."""
    now = op.identity()
    for key, value in before.items():
        # All shards begin an epoch together, so another number of them may, and so may another order.
        policy = key in Reader.POLICY
        if key not in now or now[key] == value or (at_start and policy) or (merged and key == "num_shards"):
            continue
        where, hint = "", ""
        if policy:
            where = ", in the middle of an epoch"
            hint = ". penstock.merge_states makes one state of all readers' states" if key == "num_shards" else ""
        raise ArgumentError(
            f"checkpoint: the reader {name!r} had {key}={short(value)} when it was made{where}, and has "
            f"{now[key]!r} now: it cannot go on with the next sample{hint}"
        )
