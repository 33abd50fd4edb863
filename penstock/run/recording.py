"""What the threads of a running pipeline do, and when: those of the engine, and the one that takes its batches."""

from __future__ import annotations

import ctypes as c
import enum
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.machine import native

SPAN: np.dtype[Any] = np.dtype([(field[0], np.dtype(field[1])) for field in native.Span._fields_])
_AT_ONCE = 4096
# Of the worker threads, about 40 MB; the engine's own few per batch are all kept.
KEPT = 1_000_000


class Did(enum.IntEnum):
    """What a thread of the engine did, as ``native/run/trace.h`` explains."""

    SETUP = 0
    RUN = 1
    PREPARE = 2
    LAUNCH_AHEAD = 3
    LAUNCH = 4
    DEVICE = 5
    WAIT = 6
    PHASE = 7
    FINISHED = 8


class Phase(enum.IntEnum):
    """Where a batch is in its segment, as ``native/run/batch.h`` explains."""

    SETUP = 0
    PREPARE = 1
    RUN = 2
    LAUNCH = 3
    FLIGHT = 4
    CALL = 5
    FINISHED = 6


class Writer(enum.IntEnum):
    """Who notes spans besides the worker threads: their numbers count from the number of these."""

    LAUNCHER = 0
    AHEAD = 1
    DEVICE = 2
    ENGINE = 3
    PYTHON = 4


class Call(enum.Enum):
    """What the thread that takes batches did, inside the pipeline."""

    TAKE = "take a batch"
    WAIT = "wait"
    SOURCE = "external sources"
    SCHEDULE = "schedule"


@dataclass(frozen=True)
class Called:
    """One such call, in nanoseconds of `time.monotonic_ns`."""

    call: Call
    start: int
    end: int
    thread: int  # as `threading.get_ident` says
    number: int  # of the batch, as the pipeline counts them


class Recording:
    """While it is on, spans gather here. ``switch`` and ``read`` are the engine's."""

    def __init__(self, switch: Callable[[bool], None], read: Callable[[Any, int], int]):
        self._switch, self._read = switch, read
        self._lock = threading.Lock()  # spans have one reader at a time
        self._buffer = (native.Span * _AT_ONCE)()
        self._work: deque[Any] = deque()
        self._kept = 0
        self._events: list[Any] = []
        self.called: list[Called] = []
        self.samples = 0  # of the batches that were taken
        self.dropped = 0  # spans of workers that were too many to be kept

    def start(self) -> None:
        """Begins. What an earlier recording left in the engine is thrown away."""
        while self._read(self._buffer, _AT_ONCE):
            pass
        self._switch(True)

    def stop(self) -> None:
        """Ends."""
        self._switch(False)
        self.drain()

    @contextmanager
    def call(self, call: Call, number: int) -> Iterator[None]:
        """What is done in this block."""
        start = time.monotonic_ns()
        try:
            yield
        finally:
            self.called.append(Called(call, start, time.monotonic_ns(), threading.get_ident(), number))
            if call is Call.TAKE:
                self.drain()

    def drain(self) -> None:
        """Fetches what the engine has noted, before its buffers are full."""
        with self._lock:
            while count := self._read(self._buffer, _AT_ONCE):
                spans = np.frombuffer(memoryview(self._buffer), SPAN, count).copy()
                of_work = spans["did"] < Did.DEVICE
                self._events.append(spans[~of_work])
                self._work.append(spans[of_work])
                self._kept += len(self._work[-1])
                while self._kept > KEPT:
                    self.dropped += len(self._work[0])
                    self._kept -= len(self._work.popleft())

    def work(self) -> Any:
        """What threads did, an array of `SPAN`."""
        return np.concatenate([np.empty(0, SPAN), *self._work])

    def events(self) -> Any:
        """Where batches were, and what the GPU and consumers of batches did, an array of `SPAN`."""
        return np.concatenate([np.empty(0, SPAN), *self._events])


def of_engine(handle: Any) -> Recording:
    """A recording of a native executor, not begun."""
    quick = native.quick()

    def switch(on: bool) -> None:
        if handle:  # the pipeline may be closed by then
            quick.ps_executor_record(handle, int(on))

    def read(rows: Any, most: int) -> int:
        return int(quick.ps_executor_spans(handle, c.cast(rows, c.POINTER(native.Span)), most)) if handle else 0

    return Recording(switch, read)
