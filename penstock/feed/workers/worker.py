"""What a worker process does: it calls sources, and writes what they give to shared memory."""

from __future__ import annotations

import ctypes as c
import gc
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import reduction
from typing import Any

from penstock.errors import DeviceError, TensorError
from penstock.feed.workers.arena import Arena
from penstock.feed.workers.delivery import Kind, note_time, write, write_batches
from penstock.feed.workers.failures import pack
from penstock.feed.workers.tasks import STOP, TASK, Asked, Setup, Task

# What the control page has, in slot 0: by source, the first task that is wanted; by worker, the one it is at.
OLDEST, AT, PAGE = 0, 4096, 8192
STARTING, IDLE = -1, 0
RESULT = 8  # bytes that tell of a result: the task's number
_MALLOPT = {-3: 32 << 20, -1: 256 << 20}  # glibc's M_MMAP_THRESHOLD and M_TRIM_THRESHOLD
_LOOK = 1.0  # seconds between looks at the pipeline's process, where the kernel does not tell of its end


class Handed:
    """A file descriptor on its way to a worker, however that is started."""

    def __init__(self, fd: int):
        self.fd = fd

    def __reduce__(self) -> tuple[Any, ...]:
        return _handed, (reduction.DupFd(self.fd),)


def _handed(duplicate: Any) -> Handed:
    return Handed(duplicate.detach())


@dataclass
class Start:
    """What a worker is started with. ``setups`` have pickled sources where ``loads`` is not None."""

    index: int
    number: int  # of the answer that says how the start went
    slot: int
    parent: int
    arena: Handed
    shared: Handed
    own: Handed
    results: Handed
    setups: Sequence[Setup]
    loads: Callable[[Any], Any] | None
    unwanted: Sequence[int]  # descriptors of the pipeline's side, which a fork has, too


def main(start: Start) -> None:
    """Serves until the pipeline says that it is enough, or is gone."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the pipeline's process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(start.parent,), name="penstock-parent", daemon=True).start()
    for fd in start.unwanted:
        os.close(fd)
    _keep_memory()
    gc.freeze()  # what a fork has of its parent stays shared with it
    with suppress(BrokenPipeError):
        _Worker(start).serve()
    with suppress(Exception):
        sys.stdout.flush()


class _Worker:
    def __init__(self, start: Start):
        self._arena = Arena(start.arena.fd)
        self._page = self._arena.bytes_of(0, PAGE * 8).view("int64")
        self._place = AT + start.index
        self._shared, self._own, self._results = start.shared.fd, start.own.fd, start.results.fd
        self._asked = self._sources(start)
        self._last = [0] * len(start.setups)  # of sources that are asked here alone, the last task

    def _sources(self, start: Start) -> list[Asked] | None:
        try:
            load = start.loads
            setups = [s if load is None else replace(s, source=load(s.source)) for s in start.setups]
            asked = [Asked(setup) for setup in setups]
        except BaseException as e:
            write(self._arena, start.slot, start.number, Kind.FAILED, pack(e))
            self._tell(start.number)
            return None
        self._page[self._place] = IDLE
        write(self._arena, start.slot, start.number, Kind.NOTHING, b"")
        self._tell(start.number)
        return asked

    def serve(self) -> None:
        poll = select.poll()
        for fd in (self._own, self._shared):
            poll.register(fd, select.POLLIN)
        while self._asked is not None:
            record = _read(self._own) or _read(self._shared)
            if record is None:
                poll.poll()
            elif record == STOP:
                return
            else:
                self._do(Task(*TASK.unpack(record)))

    def _do(self, task: Task) -> None:
        assert self._asked is not None
        asked = self._asked[task.source]
        if task.number < self._page[OLDEST + task.source]:
            write(self._arena, task.slot, task.number, Kind.NOTHING, b"")
        elif not asked.indexed and task.number <= self._last[task.source]:
            return  # it was sent a second time
        else:
            self._page[self._place] = task.number
            self._last[task.source] = task.number
            self._give(asked, task)
        self._tell(task.number)
        self._page[self._place] = IDLE

    def _give(self, asked: Asked, task: Task) -> None:
        begin = time.perf_counter()
        try:
            item = asked.give(task)
        except BaseException as e:
            write(self._arena, task.slot, task.number, Kind.FAILED, pack(e))
            return
        try:
            note_time(self._arena, task.slot, time.perf_counter() - begin)
            write_batches(self._arena, task.slot, task.number, asked.outputs(item))
        except (DeviceError, TypeError, ValueError) as e:
            refused = e if isinstance(e, (DeviceError, TensorError)) else TensorError(str(e))
            write(self._arena, task.slot, task.number, Kind.REFUSED, pack(refused))

    def _tell(self, number: int) -> None:
        os.write(self._results, number.to_bytes(RESULT, sys.byteorder))


def _read(fd: int) -> bytes | None:
    """A task's record; None: there is none now; STOP: there never will be."""
    try:
        return os.read(fd, TASK.size) or STOP
    except BlockingIOError:
        return None


def _keep_memory() -> None:
    """Has the C library keep what a source lets go of: taking large arrays anew from the kernel, page by page, costs
    about as much as simple work on them.
    """
    with suppress(OSError, AttributeError):
        library = c.CDLL(None)
        for option, value in _MALLOPT.items():
            library.mallopt(option, value)


def _end_with(parent: int) -> None:
    """Ends this process when that one has ended. Pipes would not tell: whoever it forks has them, too."""
    try:
        fd = os.pidfd_open(parent)
    except (OSError, AttributeError):
        while True:
            try:
                os.kill(parent, 0)
            except ProcessLookupError:
                os._exit(1)
            time.sleep(_LOOK)
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    poll.poll()
    os._exit(1)
