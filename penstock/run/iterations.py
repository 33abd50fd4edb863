"""The iterations of a running pipeline: what each was given, and where readers and sources stand before and behind it.

Ctrl-C may come between any two steps. So whatever changes more than one thing is noted first, in `Iterations.starting`
or by its user, and an iteration is handed out by one assignment, of the `Place` behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from penstock.feed.inputs import Places, Ready
from penstock.graph.blame import Blame
from penstock.graph.node import OpNode
from penstock.run.batches import Batch
from penstock.run.readers import reader_of


class Place(NamedTuple):
    """Where the first iteration begins that nobody has taken."""

    number: int
    states: tuple[Any, ...]  # of the readers
    counted: int  # samples before it, where no reader says which they are
    sources: Places


class Order(NamedTuple):
    """Which samples an iteration has: what each reader is told, and the samples' keys and epochs; None of these where
    they are counted, from the ``first`` on.
    """

    indices: list[Any]
    ids: Any
    epochs: Any
    first: int


@dataclass(slots=True)
class Iteration:
    """One that was scheduled, or is on its way into the engine."""

    begin: Place
    ready: Ready
    batch: Batch
    before: int  # iterations that the engine had been given until then
    known: int  # samples that were known to be broken then
    end: Place | None = None  # known before the engine has it
    taken: list[tuple[Any, Any]] = field(default_factory=list)  # indices and epochs that each reader was told
    order: Order | None = None  # known with `end`
    failure: Exception | None = None
    accepted: bool = False  # by the engine: False is what is not known


class Iterations:
    """Those that were scheduled and not taken. ``readers``: in the order of the plan.

    Attributes:
        place: where the oldest one begins.
        coming: the number of the next one to be scheduled.
        starting: one that is on its way into the engine.
        settled: whether none is, and all that were taken are forgotten; where in doubt, False.
    """

    def __init__(self, readers: Sequence[OpNode]):
        self._readers = readers
        self._all: dict[int, Iteration] = {}
        self._counted = 0  # samples, where there is no reader
        self.place = Place(0, self._states(), 0, {})
        self.coming = 0
        self.starting: Iteration | None = None
        self.settled = True

    @property
    def cursors(self) -> list[Any]:
        """Where the readers are (see penstock/read/order.py)."""
        return [reader_of(node).cursor for node in self._readers]

    @property
    def oldest(self) -> Iteration:
        """The one that is taken next."""
        return self._all[self.place.number]

    def waiting(self) -> list[Iteration]:
        """All of them, in order."""
        return [self._all[n] for n in range(self.place.number, self.coming)]

    def begin(self, ready: Ready, before: int, known: int, batch: Batch) -> Iteration:
        """The next one, which is starting from now on."""
        last = self._all.get(self.coming - 1)
        sources = last.end.sources if last and last.end else self.place.sources
        begin = Place(self.coming, self._states(), self._counted, sources)
        self.settled = False
        self.starting = one = Iteration(begin, ready, batch, before, known)
        return one

    def order(self, one: Iteration) -> Order:
        """Asks the readers which samples it has; after that it is known where it ends."""
        size, fed, first = one.ready.size, [], self._counted
        ids = epochs = None
        for node in self._readers:
            with Blame(node.op.name, node.location):
                indices, when, keys = reader_of(node).cursor.take(size)
            one.taken.append((indices, when))
            if ids is None:
                ids, epochs = keys, when
            fed.append(_int64(indices))
        if ids is None:
            self._counted += size
        else:
            ids, epochs = _int64(ids), _int64(epochs)
        one.end = Place(one.begin.number + 1, self._states(), self._counted, one.ready.after(one.begin.sources))
        one.order = Order(fed, ids, epochs, first)
        return one.order

    def numbers(self) -> tuple[int, int]:
        """That of the oldest one that nobody has taken, and that of the next one to be scheduled."""
        return self.place.number, self.coming

    def hand_out(self, end: Place) -> None:
        """All before this place are taken from now on."""
        self.settled = False
        self.place = end

    def finish_interrupted(self, has_started: bool) -> None:
        """What was starting has been given to the engine, or has not: then its samples are not lost."""
        if one := self.starting:
            if has_started:
                self._all[one.begin.number] = one
                self.coming = one.begin.number + 1
            else:
                self._set_cursors(one.begin)
            self.starting = None
        first = self.place.number
        if next(iter(self._all), first) < first:
            for number in [n for n in self._all if n < first]:
                del self._all[number]
            if self._readers:
                for cursor, state in zip(self.cursors, self.place.states, strict=True):
                    cursor.forget(state)
        self.settled = True

    def throw_away(self) -> None:
        """All of them: readers stand again before the first sample that nobody got."""
        self._set_cursors(self.place)
        self.coming = self.place.number
        self._all.clear()

    def go_to(self, states: Sequence[Any] | None, counted: int | None, sources: Places | None) -> None:
        """The next one begins there: none may be scheduled. What is left out stays as it is."""
        here = self.place
        place = Place(
            here.number,
            here.states if states is None else tuple(states),
            here.counted if counted is None else counted,
            {**here.sources, **(sources or {})},
        )
        self._set_cursors(place)
        self.place = place

    def _states(self) -> tuple[Any, ...]:
        return tuple([cursor.state for cursor in self.cursors]) if self._readers else ()

    def _set_cursors(self, place: Place) -> None:
        for cursor, state in zip(self.cursors, place.states, strict=True):
            cursor.state = state
        self._counted = place.counted


def _int64(values: Any) -> Any:
    return np.ascontiguousarray(values, np.int64)
