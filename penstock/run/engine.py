"""The native engine of one pipeline: made, looked at and closed. `penstock.run.executor` has it run iterations.

All here may be called from any thread at any moment: the engine sees to it that it is not closed under a call.
"""

from __future__ import annotations

import ctypes as c
import os
import threading
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from penstock import _settings
from penstock.errors import GraphError, StoppedError
from penstock.feed.turn import Turn
from penstock.graph.blame import warn
from penstock.graph.node import OpNode
from penstock.machine import codecs, gpu, native
from penstock.op import Done
from penstock.optimize.plan import Plan
from penstock.run import recording
from penstock.run.calls import Calls, join
from penstock.run.passes import Passes
from penstock.run.program import Program
from penstock.run.reads import Reads
from penstock.run.recording import Call, Recording

_NOTHING = nullcontext()
_NEW_ROWS = 64  # of the engine's counts, between two looks


class _Owner:
    """Who has it keeps the native engine: the pipeline, and the thread of its functions."""


def _close(handle: c.c_void_p, pid: int, thread: threading.Thread | None) -> None:
    # A forked child has none of the threads. Closing twice does nothing.
    if not handle or os.getpid() != pid:
        return
    if native.blocking().ps_executor_close(handle) < 0:
        warn(native.last_error().message.decode(errors="replace"), RuntimeWarning)
    if thread:
        join(thread)


def _free(handle: c.c_void_p, pid: int) -> None:
    if os.getpid() == pid:
        native.blocking().ps_executor_destroy(c.byref(handle))


class Engine:
    """A running plan."""

    def __init__(
        self, plan: Plan, *, threads: int, io_threads: int, depth: int, gpu_depth: int, device: int | None,
        stream_priority: int, cpus: Sequence[int], seed: int, name: str, turn: Turn,
    ):  # fmt: skip
        codecs.prepare()
        if device is not None:
            gpu.prepare()
        self.program = Program(plan, seed, device)
        for chosen in self.program.chosen.values():
            chosen.warn_of_missing()
        self._quick, self._blocking = native.quick(), native.blocking()
        options = native.Options(
            threads=threads, io_threads=io_threads, depth=max(depth, gpu_depth), gpu_depth=gpu_depth or depth,
            device=-1 if device is None else device, stream_priority=stream_priority, num_cpus=len(cpus),
            cpus=native.ints(cpus), name=name.encode(), read_timeout=_settings.READ_TIMEOUT.value(),
        )  # fmt: skip
        self._handle = c.c_void_p()  # the engine writes to it, so there is no moment in which nobody has it
        self._pid = os.getpid()
        owner, self._turn = _Owner(), turn
        self._owner = owner
        weakref.finalize(owner, _free, self._handle, self._pid).atexit = False  # other threads may be in a call then
        functions = self.program.called
        self.calls = Calls(self._handle, owner, functions, device, turn, name, threads) if functions else None
        self._thread = self.calls.thread if self.calls else None
        # Runs at the latest when the interpreter exits: threads must not be left to its end.
        weakref.finalize(self, _close, self._handle, self._pid, self._thread)
        if self._blocking.ps_executor_create(self.program.take(), c.byref(options), c.byref(self._handle)) < 0:
            raise self.program.failure()
        self._device = device
        self.threads = threads  # that work on samples; those behind them wait for files
        self._closing = False
        self.recording: Recording | None = None  # while somebody wants a profile
        self.last_batches: Any = None  # the `penstock.run.timeline.Timeline` of those that were recorded last

    def check_process(self) -> None:
        """Raises GraphError where the pipeline is closed, or another process's."""
        if os.getpid() != self._pid:
            raise GraphError(
                "this pipeline was built in another process, and threads do not survive a fork: "
                "build the pipeline in the process that runs it"
            )
        if self._closing or not self._handle:
            raise GraphError("the pipeline is closed")

    @property
    def closed(self) -> bool:
        """Whether it has been stopped."""
        return self._closing or not self._handle

    def handed_out(self) -> int:
        """Iterations that were taken."""
        raise NotImplementedError

    def _checked(self, result: int) -> int:
        if result < 0:  # it was closed a moment ago
            raise self.program.failure()
        return result

    def node_times(self) -> list[tuple[Any, float, float, int]]:
        """Per group's first node: (node, seconds in setup, seconds in run, samples), over all threads."""
        self.check_process()
        count = len(self.program.nodes)
        rows = (c.c_int64 * (3 * count))()
        self._checked(self._quick.ps_executor_node_stats(self._handle, rows, count))
        return [
            (node, rows[3 * i] * 1e-9, rows[3 * i + 1] * 1e-9, rows[3 * i + 2])
            for i, node in enumerate(self.program.nodes)
        ]

    def decoded(self) -> dict[OpNode, Done]:
        """Of nodes whose work several can do: who has done how much so far."""
        if not self.program.chosen:
            return {}
        self.check_process()
        count, width = len(self.program.nodes), native.DECODER_STATS
        rows = (c.c_int64 * (width * count))()
        self._quick.ps_executor_decoder_stats(self._handle, rows, count)
        return {
            node: self.program.chosen[node].done(node.op.name, rows[width * i : width * (i + 1)])
            for i, node in enumerate(self.program.nodes)
            if node in self.program.chosen
        }

    def passes(self) -> dict[OpNode, Passes]:
        """By the first node of groups of several: how many samples so far went through them in one pass."""
        self.check_process()
        count = self._checked(self._quick.ps_executor_passes(self._handle, None, 0)) + _NEW_ROWS
        rows = (native.Passes * count)()
        count = min(self._checked(self._quick.ps_executor_passes(self._handle, rows, count)), count)
        nodes = self.program.nodes
        together: dict[OpNode, int] = {}
        apart: dict[OpNode, dict[tuple[str, str], int]] = {}
        for row in rows[:count]:
            node = nodes[row.node]
            together.setdefault(node, 0)
            if row.why is None:
                together[node] += row.samples
            else:
                reasons = apart.setdefault(node, {})
                why = (nodes[row.misfit].op.name, row.why.decode())
                reasons[why] = reasons.get(why, 0) + row.samples
        return {node: Passes(n, apart.get(node, {})) for node, n in together.items()}

    def reads(self) -> dict[OpNode, Reads]:
        """By the reader, of those that write to the GPU's memory: how its samples so far came there."""
        self.check_process()
        count = self._checked(self._quick.ps_executor_reads(self._handle, None, 0)) + _NEW_ROWS
        rows = (native.Passes * count)()
        count = min(self._checked(self._quick.ps_executor_reads(self._handle, rows, count)), count)
        straight: dict[OpNode, int] = {}
        copied: dict[OpNode, dict[str, int]] = {}
        for row in rows[:count]:
            node = self.program.nodes[row.node]
            straight.setdefault(node, 0)
            if row.why is None:
                straight[node] += row.samples
            else:
                copied.setdefault(node, {})[row.why.decode()] = row.samples
        return {node: Reads(n, copied.get(node, {})) for node, n in straight.items()}

    def notes(self) -> dict[OpNode, list[str]]:
        """Lines about nodes, for `Pipeline.explain`: what does their work, and how much it has done."""
        found = {node: node.op.notes() for node in self.program.nodes if node.op.notes()}
        found |= {node: chosen.notes() for node, chosen in self.program.chosen.items()}
        if self.closed or os.getpid() != self._pid:
            return found
        with suppress(StoppedError):  # closed by another thread in the meantime
            for node, decoded in self.decoded().items():
                if any(decoded.files.values()):
                    found[node].append(f"so far: {decoded}")
            for node, passes in self.passes().items():
                found.setdefault(node, []).append(f"so far: {passes}")
            for node, reads in self.reads().items():
                found.setdefault(node, []).append(f"so far: {reads}")
        return found

    def record(self) -> Recording:
        """Begins to record what threads do, until its `stop`."""
        self.check_process()
        self.recording = recording.of_engine(self._handle)
        self.recording.start()
        return self.recording

    def recorded(self, call: Call) -> AbstractContextManager[None]:
        """Notes what is done in this block, if somebody records."""
        recording = self.recording  # others may end it
        return recording.call(call, self.handed_out()) if recording else _NOTHING

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
        self.check_process()
        count = self._checked(self._quick.ps_executor_thread_stats(self._handle, (c.c_int64 * 0)(), 0))
        rows = (c.c_int64 * (2 * count))()
        self._checked(self._quick.ps_executor_thread_stats(self._handle, rows, count))
        return [(rows[2 * i] * 1e-9, rows[2 * i + 1] * 1e-9) for i in range(count)]

    def memory(self) -> tuple[int, int]:
        """(bytes held by the pools, the most they ever held)."""
        self.check_process()
        held, peak = c.c_int64(), c.c_int64()
        self._checked(self._quick.ps_executor_memory(self._handle, c.byref(held), c.byref(peak)))
        return held.value, peak.value

    def stream(self) -> int | None:
        """The handle of the CUDA stream that outputs on the GPU are made in; None: there is none."""
        self.check_process()
        return self._quick.ps_executor_stream(self._handle) or None

    @property
    def device(self) -> int | None:
        """The number of the GPU that it uses."""
        return self._device

    def kernels(self) -> list[str]:
        """The sources of all GPU kernels that batches have needed so far, in the order in which they came up."""
        self.check_process()
        count = self._checked(self._quick.ps_executor_kernels(self._handle, None, 0))
        sources = (c.c_char_p * count)()
        self._quick.ps_executor_kernels(self._handle, sources, count)
        return [source.decode() for source in sources if source]

    def close(self) -> None:
        """Stops the threads, after the samples they have in hand. Whoever waits in `take`, or was interrupted there by
        the signal handler that calls this, gets an error.

        RuntimeWarning: a thread waits for a file that does not answer. It is left behind, with the memory it writes to.
        """
        self._closing = True
        _close(self._handle, self._pid, self._thread)
