"""The state of a pipeline as a short text: the seed, and where each reader and source is. All else follows from it."""

from __future__ import annotations

import json
from typing import Any

from penstock.errors import ArgumentError
from penstock.graph.blame import warn
from penstock.run.executor import Executor
from penstock.run.inputs import Inputs

_FORMAT = 1


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


def seed_of(text: str) -> int:
    """The seed that a saved state was made with."""
    return int(_parse(text)["seed"])


def restore(executor: Executor, inputs: Inputs, text: str, batch_size: int) -> None:
    """Goes on where the state was saved; the readers must have the same names, and read the same."""
    state = _parse(text)
    readers = _readers(executor)
    if set(readers) != set(state["readers"]):
        raise ArgumentError(
            f"checkpoint: it was made with the readers {sorted(state['readers'])}, but the pipeline has "
            f"{sorted(readers)}"
        )
    for name, op in readers.items():
        _check_reader(name, op, state.get("read", {}).get(name, {}), at_start=not state["readers"][name][1])
    before = state.get("batch_size", batch_size)  # states of older versions do not tell
    sources = {
        name: inputs.in_batches(name, tuple(place), before, batch_size)
        for name, place in state.get("sources", {}).items()
    }
    inputs.go_to(sources)
    for name, op in readers.items():
        op.cursor.order.broken.restore(state.get("broken", {}).get(name, {}))
    executor.go_to([tuple(state["readers"][name]) for name in readers], int(state["samples"]), sources)


def _readers(executor: Executor) -> dict[str, Any]:
    return {node.name: node.op for node, _ in executor.program.readers}


def _check_reader(name: str, op: Any, before: dict[str, Any], at_start: bool) -> None:
    """Raises ArgumentError where a position of the reader it was would mean other samples of the reader it is."""
    now = op.identity()
    for key, value in before.items():
        # All shards begin an epoch together, so another number of them may, and so may another order.
        if key in now and now[key] != value and not (at_start and key in op.POLICY):
            where = "" if key not in op.POLICY else ", in the middle of an epoch"
            raise ArgumentError(
                f"checkpoint: the reader {name!r} had {key}={value!r} when it was made{where}, and has "
                f"{now[key]!r} now: it cannot go on with the next sample"
            )


def _parse(text: str) -> dict[str, Any]:
    try:
        state: dict[str, Any] = json.loads(text)
        if state["penstock"] != _FORMAT:
            raise ValueError
    except (ValueError, TypeError, KeyError) as e:
        raise ArgumentError(f"checkpoint={text[:60]!r}...: not a state that Pipeline.checkpoint() gave") from e
    return state
