"""Which epochs an iterator has: those of a reader, of a number of samples, or none that are known beforehand."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from penstock.errors import ArgumentError
from penstock.graph.blame import warn
from penstock.plugin.epochs import Epochs, FollowedEpochs, LastBatchPolicy, SizedEpochs
from penstock.read.order import EpochOrder, LastBatch

AnyEpochs = Epochs | SizedEpochs | FollowedEpochs


class Wanted(NamedTuple):
    """An iterator's arguments that decide about its epochs.

    Attributes:
        pipes: that it runs.
        size: samples of an epoch; negative: not given.
        padded: whether the last batch of an epoch of that size is padded.
    """

    pipes: list[Any]
    batch_size: int
    size: int
    padded: bool
    policy: LastBatchPolicy


def epochs_of(reader: str | None, wanted: Wanted) -> tuple[AnyEpochs | None, str | None]:
    """The epochs, and the reader that they are those of; the argument is the one that was given."""
    pipes, size = wanted.pipes, wanted.size
    if reader is not None and size >= 0:
        raise ArgumentError(f"size={size} and reader_name={reader!r} exclude each other: leave size out")
    if reader is not None and wanted.padded:
        raise ArgumentError(f"last_batch_padded=True: the reader {reader!r} tells by itself, leave it out")
    if size == 0:
        raise ArgumentError("size=0: an epoch has at least one sample")
    if size > 0 and any(pipe.reader_meta() for pipe in pipes):
        warn(  # of DALI's category
            "Please set `reader_name` rather than size: the reader knows the size of its shard and whether it "
            "pads, and epochs of a size of your own may lack samples or repeat some",
            Warning,
        )
    if reader is None and size < 0:
        if len(pipes) > 1:
            raise ArgumentError(f"{len(pipes)} pipelines need reader_name or size: one may end before others")
        return None, None
    reader = reader or _reader_of_that_size(pipes, size)
    if reader is None:  # no more is known than how many samples are wanted, from wherever they come
        return SizedEpochs(size, len(pipes), wanted.padded, wanted.batch_size, wanted.policy), None
    epochs = _of_reader(reader, wanted)
    fill: LastBatch = "pad" if epochs.padded else "wrap"
    at_end: dict[LastBatchPolicy, LastBatch] = {LastBatchPolicy.DROP: "drop", LastBatchPolicy.PARTIAL: "partial"}
    for pipe in pipes:  # so that the readers themselves leave nothing over for the next epoch
        pipe.set_last_batch(reader, at_end.get(wanted.policy, fill))
    return epochs, reader


def _of_reader(reader: str, wanted: Wanted) -> Epochs | FollowedEpochs:
    metas = [pipe.reader_meta(reader) for pipe in wanted.pipes]
    orders = [pipe.reader_order(reader) for pipe in wanted.pipes]
    # Who trains together must be in step with FILL and DROP, so readers of shards make up for what they skip.
    apart = wanted.policy is LastBatchPolicy.PARTIAL or all(m["number_of_shards"] == 1 for m in metas)
    skip = apart and any(pipe.may_skip() for pipe in wanted.pipes)
    if skip or not all(isinstance(order, EpochOrder) for order in orders):
        return followed(reader, wanted, waits=skip)
    meta = {key: common([m[key] for m in metas], f"{key} of {reader!r}") for key in metas[0] if key != "shard_id"}
    return Epochs(
        size=meta["epoch_size"],
        num_shards=meta["number_of_shards"],
        shard_ids=np.array([m["shard_id"] for m in metas]),
        rotate=not meta["stick_to_shard"],
        padded=bool(meta["pad_last_batch"]),
        batch_size=wanted.batch_size,
        policy=wanted.policy,
        left={epoch: left for epoch in orders[0].stages if (left := orders[0].left(epoch)) is not None},
    )


def followed(reader: str, wanted: Wanted, waits: bool) -> FollowedEpochs:
    """Epochs that end where the reader says so."""
    padded = common([pipe.reader_meta(reader)["pad_last_batch"] for pipe in wanted.pipes], f"padding of {reader!r}")
    return FollowedEpochs(
        orders=[pipe.reader_order(reader) for pipe in wanted.pipes],
        positions=[functools.partial(pipe.reader_position, reader) for pipe in wanted.pipes],
        padded=bool(padded),
        batch_size=wanted.batch_size,
        policy=wanted.policy,
        waits=waits,
    )


def _reader_of_that_size(pipes: list[Any], size: int) -> str | None:
    """The reader that ``size`` was taken from: scripts from before there was ``reader_name`` do that."""
    for name in pipes[0].reader_meta():
        metas = [pipe.reader_meta().get(name) for pipe in pipes]
        if None in metas:
            continue
        samples, shards = metas[0]["epoch_size"] * len(metas), metas[0]["number_of_shards"]
        if samples // shards <= size <= -(-samples // shards):
            return str(name)
    return None


def common(values: Sequence[Any], what: str) -> Any:
    """The value that all have; ArgumentError where they differ."""
    if any(value != values[0] for value in values):
        raise ArgumentError(f"the pipelines differ in {what}: {list(values)}")
    return values[0]
