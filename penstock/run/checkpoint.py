"""The state of a pipeline as a short text: the seed, and where each reader and source is. All else follows from it."""

from __future__ import annotations

import json
from typing import Any

from penstock.errors import ArgumentError
from penstock.graph.blame import warn
from penstock.run.executor import Executor
from penstock.run.inputs import Inputs

_FORMAT = 1


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


def seed_of(text: str) -> int:
    """The seed that a saved state was made with."""
    return int(_parse(text)["seed"])


def restore(executor: Executor, inputs: Inputs, text: str) -> None:
    """Goes on where the state was saved; the readers must have the same names."""
    state = _parse(text)
    names = [node.name for node, _ in executor.program.readers]
    if set(names) != set(state["readers"]):
        raise ArgumentError(
            f"checkpoint: it was made with the readers {sorted(state['readers'])}, but the pipeline has {sorted(names)}"
        )
    inputs.go_to(state.get("sources", {}))
    for node, _ in executor.program.readers:
        node.op.cursor.order.broken.restore(state.get("broken", {}).get(node.name, {}))  # type: ignore[attr-defined]
    executor.set_position([tuple(state["readers"][name]) for name in names], int(state["samples"]))


def _parse(text: str) -> dict[str, Any]:
    try:
        state: dict[str, Any] = json.loads(text)
        if state["penstock"] != _FORMAT:
            raise ValueError
    except (ValueError, TypeError, KeyError) as e:
        raise ArgumentError(f"checkpoint={text[:60]!r}...: not a state that Pipeline.checkpoint() gave") from e
    return state
