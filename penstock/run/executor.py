"""Drives the native engine: says which samples each iteration has, and takes finished ones.

Iterations are scheduled and taken on the caller's thread. No Python runs anywhere else, so a main thread that keeps
Python busy does not slow the loader, and no thread outlives the pipeline but one that waits for a file in vain.

Ctrl-C may come between any two steps of this. So whatever changes more than one thing is noted first, and brought to
its end, or undone, by the next call (`Executor._settle`); and a batch is handed out by the change of one number.
"""

from __future__ import annotations

import ctypes as c
import functools
import os
import threading
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from penstock import _settings
from penstock.errors import GraphError
from penstock.graph.blame import Blame, warn
from penstock.graph.node import OpNode
from penstock.optimize.plan import Plan
from penstock.run import codecs, gpu, native, recording
from penstock.run.broken import Broken
from penstock.run.decoders import Decoded
from penstock.run.feed import Fed, feed
from penstock.run.inputs import Given, Input, Inputs
from penstock.run.program import Program
from penstock.run.recording import Call, Recording
from penstock.tensors import TensorListCPU, TensorListGPU
from penstock.tensors.gpu_memory import GpuMemory

_POLL_MS = 100  # how soon Ctrl-C is noticed while waiting
_NOTHING = nullcontext()


class _Batch:
    """An iteration's memory, once it is finished: given back when the last tensor that shows it is gone."""

    answer = native.Answer()  # of one that Ctrl-C stopped here

    def __init__(self, library: Any):
        self.answer = native.Answer()  # the engine writes to it, so there is no moment in which nobody has the batch
        self.kept: Sequence[Fed] = ()  # memory of users that the outputs show
        self._destroy = library.ps_batch_destroy
        self._pid = os.getpid()

    def __del__(self, getpid: Any = os.getpid) -> None:
        # A forked child must not touch locks that a thread of its parent may have held.
        if self.answer.batch and getpid() == self._pid:
            self._destroy(self.answer.batch)


@dataclass
class _Iteration:
    number: int
    size: int
    states: list[Any]  # of the readers, before this iteration's samples were taken
    counted: int  # samples before it, where no reader says which they are
    given: Sequence[Given]
    batch: _Batch
    before: int  # iterations that the engine had been given until then
    known: int  # samples that were known to be broken then
    taken: list[tuple[Any, Any]] = field(default_factory=list)  # indices and epochs that each reader was told
    failure: Exception | None = None


def _close(handle: c.c_void_p, pid: int) -> None:
    # A forked child has none of the threads. Closing twice does nothing.
    if os.getpid() == pid and native.blocking().ps_executor_destroy(c.byref(handle)) < 0:
        warn(native.last_error().message.decode(errors="replace"), RuntimeWarning)


class Executor:
    """A running plan. ``depth`` iterations may be finished or under way before they are taken."""

    def __init__(
        self, plan: Plan, *, threads: int, io_threads: int, depth: int, gpu_depth: int = 0, device: int | None = None,
        stream_priority: int = 0, cpus: Sequence[int] = (), seed: int = 0, name: str = "penstock",
    ):  # fmt: skip
        codecs.prepare()
        if device is not None:
            gpu.prepare()
        self.program = Program(plan, seed, device)
        gpu.warn_of_missing(self.program.jpeg_engines.values())
        self._outputs = len(plan.outputs)
        self._quick, self._blocking = native.quick(), native.blocking()
        options = native.Options(
            threads=threads, io_threads=io_threads, depth=max(depth, gpu_depth), gpu_depth=gpu_depth or depth,
            device=-1 if device is None else device, stream_priority=stream_priority, num_cpus=len(cpus),
            cpus=native.ints(cpus), name=name.encode(), read_timeout=_settings.READ_TIMEOUT.value(),
        )  # fmt: skip
        self._handle = c.c_void_p()  # the engine writes to it, so there is no moment in which nobody has it
        self._pid = os.getpid()
        # Runs at the latest when the interpreter exits: threads must not be left to its end.
        weakref.finalize(self, _close, self._handle, self._pid)
        if self._blocking.ps_executor_create(self.program.take(), c.byref(options), c.byref(self._handle)) < 0:
            raise self.program.failure()
        self._device = device
        self.threads = threads  # that work on samples; those behind them wait for files
        self._iterations: dict[int, _Iteration] = {}
        self._first = self._next = 0  # numbers of the oldest one that nobody has taken, and of the one to come
        self._starting: _Iteration | None = None  # on its way into the engine
        self._cancelling = False
        self._stuck: Exception | None = None  # why it cannot be told what the next iteration reads
        self.broken = Broken(self.program)
        self._shown = self.program.shown(plan)
        self._next_sample = 0  # without a reader, samples are counted
        self._waiting = threading.Lock()  # closing must not take the engine away under a call that waits
        self._feeding = threading.Lock()  # likewise
        self._closing = False
        self.recording: Recording | None = None  # while somebody wants a profile

    def _check_process(self) -> None:
        if os.getpid() != self._pid:
            raise GraphError(
                "this pipeline was built in another process, and threads do not survive a fork: "
                "build the pipeline in the process that runs it"
            )
        if self.closed:
            raise GraphError("the pipeline is closed")

    @property
    def closed(self) -> bool:
        """Whether it has been stopped."""
        return self._closing or not self._handle

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
        return Inputs(
            inputs, batch_size, full=bool(self.program.readers), closed=lambda: self._closing,
            numbers=lambda: (self._first, self._next),
        )  # fmt: skip

    def _feed(self, on_gpu: bool, data: Any, layout: str | None, *, copy: bool, stream: Any) -> Fed:
        device = self._device if on_gpu else None
        with self._feeding:
            self._check_process()
            return feed(self._handle, data, layout, device=device, copy=copy, stream=stream)

    def schedule(self, size: int, given: Sequence[Given] = ()) -> bool:
        """Starts an iteration of ``size`` samples, with what each input gives to it.

        What fails here is raised if no other is waiting to be taken; else it is kept for `stuck`, and False returned.
        """
        self._check_process()
        self._settle()
        before, known = self._quick.ps_executor_scheduled(self._handle), len(self.broken.samples)
        self._starting = _Iteration(self._next, size, *self._now(), given, _Batch(self._quick), before, known)
        try:
            with self.recorded(Call.SCHEDULE):
                self._start(self._starting)
        except Exception as failure:
            if not self.pending():
                raise
            self._stuck = failure
        finally:
            self._settle()
        return self._stuck is None

    def stuck(self) -> bool:
        """Whether it failed to schedule the next iteration. Raises why when all before it were taken."""
        if self._stuck and not self.pending():
            failure, self._stuck = self._stuck, None
            try:
                raise failure
            finally:
                del failure  # as in take()
        return self._stuck is not None

    def _settle(self) -> None:
        """Brings what an error or Ctrl-C left half done to its end, or undoes it."""
        if self._closing:
            return
        if self._cancelling:
            self._blocking.ps_executor_cancel(self._handle)
            self.set_position(*self._position())
            self._next = self._first
            self._iterations.clear()
            self._stuck = None
            self._cancelling = False
        if one := self._starting:
            if self._quick.ps_executor_scheduled(self._handle) > one.before:
                self._iterations[one.number] = one
                self._next = one.number + 1
            else:
                self.set_position(one.states, one.counted)  # the samples that were taken are not lost
            self._starting = None
        if next(iter(self._iterations), self._first) < self._first:
            for number in [n for n in self._iterations if n < self._first]:
                del self._iterations[number]
            for cursor, state in zip(self.cursors, self._position()[0], strict=True):
                cursor.forget(state)

    def _start(self, one: _Iteration) -> None:
        size = one.size
        for g in one.given:
            for number, fed in g.numbered():
                self._quick.ps_executor_feed(self._handle, number, fed.handle)
        ids = epochs = None
        for node, value in self.program.readers:
            with Blame(node.op.name, node.location):
                indices, when, keys = node.op.cursor.take(size)  # type: ignore[attr-defined]
            one.taken.append((indices, when))
            if ids is None:
                ids, epochs = keys, when
            indices = _int64(indices)
            if self._quick.ps_executor_feed_integers(self._handle, value, indices.ctypes.data, len(indices)) < 0:
                raise self.program.failure()
        if ids is None or epochs is None:
            ids = np.arange(self._next_sample, self._next_sample + size)
            epochs = np.zeros(size, np.int64)
            self._next_sample += size
        ids, epochs = _int64(ids), _int64(epochs)
        if self._quick.ps_executor_schedule(self._handle, size, ids.ctypes.data, epochs.ctypes.data) < 0:
            raise self.program.failure()

    def pending(self) -> int:
        """Iterations scheduled and not taken."""
        self._settle()
        return self._next - self._first

    def handed_out(self) -> int:
        """Iterations that were taken."""
        return self._first

    def take(self, gpu_too: bool = False) -> tuple[TensorListCPU | TensorListGPU, ...]:
        """Waits for the oldest iteration, on request also for its work on the GPU, and hands out its outputs."""
        with self.recorded(Call.TAKE):
            return self._take(gpu_too)

    def _take(self, gpu_too: bool) -> tuple[TensorListCPU | TensorListGPU, ...]:
        self.wait(gpu_too)
        one = self._iterations[self._first]
        if one.batch.answer.state < 0:
            failure, one.failure = one.failure or self.program.failure(), None
            self._first = one.number + 1
            try:
                raise failure
            finally:
                del failure  # its traceback shows this frame: both would keep each other, and the pipeline, alive
        outputs = self._show(one)
        if self.recording:
            self.recording.samples += one.size
        self._first = one.number + 1
        self._settle()
        if self.broken.untold:
            self.broken.warn_of_past(min((state[0] for state in self.position()[0]), default=0))
        return outputs

    def _mend(self) -> bool:
        """Starts the oldest iteration and those behind it anew, if it failed for samples that may be left out."""
        first = self._iterations[self._first]
        if not self.broken.explain(first.batch.answer, first.taken, first.known):
            return False
        again = [self._iterations[n] for n in range(self._first, self._next)]
        for one in again[1:]:  # what is broken in these is found out, too, before all begins anew
            self._wait_for(one, False)
            self.broken.explain(one.batch.answer, one.taken, one.known)
        self._cancelling = True
        self._settle()
        for one in again:
            if not self.schedule(one.size, one.given):
                break
        return True

    def _show(self, one: _Iteration) -> tuple[TensorListCPU | TensorListGPU, ...]:
        batch, handle = one.batch, one.batch.answer.batch
        batch.kept = [value for g in one.given for number, value in g.numbered() if number in self._shown]
        outputs: list[TensorListCPU | TensorListGPU] = []
        for k in range(self._outputs):
            samples = (native.Tensor * one.size)()
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
        if not self.pending():
            raise GraphError("no iteration is scheduled: call schedule_run() first, or run()")
        self._wait_for(self._iterations[self._first], gpu_too)
        while self._mend():
            self._wait_for(self._iterations[self._first], gpu_too)

    def _wait_for(self, one: _Iteration, gpu_too: bool) -> None:
        answer = one.batch.answer  # there may be one from an earlier call
        while not answer.state:
            with self._waiting:
                self._check_process()
                with self.recorded(Call.WAIT):
                    self._blocking.ps_executor_wait(self._handle, _POLL_MS, gpu_too, c.byref(answer))
                if answer.state < 0:
                    one.failure = self.program.failure()

    def cancel(self) -> None:
        """Throws away what was scheduled; readers stand again before the first sample that nobody got."""
        self._check_process()
        self._settle()
        self._cancelling = True
        self._settle()

    def position(self) -> tuple[list[Any], int]:
        """The readers' states, and how many samples were counted, before the first batch that nobody took."""
        self._settle()
        return self._position()

    def _position(self) -> tuple[list[Any], int]:
        one = self._iterations.get(self._first)
        return (one.states, one.counted) if one else self._now()

    def _now(self) -> tuple[list[Any], int]:
        return [cursor.state for cursor in self.cursors], self._next_sample

    def set_position(self, states: Sequence[Any], counted: int) -> None:
        """Goes on from there with the next iteration that is scheduled."""
        for cursor, state in zip(self.cursors, states, strict=True):
            cursor.state = state
        self._next_sample = counted

    def node_times(self) -> list[tuple[Any, float, float, int]]:
        """Per group's first node: (node, seconds in setup, seconds in run, samples), over all threads."""
        self._check_process()
        count = len(self.program.nodes)
        rows = (c.c_int64 * (3 * count))()
        self._quick.ps_executor_node_stats(self._handle, rows, count)
        return [
            (node, rows[3 * i] * 1e-9, rows[3 * i + 1] * 1e-9, rows[3 * i + 2])
            for i, node in enumerate(self.program.nodes)
        ]

    def decoded(self) -> dict[OpNode, Decoded]:
        """Of decoders with ``device="mixed"``: who has decoded how many files so far."""
        if not self.program.jpeg_engines:
            return {}
        self._check_process()
        count, width = len(self.program.nodes), native.DECODER_STATS
        rows = (c.c_int64 * (width * count))()
        self._quick.ps_executor_decoder_stats(self._handle, rows, count)
        return {
            node: Decoded.of(node.op.name, rows[width * i : width * (i + 1)])
            for i, node in enumerate(self.program.nodes)
            if node in self.program.jpeg_engines
        }

    def record(self) -> Recording:
        """Begins to record what threads do, until its `stop`."""
        self._check_process()
        self.recording = recording.of_engine(self._handle)
        self.recording.start()
        return self.recording

    def recorded(self, call: Call) -> AbstractContextManager[None]:
        """Notes what is done in this block, if somebody records."""
        return self.recording.call(call, self._first) if self.recording else _NOTHING

    def stage_times(self) -> list[float]:
        """Per node: seconds as a stage of row pipelines, measured in some of the samples while recording."""
        rows = (c.c_int64 * len(self.program.nodes))()
        self._quick.ps_executor_stage_stats(self._handle, rows, len(rows))
        return [ns * 1e-9 for ns in rows]

    def spans_lost(self) -> int:
        """Spans that the engine had no room for, in all recordings."""
        return int(self._quick.ps_executor_spans_lost(self._handle))

    def thread_times(self) -> list[tuple[float, float]]:
        """Per thread: (seconds at work, seconds since the start)."""
        self._check_process()
        count = self._quick.ps_executor_thread_stats(self._handle, (c.c_int64 * 0)(), 0)
        rows = (c.c_int64 * (2 * count))()
        self._quick.ps_executor_thread_stats(self._handle, rows, count)
        return [(rows[2 * i] * 1e-9, rows[2 * i + 1] * 1e-9) for i in range(count)]

    def memory(self) -> tuple[int, int]:
        """(bytes held by the pools, the most they ever held)."""
        self._check_process()
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
        self._check_process()
        count = self._quick.ps_executor_kernels(self._handle, None, 0)
        sources = (c.c_char_p * count)()
        self._quick.ps_executor_kernels(self._handle, sources, count)
        return [source.decode() for source in sources if source]

    def close(self) -> None:
        """Stops the threads, after the samples they have in hand. Other threads may be waiting in `take`.

        RuntimeWarning: a thread waits for a file that does not answer. It is left behind, with the memory it writes to.
        """
        self._closing = True
        if os.getpid() == self._pid:
            with self._waiting, self._feeding:
                _close(self._handle, self._pid)


def _int64(values: Any) -> Any:
    return np.ascontiguousarray(values, np.int64)
