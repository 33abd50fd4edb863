"""States of iterators: those of their pipelines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock._document import Field
from penstock.errors import ArgumentError

_FORMAT = 1
_PARTS = frozenset(["penstock_iterator", "pipelines"])


def pipeline_states(state: Any, pipelines: int) -> list[Any]:
    """The state for each pipeline, out of an iterator's state, or of a pipeline's, which is for all."""
    if not isinstance(state, Mapping):
        raise ArgumentError(f"load_state_dict: expected what state_dict() gave, not {type(state).__name__}")
    if "penstock_iterator" not in state:
        return [state] * pipelines
    fields = Field(dict(state), "load_state_dict").fields_of(_PARTS)
    if fields["penstock_iterator"].whole() != _FORMAT:
        raise fields["penstock_iterator"].wrong(f"{_FORMAT}, the version of such states")
    states = [field.value for field in fields["pipelines"].items()]
    if len(states) != pipelines:
        raise ArgumentError(
            f"load_state_dict: the state is that of an iterator over {len(states)} pipelines, this one has {pipelines}"
        )
    return states


def load_all(pipes: Sequence[Any], states: Sequence[Any]) -> None:
    """Gives each pipeline its state: all, or none where one of them is refused."""
    for pipe, state in zip(pipes, states, strict=True):
        pipe.check_state(state)
    for pipe, state in zip(pipes, states, strict=True):
        pipe.load_state_dict(state)
