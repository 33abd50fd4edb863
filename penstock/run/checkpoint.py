"""The state of a pipeline as a short text: the seed, and where each reader is. All else follows from these."""

from __future__ import annotations

import json
from typing import Any

from penstock.errors import ArgumentError
from penstock.run.executor import Executor

_FORMAT = 1


def save(executor: Executor, seed: int) -> str:
    """The state before the first batch that nobody has taken yet, as JSON."""
    positions, counted = executor.position()
    readers = {node.name: list(p) for (node, _), p in zip(executor.program.readers, positions, strict=True)}
    return json.dumps({"penstock": _FORMAT, "seed": seed, "samples": counted, "readers": readers})


def seed_of(text: str) -> int:
    """The seed that a saved state was made with."""
    return int(_parse(text)["seed"])


def restore(executor: Executor, text: str) -> None:
    """Goes on where the state was saved; the readers must have the same names."""
    state = _parse(text)
    names = [node.name for node, _ in executor.program.readers]
    if set(names) != set(state["readers"]):
        raise ArgumentError(
            f"checkpoint: it was made with the readers {sorted(state['readers'])}, but the pipeline has {sorted(names)}"
        )
    executor.set_position([tuple(state["readers"][name]) for name in names], int(state["samples"]))


def _parse(text: str) -> dict[str, Any]:
    try:
        state: dict[str, Any] = json.loads(text)
        if state["penstock"] != _FORMAT:
            raise ValueError
    except (ValueError, TypeError, KeyError) as e:
        raise ArgumentError(f"checkpoint={text[:60]!r}...: not a state that Pipeline.checkpoint() gave") from e
    return state
