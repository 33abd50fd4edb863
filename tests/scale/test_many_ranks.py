"""Epochs over 1024 trainers: each of them has what its reader says, and nothing else, so all fit into this process."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

from penstock.plugin.base import LastBatchPolicy
from penstock.read import order
from penstock.run.merge import merge_states
from tests.plugin.plain_pipeline import ListIterator
from tests.plugin.remote.workers import Workers, facts, remote

RANKS, SIZE, BATCH = 1024, 10_007, 3  # parts of 9 and 10 samples
FILL, DROP, PARTIAL = LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL


@pytest.fixture(autouse=True)
def drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trainer draws the order of the whole data set for itself; in one process, once for all of them will do."""

    @cache
    def permutation(*arguments: int) -> order.Indices:
        drawn = original(*arguments)
        drawn.setflags(write=False)
        return drawn

    original = order.permutation
    monkeypatch.setattr(order, "permutation", permutation)


def ranks(count: int, policy: LastBatchPolicy, state: Any = None, **reader: Any) -> list[ListIterator]:
    of = facts(SIZE, BATCH, random_shuffle=True, **reader)
    return [
        ListIterator(
            remote(Workers(1), of, shard_id=rank, num_shards=count, ahead=1, checkpoint=state),
            ["n"],
            reader_name="Reader",
            last_batch_policy=policy,
        )
        for rank in range(count)
    ]


def epoch(iterators: list[ListIterator]) -> list[list[list[int]]]:
    """The batches of all ranks."""
    return [[batch[0]["n"] for batch in one] for one in iterators]


def flat(epochs: list[list[list[int]]]) -> list[int]:
    return [n for batches in epochs for batch in batches for n in batch]


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("policy", list(LastBatchPolicy))
def test_whole_epochs(policy: LastBatchPolicy, pad: bool) -> None:
    iterators = ranks(RANKS, policy, pad_last_batch=pad)
    firsts = epoch(iterators), epoch(iterators)
    for number, one in enumerate(firsts):
        counts = Counter(flat(one))
        if policy is PARTIAL:
            assert counts == dict.fromkeys(range(SIZE), 1)
            continue
        assert len({len(batches) for batches in one}) == 1  # all are in step
        if policy is DROP:
            assert set(counts.values()) == {1}
            assert counts.total() == RANKS * 9
        elif pad:
            assert set(counts) == set(range(SIZE))
            assert all(n == batch[-1] for batches in one for batch in batches for n in batch if counts[n] > 3)
        elif not number:
            assert set(counts) == set(range(SIZE))
    if policy is FILL and not pad:  # what filled the first epoch is not in the second
        assert set(Counter(flat([*firsts[0], *firsts[1]])).values()) <= {2, 3}


@pytest.mark.parametrize(
    ("before", "after", "policy"),
    [*((RANKS, after, policy) for after in (1, 40) for policy in LastBatchPolicy), (40, RANKS, PARTIAL)],
)
def test_another_world_size_goes_on(before: int, after: int, policy: LastBatchPolicy) -> None:
    """Ranks have read two batches each when others, more or fewer, go on in the middle of the epoch."""
    first = ranks(before, policy)
    seen = [n for one in first for _ in range(2) for n in next(one)[0]["n"]]
    assert len(set(seen)) == before * 2 * BATCH
    state = merge_states([one.state_dict() for one in first])
    later = ranks(after, policy, state)
    rest = epoch(later)
    counts = Counter([*seen, *flat(rest)])
    if policy is PARTIAL:
        assert counts == dict.fromkeys(range(SIZE), 1)
        assert Counter(flat(epoch(later))) == dict.fromkeys(range(SIZE), 1)  # and the next one is a whole one
        return
    assert len({len(batches) for batches in rest}) == 1
    if policy is DROP:
        assert set(counts.values()) == {1}
        assert counts.total() > SIZE - after * (BATCH + 1)
    else:
        assert set(counts) == set(range(SIZE))


def test_random_numbers_are_the_samples_own() -> None:
    """Whoever reads a sample in an epoch draws by the same key."""
    keys: dict[int, int] = {}
    for count in (1, 5, 64):
        for rank in range(count):
            workers = Workers(1)
            pipe = remote(workers, facts(200, 4), shard_id=rank, num_shards=count, ahead=1)
            list(ListIterator(pipe, ["n"], reader_name="Reader", last_batch_policy=PARTIAL))
            for _, unit in workers.asked:
                samples = unit.samples["Reader"]
                for index, when, key in np.stack(samples, 1).tolist():
                    if not when:
                        assert keys.setdefault(index, key) == key
    assert len(keys) == 200
