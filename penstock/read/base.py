"""What all readers share: shards, shuffling and the ends of epochs."""

from __future__ import annotations

from typing import Any, ClassVar

from penstock.arguments.on_error import OnErrorArgs
from penstock.op import arg
from penstock.read.index import Index
from penstock.read.order import Cursor, EpochOrder, Indices, Order
from penstock.read.sampler import SamplerOrder, described, form_of
from penstock.read.stores import clients
from penstock.read.stores.addresses import any_address
from penstock.read.stores.server import listen

_MOST_AHEAD = 1024  # batches
_SAID_BY_SAMPLER = ("num_shards", "shard_id", "stick_to_shard", "random_shuffle", "shuffle_after_epoch")


class Reader(OnErrorArgs):
    """Base of readers: operators that are told each iteration which samples to read."""

    stage = "read"
    early = True
    io = True
    fed = True

    num_shards = arg(
        1,
        "Number of parts that the data set is cut into, one per process or GPU.",
        to_kernel=False,
        aka=["world_size", "num_replicas", "shards"],
    )
    shard_id = arg(
        0, "The part that this reader begins with, from 0.", to_kernel=False, aka=["rank", "local_rank", "shard"]
    )
    stick_to_shard = arg(
        False, "Read the same part in all epochs; else move on to the next with each.", to_kernel=False
    )
    random_shuffle = arg(
        False, "Shuffle the part in each epoch.", to_kernel=False, aka=["shuffle", "shuffled", "randomize"]
    )
    pad_last_batch = arg(
        False, "Repeat the last sample until the part has as many full batches as the largest part.", to_kernel=False
    )
    sampler = arg(
        None,
        "Indices of the samples to read, in order: any iterable, gone through once per epoch (a list, an array, a "
        "sampler of PyTorch, of which `set_epoch` is called ...), or a function that returns one, given the epoch's "
        "number if it takes an argument. It takes the place of shuffling and of parts. Samples are prepared ahead, so "
        "an epoch may begin before the one before is handed out. Readers that are to agree need one that gives them "
        "the same order, and so does a checkpoint in the middle of an epoch, which is begun anew.",
        kind="any",
        to_kernel=False,
        aka=["indices", "batch_sampler"],
    )
    seed = arg(-1, "Seed of the order; -1: from the pipeline's.", to_kernel=False)
    initial_fill = arg(1024, "Size of the shuffling buffer.", unused="the whole part is shuffled, without a buffer")
    lazy_init = arg(False, "List the files when the pipeline first runs, not when it is defined.", to_kernel=False)
    prefetch_queue_depth = arg(1, "Batches read ahead of those that are being decoded.", to_kernel=False)
    read_ahead = arg(False, "Read ahead of use.", unused="files are always read ahead")
    skip_cached_images = arg(
        False, "Do not read what a decoder has in its cache.", unused="no decoder here keeps decoded pictures"
    )
    tensor_init_bytes = arg(1 << 20, "Expected size of a sample.", unused="memory is taken as it is needed")
    dont_use_mmap = arg(False, "Do not map files into memory.", unused="files are never mapped, always read")

    POLICY: ClassVar = ("num_shards", "stick_to_shard", "random_shuffle", "shuffle_after_epoch")  # of `identity`
    cursor: Cursor
    shuffle_after_epoch: bool = False
    shuffle_after_epoch_seed: int | None = None

    def __init__(self, values: dict[str, Any], tensors: dict[str, Any]):
        super().__init__(values, tensors)
        if not 1 <= self.prefetch_queue_depth <= _MOST_AHEAD:
            raise self.wrong("prefetch_queue_depth", f"expected 1 to {_MOST_AHEAD}")
        if self.sampler is not None:
            form_of(self.sampler)
            for name in _SAID_BY_SAMPLER:
                if name in values and name in self.arguments and values[name] != self.arguments[name].default:
                    said = f"sampler={described(self.sampler)}"
                    raise self.wrong(name, f"leave it out, for {said} says which samples are read")

    def size(self) -> int:
        """Number of samples in the data set."""
        raise NotImplementedError

    def identity(self) -> dict[str, Any]:
        """What a position depends on, and is kept with it in checkpoints. Not which shard it is: all are at the same
        position, so the state of one process will do for the others.
        """
        return {
            "samples": self.size(),
            **{name: getattr(self, name) for name in self.POLICY},
            "sampler": self.sampler is not None,
        }

    def groups(self) -> Indices | None:
        """Where samples of one file lie together: the number of the first one of each file, in order."""
        return None

    def open(self, batch_size: int, seed: int) -> None:
        """Called once, when the pipeline is built: from here on the cursor is there."""
        self.cursor = Cursor(self._order(batch_size, seed))

    def _order(self, batch_size: int, seed: int) -> Order:
        if self.sampler is not None:
            return SamplerOrder(self.sampler, self.size(), pad_last_batch=self.pad_last_batch)
        return EpochOrder(
            self.size(),
            batch_size=batch_size,
            shard_id=self.shard_id,
            num_shards=self.num_shards,
            random_shuffle=self.random_shuffle,
            shuffle_after_epoch=self.shuffle_after_epoch,
            shuffle_after_epoch_seed=self.shuffle_after_epoch_seed,
            stick_to_shard=self.stick_to_shard,
            pad_last_batch=self.pad_last_batch,
            groups=self.groups(),
            seed=self.seed if self.seed is not None and self.seed >= 0 else seed,
        )


class IndexReader(Reader):
    """Base of readers of an `Index`: such a one declares its arguments and makes the index.

    Its class is declared with ``kernel="read_ranges"``, and says how many outputs it has (`Op.num_outputs`): that is
    asked before there is an index (``lazy_init``).
    """

    _index: Index | None = None

    def prepare(self) -> None:
        if not self.lazy_init:
            self.index  # noqa: B018 - so that what is wrong is said where the reader is made

    @property
    def index(self) -> Index:
        """The index of the data set: made once, when it is needed."""
        if self._index is None:
            found = self.make_index()
            if any_address(found.names):
                clients.library()
                listen()
            self._index = found
        return self._index

    def make_index(self) -> Index:
        """Looks at the data set. Raises ArgumentError and ReadError."""
        raise NotImplementedError

    def size(self) -> int:
        return self.index.size

    def groups(self) -> Indices | None:
        return self.index.groups

    def identity(self) -> dict[str, Any]:
        return {**super().identity(), "names": self.index.digest}

    def kernel_arguments(self) -> dict[str, Any]:
        return self.index.tables()


class ShuffleSeedArgs(IndexReader):
    """Base of readers that can shuffle over all parts."""

    shuffle_after_epoch_seed = arg(None, "Seed of that order, the same for all parts.", kind="integer", to_kernel=False)


class SamplesShuffler(ShuffleSeedArgs):
    """Base of readers whose samples are all equally quick to get at."""

    shuffle_after_epoch = arg(False, "Shuffle the whole data set in each epoch, over all parts.", to_kernel=False)


class FilesShuffler(ShuffleSeedArgs):
    """Base of readers whose samples lie together in few files, which are read from their beginnings to their ends."""

    shuffle_after_epoch = arg(
        False,
        "Shuffle the files in each epoch, over all parts; the samples of each stay in order, unless random_shuffle "
        "shuffles the part as well.",
        to_kernel=False,
    )
