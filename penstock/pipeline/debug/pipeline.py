"""`PipelineDebug`: runs a definition anew for each batch, each operator when it is called."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from penstock.eager.compute import Computer
from penstock.eager.data import EagerNode, Tensors, given, is_known, pending
from penstock.errors import GraphError, TensorError
from penstock.feed.data import first_of
from penstock.feed.turn import in_turn
from penstock.graph.node import DataNode, OpNode, Scope
from penstock.machine import gpu
from penstock.pipeline.debug.branches import fill_up, rows_of
from penstock.pipeline.debug.node import DataNodeDebug
from penstock.pipeline.debug.sources import DebugSource
from penstock.pipeline.pipeline import Pipeline
from penstock.run.checks import check_names, output_node
from penstock.run.program import key_of
from penstock.run.readers import Readers
from penstock.tensors import TensorListCPU, TensorListGPU

_NUMBERS = (bool, int, float, complex, str, bytes, np.generic)
_pipelines: weakref.WeakSet[PipelineDebug] = weakref.WeakSet()


class PipelineDebug(Pipeline):
    """What `pipeline_def` makes with ``debug=True``, see docs/debug-mode.md.

    `run` calls the definition, whose operators run when they are called. The definition is called for each batch, and
    must make the same operators each time; their constant arguments may change.
    """

    def __init__(self, define: Callable[[], tuple[Any, ...]], **arguments: Any):
        super().__init__(**arguments)
        self._define = define
        self._computer: Computer | None = None
        self._sources: dict[int, DebugSource] = {}  # by the number of the node in the definition
        self._fed: dict[str, list[tuple[Any, ...]]] = {}  # before there are sources
        self._first: list[str] | None = None  # operators of the first iteration
        self._counted = 0  # samples, where there is no reader
        self._begin()
        _pipelines.add(self)

    def _begin(self) -> None:
        self.nodes = []
        self._drawn = 0
        self._size: int | None = None  # of the batch
        self._ids: Any = None
        self._epochs: Any = None

    @staticmethod
    def of(node: DataNodeDebug) -> PipelineDebug:
        """The pipeline that a node is of, outside of its definition."""
        for pipeline in _pipelines:
            if node.source.made_in is pipeline._key:
                return pipeline
        raise GraphError(f"{node.name}: its pipeline is gone")

    @in_turn
    def run(self, cuda_stream: Any = None, /, **inputs: Any) -> tuple[TensorListCPU | TensorListGPU, ...]:
        """The next batch, as `Pipeline.run`: the definition is run for it. Raises what the definition raises."""
        for name, batch in inputs.items():
            self.feed_input(name, batch)
        self._begin()
        Scope.__enter__(self)
        try:
            nodes = [output_node(o, i) for i, o in enumerate(self._define())]
            outputs = tuple(self.contents(node) for node in nodes)
        finally:
            Scope.__exit__(self)
        check_names(self.nodes)
        if self._first is None:
            self._first = [node.op.name for node in self.nodes]
        self._end_iteration()
        self._check.lengths(len(outputs))
        self._check(outputs)
        for output in outputs:
            if isinstance(output, TensorListGPU):
                output._ready(cuda_stream)
        return outputs

    def _end_iteration(self) -> None:
        if self._ids is None:
            self._counted += self._batch()

    def _batch(self) -> int:
        return self._options.sizes()[0] if self._size is None else self._size

    def kind_of_data(self) -> type[DataNode]:
        return DataNodeDebug

    def as_data(self, value: Any, arrays: bool = True) -> DataNode | None:
        """Batches that come from elsewhere: lists of tensors, lists of arrays, and arrays as long as the batch."""
        if isinstance(value, (list, tuple)):
            is_batch = len(value) > 0 and not any(isinstance(v, (DataNode, list, tuple, *_NUMBERS)) for v in value)
        elif isinstance(value, (TensorListCPU, TensorListGPU)):
            is_batch = True
        else:
            shape: Any = getattr(value, "shape", None) if arrays and not np.isscalar(value) else None
            is_batch = bool(shape) and not callable(shape) and shape[0] == self._batch()
        return given(_tensors(value)) if is_batch else None

    def note(self, node: OpNode) -> None:
        """Runs an operator, as far as what it reads is known: random numbers wait until somebody reads them."""
        place = len(self.nodes)
        super().note(node)
        if self._first is not None and (place >= len(self._first) or self._first[place] != node.op.name):
            raise GraphError(
                f"{node.op.shown_name()}: with debug=True a definition must make the same operators for each batch; in "
                f"the first one there was {self._first[place] if place < len(self._first) else 'none'!r} in this place"
                f"\n  operator made at {node.location}"
            )
        if node.op.random:
            node.key = key_of(node.op, self._options.seed, self._drawn)
            self._drawn += 1
        if node.op.literal() is not None:
            return
        if node.op.fed or node.op.external:
            self._take(place, node)
        elif node.preserve or any(getattr(data, "value", None) is not None for data in node.sources()):
            self._run(node)

    def _take(self, place: int, node: OpNode) -> None:
        source = self._sources.get(place)
        if source is None:
            source = self._sources[place] = DebugSource(node, self._options, self._turn)
        for arguments in self._fed.pop(source.node.name, ()):
            source.runner.inputs.feed(source.node.name, *arguments)
        outputs, order = source.take()
        size = len(outputs[0])
        if self._size not in (None, size):
            raise TensorError(
                f"{node.op.shown_name()} {node.name!r}: a batch of {size} samples, but others of this iteration have "
                f"{self._size}\n  operator made at {node.location}"
            )
        self._size = size
        if self._ids is None and order is not None:
            self._ids, self._epochs = order.ids, order.epochs
        for data, value in zip(node.outputs, outputs, strict=True):
            assert isinstance(data, EagerNode)
            data.know(value)

    def _run(self, node: OpNode) -> None:
        predicate: Any = node.op.tensors.get("predicate") if node.op.splits or node.op.merges else None
        if predicate is not None:
            self.contents(predicate)
        if node.op.merges:
            for data in node.inputs:
                if not is_known(data):
                    self.contents(data)
            fill_up(node, predicate, self._batch())
        self._compute([data for data in node.outputs if isinstance(data, EagerNode)])
        if node.op.splits:
            for data, rows in zip(node.outputs, rows_of(predicate, self._batch()), strict=True):
                assert isinstance(data, EagerNode)
                data.rows = rows

    def _compute(self, wanted: list[EagerNode]) -> None:
        for node in pending(list(wanted)):  # the samples of a branch are known when its split has run by itself
            if node is not wanted[0].source and (node.op.splits or node.op.merges) and not is_known(node.outputs[0]):
                self._run_with_sources(node)
        size = self._batch()
        ids = np.arange(self._counted, self._counted + size) if self._ids is None else self._ids
        if self._computer is None:
            threads, device = self._options.sizes()[1], self._options.device_id
            if device is not None:
                gpu.prepare()
            self._computer = Computer(threads, device)
        self._computer(wanted, size, ids, self._epochs)

    def contents(self, data: DataNode) -> Tensors:
        """What a node is, computed where it has waited until now."""
        literal = data.source.op.literal()
        if literal is not None:
            return TensorListCPU([literal.array] * self._batch(), literal.layout or None)
        if not isinstance(data, EagerNode):
            raise GraphError(f"{data!r} was made in another pipeline, or before this one ran")
        if data.value is None:
            if all(node is not data.source for node in self.nodes):
                raise GraphError(
                    f"{data.name}: this node is of an iteration that is over, and nobody asked for it then"
                )
            with self._here():
                self._run_with_sources(data.source)
        assert data.value is not None
        return data.value

    def _run_with_sources(self, node: OpNode) -> None:
        if node.op.splits or node.op.merges:
            for data in node.sources():
                self.contents(data)
            self._run(node)
        else:
            self._compute([data for data in node.outputs if isinstance(data, EagerNode)])

    def _here(self) -> Scope:
        return Scope()

    def feed_input(
        self, data_node: str | DataNode, data: Any, layout: str | None = None, cuda_stream: Any = None,
        use_copy_kernel: bool = False,
    ) -> None:  # fmt: skip
        """As `Pipeline.feed_input`. Data that is fed before the first batch waits for its source."""
        name = data_node if isinstance(data_node, str) else data_node.name
        for source in self._sources.values():
            if source.node.name == name:
                source.runner.inputs.feed(name, data, layout, cuda_stream)
                return
        if self._first is not None:
            raise GraphError(f"feed_input(): the pipeline has no input named {name!r}")
        self._fed.setdefault(name, []).append((data, layout, cuda_stream))

    def build(self) -> None:
        """Does nothing: operators are made when they are called."""

    @in_turn
    def reset(self) -> None:
        """As `Pipeline.reset`: sources that have ended begin their next epoch."""
        for source in self._sources.values():
            source.runner.reset()

    def epoch_size(self, name: str | None = None) -> Any:
        """As `Pipeline.epoch_size`, when the first batch has run."""
        return self._readers().epoch_size(name)

    def reader_meta(self, name: str | None = None) -> dict[str, Any]:
        """As `Pipeline.reader_meta`, when the first batch has run."""
        return self._readers().meta(name)

    def _readers(self) -> Readers:
        if self._first is None:
            raise GraphError("debug=True: readers are known when the first batch has run")
        return Readers(source.node for source in self._sources.values())

    def _output_names(self) -> list[str]:
        return []  # they are known when the definition runs

    def _refused(self, *_: Any, **__: Any) -> NoReturn:
        raise GraphError(
            "debug=True: operators run one by one as the definition runs, so there is no plan, nothing is prepared "
            "ahead, and no state can be kept: use run(), or leave out debug=True"
        )

    set_outputs = add_sink = _define_by = _defined = _planned = _prepared = _built = _refused
    schedule_run = share_outputs = release_outputs = outputs = empty = wait = _refused
    input_feed_count = start_py_workers = noted_by_iterator = _refused

    def __enter__(self) -> NoReturn:
        raise GraphError("debug=True works with pipeline_def alone: operators run when the definition runs, by run()")

    def close(self) -> None:
        """As `Pipeline.close`."""
        for source in self._sources.values():
            source.close()
        if self._computer:
            self._computer.close()

    def __repr__(self) -> str:
        return f"<Pipeline of batch_size={self._options.batch_size}, debug=True>"


def _tensors(value: Any) -> Tensors:
    first: Any = first_of(value)
    on_gpu = isinstance(first, TensorListGPU) or hasattr(first, "__cuda_array_interface__")
    return TensorListGPU(value) if on_gpu else TensorListCPU(value)
