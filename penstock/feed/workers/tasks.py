"""What workers are asked, and what they answer."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from penstock.feed.items import outputs_of
from penstock.feed.poll import Poll

CHUNKS = 4  # of a batch, for each worker, at most: enough that none waits long for the others
LONG = 2e-3  # seconds that a task should take: much more than it costs to have it done elsewhere


class Task(NamedTuple):
    """Samples ``first`` to ``first + size - 1`` of a batch, or with ``size`` 0 all of it.

    ``number`` tells tasks apart; ``slot`` is where processes write the result.
    """

    number: int
    source: int
    epoch: int
    iteration: int
    first: int
    size: int
    slot: int


TASK = struct.Struct("<7q")
STOP = TASK.pack(*[0] * 7)


@dataclass
class Given:
    """What one of them got from its source; ``data`` is the items themselves, or how to get at them."""

    data: Any


@dataclass
class Failed:
    """What the source raised."""

    error: BaseException


@dataclass(frozen=True)
class Setup:
    """A source, and how it is asked.

    ``num_outputs``: None where it gives no tuples. ``indexed``: any worker can be asked for any part of it. ``what``
    names the operator in errors, ``place`` is the user's line.
    """

    source: Any
    cycle: Any
    batch: bool
    batch_info: bool
    num_outputs: int | None
    batch_size: int
    indexed: bool
    what: str = ""
    place: str = ""

    def parts(self, workers: int, pace: float | None) -> list[range]:
        """The parts of a batch that are tasks of their own; [range(0)]: it is one. ``pace``: seconds that a sample
        takes, as far as it is known.
        """
        if self.batch or not self.indexed:
            return [range(0)]
        size = self.batch_size
        least, most = -(-size // (workers * CHUNKS)), -(-size // workers)
        step = least if pace is None else min(max(least, math.ceil(LONG / max(pace, 1e-9))), most)
        return [range(i, min(i + step, size)) for i in range(0, size, step)]


class Asked:
    """A source where it is called."""

    def __init__(self, setup: Setup):
        self._setup = setup
        self._poll = Poll(setup.source, cycle=setup.cycle, batch=setup.batch, batch_info=setup.batch_info)
        self.indexed = setup.indexed

    def give(self, task: Task) -> Any:
        """What the source gives: a batch, or a list of samples. Raises what it raises."""
        poll = self._poll
        if not poll.indexed and poll.epoch != task.epoch:
            poll.restart(task.epoch)
        poll.epoch, poll.iteration = task.epoch, task.iteration
        part = range(task.first, task.first + task.size) if task.size else None
        return poll.take(self._setup.batch_size, part)

    def outputs(self, item: Any) -> Sequence[Any]:
        """The same by output. Raises TensorError."""
        return outputs_of(item, self._setup.num_outputs, self._setup.batch)


@dataclass(eq=False)
class Request:
    """A batch that a source was asked for."""

    source: int
    epoch: int
    iteration: int
    parts: list[range]
    merge: Callable[[list[Any]], Any]  # makes a batch of what the parts gave
    numbers: list[int] = field(default_factory=list)  # of its tasks
    sent: int = 0  # how many of these
    deaths: int = 0  # of workers that had a part of it
    results: list[Given | Failed | None] = field(default_factory=list)
    _known: int = 0  # results that are there, from the first on
    _batch: Any = None

    def __post_init__(self) -> None:
        self.results = [None] * len(self.parts)
        self.numbers = [0] * len(self.parts)

    @property
    def place(self) -> tuple[int, int]:
        """Epoch and iteration."""
        return self.epoch, self.iteration

    def decided(self) -> bool:
        """Whether all is there, or what comes before anything that is not has failed."""
        while self._known < len(self.results):
            result = self.results[self._known]
            if result is None:
                return False
            if isinstance(result, Failed):
                return True
            self._known += 1
        return True

    def failure(self) -> BaseException | None:
        """What the source raised first, by the order of samples."""
        return next((r.error for r in self.results if isinstance(r, Failed)), None)

    def batch(self) -> Any:
        """What the source gave."""
        if self._batch is None:
            self._batch = self.merge([r.data for r in self.results if isinstance(r, Given)])
            self.results = []
        return self._batch
