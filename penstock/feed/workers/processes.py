"""Worker processes."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.errors import WorkerError
from penstock.feed.workers import worker
from penstock.feed.workers.arena import Lease, Slots
from penstock.feed.workers.delivery import Delivered, Delivery, Kind, read
from penstock.feed.workers.failures import RemoteError, unpack
from penstock.feed.workers.pool import GRACE, Pool
from penstock.feed.workers.tasks import STOP, TASK, Failed, Given, Setup, Task
from penstock.feed.workers.worker import Handed, Start
from penstock.graph.blame import warn

MOST = worker.PAGE - worker.AT  # workers, and likewise sources
_DEATHS = 2  # workers that may end while they are asked for one thing
_READ = 1 << 16
_MAIN = '. Is the script\'s main part under if __name__ == "__main__": as processes that are not forked need?'


@dataclass(eq=False)
class _Process:
    """A worker, and the end of the pipe that is its own."""

    process: Any
    own: int
    unsent: deque[bytes] = field(default_factory=deque)

    def why(self) -> str:
        """How it ended."""
        code = self.process.exitcode
        how = f"was ended by {_signal(-code)}" if code and code < 0 else f"has ended with exit code {code}"
        return f"worker process {self.process.pid} {how}"


@dataclass
class _Held:
    """What `_end` and `_let_go` need, which may be called when the pool is gone."""

    page: Any
    workers: dict[int, _Process] = field(default_factory=dict)
    fds: list[int] = field(default_factory=list)
    pid: int = field(default_factory=os.getpid)


class ProcessPool(Pool):
    """Processes that are started by ``method``: "fork", "spawn" or "forkserver".

    ``pickler`` gives bytes of a source, and what makes a source of these, where the method needs that.
    """

    def __init__(
        self, setups: Sequence[Setup], workers: int, method: str,
        pickler: tuple[Callable[[Any], bytes], Callable[[bytes], Any]],
    ):  # fmt: skip
        super().__init__(setups, workers)
        self._context = multiprocessing.get_context(method)
        self._slots = Slots()
        self._page = self._slots.bytes_of(0, worker.PAGE * 8).view("int64")
        self._held = _Held(self._page)
        # A closed pool keeps its descriptors to the end: another thread may be in a call that uses them.
        weakref.finalize(self, _let_go, self._held).atexit = False
        self._end = weakref.finalize(self, _end, self._held)
        self._shared, self._put = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._results, self._tell = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._results, False)
        self._held.fds += [self._slots.fd, self._shared, self._put, self._results, self._tell]
        self._leases: dict[int, Lease] = {}  # of tasks that workers have not answered, by number
        self._starts: dict[int, int] = {}  # which worker's start a number is
        self._unsent: deque[bytes] = deque()
        self._look_for_lost = False
        self._broken: BaseException | None = None
        self._given, self._loads = setups, None
        if method != "fork":
            dumps, self._loads = pickler
            self._given = [replace(setup, source=dumps(setup.source)) for setup in setups]
        for k in range(workers):
            self._start(k)

    def _start(self, k: int) -> None:
        number, lease = self.new_number(), self._slots.take()
        own, put = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._page[worker.AT + k] = worker.STARTING
        self._leases[number], self._starts[number] = lease, k
        others = [w.own for w in self._held.workers.values()]
        forked = self._context.get_start_method() == "fork"
        start = Start(
            k, number, lease.slot, os.getpid(), Handed(self._slots.fd), Handed(self._shared), Handed(own),
            Handed(self._tell), self._given, self._loads,
            [self._put, self._results, put, *others] if forked else [],
        )  # fmt: skip
        process = self._context.Process(  # type: ignore[attr-defined]  # each context has its own
            target=worker.main, args=(start,), name=f"penstock-source-{k}", daemon=True
        )
        try:
            with warnings.catch_warnings():  # of forks beside threads, such as this pipeline's, which workers never use
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
        except BaseException:
            os.close(put)
            raise
        finally:
            os.close(own)
        self._held.workers[k] = _Process(process, put)

    def put(self, task: Task) -> None:
        lease = self._leases.get(task.number)
        if lease is None:
            lease = self._leases[task.number] = self._slots.take()
        record, home = TASK.pack(*task[:-1], lease.slot), self.home(task.source)
        (self._unsent if home is None else self._held.workers[home].unsent).append(record)

    def flush(self) -> None:
        _write(self._put, self._unsent)
        for one in self._held.workers.values():
            _write(one.own, one.unsent)

    def receive(self, timeout: float) -> bool:
        if self._broken:
            raise self._broken
        if self._look_for_lost:
            self._ask_again()
        self.flush()
        data = _drain(self._results)
        if data is None:
            ended = [one.process.sentinel for one in self._held.workers.values()]
            poll = select.poll()
            for fd in (self._results, *ended):
                poll.register(fd, select.POLLIN)
            found = {fd for fd, _ in poll.poll(timeout * 1000)}
            data = _drain(self._results)
            if found & set(ended):
                self._take_up()
                self._replace()
                return True
        if data is None:  # whatever was told, but not noted
            return self._take_up()
        for at in range(0, len(data), worker.RESULT):
            self._take_up_one(int.from_bytes(data[at : at + worker.RESULT], "little"))
        return True

    def _take_up(self) -> bool:
        return sum(self._take_up_one(number) for number in list(self._leases)) > 0

    def _take_up_one(self, number: int) -> bool:
        lease = self._leases.get(number)
        found = read(self._slots, lease, number) if lease else None
        if not found:
            return False
        kind, data = found
        if number in self._starts:
            if kind is Kind.FAILED:
                assert isinstance(data, bytes)
                self._broken = unpack(data)
            self._starts.pop(number, None)
        elif kind is Kind.FAILED:
            assert isinstance(data, bytes)
            error = unpack(data)
            if number in self.live:
                error.__cause__ = RemoteError(f"{error.__cause__}{self._setup_of(number).place}")
            self.arrived(number, Failed(error))
        elif kind is not Kind.NOTHING:
            if isinstance(data, Delivered):
                self.arrived(number, Given(data), data.seconds)
            else:
                self.arrived(number, Given(unpack(data)))
        self._leases.pop(number, None)
        return True

    def _setup_of(self, number: int) -> Setup:
        return self.setups[self.live[number][0].source]

    def merge(self, parts: list[Any]) -> Delivery:
        return Delivery(parts, self._slots)

    def pass_over(self, source: int, number: int) -> None:
        self._page[worker.OLDEST + source] = number

    def _replace(self) -> None:
        """Puts others in place of workers that have ended."""
        for k, one in list(self._held.workers.items()):
            if one.process.is_alive():
                continue
            if self._page[worker.AT + k] == worker.STARTING:
                hint = "" if self._loads is None else _MAIN
                self._broken = WorkerError(f"{one.why()} before it could begin: see what it has printed{hint}")
                raise self._broken
            self._mourn(k, one)

    def _mourn(self, k: int, one: _Process, wanted: bool = True) -> None:
        why, at = one.why(), int(self._page[worker.AT + k])
        self._look_for_lost = True
        self.lose(k, why)
        self._leases.pop(at, None)  # nobody writes there any more
        request = self.live.get(at, (None,))[0]
        if request:
            request.deaths += 1
            if request.deaths >= _DEATHS:
                setup = self._setup_of(at)
                text = f"{setup.what}: {why} while it was asked for iteration {request.iteration} of epoch "
                text += f"{request.epoch}, and so had {request.deaths - 1} other before{setup.place}"
                self.arrived(at, Failed(WorkerError(text)))
        self._start(k)
        os.close(one.own)
        one.process.join()
        if wanted:
            warn(f"{why}; another takes its place", RuntimeWarning)

    def _ask_again(self) -> None:
        """Asks anew for what no worker has. That may be more than was lost: who has only just taken something up has
        not said so yet. The answer to what was asked last counts.
        """
        while True:  # all that waits; what follows asks for it anew
            try:
                if not os.read(self._shared, _READ):
                    break
            except BlockingIOError:
                break
        self._unsent.clear()
        alive = {int(self._page[worker.AT + k]) for k in self._held.workers}
        for number, (request, k) in list(self.live.items()):
            if self.home(request.source) is None and number not in alive:
                self.ask(request, k)
        self._look_for_lost = False

    def leave_behind(self, numbers: Sequence[int]) -> str:
        names = []
        for k, one in list(self._held.workers.items()):
            if int(self._page[worker.AT + k]) in numbers:
                names.append(f"worker process {one.process.pid}")
                one.process.kill()
                one.process.join()
                self._mourn(k, one, wanted=False)
        return ", ".join(names) or "no worker process"

    def memory(self) -> list[int]:
        return self._slots.sizes()

    def close(self) -> None:
        self.closed.set()
        self._end()


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _write(fd: int, records: deque[bytes]) -> None:
    with suppress(BlockingIOError, BrokenPipeError):  # later; or its worker has ended
        while records:
            some = list(records)[: select.PIPE_BUF // TASK.size]  # that are written as a whole
            os.write(fd, b"".join(some))
            for _ in some:
                records.popleft()


def _drain(fd: int) -> bytes | None:
    try:
        return os.read(fd, _READ)
    except BlockingIOError:
        return None


def _end(held: _Held) -> None:
    if os.getpid() != held.pid:  # a fork has none of the workers
        return
    held.page[: worker.AT] = 1 << 62  # nothing is wanted any more
    workers = list(held.workers.values())
    for one in workers:
        with suppress(OSError):
            os.write(one.own, STOP)
    until = time.monotonic() + GRACE
    for one in workers:
        one.process.join(max(until - time.monotonic(), 0))
        if one.process.is_alive():
            one.process.kill()
            one.process.join()


def _let_go(held: _Held) -> None:
    for fd in [*held.fds, *(one.own for one in held.workers.values())]:
        with suppress(OSError):
            os.close(fd)
