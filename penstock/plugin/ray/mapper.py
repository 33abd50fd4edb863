"""Pipelines over the blocks of ``ray.data``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import ArgumentError
from penstock.pipeline import Pipeline

Columns = dict[str, npt.NDArray[Any]]


class Mapper:
    """What ``Dataset.map_batches`` runs in actors: a pipeline of external sources.

    The pipeline is fed with rows of columns, and its outputs take the place of these, beside the other columns. Where
    Ray gives more rows than the pipeline's batch size, they go through it in batches, of which the next ones are worked
    on while one is handed out. Arrays in the object store are not copied on the way in where the source has
    ``no_copy=True``, and outputs are not on the way out.

    Args:
        definition: a function without arguments that returns the pipeline, whose sources are ``fn.external_source``
            with names and without ``source=``.
        outputs: a column for each output of the pipeline.
        inputs: by the name of a source, the column that it is fed with; None: that of its name. Columns of bytes give
            arrays of UINT8, as decoders want them.

    Raises ArgumentError where names do not fit, and what the pipeline raises.

    Example:
        >>> import ray
        >>> from penstock.plugin.ray import Mapper
        >>> @pipeline_def(batch_size=8, num_threads=1, device_id=None)
        ... def doubled():
        ...     return fn.external_source(name="id", no_copy=True) * 2
        >>> rows = ray.data.range(4).map_batches(
        ...     Mapper, fn_constructor_args=[doubled, ["twice"]], concurrency=1, batch_size=4
        ... )
        >>> sorted((row["id"], row["twice"]) for row in rows.take_all())
        [(0, 0), (1, 2), (2, 4), (3, 6)]
    """

    def __init__(
        self,
        definition: Callable[[], Pipeline],
        outputs: Sequence[str],
        inputs: Mapping[str, str] | None = None,
    ) -> None:
        self._definition = definition
        self._pipe = pipe = self._begun()
        sources = pipe.fed_inputs()
        self._inputs = dict(inputs or {name: name for name in sources})
        self._outputs = list(outputs)
        if set(self._inputs) != set(sources):
            raise ArgumentError(f"inputs={self._inputs}: the pipeline's sources are {sources}")
        if len(self._outputs) != pipe.num_outputs:
            raise ArgumentError(f"outputs={self._outputs}: the pipeline has {pipe.num_outputs} outputs")
        self._most = pipe.max_batch_size

    def __call__(self, batch: Columns) -> Iterator[Columns]:
        """The rows of a batch, with the pipeline's outputs."""
        try:
            yield from self._mapped(batch)
        except BaseException:  # what was fed and not used is not for the next rows
            self._pipe.close()
            self._pipe = self._begun()
            raise

    def _begun(self) -> Pipeline:
        pipe = self._definition()
        pipe.build()
        return pipe

    def _mapped(self, batch: Columns) -> Iterator[Columns]:
        rows = len(next(iter(batch.values())))
        parts = [slice(begin, min(begin + self._most, rows)) for begin in range(0, rows, self._most)]
        for part in parts:
            for source, column in self._inputs.items():
                self._pipe.feed_input(source, _samples(batch[column][part]))
        for part in parts:
            outputs = self._pipe.run()
            yield {
                **{name: column[part] for name, column in batch.items()},
                **{name: _column(output.as_cpu()) for name, output in zip(self._outputs, outputs, strict=True)},
            }


def _samples(column: npt.NDArray[Any]) -> Any:
    """Rows as a batch: one array, or one for each row, in the same memory."""
    if column.dtype != object:
        return column
    return [np.frombuffer(row, np.uint8) if isinstance(row, (bytes, memoryview)) else np.asarray(row) for row in column]


def _column(output: Any) -> npt.NDArray[Any]:
    """A batch as rows: one array, or an array of arrays where these differ in shape."""
    if output.is_dense_tensor():
        return output.as_array()  # type: ignore[no-any-return]
    column = np.empty(len(output), object)
    for i in range(len(output)):
        column[i] = output.at(i)
    return column
