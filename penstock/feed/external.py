"""``fn.external_source``: data that users give."""

from __future__ import annotations

from typing import Any

from penstock import _values
from penstock.errors import ArgumentError, ArgumentTypeError
from penstock.feed.ahead import Ahead
from penstock.feed.input_op import InputOp
from penstock.feed.poll import Poll, cycle_of
from penstock.op import arg, op
from penstock.types import NO_TYPE

_MOST_AHEAD = 1024  # batches; beyond that nothing but memory is used up


@op("external_source", inputs=0, devices=("cpu", "gpu"))
class ExternalSource(InputOp):
    """Data from the user's own code: from a source that is asked for it, or fed before each run.

    With ``source``, each iteration takes a batch from it:

    - a callable is called: without an argument, or with one if it takes one, which tells what is asked for: the
      iteration's number in the epoch, or with ``batch_info=True`` a `types.BatchInfo`;
    - an iterable or a generator function gives one item after the other; so does a sequence, such as a map-style
      dataset, by its ``[index]`` from 0 until that raises IndexError.

    With ``batch=False`` the source gives one sample at a time: it is asked ``batch_size`` times for each batch, and an
    argument is a `types.SampleInfo`. With ``num_outputs`` each item is a tuple or list of that many, and the operator
    returns a list of nodes.

    Without ``source``, the data of each iteration comes from ``pipe.feed_input(name, batch)`` or
    ``pipe.run(name=batch)``. Each output of ``ops.ExternalSource(num_outputs=...)()`` is fed by itself then.

    A batch is an array with the samples along its first axis, a list of arrays of one type and number of axes (and of
    shapes of their own), or a TensorList. Arrays are NumPy's, PyTorch's or CuPy's tensors, or whatever has DLPack, the
    buffer protocol, ``__array_interface__`` or (with ``device="gpu"``) ``__cuda_array_interface__``. A batch may have
    fewer samples than the pipeline's batch size; all sources of an iteration must give as many, and where there is a
    reader, full batches. Type, number of axes and layout stay the same in all iterations.

    Outputs: the data, with its own type and shapes; on a GPU with ``device="gpu"``, to which data on the CPU is copied.

    The source is called on the thread that runs the pipeline, as many iterations ahead as the pipeline prepares; with
    ``parallel=True`` in ``py_num_workers`` processes, and with ``parallel="threads"`` in as many threads, and earlier.
    A callable takes one argument then, and any worker may be asked in any order, also for what is behind the end; an
    iterable or generator function stays with one worker. What processes give is memory of the CPU, which is copied
    once. docs/external-source.md shows how.

    What the source raises comes out of ``pipe.run()`` as it is (where it was a process, the ``__cause__`` shows the
    lines there), and the pipeline can be run again: a source that takes an argument is then asked for the same again.
    StopIteration comes when all batches before it have been handed out; ``pipe.reset()``, which the iterators of
    `penstock.plugin` do, then begins the next epoch. It must not use its own pipeline, but for what only looks and for
    `feed_input`.

    Data that does not fit fails its iteration as a whole: what readers and other sources gave to that is used up, too,
    so all stay in step, and the next ``run`` gives what follows.

    A checkpoint keeps where a source that takes an argument is; others must be brought to the right place by the user.

    Errors: ArgumentError and ArgumentTypeError for arguments; TensorError for data that does not fit, from ``run`` or
    ``feed_input``; NoDataError from ``run`` where nothing was fed; WorkerError where a worker ends twice over the same
    data (once, its work is done by another, and a RuntimeWarning says so), or does not answer within
    ``PENSTOCK_READ_TIMEOUT``.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     numbers = fn.external_source(lambda i: np.full((2, 3), i, np.float32))
        ...     return numbers, fn.external_source(name="mine", layout="HW") * 2
        >>> numbers, mine = pipeline().run(mine=[np.ones((2, 2), np.uint8), np.ones((1, 3), np.uint8)])
        >>> mine.shape(), mine.layout()
        ([(2, 2), (1, 3)], 'HW')
    """

    positional = ("source", "num_outputs")

    source = arg(
        None,
        "Callable, iterable or generator function that gives the data.",
        kind="any",
        to_kernel=False,
        aka=["callback", "callable", "iterator", "generator", "data"],
    )
    count = arg(
        None, "How many outputs the source gives; the operator then returns a list.", kind="integer", to_kernel=False,
        name="num_outputs",
        aka=["num_output", "outputs"],
    )  # fmt: skip
    cycle = arg(
        None,
        "At the end of an iterable or generator function: 'no' (or False): StopIteration, from then on; 'quiet' (or "
        "True): it begins again at once; 'raise': StopIteration, and it begins again after a reset.",
        kind="any",
        to_kernel=False,
    )
    layout = arg(None, "Layout of the samples, or a list of one per output.", kind="any", to_kernel=False)
    dtype = arg(None, "Type that the data must have, or a list of one per output.", kind="any", to_kernel=False)
    ndim = arg(None, "Axes that a sample must have, or a list of one per output.", kind="any", to_kernel=False)
    batch = arg(
        None, "Whether the source gives whole batches (the default) or samples.", kind="boolean", to_kernel=False
    )
    batch_info = arg(
        None, "Whether a callable gets a BatchInfo rather than the iteration's number.", kind="boolean", to_kernel=False
    )
    no_copy = arg(
        None,
        "Use the memory of the arrays itself: it must not be changed before the batch's outputs are there, nor while "
        "they are held if they show it. Data is copied all the same from one device to another. Default: False, and "
        "with `parallel=True` always True: that memory is the workers'.",
        kind="boolean",
        to_kernel=False,
    )
    repeat_last = arg(False, "Where nothing new was fed, use what was fed last.", to_kernel=False)
    blocking = arg(
        False, "Where nothing was fed, `run` waits until another thread does, rather than fail.", to_kernel=False
    )
    cuda_stream = arg(
        None,
        "CUDA stream on which GPU data is made: a handle or a stream object of a framework; 0: the default stream, -1: "
        "none, the data is there. Default: the current stream of the data's framework.",
        kind="any",
        to_kernel=False,
    )
    use_copy_kernel = arg(None, "Copy by a kernel.", kind="boolean", unused="data is copied by the GPU's copy engines")
    parallel = arg(
        False,
        "Call the source ahead, in workers: True: in processes; 'threads': in threads of this process, which is for "
        "callables that let go of the GIL, and for Python without one.",
        kind="any",
        to_kernel=False,
    )
    prefetch_queue_depth = arg(
        None,
        "With `parallel`: batches that the source is asked for before the pipeline needs them (default: 1).",
        kind="integer",
        to_kernel=False,
    )

    bytes_per_sample_hint = arg(
        None,
        "With `parallel`: what a sample has at most.",
        kind="integer",
        unused="shared memory is taken page by page, as it is written to",
    )

    def prepare(self) -> None:
        if self.parallel not in (None, False, True, "threads"):
            raise self.wrong("parallel", "expected True, False or 'threads'")
        if self.source is None:
            self._refuse_without_source()
        elif self.repeat_last:
            raise self.wrong("repeat_last", "it is for data that is fed, not for a source")
        elif self.parallel:
            self._prepare_ahead()
        else:
            self.poll = Poll(
                self.source, cycle=self.cycle, batch=self.gives_batches(), batch_info=bool(self.batch_info)
            )
        for name in ("prefetch_queue_depth", "bytes_per_sample_hint"):
            value = getattr(self, name)
            if value is not None and not self.parallel:
                raise self.wrong(name, "it goes with `parallel`")
            if value is not None and value < 1:
                raise self.wrong(name, "expected 1 or more")
        if self.count is not None and self.count < 1:
            raise ArgumentError(f"external_source: num_outputs={self.count!r}: expected 1 or more")
        self.layouts = self._each("layout", "layout")
        self.dtypes = [None if dtype is NO_TYPE else dtype for dtype in self._each("dtype", "dtype")]
        self.ndims = self._each("ndim", "integer")
        for layout, ndim in zip(self.layouts, self.ndims, strict=True):
            if ndim is not None and (ndim < 0 or (layout and len(layout) != ndim)):
                raise self.wrong(
                    "ndim", f"expected {len(layout)}, as of {layout=!r}" if layout else "expected 0 or more"
                )

    def _prepare_ahead(self) -> None:
        depth = 1 if self.prefetch_queue_depth is None else self.prefetch_queue_depth
        if depth > _MOST_AHEAD:
            raise self.wrong("prefetch_queue_depth", f"expected at most {_MOST_AHEAD}")
        threads = self.parallel == "threads"
        if self.no_copy is False and not threads:
            raise self.wrong("no_copy", "with parallel=True the memory of the workers is used itself")
        if not threads:
            self.no_copy = True
        batches = self.gives_batches()
        self.poll = Ahead(
            self.source, cycle=self.cycle, batch=batches, batch_info=bool(self.batch_info), depth=depth,
            threads=threads,
        )  # fmt: skip
        if not (self.poll.indexed or self.poll.iterates):
            raise ArgumentTypeError(
                f"external_source: source={self.source!r} takes no argument: with parallel={self.parallel!r} "
                "a callable takes one, which tells which sample or batch is asked for, so that any worker can be asked"
            )

    def _refuse_without_source(self) -> None:
        if cycle_of(self.cycle) != "no":
            raise self.wrong("cycle", "only a source can cycle")
        if self.parallel:
            raise self.wrong("parallel", "it goes with a source")
        if self.count is not None:
            raise ArgumentError(
                f"external_source: num_outputs={self.count!r} goes with a source; feed several operators instead"
            )

    def _each(self, argument: str, kind: str) -> list[Any]:
        """One value per output: those of a list, of which some may be missing, or the same for all."""
        given, count = getattr(self, argument), self.num_outputs()
        values = list(given) if isinstance(given, (list, tuple)) else [given] * count
        try:
            values = [None if v is None else _values.convert(kind, v) for v in values]
        except (TypeError, ValueError, OverflowError) as e:
            expected = _values.describe(kind)
            raise ArgumentTypeError(f"external_source: {argument}={given!r}: expected {expected}, or a list") from e
        return (values + [None] * count)[:count]

    @classmethod
    def parts(cls, given: dict[str, Any]) -> list[dict[str, Any]] | None:
        """Several outputs without a source are as many inputs, each fed by itself."""
        count = given.get("num_outputs")
        if given.get("source") is not None or not isinstance(count, int):
            return None
        if given.get("name") is not None:
            raise ArgumentError(f"external_source: name={given['name']!r} cannot be that of num_outputs={count}")
        parts = []
        for k in range(count):
            part = {name: value for name, value in given.items() if name != "num_outputs"}
            for name in ("layout", "dtype", "ndim"):
                if isinstance(given.get(name), (list, tuple)):
                    part[name] = given[name][k] if k < len(given[name]) else None
            parts.append(part)
        return parts

    def num_outputs(self) -> int:
        return self.count or 1

    def gives_list(self) -> bool:
        return self.count is not None
