"""Drives the native engine: says which samples each iteration has, and takes finished ones.

Iterations are scheduled and taken on the caller's thread. No Python runs anywhere else, so a main thread that keeps
Python busy does not slow the loader, and no thread outlives the pipeline.
"""

from __future__ import annotations

import ctypes as c
import os
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.errors import GraphError
from penstock.optimize.plan import Plan
from penstock.run import native
from penstock.run.program import Program
from penstock.tensors import TensorListCPU

_POLL_MS = 100  # how soon Ctrl-C is noticed while waiting


class _Batch:
    """A finished iteration's memory: given back when the last tensor that shows it is gone."""

    def __init__(self, handle: int, library: Any):
        self.handle = handle
        self._destroy = library.ps_batch_destroy
        self._pid = os.getpid()

    def __del__(self, getpid: Any = os.getpid) -> None:
        if getpid() == self._pid:  # a forked child must not touch locks that a thread of its parent may have held
            self._destroy(self.handle)


@dataclass
class _Scheduled:
    size: int
    states: list[Any]  # of the readers, before this iteration's samples were taken
    counted: int  # samples before it, where no reader says which they are


def _close(handle: int, pid: int) -> None:
    if os.getpid() == pid:  # a forked child has none of the threads
        native.blocking().ps_executor_destroy(handle)


class Executor:
    """A running plan. ``depth`` iterations may be finished or under way before they are taken."""

    def __init__(
        self, plan: Plan, *, threads: int, io_threads: int, depth: int, cpus: Sequence[int] = (), seed: int = 0,
        name: str = "penstock",
    ):  # fmt: skip
        self.program = Program(plan, seed)
        self._outputs = len(plan.outputs)
        self._quick, self._blocking = native.quick(), native.blocking()
        handle = self._quick.ps_executor_create(
            self.program.take(), threads, io_threads, depth, native.ints(cpus), len(cpus), name.encode()
        )
        if not handle:
            raise self.program.failure()
        self._handle = handle
        self._pid = os.getpid()
        # Runs at the latest when the interpreter exits: threads must not be left to its end.
        self._closer = weakref.finalize(self, _close, handle, self._pid)
        self._scheduled: deque[_Scheduled] = deque()
        self._next_sample = 0  # without a reader, samples are counted
        self._answer = native.Answer()
        self._waiting = threading.Lock()  # closing must not take the engine away under a call that waits
        self._closing = False

    def _check_process(self) -> None:
        if os.getpid() != self._pid:
            raise GraphError(
                "this pipeline was built in another process, and threads do not survive a fork: "
                "build the pipeline in the process that runs it"
            )
        if self._closing or not self._closer.alive:
            raise GraphError("the pipeline is closed")

    @property
    def cursors(self) -> list[Any]:
        """Where the readers are (see penstock/read/order.py), in the order of the plan."""
        return [node.op.cursor for node, _ in self.program.readers]  # type: ignore[attr-defined]

    def schedule(self, size: int) -> None:
        """Starts an iteration of ``size`` samples."""
        self._check_process()
        scheduled = _Scheduled(size, *self._now())
        try:
            self._start(size)
        except BaseException:  # an error, or Ctrl-C: the samples that were taken are not lost
            self.set_position(scheduled.states, scheduled.counted)
            raise
        self._scheduled.append(scheduled)

    def _start(self, size: int) -> None:
        ids = epochs = None
        for node, value in self.program.readers:
            indices, when = node.op.cursor.take(size)  # type: ignore[attr-defined]
            if ids is None:
                ids, epochs = indices, when
            self._quick.ps_executor_feed_integers(self._handle, value, _int64(indices), len(indices))
        if ids is None or epochs is None:
            ids = np.arange(self._next_sample, self._next_sample + size)
            epochs = np.zeros(size, np.int64)
            self._next_sample += size
        if self._quick.ps_executor_schedule(self._handle, size, _int64(ids), _int64(epochs)) < 0:
            raise self.program.failure()

    def pending(self) -> int:
        """Iterations scheduled and not taken."""
        return len(self._scheduled)

    def take(self) -> tuple[TensorListCPU, ...]:
        """Waits for the oldest iteration and hands out its outputs."""
        self._check_process()
        if not self._scheduled:
            raise GraphError("no iteration is scheduled: call schedule_run() first, or run()")
        answer = self._answer  # of an earlier call, if Ctrl-C came between
        while not answer.state:
            with self._waiting:
                self._check_process()
                self._blocking.ps_executor_wait(self._handle, _POLL_MS, c.byref(answer))
        self._answer = native.Answer()
        size = self._scheduled.popleft().size
        if answer.state < 0:
            raise self.program.failure()
        handle = answer.batch
        batch = _Batch(handle, self._quick)
        outputs = []
        for k in range(self._outputs):
            samples = (native.Tensor * size)()
            flags = self._quick.ps_batch_output(handle, k, samples)
            outputs.append(TensorListCPU._from_native(batch, samples, flags))
        return tuple(outputs)

    def cancel(self) -> None:
        """Throws away what was scheduled; readers stand again before the first sample that nobody got."""
        self._check_process()
        self._blocking.ps_executor_cancel(self._handle)
        if self._answer.batch:
            _Batch(self._answer.batch, self._quick)  # gives it back
        self._answer = native.Answer()
        self.set_position(*self.position())
        self._scheduled.clear()

    def position(self) -> tuple[list[Any], int]:
        """The readers' states, and how many samples were counted, before the first batch that nobody took."""
        if self._scheduled:
            return self._scheduled[0].states, self._scheduled[0].counted
        return self._now()

    def _now(self) -> tuple[list[Any], int]:
        return [cursor.state for cursor in self.cursors], self._next_sample

    def set_position(self, states: Sequence[Any], counted: int) -> None:
        """Goes on from there with the next iteration that is scheduled."""
        for cursor, state in zip(self.cursors, states, strict=True):
            cursor.state = state
        self._next_sample = counted

    def node_times(self) -> list[tuple[Any, float, float, int]]:
        """Per group's first node: (node, seconds in setup, seconds in run, samples), over all threads."""
        count = len(self.program.nodes)
        rows = (c.c_int64 * (3 * count))()
        self._quick.ps_executor_node_stats(self._handle, rows, count)
        return [
            (node, rows[3 * i] * 1e-9, rows[3 * i + 1] * 1e-9, rows[3 * i + 2])
            for i, node in enumerate(self.program.nodes)
        ]

    def thread_times(self) -> list[tuple[float, float]]:
        """Per thread: (seconds at work, seconds since the start)."""
        count = self._quick.ps_executor_thread_stats(self._handle, (c.c_int64 * 0)(), 0)
        rows = (c.c_int64 * (2 * count))()
        self._quick.ps_executor_thread_stats(self._handle, rows, count)
        return [(rows[2 * i] * 1e-9, rows[2 * i + 1] * 1e-9) for i in range(count)]

    def memory(self) -> tuple[int, int]:
        """(bytes held by the pools, the most they ever held)."""
        held, peak = c.c_int64(), c.c_int64()
        self._quick.ps_executor_memory(self._handle, c.byref(held), c.byref(peak))
        return held.value, peak.value

    def close(self) -> None:
        """Stops the threads, after the samples they have in hand. Other threads may be waiting in `take`."""
        self._closing = True
        if os.getpid() == self._pid:
            with self._waiting:
                self._closer()


def _int64(values: Any) -> Any:
    array = np.ascontiguousarray(values, np.int64)
    pointer = array.ctypes.data_as(c.POINTER(c.c_int64))
    pointer._array = array  # type: ignore[attr-defined]  # keeps the memory as long as the pointer
    return pointer
