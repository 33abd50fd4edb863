"""Datasets with inputs: `DALIDatasetWithInputs`, `Input`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from penstock.errors import ArgumentError, ArgumentTypeError, GraphError
from penstock.feed.external import ExternalSource
from penstock.pipeline import Pipeline
from penstock.plugin.tf.dataset import DALIDataset, Makes
from penstock.plugin.tf.runs import Feeds, together
from penstock.tensors import TensorListCPU

__all__ = ["DALIDatasetWithInputs", "Input"]


class Input:
    """An input dataset of a `DALIDatasetWithInputs`, and what its elements are.

    Args:
        dataset: a ``tf.data.Dataset`` of single tensors.
        layout: names of a sample's axes, such as "HWC"; None: those of the external source.
        batch: whether an element is a whole batch, with its samples along the first axis; False: it is a sample, and
            the dataset takes as many of them as a batch has. None: as the external source says (``batch=``).

    Raises ArgumentTypeError where ``dataset`` is none.
    """

    def __init__(self, dataset: Any, *, layout: str | None = None, batch: bool | None = False) -> None:
        if not isinstance(dataset, tf.data.Dataset):
            raise ArgumentTypeError(
                "The inputs specified to DALIDataset must be instances of type `tf.data.Dataset` got: "
                f"`{dataset}` of type: {type(dataset)} instead."
            )
        self.dataset, self.layout, self.batch = dataset, layout, batch


class DALIDatasetWithInputs(DALIDataset):
    """A `DALIDataset` whose pipeline has external sources: fed from other datasets, or with a ``source`` of their own.

    It ends where an input ends; a last batch may be smaller. Of a pipeline whose sources are Python's (``source=``) no
    other can be made: it runs itself, with its own arguments (``batch_size`` must be its own), in one iteration at a
    time.

    Args:
        input_datasets: by the ``name`` of an external source without a ``source``: a ``tf.data.Dataset`` whose elements
            are samples, or an `Input`. The other arguments are those of `DALIDataset`.

    Raises:
        ArgumentError: an input that no external source has the name of, or one that is lacking.
        GraphError: while iterating: a second iteration over a pipeline with sources of Python's.

    Example:
        >>> import tensorflow as tf
        >>> @pipeline_def
        ... def doubled():
        ...     return fn.external_source(name="x") * 2
        >>> numbers = tf.data.Dataset.range(5)
        >>> dataset = DALIDatasetWithInputs(
        ...     doubled(), tf.int64, input_datasets={"x": numbers}, batch_size=2, device_id=None
        ... )
        >>> [batch.numpy().tolist() for batch, in dataset]
        [[0, 2], [4, 6], [8]]
    """

    def __init__(self, pipeline: Pipeline, *args: Any, input_datasets: Any = None, **kwargs: Any) -> None:
        self._given = input_datasets or {}
        super().__init__(pipeline, *args, **kwargs)

    def _runs(self, pipeline: Pipeline, arguments: Mapping[str, Any]) -> Makes:
        if not isinstance(pipeline, Pipeline):
            raise ArgumentTypeError(f"DALIDatasetWithInputs: expected a Pipeline, got: {pipeline!r}")
        fed, all_sources = pipeline.fed_inputs(), pipeline.external_sources()
        for name in self._given:
            if name not in fed:
                why = "has a source of its own" if name in all_sources else "is no external source of the pipeline"
                raise ArgumentError(f"input_datasets: {name!r} {why}. It is fed by: {', '.join(fed) or 'nothing'}")
        if lacking := [name for name in fed if name not in self._given]:
            raise ArgumentError(f"input_datasets: found External Source nodes that are not fed: {', '.join(lacking)}")
        if len(fed) == len(all_sources):
            text = pipeline.serialize()
            make: Callable[[], Pipeline] = partial(Pipeline.deserialize, text, **arguments)
        else:
            if arguments["batch_size"] != pipeline.max_batch_size:
                raise ArgumentError(
                    f"batch_size={arguments['batch_size']}, but the pipeline, which has sources in Python and so runs "
                    f"itself, has {pipeline.max_batch_size}"
                )
            make = _Alone(pipeline)
        inputs = {name: one if isinstance(one, Input) else Input(one) for name, one in self._given.items()}
        elements = {name: _elements(pipeline, name, one, arguments["batch_size"]) for name, one in inputs.items()}
        return lambda: (make(), self._fed(elements))

    def _fed(self, elements: Mapping[str, Callable[[], Iterable[Any]]]) -> Feeds | None:
        return together(elements) if elements else None


class _Alone:
    """Gives out one pipeline; GraphError where that runs already."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipe, self._begun, self._lock = pipeline, False, threading.Lock()

    def __call__(self) -> Pipeline:
        if not self._lock.acquire(blocking=False):
            raise GraphError("another iteration begins over the pipeline, which has sources in Python")
        try:
            if self._begun:
                self._pipe.start_epoch(0)
            self._begun = True
            return self._pipe
        finally:
            self._lock.release()


def _elements(pipeline: Pipeline, name: str, one: Input, batch_size: int) -> Callable[[], Iterator[TensorListCPU]]:
    """What iterates over the batches of an input."""
    (op,) = (node.op for node in pipeline.nodes if node.name == name)
    assert isinstance(op, ExternalSource)
    declared = op.layouts[0]
    if declared and one.layout and one.layout != declared:
        raise ArgumentError(f"input_datasets: {name!r} has the layout {one.layout!r}, its external source {declared!r}")
    whole = op.gives_batches() if one.batch is None else one.batch
    layout = one.layout or declared or None

    def whole_batches() -> Iterator[TensorListCPU]:
        for batch in one.dataset:
            yield TensorListCPU(np.asarray(batch), layout)

    def samples() -> Iterator[TensorListCPU]:
        waiting = []
        for sample in one.dataset:
            waiting.append(np.asarray(sample))
            if len(waiting) == batch_size:
                yield TensorListCPU(waiting, layout)
                waiting = []
        if waiting:
            yield TensorListCPU(waiting, layout)

    return whole_batches if whole else samples
