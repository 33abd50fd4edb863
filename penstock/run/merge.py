"""One state out of those of all processes that train together."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from penstock.errors import ArgumentError
from penstock.read.order import Position
from penstock.read.stages import Stage
from penstock.run.state import State, Taker, parse

_Value = TypeVar("_Value")


def merge_states(states: Sequence[Any]) -> dict[str, Any]:
    """One state of all readers that share a data set, for pipelines that are to go on with another number of them.

    When training goes on with more or with fewer processes (``num_shards``), what the earlier ones have left of the
    epoch is divided anew, so that each sample of the epoch still comes once, and the epochs behind it are whole ones.
    All processes are given the merged state. With as many as before, whose seeds are the same, each goes on exactly
    where it was.

    Args:
        states: of all pipelines, in any order: what `Pipeline.state_dict`, `Pipeline.checkpoint`, or the methods
            ``state_dict`` and ``checkpoints`` of iterators gave.

    Returns: a state for `Pipeline.load_state_dict`, for that of iterators, or for ``Pipeline(checkpoint=...)``.

    Raises ArgumentError where a state is none, where they are of different pipelines, where one of the shards is
    missing or there twice, and for readers with a ``sampler``, which says itself who reads what.

    Example:
        >>> import penstock
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=1)
        ... def labels(rank, ranks):
        ...     return fn.readers.file(file_root=photos, shard_id=rank, num_shards=ranks)[1]
        >>> two = [labels(rank, 2) for rank in range(2)]
        >>> [int(pipe.run()[0].at(0)[0]) for pipe in two]
        [0, 4]
        >>> one = labels(0, 1, checkpoint=penstock.merge_states([pipe.state_dict() for pipe in two]))
        >>> [int(one.run()[0].at(0)[0]) for _ in range(3)]
        [0, 1, 1]
    """
    found = [parse(state, "merge_states") for state in _each(states)]
    if not found:
        raise ArgumentError("merge_states: there is no state to merge")
    first = found[0]
    for k, state in enumerate(found):
        if any(map(state.is_merged, state.takers)):
            raise ArgumentError(f"merge_states: state {k} is a merged one: give the states that pipelines have now")
        _same(k, "readers", sorted(first.readers), sorted(state.readers))
        _same(k, "random operators", first.random, state.random)
        _same(k, "sources and their places", first.sources, state.sources)
    return json.loads(_merged(found).text())  # type: ignore[no-any-return]


def _merged(found: Sequence[State]) -> State:
    names = list(found[0].readers)
    takers = {name: _takers(name, found) for name in names}
    begins = {name: min(taker.place.epoch for taker in takers[name] if taker.place) for name in names}
    sizes = {state.batch_size for state in found}
    return replace(
        found[0],
        samples=max(state.samples for state in found),
        readers={name: Position(begins[name], 0) for name in names},
        batch_size=sizes.pop() if len(sizes) == 1 else None,
        broken={name: broken for name in names if (broken := _broken(name, found))},
        takers=takers,
        stages={name: stages for name in names if (stages := _stages(name, found, begins[name]))},
        iterator=None,
    )


def _takers(name: str, found: Sequence[State]) -> list[Taker]:
    """The readers of this name, with their places, by shard."""
    by_shard: dict[int, Taker] = {}
    for k, state in enumerate(found):
        _same(k, f"data set and arguments of the reader {name!r}", found[0].read.get(name), state.read.get(name))
        if name not in state.takers:
            raise ArgumentError(
                f"merge_states: state {k}: of the reader {name!r} it is not known which shard it reads. A sampler says "
                "itself who reads what, so its readers cannot be merged"
            )
        taker = state.takers[name][0]
        if taker.shard in by_shard:
            raise ArgumentError(f"merge_states: shard {taker.shard} of the reader {name!r} is there twice")
        by_shard[taker.shard] = taker._replace(place=state.readers[name])
    shards = found[0].read.get(name, {}).get("num_shards", len(by_shard))
    missing = sorted(set(range(shards)) - set(by_shard)) if isinstance(shards, int) and shards < 1 << 20 else [shards]
    if missing or len(by_shard) != shards:
        raise ArgumentError(
            f"merge_states: the reader {name!r} has {shards} shards, and of {missing} there is no state: give those of "
            "all processes"
        )
    return [by_shard[shard] for shard in range(shards)]


def _broken(name: str, found: Sequence[State]) -> dict[str, list[int]]:
    """What any of them has found."""
    actions: dict[int, str] = {}
    for state in found:
        for action, indices in state.broken.get(name, {}).items():
            actions.update(dict.fromkeys(indices, action))
    merged: dict[str, list[int]] = {}
    for index, action in sorted(actions.items()):
        merged.setdefault(action, []).append(index)
    return merged


def _stages(name: str, found: Sequence[State], epoch: int) -> Sequence[Stage]:
    """Those that came before: all readers that are still in an epoch know them."""
    return next(s.stages.get(name, ()) for s in found if s.readers[name].epoch == epoch)


def _same(k: int, what: str, wanted: _Value, is_: _Value) -> None:
    if wanted != is_:
        raise ArgumentError(f"merge_states: the pipelines differ in {what}: {wanted} in state 0, {is_} in state {k}")


def _each(states: Any) -> Iterator[Any]:
    """Pipelines' states, those in iterators' states among them."""
    if isinstance(states, (str, bytes, Mapping)) or not hasattr(states, "__iter__"):
        raise ArgumentError("merge_states: expected a list of states")
    for state in states:
        if isinstance(state, Mapping) and "pipelines" in state:
            yield from _each(state["pipelines"])
        elif isinstance(state, (list, tuple)):
            yield from _each(state)
        else:
            yield state
