"""Which samples a reader reads, and when: shards, shuffling and the ends of epochs.

All is arithmetic on the epoch's number, so a reader can begin anywhere: no history is replayed, and two processes
agree on who reads what without talking to each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, cast, get_args

import numpy as np
import numpy.typing as npt

from penstock.errors import ArgumentError, ReadError
from penstock.read.broken_samples import BrokenSamples
from penstock.read.stages import Stage, left_of, part_of, without

Indices = npt.NDArray[np.int64]

LastBatch = Literal["wrap", "pad", "partial", "drop"]
"""What becomes of an epoch's last batch where the shard is no multiple of the batch size.

- ``"wrap"``: the next epoch's first samples fill it.
- ``"pad"``: the last sample is repeated, until the shard has as many batches as the largest shard.
- ``"partial"``: the last sample is repeated within that batch only; who uses it cuts the repetitions off.
- ``"drop"``: the samples are left out, and so are batches that the smallest shard does not have.
"""

# What permutations are for: the last word of the counter keeps their random numbers apart.
_WITHIN_SHARD, _OVER_SHARDS, _WHOLE_SET = range(3)
# Of the permutations that all shards must agree on, whatever their pipelines' seeds are.
_COMMON_SEED = 0x70656E73746F636B


class Part(NamedTuple):
    """Samples of an epoch that follow each other.

    Attributes:
        indices: of the samples in the data set: int64, shape ``(n,)``.
        keys: the numbers that their random values are drawn by: int64, shape ``(n,)``.
        position: in the epoch, of the sample behind them; None: they are the epoch's last.
    """

    indices: Indices
    keys: Indices
    position: int | None


class Order(Protocol):
    """Anything that says which samples to read in which epoch: `EpochOrder`, or a `SamplerOrder` of the user's."""

    last_batch: LastBatch
    broken: BrokenSamples  # to be left out
    stages: Mapping[int, Sequence[Stage]]  # of the epochs that other readers began, by number

    def read(self, epoch: int, position: int, n: int) -> Part:
        """Up to ``n`` samples of the epoch, from a position on; fewer at its end only."""

    def go_to(self, epoch: int, position: int) -> None:
        """Reading goes on from there, and what is asked of the order may have changed."""

    def forget(self, epoch: int, position: int) -> None:
        """Nobody will go back to a place before this one."""

    def remaining(self, epoch: int, position: int, most: int | None = None) -> int | None:
        """How many samples, repetitions left out, the epoch has from there on, or whether it has ``most``; None: that
        is not known. It always is with ``most``.
        """

    def reader_meta(self) -> dict[str, int]:
        """What ``Pipeline.reader_meta`` tells about the reader."""


class Position(NamedTuple):
    """Where a reader is: the next sample is number ``position`` of epoch ``epoch``."""

    epoch: int
    position: int


class Cursor:
    """Goes through the epochs of an `Order`.

    >>> cursor = Cursor(EpochOrder(5))
    >>> [cursor.take(2)[0].tolist() for _ in range(4)]
    [[0, 1], [2, 3], [4, 0], [1, 2]]
    >>> cursor.state
    Position(epoch=1, position=3)
    """

    def __init__(self, order: Order) -> None:
        self.order = order
        self._state = Position(0, 0)

    @property
    def state(self) -> Position:
        """The next sample; may be set to what it was before, or to any other place."""
        return self._state

    @state.setter
    def state(self, state: tuple[int, int]) -> None:
        if min(state) < 0:
            raise ArgumentError(f"a reader cannot be at {Position(*state)}")
        self._state = Position(*state)
        self.order.go_to(*self._state)

    def forget(self, state: Position) -> None:
        """Says that the state will not be set back to what it was before this one."""
        self.order.forget(*state)

    def take(self, n: int) -> tuple[Indices, Indices, Indices]:
        """The next ``n`` samples, the epoch that each belongs to, and the key of its random numbers: three int64
        arrays of shape ``(n,)``.
        """
        indices, epochs, keys = (np.empty(n, np.int64) for _ in range(3))
        epoch, position = self._state
        filled = 0
        while filled < n:
            part = self.order.read(epoch, position, n - filled)
            if not len(part.indices) and not position and epoch not in self.order.stages:
                raise ReadError(f"there is no sample to read in epoch {epoch}")
            place = slice(filled, filled + len(part.indices))
            indices[place], epochs[place], keys[place] = part.indices, epoch, part.keys
            filled = place.stop
            epoch, position = (epoch + 1, 0) if part.position is None else (epoch, part.position)
        self._state = Position(epoch, position)
        return indices, epochs, keys


class EpochOrder:
    """The order of DALI's readers.

    The data set is cut into ``num_shards`` parts that differ by at most one sample; this reader reads one of them in
    each epoch. Without ``stick_to_shard`` it moves on to the next part with each epoch, so after ``num_shards`` epochs
    it has read every sample once.

    There are three kinds of order. Without shuffling the samples come as they are listed. ``random_shuffle`` shuffles
    the shard anew in each epoch, all of it and not within a buffer only. What lies in which shard is random then, too,
    but the same for all readers of the data set: shards never overlap, whatever the seeds. Readers that stick to their
    shards keep them for good (they may be cached); else the shards are drawn anew whenever each reader has been through
    all of them. ``shuffle_after_epoch`` shuffles the whole data set in each epoch, the first one too, and then cuts it;
    with ``groups`` it shuffles these, and samples within one stay in order, unless ``random_shuffle`` shuffles the
    shard.

    Where batches end and what is repeated or left out at an epoch's end is decided by `last_batch`.

    Args:
        size: number of samples in the data set.
        batch_size: samples that are read at once.
        shard_id: the part that is read first, from 0.
        num_shards: number of parts; at most ``size``.
        random_shuffle: shuffle within the shard.
        shuffle_after_epoch: shuffle over shards.
        shuffle_after_epoch_seed: of that order; all shards need the same. Default: a fixed one.
        stick_to_shard: read the same part in all epochs.
        pad_last_batch: whether `last_batch` is ``"pad"``, else ``"wrap"``.
        groups: the first sample of each group of those that lie together, such as in one archive; in order, from 0.
        seed: of ``random_shuffle``'s order.

    Raises:
        ArgumentError: for arguments that make no sense, alone or together.

    >>> EpochOrder(7, num_shards=2, shard_id=1).indices(epoch=0)
    array([3, 4, 5, 6])
    """

    def __init__(
        self,
        size: int,
        *,
        batch_size: int = 1,
        shard_id: int = 0,
        num_shards: int = 1,
        random_shuffle: bool = False,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        stick_to_shard: bool = False,
        pad_last_batch: bool = False,
        groups: Indices | None = None,
        seed: int = 0,
    ) -> None:
        if size < 1:
            raise ArgumentError(f"the data set has {size} samples: there is nothing to read")
        if batch_size < 1:
            raise ArgumentError(f"batch_size={batch_size} is not positive")
        if num_shards < 1:
            raise ArgumentError(f"num_shards={num_shards} is not positive")
        if not 0 <= shard_id < num_shards:
            raise ArgumentError(f"shard_id={shard_id} is not in the range from 0 to num_shards - 1 = {num_shards - 1}")
        if num_shards > size:
            raise ArgumentError(f"num_shards={num_shards}: the data set has only {size} samples, some shard has none")
        if shuffle_after_epoch and random_shuffle and groups is None:
            raise ArgumentError("shuffle_after_epoch=True and random_shuffle=True exclude each other")
        if shuffle_after_epoch and stick_to_shard:
            raise ArgumentError("shuffle_after_epoch=True leaves no shard to stick to: drop stick_to_shard=True")
        self.size, self.batch_size, self.seed = size, batch_size, seed
        self.shard_id, self.num_shards = shard_id, num_shards
        self.random_shuffle, self.shuffle_after_epoch = random_shuffle, shuffle_after_epoch
        self.shuffle_after_epoch_seed = _COMMON_SEED if shuffle_after_epoch_seed is None else shuffle_after_epoch_seed
        self.stick_to_shard = stick_to_shard or shuffle_after_epoch  # what rotates then is the order, not the shard
        self.pad_last_batch, self.groups = pad_last_batch, groups
        self._last_batch: LastBatch = "pad" if pad_last_batch else "wrap"
        self._shards: tuple[int, Indices] | None = None
        self._loaded: tuple[int, Indices] | None = None
        self._left: dict[int, Indices] = {}
        self.stages: Mapping[int, Sequence[Stage]] = {}
        self.broken = BrokenSamples()

    def for_shard(self, shard_id: int, num_shards: int, seed: int) -> EpochOrder:
        """The order of another reader of the data set: of this one of so many shards. Raises as the constructor."""
        return EpochOrder(
            self.size,
            batch_size=self.batch_size,
            shard_id=shard_id,
            num_shards=num_shards,
            random_shuffle=self.random_shuffle,
            shuffle_after_epoch=self.shuffle_after_epoch,
            shuffle_after_epoch_seed=self.shuffle_after_epoch_seed,
            stick_to_shard=self.stick_to_shard and not self.shuffle_after_epoch,
            pad_last_batch=self.pad_last_batch,
            groups=self.groups,
            seed=seed,
        )

    @property
    def last_batch(self) -> LastBatch:
        """What becomes of an epoch's last batch. An iterator that wants another end of epochs sets this."""
        return self._last_batch

    @last_batch.setter
    def last_batch(self, value: LastBatch) -> None:
        if check_last_batch(value) == "drop" and self.size // self.num_shards < self.batch_size:
            raise ArgumentError(
                f"the smallest of {self.num_shards} shards has {self.size // self.num_shards} samples, less than one "
                f"batch of {self.batch_size}: if the last batch is dropped, nothing remains"
            )
        self._last_batch = value

    def indices(self, epoch: int) -> Indices:
        """The samples of an epoch in order, with those that are repeated at its end: int64, shape ``(n,)``."""
        shard = self._known_good(epoch)
        missing = self._length(epoch, len(shard)) - len(shard)
        if missing <= 0:
            return shard[: len(shard) + missing]
        last = shard[-1:] if len(shard) else self._left_of(epoch)[-1:]  # others have had all that was left
        return np.append(shard, np.repeat(last, missing))

    def read(self, epoch: int, position: int, n: int) -> Part:
        """Up to ``n`` samples of the epoch, from a position on."""
        if self._loaded is None or self._loaded[0] != epoch:
            self._loaded = epoch, self.indices(epoch)
        part = self._loaded[1][position : position + n]
        end = position + len(part)
        return Part(part, part, end if end < len(self._loaded[1]) else None)

    def go_to(self, epoch: int, position: int) -> None:
        """Looks anew, for who sets the state may have changed the order, too."""
        self._loaded = None
        self._left = {}

    def forget(self, epoch: int, position: int) -> None:
        """Nothing is to be done: all is arithmetic."""

    def remaining(self, epoch: int, position: int, most: int | None = None) -> int:
        """How many samples the epoch has from there on, at most ``most``; those that are repeated do not count."""
        left = max(len(self._known_good(epoch)) - position, 0)
        return left if most is None else min(left, most)

    def reader_meta(self) -> dict[str, int]:
        """What ``Pipeline.reader_meta`` tells about this reader: DALI's keys and values."""
        shards = self.num_shards
        return {
            "epoch_size": self.size,
            "epoch_size_padded": -(-self.size // shards) * shards if self.pad_last_batch else self.size,
            "number_of_shards": shards,
            "shard_id": self.shard_id,
            "pad_last_batch": int(self.pad_last_batch),
            "stick_to_shard": int(self.stick_to_shard),
        }

    def left(self, epoch: int) -> int | None:
        """How many samples of the epoch other readers have left to all of these; None: nobody else began it."""
        return len(self._left_of(epoch)) if epoch in self.stages else None

    def _length(self, epoch: int, shard_size: int) -> int:
        left = self.left(epoch)
        size = self.size if left is None else left
        batch, smallest, largest = self.batch_size, size // self.num_shards, -(-size // self.num_shards)
        if self.num_shards == 1:  # what was skipped need not be made up for: there is no other to be in step with
            smallest = largest = shard_size
        return {
            "wrap": shard_size,
            "pad": -(-largest // batch) * batch,
            "partial": -(-shard_size // batch) * batch,
            "drop": smallest // batch * batch,
        }[self._last_batch]

    def _known_good(self, epoch: int) -> Indices:
        if epoch in self.stages:
            part = part_of(self._left_of(epoch), self.shard_id, self.num_shards)
            return without(part, self.broken, epoch)
        return self.broken.without(self._shard(epoch, self.shard_id, self.num_shards, self.seed), epoch)

    def _left_of(self, epoch: int) -> Indices:
        if epoch not in self._left:
            self._left[epoch] = left_of(self.stages[epoch], lambda k, n, seed: self._shard(epoch, k, n, seed))
        return self._left[epoch]

    def _shard(self, epoch: int, first: int, count: int, seed: int) -> Indices:
        """What the reader that began with this shard reads in this epoch, of so many."""
        shard_id = first if self.stick_to_shard else (first + epoch) % count
        begin, end = (self.size * i // count for i in (shard_id, shard_id + 1))
        if not self.random_shuffle:
            return self._whole_set(epoch)[begin:end] if self.shuffle_after_epoch else np.arange(begin, end)
        shuffled = permutation(end - begin, seed, epoch, _WITHIN_SHARD)
        if count == 1:
            return shuffled
        return (self._whole_set(epoch) if self.shuffle_after_epoch else self._over_shards(epoch, count))[begin:end][
            shuffled
        ]

    def _whole_set(self, epoch: int) -> Indices:
        if self.groups is None:
            return permutation(self.size, self.shuffle_after_epoch_seed, epoch, _WHOLE_SET)
        order = permutation(len(self.groups), self.shuffle_after_epoch_seed, epoch, _WHOLE_SET)
        sizes = np.diff(self.groups, append=self.size)[order]
        moved: Indices = self.groups[order] - (np.cumsum(sizes) - sizes)  # from where each group was to where it is now
        return np.arange(self.size) + np.repeat(moved, sizes)

    def _over_shards(self, epoch: int, count: int) -> Indices:
        round_ = 0 if self.stick_to_shard else epoch // count
        if self._shards is None or self._shards[0] != round_:
            self._shards = round_, permutation(self.size, _COMMON_SEED, round_, _OVER_SHARDS)
        return self._shards[1]


def check_last_batch(value: str) -> LastBatch:
    """The same; ArgumentError for what is none."""
    if value not in get_args(LastBatch):
        raise ArgumentError(f"last_batch={value!r} is none of {get_args(LastBatch)}")
    return cast(LastBatch, value)


def shard_sizes(size: int, num_shards: int) -> Indices:
    """The number of samples in each shard.

    >>> shard_sizes(10, 4)
    array([2, 3, 2, 3])
    """
    borders: Indices = np.arange(num_shards + 1) * size // num_shards
    return borders[1:] - borders[:-1]


def permutation(n: int, seed: int, epoch: int, purpose: int) -> Indices:
    """A random order of ``range(n)`` that depends on nothing but the arguments.

    NumPy promises to keep Philox' numbers as they are for all time, but not what its own ``permutation`` does.
    """
    key = np.array([seed % 2**64, epoch], dtype=np.uint64)
    counter = np.array([0, 0, 0, purpose], dtype=np.uint64)
    bits = np.uint64(n.bit_length())
    # Each random number carries its index in its lowest bits: sorting numbers is much faster than argsort.
    tagged = np.random.Philox(key=key, counter=counter).random_raw(n) << bits
    tagged |= np.arange(n, dtype=np.uint64)
    tagged.sort()
    tagged &= (np.uint64(1) << bits) - np.uint64(1)
    indices: Indices = tagged.view(np.int64)
    return indices
