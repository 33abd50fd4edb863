"""Iterators that give `mx.io.DataBatch`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mxnet as mx

from penstock.errors import ArgumentError, GraphError
from penstock.frameworks import MXNet
from penstock.pipeline.arguments import ITERATOR_AKA, named
from penstock.plugin.base import AutoReset, BaseIterator, LastBatchPolicy, PipelineLike


class _Parts(dict[str, Any]):
    """What one pipeline gave, and how much of it is padding."""

    pad = 0


class DALIGenericIterator(BaseIterator[Any], mx.io.DataIter):  # type: ignore[misc]  # MXNet has no types
    """Gives the outputs of one or more pipelines as ``mx.io.DataBatch``, for modules of MXNet's.

    ``next(iterator)`` gives a list with one batch for each pipeline. Its arrays share the pipeline's memory, and stay
    as they are as long as they live. (DALI's are overwritten by later batches.) Batches are full: with
    `LastBatchPolicy.PARTIAL`, ``pad`` says how many samples at the end of one are there to fill it.

    Args:
        pipelines: the pipeline, or a list of pipelines with the same batch size.
        output_map: for each output a pair of its name and ``DATA_TAG`` or ``LABEL_TAG``.
        size: samples in an epoch, over all pipelines. -1: as ``reader_name`` says, or else, with a single pipeline,
            until that raises StopIteration.
        reader_name: the reader that says how long an epoch is, and whether it pads.
        data_layout: "NCHW" or "NHWC": goes into ``provide_data``.
        fill_last_batch: deprecated: ``True`` means ``LastBatchPolicy.FILL``, ``False`` means ``PARTIAL``.
        auto_reset: whether the end of an epoch resets the iterator.
        squeeze_labels: whether labels lose their axes of one element (but for the batch's).
        dynamic_shape: accepted as in DALI, without effect: shapes may always differ from batch to batch.
        last_batch_padded: with ``size``, whether the readers repeat the last sample at an epoch's end.
        last_batch_policy: what becomes of an epoch's last batch; see `LastBatchPolicy`.

    Attributes:
        provide_data, provide_label: descriptions of what batches have, all pipelines' together; asking for one takes
            the first batch, which ``next`` then gives.

    Raises:
        ArgumentError: arguments that make no sense, alone or together.
        OperatorError: while iterating: samples of an output differ in shape, or have a type that MXNet lacks.

    Example:
        >>> from penstock.plugin.mxnet import DALIGenericIterator
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.readers.file(files=["a.jpg"] * 8, file_root=folder, name="Reader")
        >>> tags = [("jpeg", DALIGenericIterator.DATA_TAG), ("number", DALIGenericIterator.LABEL_TAG)]
        >>> iterator = DALIGenericIterator(pipeline(), tags, reader_name="Reader")
        >>> [batch[0].label[0].asnumpy().tolist() for batch in iterator]
        [[0, 1, 2, 3], [4, 5, 6, 7]]
    """

    DATA_TAG = "data"
    LABEL_TAG = "label"

    backend = MXNet()
    _first: list[Any] | None = None  # the first batch of an epoch, where it was described and not given

    @named("", ITERATOR_AKA)
    def __init__(
        self,
        pipelines: PipelineLike | Sequence[PipelineLike],
        output_map: Sequence[tuple[str, str]],
        size: int = -1,
        reader_name: str | None = None,
        data_layout: str = "NCHW",
        fill_last_batch: bool | None = None,
        auto_reset: AutoReset = False,
        squeeze_labels: bool = True,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
    ) -> None:
        tags = (self.DATA_TAG, self.LABEL_TAG)
        if wrong := [pair for pair in output_map if len(pair) != 2 or pair[1] not in tags]:
            raise ArgumentError(
                f"output_map: {wrong[0]!r} is no pair of a name and one of {', '.join(map(repr, tags))}"
            )
        self._tagged = {tag: [name for name, is_ in output_map if is_ == tag] for tag in tags}
        self._data_layout, self._squeezes = data_layout, squeeze_labels
        super().__init__(
            pipelines,
            [name for name, _ in output_map],
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
        )

    def __next__(self) -> list[Any]:
        if self._first is not None:
            batch, self._first = self._first, None
            return batch
        return [self._batch_of(part) for part in super().__next__()]

    def reset(self) -> None:
        """Begins the next epoch, also from the middle of an epoch; does nothing if the epoch has just begun."""
        if self._first is None:
            super().reset()

    def checkpoints(self) -> list[str]:
        """As those of `penstock.plugin.pytorch`; GraphError while a batch was described and not taken."""
        if self._first is not None:
            raise GraphError("checkpoints(): the first batch was described, and would be lost: take it by next() first")
        return super().checkpoints()

    @property
    def provide_data(self) -> list[Any]:
        return self._described(self.DATA_TAG, self._data_layout)

    @property
    def provide_label(self) -> list[Any]:
        return self._described(self.LABEL_TAG, None)

    def _described(self, tag: str, layout: str | None) -> list[Any]:
        descriptions: dict[str, list[Any]] = self.__dict__.setdefault("_descriptions", {})
        if not descriptions:
            batch = self.__next__()
            self._first = batch
            for kind, arrays in ((self.DATA_TAG, batch[0].data), (self.LABEL_TAG, batch[0].label)):
                named = zip(self._tagged[kind], arrays, strict=True)
                descriptions[kind] = [(n, (a.shape[0] * len(batch), *a.shape[1:]), a.dtype) for n, a in named]
        return [mx.io.DataDesc(*d, layout=layout) if layout else mx.io.DataDesc(*d) for d in descriptions[tag]]

    def _arrays(self, outputs: Sequence[Any], samples: int) -> dict[str, Any]:
        parts = _Parts(super()._arrays(outputs, len(outputs[0])))
        parts.pad = len(outputs[0]) - samples
        return parts

    def _batch_of(self, parts: dict[str, Any]) -> Any:
        data, labels = ([parts[name] for name in self._tagged[tag]] for tag in (self.DATA_TAG, self.LABEL_TAG))
        if self._squeezes:
            labels = [a.reshape((a.shape[0], *(n for n in a.shape[1:] if n != 1))) for a in labels]
        # One whose pipeline has no samples left has the arrays of another, all padding.
        return mx.io.DataBatch(data=data, label=labels, pad=getattr(parts, "pad", self.batch_size))


class DALIClassificationIterator(DALIGenericIterator):
    """A `DALIGenericIterator` for pipelines with two outputs, data and a label.

    Args:
        data_name: of the first output.
        label_name: of the second output. The other arguments are those of `DALIGenericIterator`.
    """

    @named("", ITERATOR_AKA)
    def __init__(
        self,
        pipelines: PipelineLike | Sequence[PipelineLike],
        size: int = -1,
        reader_name: str | None = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
        data_layout: str = "NCHW",
        fill_last_batch: bool | None = None,
        auto_reset: AutoReset = False,
        squeeze_labels: bool = True,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
    ) -> None:
        super().__init__(
            pipelines,
            [(data_name, self.DATA_TAG), (label_name, self.LABEL_TAG)],
            size,
            reader_name,
            data_layout,
            fill_last_batch,
            auto_reset,
            squeeze_labels,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
        )
