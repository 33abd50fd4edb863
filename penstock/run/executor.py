"""Drives the native engine: says which samples each iteration has, and takes finished ones.

Iterations are scheduled and taken on the caller's thread. No Python runs anywhere else, so a main thread that keeps
Python busy does not slow the loader, and no thread outlives the pipeline.
"""

from __future__ import annotations

import ctypes as c
import functools
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
from penstock.run import gpu, native
from penstock.run.feed import Fed, feed
from penstock.run.inputs import Given, Input, Inputs, give_back
from penstock.run.program import Program
from penstock.tensors import TensorListCPU, TensorListGPU
from penstock.tensors.gpu_memory import GpuMemory

_POLL_MS = 100  # how soon Ctrl-C is noticed while waiting


class _Batch:
    """A finished iteration's memory: given back when the last tensor that shows it is gone."""

    def __init__(self, handle: int, library: Any, kept: Sequence[Fed] = ()):
        self.handle = handle
        self._kept = kept  # memory of users that the outputs show
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
    given: Sequence[Given]


def _close(handle: int, pid: int) -> None:
    if os.getpid() == pid:  # a forked child has none of the threads
        native.blocking().ps_executor_destroy(handle)


class Executor:
    """A running plan. ``depth`` iterations may be finished or under way before they are taken."""

    def __init__(
        self, plan: Plan, *, threads: int, io_threads: int, depth: int, gpu_depth: int = 0, device: int | None = None,
        stream_priority: int = 0, cpus: Sequence[int] = (), seed: int = 0, name: str = "penstock",
    ):  # fmt: skip
        if device is not None:
            gpu.prepare()
            gpu.warn_of_missing(plan.nodes)
        self.program = Program(plan, seed, device)
        self._outputs = len(plan.outputs)
        self._quick, self._blocking = native.quick(), native.blocking()
        options = native.Options(
            threads=threads, io_threads=io_threads, depth=max(depth, gpu_depth), gpu_depth=gpu_depth or depth,
            device=-1 if device is None else device, stream_priority=stream_priority, num_cpus=len(cpus),
            cpus=native.ints(cpus), name=name.encode(),
        )  # fmt: skip
        handle = self._blocking.ps_executor_create(self.program.take(), c.byref(options))
        if not handle:
            raise self.program.failure()
        self._handle = handle
        self._pid = os.getpid()
        # Runs at the latest when the interpreter exits: threads must not be left to its end.
        self._closer = weakref.finalize(self, _close, handle, self._pid)
        self._device = device
        self._scheduled: deque[_Scheduled] = deque()
        self._shown = self.program.shown(plan)
        self._next_sample = 0  # without a reader, samples are counted
        self._answer = native.Answer()
        self._failure: Exception | None = None  # what it says, if it is one
        self._waiting = threading.Lock()  # closing must not take the engine away under a call that waits
        self._feeding = threading.Lock()  # likewise
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

    def inputs(self, batch_size: int) -> Inputs:
        """The plan's external sources. They keep the executor; what they give to iterations does not."""
        inputs = [
            Input(node, numbers, functools.partial(self._feed, node.device == "gpu"), batch_size)
            for node, numbers in self.program.inputs
        ]
        return Inputs(inputs, batch_size, full=bool(self.program.readers), closed=lambda: self._closing)

    def _feed(self, on_gpu: bool, data: Any, layout: str | None, *, copy: bool, stream: Any) -> Fed:
        device = self._device if on_gpu else None
        with self._feeding:
            self._check_process()
            return feed(self._handle, data, layout, device=device, copy=copy, stream=stream)

    def schedule(self, size: int, given: Sequence[Given] = ()) -> None:
        """Starts an iteration of ``size`` samples, with what each input gives to it."""
        self._check_process()
        scheduled = _Scheduled(size, *self._now(), given)
        try:
            self._start(size, given)
        except BaseException:  # an error, or Ctrl-C: the samples that were taken are not lost
            self.set_position(scheduled.states, scheduled.counted)
            give_back(given)
            raise
        self._scheduled.append(scheduled)

    def _start(self, size: int, given: Sequence[Given]) -> None:
        for g in given:
            for number, fed in g.numbered():
                self._quick.ps_executor_feed(self._handle, number, fed.handle)
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

    def take(self, gpu_too: bool = False) -> tuple[TensorListCPU | TensorListGPU, ...]:
        """Waits for the oldest iteration, on request also for its work on the GPU, and hands out its outputs."""
        self.wait(gpu_too)
        answer, self._answer = self._answer, native.Answer()
        scheduled = self._scheduled.popleft()
        size = scheduled.size
        if answer.state < 0:
            failure, self._failure = self._failure, None
            raise failure or self.program.failure()
        handle = answer.batch
        shown = [value for g in scheduled.given for number, value in g.numbered() if number in self._shown]
        batch = _Batch(handle, self._quick, shown)
        outputs: list[TensorListCPU | TensorListGPU] = []
        for k in range(self._outputs):
            samples = (native.Tensor * size)()
            flags = self._quick.ps_batch_output(handle, k, samples)
            device = self._quick.ps_batch_output_device(handle, k)
            if device < 0:
                outputs.append(TensorListCPU._from_native(batch, samples, flags))
            else:
                memory = GpuMemory.of_batch(handle, k, device)
                outputs.append(TensorListGPU._from_native(batch, memory, samples, flags))
        return tuple(outputs)

    def wait(self, gpu_too: bool = False) -> None:
        """Waits until the oldest iteration is done or has failed, which the next `take` says."""
        self._check_process()
        if not self._scheduled:
            raise GraphError("no iteration is scheduled: call schedule_run() first, or run()")
        answer = self._answer  # of an earlier call, perhaps
        while not answer.state:
            with self._waiting:
                self._check_process()
                self._blocking.ps_executor_wait(self._handle, _POLL_MS, gpu_too, c.byref(answer))
                if answer.state < 0:
                    self._failure = self.program.failure()

    def cancel(self) -> None:
        """Throws away what was scheduled; readers stand again before the first sample that nobody got."""
        self._check_process()
        self._blocking.ps_executor_cancel(self._handle)
        if self._answer.batch:
            _Batch(self._answer.batch, self._quick)  # gives it back
        self._answer = native.Answer()
        self.set_position(*self.position())
        for scheduled in reversed(self._scheduled):
            give_back(scheduled.given)
        self._scheduled.clear()

    def given_next(self) -> Sequence[Given]:
        """What inputs gave to the first batch that nobody took."""
        return self._scheduled[0].given if self._scheduled else ()

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

    def stream(self) -> int | None:
        """The handle of the CUDA stream that outputs on the GPU are made in; None: there is none."""
        self._check_process()
        return self._quick.ps_executor_stream(self._handle) or None

    @property
    def device(self) -> int | None:
        """The number of the GPU that it uses."""
        return self._device

    def kernels(self) -> list[str]:
        """The sources of all GPU kernels that batches have needed so far, in the order in which they came up."""
        count = self._quick.ps_executor_kernels(self._handle, None, 0)
        sources = (c.c_char_p * count)()
        self._quick.ps_executor_kernels(self._handle, sources, count)
        return [source.decode() for source in sources if source]

    def close(self) -> None:
        """Stops the threads, after the samples they have in hand. Other threads may be waiting in `take`."""
        self._closing = True
        if os.getpid() == self._pid:
            with self._waiting, self._feeding:
                self._closer()


def _int64(values: Any) -> Any:
    array = np.ascontiguousarray(values, np.int64)
    pointer = array.ctypes.data_as(c.POINTER(c.c_int64))
    pointer._array = array  # type: ignore[attr-defined]  # keeps the memory as long as the pointer
    return pointer
