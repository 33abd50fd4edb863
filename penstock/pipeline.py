"""`Pipeline`: DALI's way to say what happens to data, and to run it."""

from __future__ import annotations

import os
from typing import Any

from penstock import _settings, types
from penstock.decode import engines
from penstock.errors import GraphError
from penstock.graph.blame import warn
from penstock.graph.node import DataNode, Scope
from penstock.optimize.explain import explain
from penstock.optimize.passes import optimize
from penstock.optimize.plan import Plan, Where
from penstock.pipeline_def import do_not_convert, pipeline_def
from penstock.read.broken_samples import BrokenSample
from penstock.read.order import Order, Position
from penstock.run.arguments import PIPELINE_AKA, named
from penstock.run.checks import OutputCheck, check_names, check_scope, output_node, warn_of_unused
from penstock.run.dot import write_dot
from penstock.run.options import OperatorConcurrency, Options, StreamPolicy
from penstock.run.runner import Runner
from penstock.run.serialize import Serializable
from penstock.run.statistics import statistics
from penstock.run.turn import Turn, in_turn
from penstock.run.ways import Ways
from penstock.tensors import TensorListCPU, TensorListGPU
from penstock.types import PipelineAPIType

__all__ = ["DataNode", "OperatorConcurrency", "Pipeline", "StreamPolicy", "do_not_convert", "pipeline_def"]


class Pipeline(Serializable):
    """A graph of operators and the engine that runs it.

    Make one by `pipeline_def`, by subclassing with ``define_graph``, or inside ``with Pipeline(...) as pipe:`` followed
    by ``pipe.set_outputs(...)``. `run` gives the next batch.

    Args:
        batch_size: samples of a batch, at most.
        num_threads: threads that work on samples. As many more read files ahead, which takes processor time of its
            own: about a tenth of what decoding photographs takes when they are in the page cache.
        device_id: the GPU, by its number; None: none. Nothing is asked of a GPU before an operator runs on one.
        seed: of all random numbers. None or -1: another one each time.
        exec_pipelined: prepare batches ahead. False: each `run` prepares one and waits for it.
        prefetch_queue_depth: batches prepared ahead. Or ``{"cpu_size": c, "gpu_size": g}``: where operators run on a
            GPU, g batches are in its memory, and c more are behind them, as far as the CPU gets; elsewhere, c batches.
        exec_async: as ``exec_pipelined``: False prepares nothing ahead.
        set_affinity: bind each thread that works on samples to a processor, and others to all of these together. They
            are near the GPU (of its NUMA node), among those that the process may use. Processes of one machine that
            say ``LOCAL_RANK`` and ``LOCAL_WORLD_SIZE``, as under torchrun, and pipelines of one process take different
            ones as long as there are enough. ``DALI_AFFINITY_MASK``, such as ``3,5,6``, names them instead.
        default_cuda_stream_priority: of the pipeline's CUDA streams; a lower number is more urgent, and 0 the least.
        enable_memory_stats: `statistics` also tells of the GPU's memory.
        output_dtype: what `run` checks its outputs' types against: a type, or one per output (None: any).
        output_ndim: likewise, numbers of axes.
        output_layout: likewise, layouts.
        py_num_workers, py_start_method, py_callback_pickler: accepted without an effect: sources of users are called in
            this process.
        enable_checkpointing: accepted without an effect: states are small and always kept.
        checkpoint: what `Pipeline.checkpoint` gave: the pipeline goes on from there, with that one's seed.
        bytes_per_sample, max_streams, exec_dynamic, experimental_exec_dynamic, stream_policy, concurrency: accepted
            without an effect. Memory is taken as it is needed. There is one executor, in which operators on the CPU may
            follow those on the GPU (``.cpu()``), and any number of times. Each pipeline has its own CUDA streams, for
            decoding, copies and kernels, so that these overlap; which one an operator uses follows from what it does.

    Errors: ArgumentError and ArgumentTypeError for arguments; what operators raise, see `penstock.errors`.
    """

    @named("Pipeline", PIPELINE_AKA)
    def __init__(
        self,
        batch_size: int | None = None,
        num_threads: int | None = None,
        device_id: int | None = None,
        seed: int | None = None,
        exec_pipelined: bool = True,
        prefetch_queue_depth: int | dict[str, int] = 2,
        exec_async: bool = True,
        bytes_per_sample: int = 0,
        set_affinity: bool = False,
        max_streams: int | None = None,
        default_cuda_stream_priority: int | None = None,
        *,
        enable_memory_stats: bool = False,
        enable_checkpointing: bool = False,
        checkpoint: str | None = None,
        py_num_workers: int = 1,
        py_start_method: str = "fork",
        py_callback_pickler: Any = None,
        output_dtype: Any = None,
        output_ndim: Any = None,
        output_layout: Any = None,
        exec_dynamic: bool | None = None,
        experimental_exec_dynamic: bool | None = None,
        stream_policy: Any = None,
        concurrency: Any = None,
    ):
        super().__init__()
        self._set_options({k: v for k, v in locals().items() if k not in ("self", "__class__")})
        self._outputs: list[DataNode] | None = None
        self._plan: Plan | None = None
        self._turn = Turn()
        self._runner: Runner | None = None
        self._shared: tuple[TensorListCPU | TensorListGPU, ...] | None = None
        self._ways = Ways()

    def _set_options(self, given: dict[str, Any]) -> None:
        self._options = Options.checked(given)
        self._check = OutputCheck(given["output_dtype"], given["output_ndim"], given["output_layout"])

    # The definition.

    def define_graph(self) -> Any:
        """Returns the outputs. Subclasses and `pipeline_def` say how."""
        raise GraphError("the pipeline has no outputs: call set_outputs(), or override define_graph()")

    def set_outputs(self, *outputs: Any) -> None:
        """Says what the pipeline hands out: nodes, or constants."""
        if self._plan:
            raise GraphError("the pipeline is built already: its outputs can't change any more")
        with self:
            self._outputs = [output_node(o, i) for i, o in enumerate(outputs)]

    def add_sink(self, node: DataNode) -> None:
        """Keeps an operator that no output needs."""
        node.source.preserve = True

    @staticmethod
    def current() -> Pipeline | None:
        """The pipeline that is being defined on this thread."""
        scope = Scope.current()
        return scope if isinstance(scope, Pipeline) else None

    @classmethod
    def push_current(cls, pipeline: Pipeline) -> None:
        """Makes this pipeline the current one, as ``with pipeline:`` does."""
        pipeline.__enter__()

    @classmethod
    def pop_current(cls) -> None:
        """Ends what `push_current` began."""
        pipeline = cls.current()
        if pipeline is None:
            raise GraphError("no pipeline is current")
        pipeline.__exit__()

    def build(self) -> None:
        """Defines, optimizes and starts the pipeline. `run` does it where that has not happened yet.

        With a reader of ``lazy_init=True`` it is started, and files are listed, when something is asked of it.
        """
        if not self._runner:
            self._build()

    @in_turn
    def _build(self, now: bool = False) -> None:
        if now or not any(getattr(node.op, "lazy_init", False) for node in self._planned().nodes):
            self._prepared()

    def _prepared(self) -> Runner:
        """What runs; built by who has the turn, where that has not happened yet."""
        if self._runner:
            return self._runner
        runner = self._runner = Runner(self._planned(), self._options, self._turn)  # at the end: Ctrl-C may come before
        return runner

    def _planned(self) -> Plan:
        if self._plan is not None:
            return self._plan
        self._options.sizes()
        _settings.check()
        outputs = self._defined()
        self._check.lengths(len(outputs))
        check_names(self.nodes)
        check_scope(outputs, self._key)
        plan = self._plan = optimize(outputs, [n for n in self.nodes if n.preserve], engines.leaves_planes)
        warn_of_unused(plan)
        return plan

    def _define_by(self, define_graph: Any) -> None:
        if self._runner or "define_graph" in vars(self):
            return
        if self._outputs is not None:
            raise GraphError("define_graph was given, but the pipeline's outputs are set already, by set_outputs()")
        self.define_graph = define_graph  # type: ignore[method-assign]

    def _defined(self) -> list[DataNode]:
        """The outputs, after `define_graph` where they are not known yet."""
        if self._outputs is None:
            nodes, scopes = len(self.nodes), len(self._stack())
            try:
                with self:
                    outputs = self.define_graph()
                self.set_outputs(*(outputs if isinstance(outputs, (tuple, list)) else [outputs]))
            except BaseException:
                del self.nodes[nodes:], self._stack()[scopes:]  # Ctrl-C comes anywhere; the next attempt begins anew
                raise
        assert self._outputs is not None
        return self._outputs

    # Running.

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
                for name, batch in inputs.items():
                    runner.inputs.feed(name, batch, None, None)
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
            >>> pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
            >>> with pipe:
            ...     pipe.set_outputs(fn.external_source(name="numbers") + 1)
            >>> pipe.feed_input("numbers", np.array([[1, 2], [3, 4]]))
            >>> pipe.run()[0].as_array()
            array([[2, 3],
                   [4, 5]])
        """
        self._built().inputs.feed(data_node, data, layout, cuda_stream)

    def iter_setup(self) -> None:
        """Called before each iteration is scheduled: subclasses may call `feed_input`, or raise StopIteration."""

    @in_turn
    def schedule_run(self) -> None:
        """Starts preparing the next batch; the first call starts as many as the prefetch queue takes."""
        runner = self._prepared()
        with self.using(PipelineAPIType.SCHEDULED):
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
        """Lets go of what `share_outputs` handed out; whoever still holds the tensors keeps them."""
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

    def checkpoint(self, filename: str | os.PathLike[str] | None = None) -> str:
        """The state after the last batch that was handed out; ``Pipeline(checkpoint=...)`` goes on from there.

        A short JSON text. Where ``filename`` is given, it is written there, too. Any thread may ask for it at any
        moment, and so may a signal handler, whatever it interrupts.
        """
        text = self._built().checkpoint()
        if filename is not None:
            with open(filename, "w", encoding="utf-8") as file:
                file.write(text)
        return text

    @property
    def is_restored_from_checkpoint(self) -> bool:
        """Whether the pipeline was made with ``checkpoint=``."""
        return self._options.given["checkpoint"] is not None

    def close(self) -> None:
        """Stops the threads and gives back the memory that nobody holds. Deleting the pipeline does it, too.

        Any thread may call it at any moment, and so may a signal handler: a call that is under way, or was interrupted,
        then raises StoppedError or GraphError.
        """
        self._shared = None
        self._ways.checked = False  # whatever it is asked now, it is closed
        if self._runner:
            self._runner.close()

    # What can be asked.

    def epoch_size(self, name: str | None = None) -> Any:
        """The number of samples of the data set of one reader, or of all readers by name."""
        return self._built().readers.epoch_size(name)

    def reader_meta(self, name: str | None = None) -> dict[str, Any]:
        """Size and shards of one reader, or of all readers by name."""
        return self._built().readers.meta(name)

    def reader_order(self, name: str) -> Order:
        """The order in which a reader reads; see `penstock.read.order`."""
        return self._built().readers.order(name)

    def reader_position(self, name: str) -> Position:
        """Where a reader is: epoch and position of the first sample that was not handed out yet."""
        return self._built().position(name)

    def may_skip(self) -> bool:
        """Whether broken samples are skipped, so that epochs may turn out to be shorter."""
        return any(node.op.on_error == "skip" for node in self._built().plan.nodes)

    @in_turn
    def wait(self) -> None:
        """Waits for the oldest batch that was scheduled, or for its failure, which `share_outputs` raises."""
        self._prepared().executor.wait()

    def explain(self, source: bool = False) -> str:
        """The plan: which operators run together, on which threads, and what is computed before shapes are known.

        Of decoders with ``device="mixed"`` it says what decodes JPEG, and why, and how many files each engine has had.

        With ``source=True`` the sources of the GPU's kernels follow, as the compiler gets them. They are made for the
        types of the data, so the first batch is prepared where that has not happened yet; `run` hands it out.
        """
        runner = self._built()
        text = explain(runner.plan, engines.notes(runner.executor))
        if not source or not any(segment.where is Where.GPU for segment in runner.plan.segments):
            return text
        return "\n\n".join([text, *self._explain()])

    @in_turn
    def _explain(self) -> list[str]:
        return self._prepared().kernels(self.iter_setup)

    def broken_samples(self) -> list[BrokenSample]:
        """The samples that were found broken so far, by operators with ``on_error="skip"`` or ``"replace"``.

        What a checkpoint says was found before it is left out, too, but not told here.
        """
        return list(self._built().executor.broken.samples)

    def statistics(self) -> dict[str, Any]:
        """Where the time went, by operator and thread, and the memory held; see `penstock.run.statistics`."""
        return statistics(self._built().executor, devices=bool(self._options.given["enable_memory_stats"]))

    def executor_statistics(self) -> dict[str, Any]:
        """Nothing: {}, as DALI's default executor gives. `statistics` and `penstock.profile` tell what is known here.

        (DALI's other executor gives the sizes of each operator's outputs with ``enable_memory_stats``. Here operators
        that are fused have no outputs in memory, and all share one pool.)
        """
        return {}

    def output_dtype(self) -> list[types.DALIDataType | None]:
        """The constructor's ``output_dtype``, for each output; None: any."""
        return self._check.of_each("output_dtype", self.num_outputs)

    def output_ndim(self) -> list[int | None]:
        """The constructor's ``output_ndim``, for each output; None: any."""
        return self._check.of_each("output_ndim", self.num_outputs)

    def output_layout(self) -> list[str | None]:
        """The constructor's ``output_layout``, for each output; None: any."""
        return self._check.of_each("output_layout", self.num_outputs)

    def enable_api_check(self, enable: bool) -> None:
        """Whether a GraphError says that the pipeline is run in two ways: by `run`, `schedule_run`, an iterator."""
        self._ways.checked = bool(enable)

    def using(self, way: PipelineAPIType) -> Ways:
        """For a ``with`` block that runs the pipeline in one of the ways that must not be mixed."""
        return self._ways.using(way)

    def start_py_workers(self) -> None:
        """Without effect: there are no worker processes to start before CUDA is used."""

    def handed_out(self) -> int:
        """How many batches were handed out so far, those included that failed."""
        return self._built().executor.handed_out()

    def output_stream(self) -> int | None:
        """The handle of the CUDA stream in which outputs on the GPU are made; None: no operator runs on a GPU."""
        return self._built().executor.stream()

    def save_graph_to_dot_file(
        self, filename: str | os.PathLike[str], *, show_tensors: bool = False, show_ids: bool | None = None,
        use_colors: bool = False,
    ) -> None:  # fmt: skip
        """Writes the graph for Graphviz. ``show_tensors`` draws values as nodes, ``use_colors`` fills by segment."""
        if show_ids is not None:
            warn("save_graph_to_dot_file: show_ids is deprecated: it has no effect")
        write_dot(self._built().plan, filename, show_tensors=show_tensors, use_colors=use_colors)

    def input_feed_count(self, input_name: str) -> int:
        """How many batches may be fed to an external source ahead of the first `run`, to be worked on at once."""
        runner = self._built()
        runner.inputs.check(input_name)
        return runner.depth

    @property
    def num_outputs(self) -> int:
        """How many outputs there are; defines the pipeline where that has not happened yet."""
        return len(self._defined())

    def _built(self) -> Runner:
        if not self._runner:
            self._build(now=True)
        assert self._runner is not None
        return self._runner

    def __enter__(self) -> Pipeline:
        super().__enter__()
        return self

    def __repr__(self) -> str:
        closed = self._runner is not None and self._runner.executor.closed
        state = "closed" if closed else "built" if self._plan else "not built"
        return f"<Pipeline of batch_size={self._options.batch_size}, num_threads={self._options.num_threads}, {state}>"

    # The constructor's arguments, as attributes.

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._options.attribute(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *Options.attributes()})
