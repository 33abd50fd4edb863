"""How many batches an iterator's epochs have, and how many of their samples count."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from penstock.errors import ArgumentError
from penstock.read.order import shard_sizes


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
    """

    size: int
    num_shards: int
    shard_ids: npt.NDArray[np.int64]
    rotate: bool
    padded: bool
    batch_size: int
    policy: LastBatchPolicy
    origin: int = 0

    def __post_init__(self) -> None:
        if not self.batches(0):
            raise ArgumentError(
                f"LastBatchPolicy.DROP leaves nothing: one of {self.num_shards} shards of {self.size} samples has less "
                f"than one batch of {self.batch_size}"
            )

    @property
    def continuous(self) -> bool:
        """Whether the last batch runs into the next epoch, which then begins where that batch ended."""
        return self.policy is LastBatchPolicy.FILL and not self.padded

    def batches(self, epoch: int) -> int:
        """The number of batches in an epoch: 0 where earlier, continuous epochs have read all of it already."""
        if self.continuous:
            return self._batches_until(epoch + 1) - self._batches_until(epoch)
        if self.policy is LastBatchPolicy.DROP:
            return self.size // self.num_shards // self.batch_size
        if self.policy is LastBatchPolicy.FILL:
            return -(-self._largest_shard // self.batch_size)
        return int(-(-self._sizes(epoch).max() // self.batch_size))

    def samples(self, epoch: int, batch: int) -> list[int]:
        """How many samples of a batch count, for each pipeline."""
        if self.policy is not LastBatchPolicy.PARTIAL:
            return [self.batch_size] * len(self.shard_ids)
        return np.clip(self._sizes(epoch) - batch * self.batch_size, 0, self.batch_size).tolist()  # type: ignore[no-any-return]

    @property
    def _largest_shard(self) -> int:
        return -(-self.size // self.num_shards)

    def _sizes(self, epoch: int) -> npt.NDArray[np.int64]:
        shards = (self.shard_ids + epoch) % self.num_shards if self.rotate else self.shard_ids
        return shard_sizes(self.size, self.num_shards)[shards]

    def _batches_until(self, epoch: int) -> int:
        """Batches from the origin until every shard has seen all epochs before this one."""
        epochs = epoch - self.origin
        # Of shards that go round, the one that gets most in so many epochs is as near to the average as can be.
        most = -(-epochs * self.size // self.num_shards) if self.rotate else epochs * self._largest_shard
        return -(-most // self.batch_size)
