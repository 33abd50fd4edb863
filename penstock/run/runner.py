"""A pipeline that was built: asks its sources, and starts iterations ahead of those that are taken."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from penstock.feed.inputs import Inputs
from penstock.feed.turn import Turn
from penstock.graph.blame import Blame
from penstock.machine import affinity
from penstock.optimize.plan import Plan
from penstock.read.order import LastBatch, Position, check_last_batch
from penstock.run import checkpoint
from penstock.run.checks import check_gpu
from penstock.run.executor import Executor
from penstock.run.options import Options
from penstock.run.readers import Readers, reader_of
from penstock.run.recording import Call
from penstock.run.state import parse
from penstock.tensors import TensorListCPU, TensorListGPU


class Runner:
    """A plan's executor, its external sources and its readers. It begins where ``options`` has a checkpoint.

    What schedules, takes or throws away is for who has the ``turn``.

    Attributes:
        depth: iterations that are prepared ahead, for all parts of the pipeline together.
    """

    def __init__(self, plan: Plan, options: Options, turn: Turn):
        self.plan = plan
        self._batch_size, threads = options.sizes()
        self._seed = options.seed
        more = _open_readers(plan, self._batch_size, options.seed)
        device = options.device_id if check_gpu(plan.nodes, options.device_id) else None
        if device is not None and not any(node.op.external for node in plan.nodes):
            # One more is read ahead: it goes on as soon as a batch is taken, and does not wait for a busy Python to
            # schedule it. GPUs make batches in about the time that this can take.
            more = max(more, 1)
        self.depth = options.ahead(device is not None)
        self._most = self.depth + (more if options.depth > 1 else 0)
        set_affinity = options.given["set_affinity"]
        self._processors = affinity.choose(threads, device) if set_affinity else None
        self.executor = Executor(
            plan,
            threads=threads,
            io_threads=threads,
            depth=self.depth,
            gpu_depth=options.gpu_depth,
            device=device,
            stream_priority=options.given["default_cuda_stream_priority"] or 0,
            cpus=self._processors.cpus if self._processors else [],
            seed=options.seed,
            turn=turn,
        )
        self.readers = Readers(plan.nodes)
        self.inputs: Inputs = self.executor.inputs(self._batch_size)
        self._ended: list[int] | None = None  # where a source has: the epochs that nothing is scheduled of any more
        self.executor.go_to(sources=self.inputs.places())
        if options.given["checkpoint"] is not None:
            checkpoint.restore(self.executor, self.inputs, options.given["checkpoint"], self._batch_size)
        if options.given["enable_checkpointing"]:
            checkpoint.warn_of_forgetful(self.inputs)

    def fill(self, setup: Callable[[], object]) -> None:
        """Starts as many iterations as are prepared ahead, as far as there is data; ``setup`` is called before each."""
        while self.executor.pending() < self._most and self.schedule(setup):
            pass

    def schedule(self, setup: Callable[[], object]) -> bool:
        """Starts an iteration; says whether there was data for one."""
        if self._has_ended() or self.executor.failed_to_schedule():
            return False
        try:
            if not self.executor.recording:
                setup()
                ready = self.inputs.take(self._needed)
            else:
                with self.executor.recorded(Call.SOURCE):
                    setup()
                    ready = self.inputs.take(self._needed)
        except StopIteration:
            self._ended = self._epochs()
            return False
        return ready is not None and self.executor.schedule(ready)

    def _needed(self) -> bool:
        return not self.executor.pending()

    def check_complete(self, names: Collection[str]) -> None:
        """Raises NoDataError if the next iteration would lack data even when these inputs are fed."""
        self.executor.failed_to_schedule()
        self.inputs.check_complete(names)

    def kernels(self, setup: Callable[[], object]) -> list[str]:
        """The sources of the GPU's kernels, made by the first batch."""
        if not self.executor.kernels():
            self.fill(setup)
            if self.executor.pending():
                self.executor.wait()
        return self.executor.kernels()

    def take(self, gpu_too: bool) -> tuple[TensorListCPU | TensorListGPU, ...]:
        """The oldest batch, see `Executor.take`; StopIteration where a source has ended and none is left."""
        if self._over():
            raise StopIteration
        try:
            return self.executor.take(gpu_too=gpu_too)
        finally:
            self.inputs.forget()

    def reset(self) -> None:
        """Throws away what was prepared ahead. At the end of sources, they begin their next epoch."""
        over = self._over()
        self.executor.cancel()
        if over:
            self._restart()
        self._ended = None

    def start_epoch(self, epoch: int) -> None:
        """Throws away what was prepared ahead; readers and sources begin an epoch."""
        over = self._over()
        self.reset()
        if not over:  # else they just did
            self._restart()
        self.executor.go_to([Position(epoch, 0)] * len(self.executor.cursors))

    def _restart(self) -> None:
        self.inputs.restart(self.executor.place.sources)
        self.executor.go_to(sources=self.inputs.places())

    def set_last_batch(self, reader: str, last_batch: str) -> None:
        """Throws away what was prepared ahead, and sets it for a reader and those in step with it."""
        value: LastBatch = check_last_batch(last_batch)
        orders = self.readers.in_step_with(reader)
        self.reset()
        for order in orders:
            order.last_batch = value
        self.executor.go_to()  # has the orders look anew

    def position(self, reader: str) -> Position:
        """Where a reader is: the first sample that was not handed out yet."""
        number = self.readers.number(reader)
        return Position(*self.executor.place.states[number])

    def checkpoint(self, noted: Mapping[str, Any] | None = None) -> str:
        """The state after the last batch that was handed out, and what an iterator notes in it."""
        return checkpoint.save(self.executor, self.inputs, self._seed, self._batch_size, noted)

    def check_state(self, state: Any) -> None:
        """Raises ArgumentError where a pipeline with this state would be another one, and GraphError where this one is
        closed, or another process's.
        """
        self.executor.check_process()
        checkpoint.check(self.executor, self.inputs, parse(state), self._batch_size)

    def close(self) -> None:
        """Stops the threads, and lets others have their processors."""
        self.executor.close()
        self._processors = None

    def _over(self) -> bool:
        return self._has_ended() and not self.executor.pending()

    def _has_ended(self) -> bool:
        return self._ended is not None and self._ended == self._epochs()

    def _epochs(self) -> list[int]:
        return [epoch for epoch, _ in self.executor.place.sources.values()]


def _open_readers(plan: Plan, batch_size: int, seed: int) -> int:
    """Gives readers their orders; tells how many batches more they want to be ahead."""
    ahead = 0
    for node in plan.nodes:
        if node.op.fed:
            reader = reader_of(node)
            with Blame(reader.name, node.location):
                reader.open(batch_size, seed)
            ahead = max(ahead, reader.prefetch_queue_depth - 1)
    return ahead
