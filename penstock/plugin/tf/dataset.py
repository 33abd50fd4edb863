"""`DALIDataset`: a pipeline as a ``tf.data.Dataset``."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from penstock.errors import ArgumentError, ArgumentTypeError, GraphError
from penstock.graph.blame import warn
from penstock.pipeline import Pipeline
from penstock.plugin.tf.runs import Feeds, batches, tensor
from penstock.tensors import TensorListGPU

Makes = Callable[[], tuple[Pipeline, Feeds | None]]


def dataset_options() -> Any:
    """Options of datasets that leave it to the pipeline how many threads work."""
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    return options


def dataset_compatible_tensorflow() -> bool:
    """Whether there can be a `DALIDataset` in this TensorFlow: in any that has ``tf.data.Dataset``."""
    return True


def dataset_inputs_compatible_tensorflow() -> bool:
    """Whether datasets may have inputs."""
    return True


def dataset_distributed_compatible_tensorflow() -> bool:
    """Whether ``tf.distribute`` may take datasets."""
    return True


class _PipelineDataset(tf.data.Dataset):  # type: ignore[misc]  # TensorFlow has no types
    """A dataset of what a pipeline gives, of which each iteration has its own."""

    def __init__(self, make: Makes, dtypes: Any, shapes: Any, fail_on_device_mismatch: bool) -> None:
        kinds = _kinds(dtypes, shapes)
        served = _Served(make, kinds, fail_on_device_mismatch)
        tickets = tf.data.Dataset.from_generator(served.tickets, output_signature=tf.TensorSpec((), tf.int64))

        def redeemed(ticket: Any) -> Any:
            outputs = tf.py_function(served.redeem, [ticket], [dtype for dtype, _ in kinds])
            for output, (_, shape) in zip(outputs, kinds, strict=True):
                output.set_shape(shape)
            return tuple(outputs)

        self._dataset = tickets.map(redeemed).with_options(dataset_options())
        super().__init__(self._dataset._variant_tensor)

    def _inputs(self) -> list[Any]:
        return [self._dataset]

    @property
    def element_spec(self) -> Any:
        return self._dataset.element_spec


class _Served:
    """Runs the iterations. What a generator gives to ``tf.data`` is copied, so that gives out tickets alone."""

    def __init__(self, make: Makes, kinds: Sequence[tuple[Any, Any]], fail_on_device_mismatch: bool) -> None:
        self._make, self._kinds, self._fails = make, kinds, fail_on_device_mismatch
        self._numbers, self._ready, self._lock = itertools.count(), dict[int, Sequence[Any]](), threading.Lock()

    def tickets(self) -> Iterator[int]:
        """An iteration over the pipeline's batches: a number for each of them."""
        pipe, feeds = self._make()
        number = -1
        try:
            for outputs in batches(pipe, feeds):
                self._check(outputs)
                with self._lock:
                    number = next(self._numbers)
                    self._ready[number] = outputs
                yield number
        finally:  # the last one may not have been redeemed
            with self._lock:
                self._ready.pop(number, None)

    def redeem(self, ticket: Any) -> list[Any]:
        """The tensors for a number."""
        with self._lock:
            outputs = self._ready.pop(int(ticket))
        return [tensor(i, output, *self._kinds[i]) for i, output in enumerate(map(_on_cpu, outputs))]

    def _check(self, outputs: Sequence[Any]) -> None:
        if len(outputs) != len(self._kinds):
            raise ArgumentError(
                f"output_dtypes has {len(self._kinds)} types, but the pipeline has {len(outputs)} outputs"
            )
        if self._fails and any(isinstance(output, TensorListGPU) for output in outputs):
            raise GraphError(
                "an output of the pipeline is on a GPU, and tf.data works on the CPU: move it there in the pipeline, "
                "pass fail_on_device_mismatch=False to have it copied, or use penstock.plugin.tf.DALIGenericIterator, "
                "which gives tensors where they are"
            )


def _on_cpu(output: Any) -> Any:
    return output.as_cpu()


def _kinds(dtypes: Any, shapes: Any) -> list[tuple[Any, Any]]:
    """Type and shape of each output."""
    types = dtypes if isinstance(dtypes, tuple) else (dtypes,)
    if not types or not all(isinstance(dtype, tf.DType) for dtype in types):
        raise ArgumentTypeError(
            "`output_dtypes` should be provided as single tf.DType value or a tuple of tf.DType values. "
            f"Got value `{dtypes}` of the type `{type(dtypes)}`."
        )
    if shapes is None:
        shapes = (None,) * len(types)
    elif not isinstance(dtypes, tuple):
        shapes = (shapes,)
    if len(shapes) != len(types):
        raise ArgumentError(f"output_shapes={shapes!r} has {len(shapes)} shapes for {len(types)} output_dtypes")
    return [(dtype, tf.TensorShape(shape)) for dtype, shape in zip(types, shapes, strict=True)]


def renamed(value: Any, old: Any, name: str) -> Any:
    """An argument that has an older name, too."""
    if old is None:
        return value
    if value is not None:
        raise ArgumentError(f"output_{name} and {name}, its older name, are both given")
    warn(f"Use `output_{name}` instead of `{name}`, which is its older name", Warning)  # of DALI's category
    return old


class DALIDataset(_PipelineDataset):
    """A ``tf.data.Dataset`` of a pipeline's batches, without end: each element is a tuple of tensors, one per output.

    Each iteration over it runs a pipeline of its own, made of the one that is given as by `Pipeline.serialize`, with
    the arguments given here: ``pipeline`` itself does not run, and its ``batch_size`` does not count. Batches are not
    copied on their way into ``tf.data``. Keras wants to know by ``steps_per_epoch`` how long an epoch is.

    Args:
        pipeline: without external sources: see `experimental.DALIDatasetWithInputs` for those.
        output_dtypes: a ``tf.DType``, or a tuple of them, one for each output.
        output_shapes: shapes of the batches, with None for what is not known; None: nothing is known. An axis of one
            element that the pipeline's output has besides is left out.
        fail_on_device_mismatch: whether an output on a GPU is an error. False: it is copied to the CPU, where
            ``tf.data`` works.
        batch_size: samples of a batch.
        num_threads: threads of the pipeline.
        device_id: the GPU's number; it is not used where the pipeline has no operators on GPUs. None: there is none.
        exec_separated: whether there are two queues, of ``cpu_prefetch_queue_depth`` and ``gpu_prefetch_queue_depth``.
        exec_dynamic: accepted as in DALI, without effect.
        prefetch_queue_depth: batches that are prepared ahead.
        dtypes: the older name of ``output_dtypes``.
        shapes: the older name of ``output_shapes``.

    Raises:
        ArgumentTypeError: ``output_dtypes`` are no types.
        ArgumentError: another number of shapes than of types; a pipeline with external sources.
        GraphError: what cannot be serialized.
        tf.errors.OpError: while iterating: whatever the pipeline raises, and outputs of other types or shapes.

    Example:
        >>> import tensorflow as tf
        >>> @pipeline_def
        ... def pipeline():
        ...     return fn.readers.file(files=["a.jpg"] * 8, file_root=folder, name="Reader")[1]
        >>> dataset = DALIDataset(pipeline(), tf.int32, (4, 1), batch_size=4, device_id=None)
        >>> [numbers.numpy().ravel().tolist() for numbers, in dataset.take(3)]
        [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 2, 3]]
    """

    def __init__(
        self, pipeline: Pipeline, output_dtypes: Any = None, output_shapes: Any = None,
        fail_on_device_mismatch: bool = True, *, batch_size: int = 1, num_threads: int = 4, device_id: int | None = 0,
        exec_separated: bool = False, exec_dynamic: bool = False, prefetch_queue_depth: int = 2,
        cpu_prefetch_queue_depth: int = 2, gpu_prefetch_queue_depth: int = 2, dtypes: Any = None, shapes: Any = None,
    ) -> None:  # fmt: skip
        depth = {"cpu_size": cpu_prefetch_queue_depth, "gpu_size": gpu_prefetch_queue_depth}
        arguments = {
            "batch_size": batch_size, "num_threads": num_threads, "device_id": device_id,
            "prefetch_queue_depth": depth if exec_separated else prefetch_queue_depth,
        }  # fmt: skip
        make = self._runs(pipeline, arguments)
        kinds = renamed(output_dtypes, dtypes, "dtypes"), renamed(output_shapes, shapes, "shapes")
        super().__init__(make, *kinds, fail_on_device_mismatch)

    def _runs(self, pipeline: Pipeline, arguments: Mapping[str, Any]) -> Makes:
        """What makes a pipeline for an iteration, and what it is fed."""
        if not isinstance(pipeline, Pipeline):
            raise ArgumentTypeError(f"DALIDataset: expected a Pipeline, got: {pipeline!r}")
        if names := pipeline.external_sources():
            raise ArgumentError(
                f"DALIDataset got a pipeline with the external sources {', '.join(names)}: "
                "'experimental.DALIDatasetWithInputs' takes these"
            )
        text = pipeline.serialize()
        return lambda: (Pipeline.deserialize(text, **arguments), None)
