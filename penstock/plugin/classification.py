"""The constructor of iterators over pictures and labels, whatever the framework."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.pipeline.arguments import ITERATOR_AKA, named
from penstock.plugin.base import AutoReset, LastBatchPolicy, PipelineLike


class ClassificationIterator:
    """Before a framework's iterator among the bases of a class: pipelines have two outputs, which it names."""

    @named("", ITERATOR_AKA)
    def __init__(
        self,
        pipelines: PipelineLike | Sequence[PipelineLike],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: AutoReset = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        *,
        channels_last: bool = False,
    ) -> None:
        super().__init__(
            pipelines,
            ["data", "label"],
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
            channels_last=channels_last,
        )  # type: ignore[call-arg]  # of the class behind it
