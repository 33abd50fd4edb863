"""Epochs of iterators where broken samples are skipped: each other sample comes as often as promised."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from penstock.plugin.base import LastBatchPolicy
from tests.plugin.plain_pipeline import ListIterator, one_epoch
from tests.small import made, numbers

FILL, DROP, PARTIAL = LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL
COUNT = 11
BROKEN = [[9], [0], [2, 3, 7, 9], [9, 10], [0, 1, 2], [0, 1, 8, 9, 10]]

pytestmark = pytest.mark.filterwarnings("ignore:epoch")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    names = [str(tmp_path / f"{i}") for i in range(COUNT)]
    for name in names:
        Path(name).write_bytes(b"x")
    return names


def iterator(files: list[str], batch_size: int, policy: LastBatchPolicy, depth: int = 2, **reader: Any) -> ListIterator:
    pipe = made(
        lambda: numbers(files, **{"on_error": "skip", **reader}), batch_size=batch_size, prefetch_queue_depth=depth
    )
    return ListIterator(pipe, ["n"], reader_name="Reader", last_batch_policy=policy)


def epochs(it: ListIterator, loops: int) -> list[list[list[int]]]:
    return [[batch[0] for batch in one_epoch(it)] for _ in range(loops)]


def cut(values: list[int], size: int) -> list[list[int]]:
    return [values[i : i + size] for i in range(0, len(values), size)]


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("broken", BROKEN, ids=str)
@pytest.mark.parametrize(("batch_size", "depth"), [(1, 2), (3, 1), (3, 4), (4, 2), (20, 2)])
def test_epochs_are_those_of_the_samples_that_are_left(
    files: list[str], broken: list[int], batch_size: int, depth: int, sampled: bool
) -> None:
    for i in broken:
        os.remove(files[i])
    good = [i for i in range(COUNT) if i not in broken]
    reader = {"sampler": list(range(COUNT))} if sampled else {}
    whole = cut(good, batch_size)
    assert epochs(iterator(files, batch_size, PARTIAL, depth, **reader), 3) == [whole] * 3
    padded = [batch + batch[-1:] * (batch_size - len(batch)) for batch in whole]
    assert epochs(iterator(files, batch_size, FILL, depth, pad_last_batch=True, **reader), 3) == [padded] * 3
    if full := [batch for batch in whole if len(batch) == batch_size]:
        assert epochs(iterator(files, batch_size, DROP, depth, **reader), 3) == [full] * 3
    # Each loop ends with the batch that has an epoch's last sample; one batch may have all of several epochs.
    it, stream, read = iterator(files, batch_size, FILL, depth, **reader), good * 60, 0
    for loop in epochs(it, 3):
        end = (read // len(good) + 1) * len(good)
        assert loop == cut(stream[read : read + -(-(end - read) // batch_size) * batch_size], batch_size)
        read += len(loop) * batch_size


@pytest.mark.parametrize("policy", list(LastBatchPolicy))
def test_breaking_off_begins_the_next_epoch(files: list[str], policy: LastBatchPolicy) -> None:
    for i in (1, 9, 10):
        os.remove(files[i])
    it = iterator(files, 3, policy)
    for _ in range(3):
        assert [batch[0]["n"] for _, batch in zip(range(2), it, strict=False)] == [[0, 2, 3], [4, 5, 6]]
    one_epoch(it)
    assert len(it) == {DROP: 2}.get(policy, 3)  # what was not read cannot be known to be broken


@pytest.mark.parametrize("shards", [2, 3])
@pytest.mark.parametrize("policy", list(LastBatchPolicy))
def test_shards(files: list[str], policy: LastBatchPolicy, shards: int) -> None:
    """With PARTIAL each sample comes once; with the others all processes have the same number of batches."""
    for i in (2, 3, 9):
        os.remove(files[i])
    its = [iterator(files, 2, policy, num_shards=shards, shard_id=shard) for shard in range(shards)]
    for _ in range(4):
        read = [epochs(it, 1)[0] for it in its]
        samples = [i for batches in read for batch in batches for i in batch]
        if policy is PARTIAL:
            assert sorted(samples) == [0, 1, 4, 5, 6, 7, 8, 10]
        else:
            assert len({len(batches) for batches in read}) == 1
            assert not {2, 3, 9} & set(samples)
