"""`Pipeline`: DALI's way to say what happens to data, and to run it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from penstock.errors import GraphError
from penstock.graph.node import Scope
from penstock.pipeline.arguments import PIPELINE_AKA, named
from penstock.pipeline.serialize import Serializable


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
        enable_memory_stats: `statistics` also has the GPU's memory.
        output_dtype: what `run` checks its outputs' types against: a type, or one per output (None: any).
        output_ndim: likewise, numbers of axes.
        output_layout: likewise, layouts.
        py_num_workers, py_start_method, py_callback_pickler: accepted without an effect: sources of users are called in
            this process.
        enable_checkpointing: states are always kept, for they are small. True: what a state cannot restore, such as a
            source that is an iterable, is warned of when the pipeline is built, not when a state is asked for.
        checkpoint: what `Pipeline.checkpoint` or an iterator gave: the pipeline goes on from there, with that one's
            seed. See docs/checkpoints.md.
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
        checkpoint: str | Mapping[str, Any] | None = None,
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
        super().__init__({k: v for k, v in locals().items() if k not in ("self", "__class__")})

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

    def __enter__(self) -> Pipeline:
        super().__enter__()
        return self

    def _chosen(self) -> dict[str, Any]:
        defaults = inspect.signature(Pipeline.__init__).parameters
        return {name: value for name, value in self._options.asked.items() if value != defaults[name].default}
