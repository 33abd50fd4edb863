"""Iterators over outputs whose samples differ in shape, whatever the framework."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from penstock.errors import ArgumentError
from penstock.pipeline.arguments import ITERATOR_AKA, named
from penstock.plugin.base import AutoReset, BaseIterator, LastBatchPolicy, PipelineLike

Array = TypeVar("Array")


class RaggedIterator(BaseIterator[Any | Array]):
    """An iterator that gives some of the outputs as lists of arrays, or as a sparse one."""

    DENSE_TAG: ClassVar[str] = "dense"
    SPARSE_LIST_TAG: ClassVar[str] = "sparse_list"
    SPARSE_COO_TAG: ClassVar[str] = "sparse_coo"

    @named("", ITERATOR_AKA)
    def __init__(
        self,
        pipelines: PipelineLike | Sequence[PipelineLike],
        output_map: Sequence[str],
        size: int = -1,
        reader_name: str | None = None,
        output_types: Sequence[str] | None = None,
        auto_reset: AutoReset = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ) -> None:
        tags = [self.DENSE_TAG, self.SPARSE_LIST_TAG, *([self.SPARSE_COO_TAG] if self.backend.has_sparse else [])]
        types = [self.DENSE_TAG] * len(output_map) if output_types is None else list(output_types)
        if wrong := [tag for tag in types if tag not in tags]:
            raise ArgumentError(f"output_types={types}: {wrong[0]!r} is none of {', '.join(map(repr, tags))}")
        if len(types) != len(output_map):
            raise ArgumentError(f"output_types={types}: {len(output_map)} are needed, one for each of the outputs")
        self._types = dict(zip(output_map, types, strict=True))
        super().__init__(
            pipelines,
            output_map,
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )

    def _array(self, name: str, output: Any, samples: int) -> Any:
        if self._types[name] == self.DENSE_TAG:
            return super()._array(name, output, samples)
        arrays = [self.backend.array(output[i]) for i in range(samples)]
        return arrays if self._types[name] == self.SPARSE_LIST_TAG else self.backend.sparse(arrays)

    def _empty(self, pipe: Any, like: Any) -> Any:
        return [] if isinstance(like, list) else super()._empty(pipe, like)
