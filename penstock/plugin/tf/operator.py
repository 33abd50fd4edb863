"""`DALIIterator`: a pipeline as an operator of TensorFlow's, in graphs and out of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import tensorflow as tf

from penstock.errors import ArgumentError
from penstock.frameworks import TensorFlow
from penstock.pipeline import Pipeline
from penstock.plugin.tf.runs import tensor

_runs: WeakKeyDictionary[Pipeline, dict[Any, Pipeline]] = WeakKeyDictionary()  # by the arguments of the calls
_of_texts: dict[Any, Pipeline] = {}


def serialize_pipeline(pipeline: Pipeline) -> bytes:
    """`Pipeline.serialize`."""
    return pipeline.serialize()


def DALIIteratorWrapper(  # noqa: N802
    pipeline: Pipeline | None = None, serialized_pipeline: bytes | str | None = None, sparse: Sequence[bool] = (),
    shapes: Sequence[Any] = (), dtypes: Sequence[Any] = (), batch_size: int = -1,
    prefetch_queue_depth: int | dict[str, int] = 2, exec_dynamic: bool | None = None, *, num_threads: int = -1,
    device_id: int | None = -1, exec_separated: bool = False,
) -> list[Any]:  # fmt: skip
    """The next batch of a pipeline: a list of tensors, one for each output.

    In a graph (``tf.function``, or one of TensorFlow 1) it is an operator that gives the next batch each time it runs.
    Calls for the same pipeline and with the same arguments go on with its batches. What runs is made of the pipeline as
    by `Pipeline.serialize`.

    Args:
        pipeline: the pipeline; or
        serialized_pipeline: what `Pipeline.serialize` gave.
        sparse: for each output, whether it becomes a ``tf.SparseTensor`` of shape ``(batch, *largest)``, since its
            samples differ in shape.
        shapes: of the outputs, with None for what is not known.
        dtypes: of the outputs.
        batch_size: instead of the pipeline's; -1: the first number of the first shape, or else the pipeline's own.
        prefetch_queue_depth: batches that are prepared ahead, or a dictionary of "cpu_size" and "gpu_size".
        exec_dynamic: accepted as in DALI, without effect.
        num_threads: instead of the pipeline's; -1: its own.
        device_id: instead of the pipeline's; -1: its own.
        exec_separated: accepted as in DALI: ``prefetch_queue_depth`` says it.

    Raises:
        ArgumentError: neither or both of ``pipeline`` and ``serialized_pipeline``, no ``dtypes``, or another number of
            them than outputs.
        OperatorError: an output of another type or shape. In graphs it is a ``tf.errors.OpError`` that says so.
        GraphError: a pipeline that cannot be serialized.

    Example:
        >>> import tensorflow as tf
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.readers.file(files=["a.jpg"] * 8, file_root=folder, name="Reader")[1]
        >>> pipe, daliop = pipeline(), DALIIterator()
        >>> [daliop(pipeline=pipe, shapes=[(4, 1)], dtypes=[tf.int32])[0].numpy().ravel().tolist() for _ in range(2)]
        [[0, 1, 2, 3], [4, 5, 6, 7]]
    """
    if (pipeline is None) == (serialized_pipeline is None):
        raise ArgumentError("DALIIterator: give either pipeline or serialized_pipeline")
    if not dtypes:
        raise ArgumentError("DALIIterator: dtypes are needed, one for each of the pipeline's outputs")
    known = [tf.TensorShape(shape) for shape in shapes] + [tf.TensorShape(None)] * (len(dtypes) - len(shapes))
    is_sparse = [*sparse, *[False] * (len(dtypes) - len(sparse))]
    if batch_size == -1 and known[0].rank:
        batch_size = known[0][0] or -1
    own = {"batch_size": batch_size, "num_threads": num_threads, "device_id": device_id}
    given = {name: value for name, value in own.items() if value != -1}
    pipe = _running(pipeline, serialized_pipeline, {**given, "prefetch_queue_depth": prefetch_queue_depth})

    def outputs() -> list[Any]:
        found = pipe.run()
        if len(found) != len(dtypes):
            raise ArgumentError(f"dtypes has {len(dtypes)} types, but the pipeline has {len(found)} outputs")
        tensors: list[Any] = []
        for i, output in enumerate(found):
            if is_sparse[i]:
                one = TensorFlow().sparse([TensorFlow().array(output[k]) for k in range(len(output))])
                tensors += [one.indices, one.values, one.dense_shape]
            else:
                tensors.append(tensor(i, output, dtypes[i], known[i]))
        return tensors

    flat = outputs() if tf.executing_eagerly() else _in_graph(outputs, dtypes, known, is_sparse)
    parts = iter(flat)
    return [tf.SparseTensor(next(parts), next(parts), next(parts)) if s else next(parts) for s in is_sparse]


def _in_graph(outputs: Callable[[], list[Any]], dtypes: Sequence[Any], shapes: Any, sparse: Sequence[bool]) -> Any:
    kinds: list[tuple[Any, Any]] = []
    for dtype, shape, is_sparse in zip(dtypes, shapes, sparse, strict=True):
        coo = [(tf.int64, (None, None)), (dtype, (None,)), (tf.int64, (None,))]
        kinds += coo if is_sparse else [(dtype, shape)]
    flat = tf.py_function(outputs, [], [dtype for dtype, _ in kinds])
    for one, (_, shape) in zip(flat, kinds, strict=True):
        one.set_shape(shape)
    return flat


def _running(pipeline: Pipeline | None, text: bytes | str | None, arguments: dict[str, Any]) -> Pipeline:
    key: Any = repr(sorted(arguments.items()))
    runs = _of_texts
    if pipeline is None:
        key = text, key
    else:
        runs = _runs.setdefault(pipeline, {})
    if key not in runs:
        runs[key] = Pipeline.deserialize(text if pipeline is None else pipeline.serialize(), **arguments)
    return runs[key]


def DALIIterator() -> Callable[..., list[Any]]:  # noqa: N802
    """The operator: `DALIIteratorWrapper`, which says how it is called."""
    return DALIIteratorWrapper


def DALIRawIterator() -> Callable[..., list[Any]]:  # noqa: N802
    """The same operator, for scripts that call it with ``serialized_pipeline=`` only."""
    return DALIIteratorWrapper
