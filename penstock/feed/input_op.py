"""What declarations of the pipeline's inputs share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from penstock.feed.poll import Poll
from penstock.op import Op
from penstock.types import DALIDataType


class InputOp(Op):
    """Base of operators whose values are given with each iteration: by a source, or fed."""

    external = True

    poll: Poll | None = None  # what asks the source
    layouts: list[str | None]  # of each output
    dtypes: list[DALIDataType | None]
    ndims: list[int | None]
    count: Any = None  # of the outputs, where it was given
    repeat_last: Any = False
    blocking: Any = False
    batch: Any = None
    cuda_stream: Any = None

    def gives_batches(self) -> bool:
        """Whether the source gives whole batches, rather than samples."""
        return self.batch is None or bool(self.batch)

    def iterations(self, data: Any, batch_size: int) -> Iterable[Sequence[Any]]:
        """What iterations get of data that is fed: one or several, a batch for each output. Raises PenstockError,
        TypeError and ValueError for data that is refused.
        """
        return [[data]]
