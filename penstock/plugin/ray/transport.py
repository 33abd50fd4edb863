"""Units of work to Ray's actors, and batches back through its object store."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from penstock.errors import WorkerError
from penstock.plugin.remote.units import LostError, Made, Unit


class RayTransport:
    """To the actors that a supervisor knows of.

    Args:
        supervisor: the handle of a `penstock.plugin.ray.supervisor.Supervisor`.
        first: which of the actors gets the first unit, so that trainers do not all ask the same one.
    """

    def __init__(self, supervisor: Any, first: int = 0) -> None:
        self._supervisor, self._first = supervisor, first
        self._actors: dict[str, Any] = {}
        self._lost: set[str] = set()  # the supervisor may not know it yet
        self._news = supervisor.members.remote(-1)

    def workers(self) -> Sequence[str]:
        """Those that are there now."""
        self._listen()
        names = list(self._actors)
        start = self._first % len(names) if names else 0
        return names[start:] + names[:start]

    def start(self, worker: str, unit: Unit) -> Any:
        """Has an actor make a unit."""
        return self._actors[worker].make.remote(unit)

    def wait(self, batches: Collection[Any], timeout: float) -> Sequence[Any]:
        """Those of the batches that are in this machine's object store."""
        waiting = [*batches, *([self._news] if self._news is not None else [])]
        if not waiting:
            time.sleep(timeout)
            return []
        ready, rest = ray.wait(waiting, num_returns=1, timeout=timeout)
        if rest:
            ready += ray.wait(rest, num_returns=len(rest), timeout=0)[0]
        return [one for one in ready if one != self._news]

    def get(self, batch: Any) -> Made:
        """A batch, whose arrays show the object store's memory."""
        try:
            return ray.get(batch)  # type: ignore[no-any-return]
        except RayTaskError:
            raise
        except RayError as error:  # the actor has died, or its machine with the batch on it
            raise LostError(str(error)) from error

    def lost(self, worker: str) -> None:
        """Tells the supervisor, which starts another."""
        if self._actors.pop(worker, None) is not None:
            self._lost.add(worker)
            self._supervisor.lost.remote(worker)

    def _listen(self) -> None:
        """Looks whether actors have come or gone."""
        if self._news is None or not ray.wait([self._news], timeout=0)[0]:
            return
        try:
            version, actors = ray.get(self._news)
        except RayTaskError as error:
            raise error.cause from None
        except RayError as error:
            self._news = None  # who is there may go on
            if not self._actors:
                raise WorkerError("the pool was closed, or the process that had made it has ended") from error
            return
        self._actors = {name: actor for name, actor in actors.items() if name not in self._lost}
        self._news = self._supervisor.members.remote(version)
