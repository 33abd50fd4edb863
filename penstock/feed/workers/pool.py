"""What pools of processes and of threads have in common: requests, their tasks, and waiting for them.

Ctrl-C may come between any two steps. So a request is kept by its source before it is sent, and a task can be sent, and
its result be taken up, a second time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from penstock import _settings
from penstock.errors import StoppedError, WorkerError
from penstock.feed.workers.tasks import Failed, Given, Request, Setup, Task

POLL_SECONDS = 0.1  # how soon it is noticed that the pipeline was closed
GRACE = 1.0  # seconds that closing waits for sources that are being called


class Pool:
    """Workers, and what they were asked. All but `close` is for who has the pipeline's turn."""

    def __init__(self, setups: Sequence[Setup], workers: int):
        self.setups, self.workers = setups, workers
        self.closed = threading.Event()
        self.live: dict[int, tuple[Request, int]] = {}  # which part of which request a task is, by its number
        self._limit = _settings.READ_TIMEOUT.value()
        self._numbers = 0
        self._begun: dict[int, int] = {}  # the epoch of sources that cannot be told where to go on, and were asked
        self._pace: dict[int, float] = {}  # seconds that a sample took lately, by source
        self._lost: dict[int, tuple[int, str]] = {}  # such whose worker is gone: the epoch, and why

    def home(self, source: int) -> int | None:
        """The worker that a source stays with; None: any can be asked."""
        return None if self.setups[source].indexed else source % self.workers

    def request(self, source: int, epoch: int, iteration: int) -> Request:
        """A batch to be asked for, by `send`."""
        parts = self.setups[source].parts(self.workers, self._pace.get(source))
        return Request(source, epoch, iteration, parts, self.merge)

    def send(self, request: Request) -> None:
        """Asks for what was not asked for yet."""
        while request.sent < len(request.parts):
            self.ask(request, request.sent)
            request.sent += 1
        self.flush()

    def ask(self, request: Request, k: int) -> None:
        """Asks for a part of it, not for the first time perhaps. Who goes on where it stands knows a task again."""
        stays = self.home(request.source) is not None
        number = request.numbers[k]
        if not (number and stays):
            number = self.new_number()
            self.live.pop(request.numbers[k], None)
            request.numbers[k] = number
        self.live[number] = request, k
        lost = self._lost.get(request.source)
        if lost and lost[0] == request.epoch:
            self.arrived(number, Failed(WorkerError(lost[1])))
            return
        if stays:
            self._begun[request.source] = request.epoch
            self._lost.pop(request.source, None)
        part = request.parts[k]
        self.put(Task(number, request.source, request.epoch, request.iteration, part.start, len(part), 0))

    def new_number(self) -> int:
        """For a task."""
        self._numbers += 1
        return self._numbers

    def arrived(self, number: int, result: Given | Failed, seconds: float | None = None) -> None:
        """Keeps what a task gave, if somebody still wants it, and how long it took."""
        found = self.live.get(number)
        if found:
            request, k = found
            if seconds is not None and len(request.parts[k]):
                self._pace[request.source] = seconds / len(request.parts[k])
            request.results[k] = result
            self.live.pop(number, None)

    def forget(self, request: Request) -> None:
        """Nobody wants it any more: workers pass over what they have not begun."""
        for number in self._of(request):
            self.live.pop(number, None)
        wanted = (n for n, (one, _) in self.live.items() if one.source == request.source)
        self.pass_over(request.source, min(wanted, default=self._numbers + 1))

    def lose(self, worker: int, why: str) -> None:
        """A worker is gone, and so is where the sources stood that stayed with it."""
        for source, epoch in self._begun.items():
            if self.home(source) == worker:
                setup = self.setups[source]
                text = f"{setup.what}: {why}, and with it the place of a source that cannot be told where to go on"
                self._lost[source] = epoch, f"{text}{setup.place}"
                for number in [n for n, (r, _) in self.live.items() if r.source == source]:
                    self.arrived(number, Failed(WorkerError(self._lost[source][1])))

    def wait_for(self, request: Request) -> None:
        """Waits until the request is decided. StoppedError if the pipeline is closed meanwhile; WorkerError if no
        worker answers within the time that files have, too.
        """
        self.send(request)
        setup, since = self.setups[request.source], time.monotonic()
        while not request.decided():
            if self.closed.is_set():
                raise StoppedError(f"the pipeline was closed while it waited for {setup.what}")
            if self.receive(POLL_SECONDS):
                since = time.monotonic()
            elif self._limit and time.monotonic() - since >= self._limit:
                numbers = self._of(request)
                self.forget(request)
                who = self.leave_behind(numbers)
                raise WorkerError(
                    f"{setup.what}: {who} has not answered for {self._limit:g} s, which is what PENSTOCK_READ_TIMEOUT "
                    f"allows: the source was asked for iteration {request.iteration} of epoch {request.epoch}"
                    f"{setup.place}"
                )

    def _of(self, request: Request) -> list[int]:
        return [number for number, (one, _) in self.live.items() if one is request]

    def merge(self, parts: list[Any]) -> Any:
        """A batch of what its parts gave."""
        raise NotImplementedError

    def put(self, task: Task) -> None:
        """Lets workers have a task, at the latest when it is flushed."""
        raise NotImplementedError

    def flush(self) -> None:
        """Lets workers have all tasks that were put."""

    def receive(self, timeout: float) -> bool:
        """Takes up what workers have answered; waits for the first, but not longer than this."""
        raise NotImplementedError

    def pass_over(self, source: int, number: int) -> None:
        """Tasks of this source before that number are not wanted."""
        raise NotImplementedError

    def leave_behind(self, numbers: Sequence[int]) -> str:
        """Puts others in place of workers that do not come back from these tasks; says who it was."""
        raise NotImplementedError

    def memory(self) -> list[int]:
        """Bytes of memory that is shared with processes, by slot."""
        return []

    def close(self) -> None:
        """Ends the workers. Any thread may call it at any moment, and more than once."""
        raise NotImplementedError
