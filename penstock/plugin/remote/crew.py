"""Has others make a trainer's batches, whoever of them comes and goes."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Any, Protocol

from penstock.errors import WorkerError
from penstock.plugin.remote.leases import Leases
from penstock.plugin.remote.units import LostError, Made, Unit

_LOOK = 1.0  # seconds between looks at who is late, while nothing comes


class Transport(Protocol):
    """How units get to workers, and batches back."""

    def workers(self) -> Sequence[str]:
        """Those that are there now."""

    def start(self, worker: str, unit: Unit) -> Any:
        """Has one make a unit; gives what stands for the batch."""

    def wait(self, batches: Collection[Any], timeout: float) -> Sequence[Any]:
        """Those of the batches that are there; waits until there is one, or until workers have come."""

    def get(self, batch: Any) -> Made:
        """A batch that is there. LostError: its maker is gone."""

    def lost(self, worker: str) -> None:
        """Tells whoever looks after workers."""


class Crew:
    """Workers that make batches for one trainer.

    Args:
        transport: to them.
        patience: seconds after which a unit is given to a second worker, too.
        timeout: seconds after which it is an error that nobody is there.
    """

    def __init__(self, transport: Transport, patience: float, timeout: float) -> None:
        self._transport, self._timeout = transport, timeout
        self._leases = Leases(patience)
        self._units: dict[int, Unit] = {}
        self._under_way: dict[Any, tuple[str, int]] = {}  # by what stands for the batch
        self._made: dict[int, Made] = {}
        self._count = 0
        self._statistics = {"batches": 0, "bytes": 0}

    def want(self, unit: Unit) -> int:
        """Has a unit made, before those that are wanted later; gives its number."""
        number, self._count = self._count, self._count + 1
        self._units[number] = unit
        self._leases.add(number)
        self._step(0)
        return number

    def take(self, number: int) -> Made:
        """Waits for a unit."""
        alone = None
        while number not in self._made:
            self._step(_LOOK)
            alone = None if self._transport.workers() else alone or time.monotonic()
            if alone and time.monotonic() - alone > self._timeout:
                raise WorkerError(f"for {self._timeout:.0f} s there was no actor to make batches")
        del self._units[number]
        made = self._made.pop(number)
        self._statistics["batches"] += 1
        self._statistics["bytes"] += made.nbytes
        return made

    def drop(self, numbers: Collection[int]) -> None:
        """Nobody wants these units any more."""
        self._leases.drop(numbers)
        for number in numbers:
            self._units.pop(number, None)
            self._made.pop(number, None)

    def statistics(self) -> dict[str, int]:
        """Batches and bytes that came, and how many units were handed out more than once."""
        return {**self._statistics, "again": self._leases.again}

    def _step(self, timeout: float) -> None:
        """Hands out what is wanted, and takes what is there."""
        workers = self._transport.workers()
        each = max(2, -(-len(self._units) // max(len(workers), 1)))  # two, so that nobody waits for the next one
        for worker, number in self._leases.hand_out(workers, each, time.monotonic()):
            self._under_way[self._transport.start(worker, self._units[number])] = worker, number
        for batch in self._transport.wait(list(self._under_way), timeout):
            worker, number = self._under_way.pop(batch)
            try:
                made = self._transport.get(batch)
            except LostError:
                self._leases.lost(worker)
                self._transport.lost(worker)
            else:
                if self._leases.answered(number):
                    self._made[number] = made
