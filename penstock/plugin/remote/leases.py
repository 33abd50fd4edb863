"""Who has which unit of work: each is made by somebody, and counts once, whoever dies meanwhile."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable


class Leases:
    """Units by their numbers, from when they are wanted until one of those who have them has answered.

    A unit is handed out to one worker, and again when that one is lost, or has had it for ``patience`` seconds: then
    another has it, too, and the first answer counts.

    >>> leases = Leases(patience=60)
    >>> leases.add(0), leases.add(1)
    (None, None)
    >>> leases.hand_out(["a", "b"], each=1, now=0)
    [('a', 0), ('b', 1)]
    >>> leases.lost("a")
    >>> leases.answered(1), leases.hand_out(["b"], each=1, now=1), leases.answered(0), leases.answered(0)
    (True, [('b', 0)], True, False)
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._wanted: list[int] = []  # a heap: who waits for the oldest first
        self._holders: dict[int, dict[str, float]] = {}  # since when each has it; of all that were not answered
        self._load: dict[str, int] = {}
        self.again = 0

    def add(self, number: int) -> None:
        """Somebody wants this one."""
        self._holders[number] = {}
        heapq.heappush(self._wanted, number)

    def drop(self, numbers: Iterable[int]) -> None:
        """Nobody wants these any more."""
        for number in numbers:
            self.answered(number)

    def hand_out(self, workers: Collection[str], each: int, now: float) -> list[tuple[str, int]]:
        """Who is to make what now; ``each``: units that one worker may have at a time."""
        given: list[tuple[str, int]] = []
        late = [n for n, holders in self._holders.items() if holders and now - max(holders.values()) > self._patience]
        for number in late:
            if set(workers) - set(self._holders[number]) and number not in self._wanted:
                heapq.heappush(self._wanted, number)
        kept = []
        while self._wanted:
            number = heapq.heappop(self._wanted)
            holders = self._holders.get(number)
            if holders is None:  # it was answered, or dropped
                continue
            free = [w for w in workers if w not in holders and self._load.get(w, 0) < each]
            if not free:
                kept.append(number)
                if len(kept) > len(late):  # this one could have gone to anybody: all are busy
                    break
                continue
            worker = min(free, key=lambda w: self._load.get(w, 0))
            self.again += bool(holders)
            holders[worker] = now
            self._load[worker] = self._load.get(worker, 0) + 1
            given.append((worker, number))
        for number in kept:
            heapq.heappush(self._wanted, number)
        return given

    def answered(self, number: int) -> bool:
        """One of those who have it has made it: False where another was faster, or nobody wants it any more."""
        holders = self._holders.pop(number, None)
        for worker in holders or ():
            self._load[worker] -= 1
        return holders is not None

    def lost(self, worker: str) -> None:
        """This one will answer nothing: others will have to make what nobody else is at."""
        self._load.pop(worker, None)
        for number, holders in self._holders.items():
            if holders.pop(worker, None) is not None and not holders:
                self.again += 1
                heapq.heappush(self._wanted, number)
