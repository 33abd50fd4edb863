"""Running a pipeline: batches, one after the other, and what is fed to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.errors import ArgumentError
from penstock.feed.turn import Turn, in_turn
from penstock.feed.workers import Workers
from penstock.graph.node import DataNode
from penstock.pipeline.definition import Definition
from penstock.pipeline.ways import Ways
from penstock.run.runner import Runner
from penstock.tensors import TensorListCPU, TensorListGPU
from penstock.types import PipelineAPIType


class Running(Definition):
    """The part of `penstock.Pipeline` that starts, feeds, steps and stops it."""

    def __init__(self, arguments: dict[str, Any]):
        super().__init__(arguments)
        self._turn = Turn()
        self._runner: Runner | None = None
        self._workers: Workers | None = None
        self._shared: tuple[TensorListCPU | TensorListGPU, ...] | None = None
        self._ways = Ways()

    def build(self) -> None:
        """Defines, optimizes and starts the pipeline. `run` does it where that has not happened yet.

        With a reader of ``lazy_init=True`` it is started, and files are listed, when something is asked of it.
        """
        if not self._runner:
            self._build()

    @in_turn
    def _build(self, now: bool = False) -> None:
        if now or not any(node.op.lazy_init for node in self._planned().nodes):
            self._prepared()

    def _prepared(self) -> Runner:
        """What runs; built by the thread that has the turn, where that has not happened yet."""
        if self._runner:
            return self._runner
        self._start_py_workers()  # before the engine's threads: a fork has none of them
        runner = self._runner = Runner(self._planned(), self._options, self._turn)  # at the end: Ctrl-C may come before
        return runner

    def _built(self) -> Runner:
        if not self._runner:
            self._build(now=True)
        assert self._runner is not None
        return self._runner

    @in_turn
    def run(self, cuda_stream: Any = None, /, **inputs: Any) -> tuple[TensorListCPU | TensorListGPU, ...]:
        """The next batch: one list of tensors per output. It is the caller's: no later run overwrites it.

        ``run(name=batch)`` feeds a batch to the external source of this name first, as `feed_input` does. Raises what
        operators and sources raise; StopIteration when a source has ended and all batches before it are handed out.

        Several threads may call it: each batch goes to one of them, and with ``name=batch`` to the one that fed it, if
        all feed so.
        """
        with self.using(PipelineAPIType.BASIC):
            self._shared = None
            runner = self._prepared()
            if inputs:
                runner.check_complete(inputs)
                runner.inputs.feed_all(inputs)
            runner.fill(self.iter_setup)
            return self._share(cuda_stream)

    def feed_input(
        self, data_node: str | DataNode, data: Any, layout: str | None = None, cuda_stream: Any = None,
        use_copy_kernel: bool = False,
    ) -> None:  # fmt: skip
        """Gives an external source the data of one iteration, which runs when all sources have theirs.

        Data is used in the order in which it is fed, and copied at once unless the source has ``no_copy=True``.

        Args:
            data_node: the source, or its ``name``.
            data: a batch, as `fn.external_source` describes it.
            layout: names of a sample's axes; None: those of the source, or of the data.
            cuda_stream: for data on a GPU: see `fn.external_source`.
            use_copy_kernel: without effect.

        Raises UnknownArgumentError where there is no such source, GraphError if it has a ``source=`` of its own,
        TensorError for data that makes no batch or does not fit, DeviceError for data on another device.

        Example:
            >>> from penstock import Pipeline
            >>> pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
            >>> with pipe:
            ...     pipe.set_outputs(fn.external_source(name="numbers") + 1)
            >>> pipe.feed_input("numbers", np.array([[1, 2], [3, 4]]))
            >>> pipe.run()[0].as_array()
            array([[2, 3],
                   [4, 5]])
        """
        self._built().inputs.feed(data_node, data, layout, cuda_stream)

    def input_feed_count(self, input_name: str) -> int:
        """How many batches may be fed to an external source ahead of the first `run`, to be worked on at once."""
        runner = self._built()
        runner.inputs.check(input_name)
        return runner.depth

    def iter_setup(self) -> None:
        """Called before each iteration is scheduled: subclasses may call `feed_input`, or raise StopIteration."""

    @in_turn
    def schedule_run(self, /, **inputs: Any) -> None:
        """Starts preparing the next batch; the first call starts as many as the prefetch queue takes.

        ``schedule_run(name=batch)`` feeds a batch to the external source of this name first, as `feed_input` does: all
        of them, or none where one is refused.
        """
        runner = self._prepared()
        with self.using(PipelineAPIType.SCHEDULED):
            if inputs:
                runner.inputs.feed_all(inputs)
            if runner.executor.pending() == 0 and self._shared is None:
                runner.fill(self.iter_setup)
            else:
                runner.schedule(self.iter_setup)

    @in_turn
    def share_outputs(self, cuda_stream: Any = None) -> tuple[TensorListCPU | TensorListGPU, ...]:
        """Waits for the oldest batch that was scheduled, and hands it out. Raises StopIteration as `run` does.

        ``cuda_stream``: a CUDA stream (a handle, or a stream of PyTorch's, CuPy's ...) for which outputs on the GPU
        will be ready, without waiting for the GPU here.
        """
        with self.using(PipelineAPIType.SCHEDULED):
            return self._share(cuda_stream)

    def _share(self, cuda_stream: Any) -> tuple[TensorListCPU | TensorListGPU, ...]:
        outputs = self._prepared().take(gpu_too=cuda_stream is None)
        self._check(outputs)
        for output in outputs:
            if isinstance(output, TensorListGPU):
                output._ready(cuda_stream)
        self._shared = outputs
        return outputs

    def release_outputs(self) -> None:
        """Releases what `share_outputs` handed out; tensors that are still referenced stay valid."""
        with self.using(PipelineAPIType.SCHEDULED):
            self._shared = None

    @in_turn
    def outputs(self, cuda_stream: Any = None) -> tuple[TensorListCPU | TensorListGPU, ...]:
        """Lets go of the last outputs, waits for the next ones and hands them out."""
        with self.using(PipelineAPIType.SCHEDULED):
            self._shared = None
            return self._share(cuda_stream)

    def empty(self) -> bool:
        """Whether no batch is scheduled."""
        return self._runner is None or self._runner.executor.pending() == 0

    @in_turn
    def wait(self) -> None:
        """Waits for the oldest batch that was scheduled, or for its failure, which `share_outputs` raises."""
        self._prepared().executor.wait()

    @in_turn
    def reset(self) -> None:
        """Throws away what was prepared ahead; the next batch follows the last one that was handed out.

        After StopIteration, sources begin their next epoch: callables that take an argument are asked for iteration 0
        again, ``cycle="raise"`` begins anew, others go on. What sources gave ahead is not lost.
        """
        self._shared = None
        if self._runner:
            self._runner.reset()

    @in_turn
    def start_epoch(self, epoch: int) -> None:
        """Throws away what was prepared ahead; the next batch begins with the first samples of that epoch.

        External sources that can begin anew (see `reset`) do.
        """
        self._shared = None
        self._prepared().start_epoch(epoch)

    @in_turn
    def set_last_batch(self, reader: str, last_batch: str) -> None:
        """Sets what becomes of the last batch of an epoch, see `penstock.read.order.EpochOrder.last_batch`.

        Concerns the reader of this name, and all that read as many samples as it.
        """
        self._shared = None
        self._prepared().set_last_batch(reader, last_batch)

    @in_turn
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on where the pipeline was whose `state_dict` (or merged states, `penstock.merge_states`) this is.

        It may be called at any time, on a pipeline that has run, too: what was prepared ahead is thrown away, and so is
        what was fed and not used. The pipeline's seed is that of the state from then on. An iterator over the pipeline
        has a method of its own for this. Raises ArgumentError for what is no state, and for that of another pipeline,
        saying what differs; the pipeline stays where it is then.
        """
        if not isinstance(state, Mapping):
            raise ArgumentError(f"load_state_dict: expected what state_dict() gave, not {type(state).__name__}")
        before = self._options
        self._shared = None
        if self._runner:
            self._runner.check_state(state)
            self._runner.close()
            self._runner = None
        try:
            self._set_options({**self._options.asked, "checkpoint": state})
            self._prepared()
        except BaseException:
            self._options = before
            raise

    @in_turn
    def check_state(self, state: Any) -> None:
        """Raises ArgumentError where `load_state_dict` would."""
        self._prepared().check_state(state)

    def using(self, way: PipelineAPIType) -> Ways:
        """For a ``with`` block that runs the pipeline in one of the ways that must not be mixed."""
        return self._ways.using(way)

    def enable_api_check(self, enable: bool) -> None:
        """Whether a GraphError says that the pipeline is run in two ways: by `run`, `schedule_run`, an iterator."""
        self._ways.checked = bool(enable)

    @in_turn
    def start_py_workers(self) -> None:
        """Starts the workers of sources with ``parallel=True``, which `build` or the first `run` do otherwise.

        For ``py_start_method="fork"``, this is best done before anything else starts threads or uses CUDA.
        """
        self._start_py_workers()

    def _start_py_workers(self) -> None:
        if self._workers is None:
            given = self._options.given
            self._workers = Workers(
                self._planned().nodes, self._options.sizes()[0], given["py_num_workers"], given["py_start_method"],
                given["py_callback_pickler"],
            )  # fmt: skip

    def external_source_shm_statistics(self) -> dict[str, list[int]]:
        """The shared memory that sources with ``parallel=True`` give their data in.

        ``capacities``: bytes of each slot, which has what one call for samples of a batch, or for a batch, gave;
        ``per_sample_capacities``: the same by the number of a batch's samples, at least.
        """
        sizes = self._workers.memory() if self._workers else []
        return {"capacities": sizes, "per_sample_capacities": [n // self._options.sizes()[0] for n in sizes]}

    def close(self) -> None:
        """Stops the threads and gives back unused memory. Deleting the pipeline does it, too.

        Any thread may call it at any moment, and so may a signal handler: a call that is under way, or was interrupted,
        then raises StoppedError or GraphError.
        """
        self._shared = None
        self._ways.checked = False  # whatever it is asked now, it is closed
        if self._runner:
            self._runner.close()
        if self._workers:
            self._workers.close()

    def __repr__(self) -> str:
        closed = self._runner is not None and self._runner.executor.closed
        state = "closed" if closed else "built" if self._plan else "not built"
        return f"<Pipeline of batch_size={self._options.batch_size}, num_threads={self._options.num_threads}, {state}>"
