"""When an iterator's epochs end, how many batches they have, and how many of their samples count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from penstock.errors import ArgumentError, GraphError
from penstock.read.order import Order, Position, shard_sizes


class LastBatchPolicy(Enum):
    """What becomes of an epoch's last batch when there are not enough samples to fill it.

    - ``FILL``: it is filled, with the last sample again and again if the reader pads, else with the next epoch's first
      samples, which then are not repeated in the next epoch.
    - ``DROP``: it is left out.
    - ``PARTIAL``: it is smaller.
    """

    FILL = 0
    DROP = 1
    PARTIAL = 2


@dataclass
class Epochs:
    """The epochs of ``size`` samples that are read in ``num_shards`` parts.

    With ``FILL`` and ``DROP`` all shards have the same number of batches, whichever of them this process reads, so
    that processes which train together stay in step. With ``PARTIAL`` each sample comes exactly once and no batch is
    empty, so a shard that has a sample more may have a batch more.

    Attributes:
        shard_ids: the shard that each of the iterator's pipelines begins with.
        rotate: whether the pipelines move on to the next shard with each epoch.
        padded: whether the reader repeats the last sample of an epoch rather than go on to the next epoch.
        origin: the epoch that all shards last began at their first samples.
        left: what others have left of epochs that they began, which all shards share: samples, by epoch.
    """

    size: int
    num_shards: int
    shard_ids: npt.NDArray[np.int64]
    rotate: bool
    padded: bool
    batch_size: int
    policy: LastBatchPolicy
    origin: int = 0
    left: Mapping[int, int] = field(default_factory=dict)
    waits: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.origin = min(self.left, default=self.origin)
        if not self.batches(max(self.left, default=-1) + 1):
            raise ArgumentError(
                f"LastBatchPolicy.DROP leaves nothing: one of {self.num_shards} shards of {self.size} samples has less "
                f"than one batch of {self.batch_size}"
            )

    def begin(self, epoch: int) -> None:
        """All shards begin with the first samples of this epoch."""
        self.origin = epoch

    def over(self, epoch: int, batch: int) -> bool:
        """Whether the epoch has no batch of this number."""
        return batch >= self.batches(epoch)

    def after(self, epoch: int) -> int:
        """The next epoch that has batches."""
        while not self.batches(epoch + 1):
            epoch += 1
        return epoch + 1

    def length(self, epoch: int, batch: int) -> int:
        """Batches in the epoch."""
        return self.batches(epoch)

    def shard_size(self) -> int:
        """Samples of an epoch in each shard, as DALI counts them."""
        if self.policy is LastBatchPolicy.DROP:
            return self.size // self.num_shards
        return self._largest_shard

    def place(self, position: Position) -> tuple[int, int] | None:
        """Epoch and number of the batch that begins there, in the first shard; None: none does."""
        epoch, batch = position.epoch, position.position // self.batch_size
        if not self.continuous:
            aligned = position.position % self.batch_size == 0 and (not batch or batch < self.batches(epoch))
            return (epoch, batch) if aligned else None
        read = sum(int(self._sizes(e)[0]) for e in range(self.origin, epoch)) + position.position
        epoch, batch = self.origin, read // self.batch_size
        if read % self.batch_size:
            return None
        while batch and self.over(epoch, batch):
            batch, epoch = batch - self.batches(epoch), epoch + 1
        return epoch, batch

    @property
    def continuous(self) -> bool:
        """Whether the last batch runs into the next epoch, which then begins where that batch ended."""
        return self.policy is LastBatchPolicy.FILL and not self.padded

    def batches(self, epoch: int) -> int:
        """The number of batches in an epoch: 0 where earlier, continuous epochs have read all of it already."""
        if self.continuous:
            return self._batches_until(epoch + 1) - self._batches_until(epoch)
        size = self.left.get(epoch, self.size)
        if self.policy is LastBatchPolicy.DROP:
            return size // self.num_shards // self.batch_size
        if self.policy is LastBatchPolicy.FILL:
            largest = -(-size // self.num_shards)
            return -(-largest // self.batch_size)
        return int(-(-self._sizes(epoch).max() // self.batch_size))

    def samples(self, epoch: int, batch: int) -> list[int | None]:
        """How many samples of a batch count, for each pipeline; None: it waits with its next epoch's first batch."""
        if self.policy is not LastBatchPolicy.PARTIAL:
            return [self.batch_size] * len(self.shard_ids)
        return [n or None for n in self.own(epoch, batch)]

    def own(self, epoch: int, batch: int) -> list[int]:
        """How many samples of a batch belong to the epoch, for each pipeline: the others were put in to fill it."""
        read, sizes = batch, self._sizes(epoch)
        if self.continuous:
            read += self._batches_until(epoch)
            sizes = sizes + sum(self._sizes(e) for e in range(self.origin, epoch))
        left = np.clip(sizes - read * self.batch_size, 0, self.batch_size)
        return [int(n) for n in left]

    def dropped(self, epoch: int) -> int:
        """Batches that the pipelines have behind the epoch's last one: none, for the readers know."""
        return 0

    @property
    def _largest_shard(self) -> int:
        return -(-self.size // self.num_shards)

    def _sizes(self, epoch: int) -> npt.NDArray[np.int64]:
        if epoch in self.left:
            return shard_sizes(self.left[epoch], self.num_shards)[self.shard_ids]
        shards = (self.shard_ids + epoch) % self.num_shards if self.rotate else self.shard_ids
        return shard_sizes(self.size, self.num_shards)[shards]

    def _batches_until(self, epoch: int) -> int:
        """Batches from the origin until every shard has seen all epochs before this one."""
        whole = max([self.origin, *(e + 1 for e in self.left)])
        epochs = max(epoch - whole, 0)
        # Of shards that go round, the one that gets most in so many epochs is as near to the average as can be.
        most = -(-epochs * self.size // self.num_shards) if self.rotate else epochs * self._largest_shard
        most += sum(
            -(-self.left[e] // self.num_shards) for e in range(self.origin, min(epoch, whole)) if e in self.left
        )
        return -(-most // self.batch_size)


@dataclass
class SizedEpochs:
    """Epochs of ``size`` samples, from wherever they come: no reader says more.

    Each batch is one of every pipeline, first those of the first pipeline. So where the epoch ends within a batch, it
    is the last pipelines whose samples are too many.
    """

    size: int
    pipelines: int
    padded: bool
    batch_size: int
    policy: LastBatchPolicy
    origin: int = 0  # the epoch that last began with no sample taken before
    waits: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self._batches(self.size):
            raise ArgumentError(
                f"LastBatchPolicy.DROP leaves nothing: size={self.size} is less than one batch of {self._at_once}"
            )

    def begin(self, epoch: int) -> None:
        """This epoch begins with no sample taken before."""
        self.origin = epoch

    def over(self, epoch: int, batch: int) -> bool:
        """Whether the epoch has no batch of this number."""
        return batch >= self.length(epoch, batch)

    def after(self, epoch: int) -> int:
        """The next epoch."""
        return epoch + 1

    def length(self, epoch: int, batch: int) -> int:
        """Batches in the epoch."""
        return self._batches(self.size - self._extra(epoch))

    def samples(self, epoch: int, batch: int) -> list[int | None]:
        """How many samples of a batch count, for each pipeline."""
        if self.policy is not LastBatchPolicy.PARTIAL:
            return [self.batch_size] * self.pipelines
        return list(self.own(epoch, batch))

    def own(self, epoch: int, batch: int) -> list[int]:
        """How many samples of a batch belong to the epoch, for each pipeline: the others were put in to fill it."""
        left = self.size - self._extra(epoch) - batch * self._at_once
        return [min(max(left - k * self.batch_size, 0), self.batch_size) for k in range(self.pipelines)]

    def dropped(self, epoch: int) -> int:
        """Batches that the pipelines have behind the epoch's last one: the one that is not full."""
        return int(self.policy is LastBatchPolicy.DROP and self.size % self._at_once > 0)

    def shard_size(self) -> int:
        """Samples of an epoch."""
        return self.size

    def place(self, position: Position) -> tuple[int, int] | None:
        """Epochs begin wherever the pipelines are."""
        return None

    @property
    def _at_once(self) -> int:
        return self.pipelines * self.batch_size

    def _batches(self, samples: int) -> int:
        return samples // self._at_once if self.policy is LastBatchPolicy.DROP else -(-samples // self._at_once)

    def _extra(self, epoch: int) -> int:
        """How many of the epoch's samples were taken to fill the last batch of the one before."""
        if self.policy is not LastBatchPolicy.FILL or self.padded or self.size < self._at_once:
            return 0
        return (self.origin - epoch) * self.size % self._at_once


@dataclass
class FollowedEpochs:
    """Epochs that are over when the readers are through: with samplers, and where broken samples are skipped, their
    length is not known beforehand.

    With ``FILL`` and ``DROP`` all pipelines must come to their ends with the same batch; with ``PARTIAL`` those that
    are through wait for the others.
    """

    orders: Sequence[Order]
    positions: Sequence[Callable[[], Position]]  # of the batch that comes next, for each pipeline
    padded: bool
    batch_size: int
    policy: LastBatchPolicy
    waits: bool  # for a batch, to know whether it has samples of the epoch that are not broken

    def begin(self, epoch: int) -> None:
        """Nothing is to be done: the readers know."""

    def over(self, epoch: int, batch: int) -> bool:
        """Whether all readers are through with the epoch."""
        through = [position().epoch > epoch for position in self.positions]
        if self.waits:  # what was found broken may have been all that the epoch had left
            needed = self.batch_size if self.policy is LastBatchPolicy.DROP else 1
            through = [(left or 0) < needed for left in self._left(epoch, needed)]
        if any(through) and not all(through) and self.policy is not LastBatchPolicy.PARTIAL:
            ended = [k for k, is_ in enumerate(through) if is_]
            raise GraphError(
                f"epoch {epoch} of the readers of the pipelines {ended} has ended after {batch} batches, and that of "
                f"others has not: with LastBatchPolicy.{self.policy.name} all need as many samples. Or use PARTIAL"
            )
        return all(through)

    def after(self, epoch: int) -> int:
        """The epoch that comes next: the last batch may have taken all of one."""
        return max(epoch + 1, min(position().epoch for position in self.positions))

    def samples(self, epoch: int, batch: int) -> list[int | None]:
        """How many samples of the batch that comes next count, for each pipeline; None: it waits for the others."""
        if self.policy is not LastBatchPolicy.PARTIAL:
            return [self.batch_size] * len(self.orders)
        return [left or None for left in self._left(epoch, self.batch_size)]

    def own(self, epoch: int, batch: int) -> list[int]:
        """How many samples of the batch that comes next belong to the epoch, for each pipeline: the others fill it."""
        return [min(left or 0, self.batch_size) for left in self._left(epoch, self.batch_size)]

    def dropped(self, epoch: int) -> int:
        """Batches that the pipelines have behind the epoch's last one: none, for the readers know."""
        return 0

    def length(self, epoch: int, batch: int) -> int:
        """Batches in the epoch, of which ``batch`` were handed out; TypeError where a sampler has no length."""
        left = self._left(epoch)
        if None in left:
            raise TypeError("this iterator's length is not known, for the reader's sampler has no len()")
        most = max(n or 0 for n in left)
        return batch + (most // self.batch_size if self.policy is LastBatchPolicy.DROP else -(-most // self.batch_size))

    def shard_size(self) -> int:
        """Samples of an epoch in each pipeline, as the sampler's ``len()`` says; -1: not known."""
        return self.orders[0].reader_meta()["epoch_size"]

    def place(self, position: Position) -> tuple[int, int]:
        """Epochs go on wherever the reader is; batches are counted from there."""
        return position.epoch, 0

    def _left(self, epoch: int, most: int | None = None) -> list[int | None]:
        where = [max(position(), Position(epoch, 0)) for position in self.positions]
        return [
            order.remaining(*p, most) if p.epoch == epoch else 0 for order, p in zip(self.orders, where, strict=True)
        ]
