"""The ways to run a pipeline, of which each pipeline keeps to one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.errors import GraphError
from penstock.types import PipelineAPIType


class Ways:
    """Notes the way in which a pipeline is run first, and refuses others.

    Batches go from one queue to whoever asks: with two ways at once, each would miss some.

    Attributes:
        checked: whether others are refused.
    """

    def __init__(self) -> None:
        self.checked = True
        self._first: PipelineAPIType | None = None
        self._inside = 0  # blocks of `using`: what they call belongs to their way

    def using(self, way: PipelineAPIType) -> Ways:
        """For a ``with`` block in which the pipeline is run in this way. GraphError where it was run in another."""
        if self.checked and not self._inside:
            self._first = self._first or way
            if way is not self._first:
                raise GraphError(
                    f"Mixing pipeline API type: {self._first} is in use, so {way} cannot be. Each pipeline is run by "
                    "run(), by schedule_run() with share_outputs() or outputs(), or by an iterator; "
                    "enable_api_check(False) permits more than one"
                )
        return self

    def __enter__(self) -> None:
        self._inside += 1

    def __exit__(self, *_: object) -> None:
        self._inside -= 1


class Iterating:
    """For ``with`` blocks in which an iterator runs its pipelines."""

    def __init__(self, pipelines: Iterable[Any]):
        self._pipelines = list(pipelines)

    def __enter__(self) -> None:
        ways = [pipe.using(PipelineAPIType.ITERATOR) for pipe in self._pipelines]  # before any is entered
        for way in ways:
            way.__enter__()
        self._entered = ways

    def __exit__(self, *error: Any) -> None:
        for way in self._entered:
            way.__exit__(*error)
