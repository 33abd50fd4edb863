"""Drives the native engine: says which samples each iteration has, and takes finished ones.

Iterations are scheduled and taken on the caller's thread. No Python runs anywhere else but the user's functions
(`penstock.run.calls`), so a main thread that keeps Python busy does not slow the loader, and no thread outlives the
pipeline but one that waits for a file or a function in vain.

Ctrl-C may come between any two steps of this. So whatever changes more than one thing is noted first, and brought to
its end, or undone, by the next call (`Executor._finish_interrupted`); and a batch is handed out by one assignment, of
the `Place` behind it. All that schedules, takes or cancels needs the lock of the pipeline's `penstock.feed.turn.Turn`;
what only looks goes by that place, and may be called at any moment, and so may `close`.
"""

from __future__ import annotations

import ctypes as c
import functools
from collections.abc import Sequence
from typing import Any

from penstock.errors import GraphError
from penstock.feed.data import Fed, feed
from penstock.feed.inputs import Input, Inputs, Places, Ready
from penstock.feed.turn import Turn
from penstock.optimize.plan import Plan
from penstock.run.batches import Batch
from penstock.run.broken import Broken
from penstock.run.engine import Engine
from penstock.run.iterations import Iteration, Iterations, Place
from penstock.run.recording import Call
from penstock.tensors import TensorListCPU, TensorListGPU
from penstock.tensors.arrays import addresses

_POLL_MS = 100  # how soon Ctrl-C is noticed while waiting


class Executor(Engine):
    """A running plan. ``depth`` iterations may be finished or under way before they are taken."""

    def __init__(
        self, plan: Plan, *, threads: int, io_threads: int, depth: int, gpu_depth: int = 0, device: int | None = None,
        stream_priority: int = 0, cpus: Sequence[int] = (), seed: int = 0, name: str = "penstock",
        turn: Turn | None = None,
    ):  # fmt: skip
        super().__init__(
            plan, threads=threads, io_threads=io_threads, depth=depth, gpu_depth=gpu_depth, device=device,
            stream_priority=stream_priority, cpus=cpus, seed=seed, name=name, turn=turn or Turn(),
        )  # fmt: skip
        self.iterations = Iterations([node for node, _ in self.program.readers])
        self._cancelling = False
        self._not_scheduled: Exception | None = None  # the error that scheduling the next iteration raised
        self._scheduled: int | None = None  # iterations that the engine was given, where that is known
        self.broken = Broken(self.program)
        self._shown = self.program.shown(plan)
        if self.calls:
            self.calls.thread.start()

    @property
    def cursors(self) -> list[Any]:
        """Where the readers are (see penstock/read/order.py), in the order of the plan."""
        return self.iterations.cursors

    @property
    def place(self) -> Place:
        """Where the first iteration begins that nobody has taken."""
        return self.iterations.place

    def inputs(self, batch_size: int) -> Inputs:
        """The plan's external sources. They keep the executor; what they give to iterations does not."""
        inputs = [
            Input(node, numbers, functools.partial(self._feed, node.device == "gpu"), batch_size)
            for node, numbers in self.program.inputs
        ]
        return Inputs(
            inputs, batch_size, full=bool(self.program.readers), turn=self._turn, closed=lambda: self._closing,
            numbers=self.iterations.numbers,
        )  # fmt: skip

    def _feed(self, on_gpu: bool, data: Any, layout: str | None, *, copy: bool, stream: Any) -> Fed:
        device = self._device if on_gpu else None
        self.check_process()
        pinned = self._device is not None
        return feed(self._handle, data, layout, device=device, copy=copy, stream=stream, waits=pinned)

    def schedule(self, ready: Ready) -> bool:
        """Starts an iteration, with what each input gives to it.

        What fails here is raised if no other is waiting to be taken; else it is kept for `failed_to_schedule`, and
        False returned. Where the data was refused, the iteration is one that has failed.
        """
        self.check_process()
        self._finish_interrupted()
        before, self._scheduled = self._scheduled, None
        if before is None:
            before = int(self._quick.ps_executor_scheduled(self._handle))
        one = self.iterations.begin(ready, before, len(self.broken.samples), Batch(self._quick))
        try:
            if self.recording:
                with self.recorded(Call.SCHEDULE):
                    self._start(one)
            else:  # without the calls that a block of nothing takes
                self._start(one)
        except Exception as failure:
            if not self.pending():
                raise
            self._not_scheduled = failure
        finally:
            self._finish_interrupted()
        return self._not_scheduled is None

    def failed_to_schedule(self) -> bool:
        """Whether it failed to schedule the next iteration. Raises why when all before it were taken."""
        self._finish_interrupted()  # before inputs are asked: what was interrupted may have numbers of its own
        if self._not_scheduled and not self.pending():
            failure, self._not_scheduled = self._not_scheduled, None
            try:
                raise failure
            finally:
                del failure  # as in take()
        return self._not_scheduled is not None

    def _finish_interrupted(self) -> None:
        """Brings what an error or Ctrl-C left half done to its end, or undoes it."""
        if (self.iterations.settled and not self._cancelling) or self._closing:
            return
        if self._cancelling:
            self._blocking.ps_executor_cancel(self._handle)
            self.iterations.throw_away()
            self._not_scheduled = None
            self._cancelling = False
        one = self.iterations.starting
        self.iterations.finish_interrupted(has_started=one is not None and self._has_started(one))

    def _has_started(self, one: Iteration) -> bool:
        if one.accepted or one.failure is not None:
            return True
        return int(self._quick.ps_executor_scheduled(self._handle)) > one.before

    def _start(self, one: Iteration) -> None:
        order = self.iterations.order(one)
        if one.ready.failure:  # the samples are used up all the same: readers and sources stay in step
            one.batch.answer.state = -1
            one.failure = one.ready.failure
            return
        for (_, value), indices in zip(self.program.readers, order.indices, strict=True):
            if self._quick.ps_executor_feed_integers(self._handle, value, *addresses([indices]), len(indices)) < 0:
                raise self.program.failure()
        for g in one.ready.given:
            for number, fed in g.numbered():
                self._quick.ps_executor_feed(self._handle, number, fed.handle)
        if order.ids is None:
            done = self._quick.ps_executor_schedule_counted(self._handle, one.ready.size, order.first)
        else:
            keys = addresses([order.ids, order.epochs])
            done = self._quick.ps_executor_schedule(self._handle, one.ready.size, *keys)
        if done < 0:
            raise self.program.failure()
        one.accepted = True
        self._scheduled = one.before + 1

    def pending(self) -> int:
        """Iterations scheduled and not taken."""
        iterations = self.iterations
        one, coming = iterations.starting, iterations.coming  # no step may be in between: others look, too
        if one is not None and one.begin.number == coming and self._has_started(one):
            coming += 1
        number = iterations.place.number
        return coming - number if coming > number and not self._cancelling else 0

    def handed_out(self) -> int:
        """Iterations that were taken."""
        return self.place.number

    def take(self, gpu_too: bool = False) -> tuple[TensorListCPU | TensorListGPU, ...]:
        """Waits for the oldest iteration, on request also for its work on the GPU, and hands out its outputs."""
        if not self.recording:
            return self._take(gpu_too)
        with self.recorded(Call.TAKE):
            return self._take(gpu_too)

    def _take(self, gpu_too: bool) -> tuple[TensorListCPU | TensorListGPU, ...]:
        self.wait(gpu_too)
        one = self.iterations.oldest
        assert one.end is not None
        if one.batch.answer.state < 0:
            failure, one.failure = one.failure or one.ready.failure or self._failure_of(one), None
            self.iterations.hand_out(one.end)
            try:
                raise failure
            finally:
                del failure  # its traceback shows this frame: both would keep each other, and the pipeline, alive
        outputs = self._show(one)
        if recording := self.recording:
            recording.samples += one.ready.size
        self.iterations.hand_out(one.end)
        self._finish_interrupted()
        if self.broken.unreported:
            self.broken.warn_of_past(min((state[0] for state in self.place.states), default=0))
        return outputs

    def _mend(self) -> bool:
        """Starts the oldest iteration and those behind it anew, if it failed for samples that may be left out."""
        first = self.iterations.oldest
        if not self.broken.explain(first.batch.answer, first.taken, first.known):
            return False
        again = self.iterations.waiting()
        for one in again[1:]:  # what is broken in these is found out, too, before all begins anew
            self._wait_for(one, False)
            self.broken.explain(one.batch.answer, one.taken, one.known)
        self._cancelling = True
        self._finish_interrupted()
        for one in again:
            if not self.schedule(one.ready):
                break
        return True

    def _show(self, one: Iteration) -> tuple[TensorListCPU | TensorListGPU, ...]:
        if self._shown:
            one.batch.kept = [value for g in one.ready.given for number, value in g.numbered() if number in self._shown]
        size = one.ready.size
        return tuple([one.batch.show(value, size) for value in self.program.outputs])

    def wait(self, gpu_too: bool = False) -> None:
        """Waits until the oldest iteration is done or has failed, which the next `take` says."""
        self.check_process()
        self._finish_interrupted()
        if not self.pending():
            raise GraphError("no iteration is scheduled: call schedule_run() first, or run()")
        first = self.iterations.oldest
        self._wait_for(first, gpu_too)
        while self.iterations.oldest.batch.answer.state < 0 and self._mend():
            self._wait_for(self.iterations.oldest, gpu_too)

    def _wait_for(self, one: Iteration, gpu_too: bool) -> None:
        answer = one.batch.answer  # there may be one from an earlier call
        while not answer.state:
            if not self.recording:
                self._blocking.ps_executor_wait(self._handle, _POLL_MS, gpu_too, c.byref(answer))
            else:
                with self.recorded(Call.WAIT):
                    self._blocking.ps_executor_wait(self._handle, _POLL_MS, gpu_too, c.byref(answer))
            if answer.state < 0:
                one.failure = self._failure_of(one)
            elif not answer.state:
                self.check_process()

    def _failure_of(self, one: Iteration) -> Exception:
        """Why the last native call failed, which waited for this iteration."""
        failure = self.program.failure()
        failure.__cause__ = self.calls.raised(one.before) if self.calls else None
        return failure

    def cancel(self) -> None:
        """Throws away what was scheduled; readers stand again before the first sample that nobody got."""
        self.check_process()
        self._finish_interrupted()
        self._cancelling = True
        self._finish_interrupted()

    def go_to(
        self, states: Sequence[Any] | None = None, counted: int | None = None, sources: Places | None = None
    ) -> None:
        """The next iteration begins there: nothing may be scheduled. What is left out stays as it is."""
        self._finish_interrupted()
        self.iterations.go_to(states, counted, sources)
