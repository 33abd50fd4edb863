"""`DALIGluonIterator`: tuples of arrays, for Gluon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.errors import ArgumentError
from penstock.frameworks import MXNet
from penstock.pipeline.arguments import ITERATOR_AKA, named
from penstock.plugin.base import AutoReset, LastBatchPolicy, PipelineLike
from penstock.plugin.ragged import RaggedIterator


class DALIGluonIterator(RaggedIterator[Any]):
    """Gives the outputs of one or more pipelines as arrays, for Gluon.

    ``next(iterator)`` gives a list with a tuple for each pipeline, which has an array for each of its outputs. They
    share the pipeline's memory, and stay as they are as long as they live. With `LastBatchPolicy.PARTIAL`, a pipeline
    that has no samples left is left out.

    Args:
        pipelines: the pipeline, or a list of pipelines with the same batch size.
        size: samples in an epoch, over all pipelines; see `DALIGenericIterator`.
        reader_name: the reader that says how long an epoch is, and whether it pads.
        output_types: for each output ``DENSE_TAG``: it is one array; or ``SPARSE_TAG``: a list of arrays, one for each
            sample. None: all are dense.
        auto_reset: whether the end of an epoch resets the iterator.
        fill_last_batch: deprecated: ``True`` means ``LastBatchPolicy.FILL``, ``False`` means ``PARTIAL``.
        last_batch_padded: with ``size``, whether the readers repeat the last sample at an epoch's end.
        last_batch_policy: what becomes of an epoch's last batch; see `LastBatchPolicy`.

    Raises:
        ArgumentError: another tag, or another number of tags than outputs; arguments that make no sense together.

    Example:
        >>> from penstock.plugin.mxnet import DALIGluonIterator
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.external_source(lambda: [np.float32([1, 2, 3]), np.float32([4])])
        >>> (rows,), = next(DALIGluonIterator(pipeline(), output_types=[DALIGluonIterator.SPARSE_TAG]))
        >>> [row.asnumpy().tolist() for row in rows]
        [[1.0, 2.0, 3.0], [4.0]]
    """

    SPARSE_TAG = "sparse"

    backend = MXNet()

    @named("", ITERATOR_AKA)
    def __init__(
        self,
        pipelines: PipelineLike | Sequence[PipelineLike],
        size: int = -1,
        reader_name: str | None = None,
        output_types: Sequence[str] | None = None,
        auto_reset: AutoReset = False,
        fill_last_batch: bool | None = None,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
    ) -> None:
        pipe: Any = pipelines[0] if isinstance(pipelines, (list, tuple)) and pipelines else pipelines
        if output_types is not None and (wrong := {*output_types} - {self.DENSE_TAG, self.SPARSE_TAG}):
            raise ArgumentError(f"output_types={output_types}: {min(wrong)!r} is none of 'dense' and 'sparse'")
        tags = {self.DENSE_TAG: self.DENSE_TAG, self.SPARSE_TAG: self.SPARSE_LIST_TAG}
        super().__init__(
            pipelines,
            [str(i) for i in range(getattr(pipe, "num_outputs", 0))],
            size,
            reader_name,
            None if output_types is None else [tags[tag] for tag in output_types],
            auto_reset,
            fill_last_batch,
            False,
            last_batch_padded,
            last_batch_policy,
        )

    def __next__(self) -> list[Any]:
        return [tuple(part.values()) for part in super().__next__() if part]

    def _empty(self, pipe: Any, like: Any) -> Any:
        raise NotImplementedError("pipelines without samples are left out")
