"""A pipeline that gives out the numbers of the samples it reads: enough to see what an iterator makes of epochs."""

from __future__ import annotations

from collections import deque
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from penstock.plugin.base import BaseIterator
from penstock.read.order import Cursor, EpochOrder, Order, Position
from penstock.types import PipelineAPIType

Epoch = list[list[list[int]]]  # batches; for each pipeline, its samples


class Numbers:
    """Stands for a TensorList of shape (batch, 1)."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def layout(self) -> str:
        return ""

    def is_dense_tensor(self) -> bool:
        return True

    def as_tensor(self) -> np.ndarray:
        return self.values[:, None]


class PlainPipeline:
    """Prefetches as the real one does, so what is in flight must be dealt with; `ends` stops it like an input's end."""

    def __init__(self, batch_size: int, order: Order, depth: int = 3, ends: int | None = None) -> None:
        self.max_batch_size, self.order, self.depth, self.ends = batch_size, order, depth, ends
        self.cursor = Cursor(order)
        self.queue: deque[np.ndarray | None] = deque()
        self.positions: deque[Position] = deque()  # of what is in the queue
        self.scheduled = self.shared = 0
        self.built = False
        self.cancelled = 0
        self.is_restored_from_checkpoint = False

    def using(self, way: PipelineAPIType) -> AbstractContextManager[None]:
        return nullcontext()

    def build(self) -> None:
        self.built = True

    def reader_meta(self, name: str | None = None) -> dict[str, Any]:
        readers = {"Reader": self.order.reader_meta()}
        return readers[name] if name else readers

    def reader_order(self, name: str) -> Order:
        return self.order

    def reader_position(self, name: str) -> Position:
        return self.positions[0] if self.queue else self.cursor.state

    def may_skip(self) -> bool:
        return False

    def wait(self) -> None:
        pass

    def empty(self) -> bool:
        return not self.queue

    def schedule_run(self) -> None:
        for _ in range(1 if self.queue else self.depth):
            self.positions.append(self.cursor.state)
            self.queue.append(self.cursor.take(self.max_batch_size)[0] if self.scheduled != self.ends else None)
            self.scheduled += self.scheduled != self.ends

    def share_outputs(self, cuda_stream: Any = None) -> list[Numbers]:
        values = self.queue[0]
        if values is None:
            raise StopIteration
        self.shared += 1
        return [Numbers(values)]

    def handed_out(self) -> int:
        return self.shared

    def release_outputs(self) -> None:
        self.queue.popleft()
        self.positions.popleft()

    def reset(self) -> None:
        if self.queue and self.queue[0] is None:
            self._drop()
            self.scheduled = 0

    def _drop(self) -> None:
        if self.queue:
            self.cursor.state = self.positions[0]
        self.queue.clear()
        self.positions.clear()

    def set_last_batch(self, reader: str, last_batch: Any) -> None:
        assert reader == "Reader"
        self._drop()
        self.scheduled = 0
        self.order.last_batch = last_batch
        self.cursor.state = self.cursor.state

    def start_epoch(self, epoch: int) -> None:
        self.cancelled += len(self.queue)
        self._drop()
        self.scheduled = 0
        self.cursor.state = (epoch, 0)


class ListIterator(BaseIterator[list[int]]):
    def _array(self, name: str, output: Any, samples: int) -> list[int]:
        return np.asarray(output.as_tensor())[:samples].reshape(-1).tolist()

    def _empty(self, pipe: Any, like: list[int]) -> list[int]:
        return []


def pipelines(size: int, batch_size: int, shards: tuple[int, ...] = (0,), **arguments: Any) -> list[PlainPipeline]:
    return [
        PlainPipeline(batch_size, EpochOrder(size, batch_size=batch_size, shard_id=shard, **arguments))
        for shard in shards
    ]


def one_epoch(iterator: Any) -> Epoch:
    return [[list(map(int, np.ravel(arrays["n"]))) for arrays in batch] for batch in iterator]
