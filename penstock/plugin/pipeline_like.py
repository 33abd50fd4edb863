"""What iterators need of pipelines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from penstock.read.order import LastBatch, Order, Position
from penstock.types import PipelineAPIType


class PipelineLike(Protocol):
    """What an iterator needs of a pipeline: DALI's methods, and four that end epochs exactly."""

    @property
    def max_batch_size(self) -> int: ...

    def build(self) -> object: ...

    def reader_meta(self, name: str | None = None) -> Mapping[str, Any]:
        """A reader's `Order.reader_meta`; without a name, those of all readers by their names."""

    def reader_order(self, name: str) -> Order:
        """The order in which a reader reads."""

    def reader_position(self, name: str) -> Position:
        """Where the oldest iteration that was not handed out begins, in a reader's order."""

    def may_skip(self) -> bool:
        """Whether broken samples are left out, so that epochs may turn out to be shorter."""

    @property
    def is_restored_from_checkpoint(self) -> bool: ...

    def checkpoint_of(self, noted: Mapping[str, Any] | None) -> str:
        """The state behind the last iteration that was handed out, with what the iterator notes in it."""

    def noted_by_iterator(self) -> Mapping[str, Any] | None:
        """What an iterator noted in the state that the pipeline went on from; None: there is none."""

    def empty(self) -> bool:
        """Whether no iteration is scheduled."""

    def wait(self) -> object:
        """Waits until it is known which samples the oldest iteration has."""

    def using(self, way: PipelineAPIType) -> Any:
        """For ``with`` blocks that run the pipeline in this way."""

    def schedule_run(self) -> object:
        """Schedules an iteration; the first call fills the prefetch queue."""

    def share_outputs(self, cuda_stream: Any = None) -> Sequence[Any]:
        """Waits for the oldest iteration (where a stream is given, that one waits for the GPU); raises StopIteration
        where an input has ended.
        """

    def release_outputs(self) -> object: ...

    def handed_out(self) -> int:
        """How many iterations `share_outputs` has handed out so far, those included that failed."""

    def reset(self) -> object:
        """Makes the pipeline go on after a StopIteration: its sources begin anew."""

    def set_last_batch(self, reader: str, last_batch: LastBatch) -> object:
        """Throws away all that is scheduled, and sets `EpochOrder.last_batch` of this reader and of those that are to
        stay in step with it.
        """

    def start_epoch(self, epoch: int) -> object:
        """Throws away all that is scheduled; the next iteration begins with the epoch's first samples."""
