"""Epochs that go on with another number of readers: each sample still comes once."""

from __future__ import annotations

import itertools
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import Pipeline, fn
from penstock.errors import ArgumentError
from penstock.plugin.pytorch import DALIGenericIterator, LastBatchPolicy
from penstock.read.broken_samples import BrokenSamples
from penstock.read.stages import without
from tests.small import made, values

SIZE = 23
POLICIES: dict[str, dict[str, Any]] = {
    "in order": {},
    "shuffled": {"random_shuffle": True},
    "shuffled after epochs": {"shuffle_after_epoch": True},
    "sticking": {"random_shuffle": True, "stick_to_shard": True},
}
CHANGES = [(1, 3), (3, 1), (2, 3), (3, 2), (4, 4), (5, 2), (2, 7)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("files")
    for n in range(SIZE):
        (folder / f"{n:02}").write_bytes(bytes([n]))
    return [str(folder / f"{n:02}") for n in range(SIZE)]


def ranks(files: list[str], count: int, batch_size: int, state: Any = None, **arguments: Any) -> list[Pipeline]:
    def define(rank: int) -> Any:
        reader: dict[str, Any] = {"files": files, "num_shards": count, "shard_id": rank, "name": "Reader", **arguments}
        return fn.readers.file(**reader)[1], fn.random.uniform()

    return [made(lambda r=rank: define(r), batch_size=batch_size, checkpoint=state) for rank in range(count)]


def iterator(pipes: list[Pipeline], policy: LastBatchPolicy) -> Any:
    """Over all ranks, as if each were in a process of its own: each has an iterator."""
    return [DALIGenericIterator(p, ["n", "random"], reader_name="Reader", last_batch_policy=policy) for p in pipes]


def batch(it: Any) -> list[tuple[int, float]]:
    arrays = next(it)[0]
    return list(zip(arrays["n"].flatten().tolist(), arrays["random"].flatten().tolist(), strict=True))


def rest(it: Any) -> list[tuple[int, float]]:
    found: list[tuple[int, float]] = []
    for (arrays,) in it:
        found += zip(arrays["n"].flatten().tolist(), arrays["random"].flatten().tolist(), strict=True)
    return found


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_each_sample_comes_once(before: int, after: int, policy: str, files: list[str]) -> None:
    """Whatever each rank has read, and its random numbers with it; then whole epochs follow."""
    whole = [rest(it) for it in iterator(ranks(files, 1, 2, **POLICIES[policy]), LastBatchPolicy.PARTIAL)]
    expected = sorted(whole[0])
    assert len(expected) == SIZE
    for taken in range(SIZE // before // 2 + 1):
        its = iterator(ranks(files, before, 2, **POLICIES[policy]), LastBatchPolicy.PARTIAL)
        got = [pair for it in its for _ in range(taken) for pair in batch(it)]
        state = json.loads(json.dumps(penstock.merge_states([it.state_dict() for it in reversed(its)])))
        its = iterator(ranks(files, after, 2, state, **POLICIES[policy]), LastBatchPolicy.PARTIAL)
        lengths = [len(it) for it in its]
        parts = [rest(it) for it in its]
        assert sorted(got + [pair for part in parts for pair in part]) == expected
        assert max(map(len, parts)) - min(map(len, parts)) <= 1 or before == after
        if before != after:
            assert lengths == [-(-len(part) // 2) for part in parts]
        following = [pair[0] for it in its for pair in rest(it)]
        assert sorted(following) == [*range(SIZE)]


@pytest.mark.parametrize("counts", list(itertools.permutations([1, 2, 4], 3)), ids=str)
def test_more_than_once_in_an_epoch(counts: tuple[int, ...], files: list[str]) -> None:
    got, state = [], None
    for count in (*counts, 3):
        its = iterator(ranks(files, count, 1, state, random_shuffle=True), LastBatchPolicy.PARTIAL)
        got += [
            pair[0] for k, it in enumerate(its) for _ in range(1 + k % 2) for pair in batch(it)
        ]  # unlike each other
        state = penstock.merge_states([it.checkpoints() for it in its])
    for it in iterator(ranks(files, 5, 1, state, random_shuffle=True), LastBatchPolicy.PARTIAL):
        got += [pair[0] for pair in rest(it)]
    assert sorted(got) == [*range(SIZE)]


def test_a_state_within_a_divided_epoch_goes_on(files: list[str]) -> None:
    """Of one rank, as ever: the next batches are the same."""
    its = iterator(ranks(files, 3, 2, random_shuffle=True), LastBatchPolicy.PARTIAL)
    for it in its:
        batch(it)
    state = penstock.merge_states([it.state_dict() for it in its])
    one, again = (ranks(files, 2, 2, state, random_shuffle=True)[1] for _ in range(2))
    one.run()
    again.load_state_dict(one.state_dict())
    for _ in range(20):
        assert [values(o) for o in one.run()] == [values(o) for o in again.run()]
    assert "stages" not in one.state_dict()


@pytest.mark.parametrize(("before", "after"), CHANGES)
@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("policy", [LastBatchPolicy.FILL, LastBatchPolicy.DROP])
def test_ranks_stay_in_step(policy: LastBatchPolicy, pad: bool, before: int, after: int, files: list[str]) -> None:
    """All have as many batches in each epoch, also in the one that was divided anew."""
    for taken in range(SIZE // before // 2):
        its = iterator(ranks(files, before, 2, pad_last_batch=pad), policy)
        got = [pair[0] for it in its for _ in range(taken) for pair in batch(it)]
        state = penstock.merge_states([it.state_dict() for it in its])
        its = iterator(ranks(files, after, 2, state, pad_last_batch=pad), policy)
        for epoch in range(4):
            parts = [[pair[0] for pair in rest(it)] for it in its]
            assert len({len(part) for part in parts}) == 1, (taken, epoch)
            if not epoch and policy is LastBatchPolicy.FILL:
                assert {*got, *(n for part in parts for n in part)} == {*range(SIZE)}
            if not epoch and policy is LastBatchPolicy.DROP:
                all_ = got + [n for part in parts for n in part]
                assert len(all_) == len({*all_}) > SIZE - 2 * (before + after)


def test_no_sample_is_lost_where_batches_run_into_the_next_epoch(files: list[str]) -> None:
    """Without padding some ranks are an epoch ahead of others: both epochs are divided."""
    for batches in range(1, 8):  # of three epochs
        pipes = ranks(files, 3, 3)
        got = [n for pipe in pipes for _ in range(batches) for n in values(pipe.run()[0])]
        state = penstock.merge_states([pipe.checkpoint() for pipe in pipes])
        pipes = ranks(files, 2, 1, state)
        for pipe in pipes:
            while pipe.reader_position("Reader").epoch < 3:
                got += values(pipe.run()[0])
        assert sorted(got) == sorted([*range(SIZE)] * 3), batches


@pytest.mark.parametrize("count", [1, 3])
def test_as_many_go_on_exactly(count: int, files: list[str]) -> None:
    pipes = ranks(files, count, 2, random_shuffle=True)
    for rank, pipe in enumerate(pipes):
        for _ in range(2 + rank):
            pipe.run()
    others = ranks(files, count, 2, penstock.merge_states([p.state_dict() for p in pipes]), random_shuffle=True)
    for _ in range(9):
        for pipe, other in zip(pipes, others, strict=True):
            assert [values(o) for o in pipe.run()] == [values(o) for o in other.run()]


def test_ranks_with_seeds_of_their_own(files: list[str]) -> None:
    """Their parts' orders differ; each is known."""

    def define(rank: int, count: int) -> Any:
        return fn.readers.file(files=files, num_shards=count, shard_id=rank, name="Reader", random_shuffle=True)[1]

    pipes = [made(lambda r=r: define(r, 3), batch_size=2, seed=40 + r) for r in range(3)]
    got = [n for pipe in pipes for _ in range(2) for n in values(pipe.run()[0])]
    state = penstock.merge_states([pipe.state_dict() for pipe in pipes])
    for count in (2, 3):
        left = []
        for rank in range(count):
            pipe = made(lambda r=rank, c=count: define(r, c), batch_size=1, checkpoint=state)
            while pipe.reader_position("Reader").epoch == 0:
                left += values(pipe.run()[0])
        assert sorted(got + left) == [*range(SIZE)]


def test_broken_samples_of_all_ranks(files: list[str], tmp_path: Path) -> None:
    gone = [*files[:3], str(tmp_path / "gone"), *files[4:20], str(tmp_path / "gone, too"), *files[21:]]
    reader: dict[str, Any] = {"on_error": "skip", "random_shuffle": True}
    for taken in range(1, 5):
        pipes = ranks(gone, 3, 2, **reader)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what was skipped
            got = [n for pipe in pipes for _ in range(taken) for n in values(pipe.run()[0])]
            state = penstock.merge_states([pipe.state_dict() for pipe in pipes])
            its = iterator(ranks(gone, 2, 2, state, **reader), LastBatchPolicy.PARTIAL)
            got += [pair[0] for it in its for pair in rest(it)]
        if all(pipe.reader_position("Reader").epoch == 0 for pipe in pipes):
            assert sorted(got) == [n for n in range(SIZE) if n not in (3, 20)], taken


def test_what_cannot_be_merged(files: list[str]) -> None:
    one, two = (pipe.state_dict() for pipe in ranks(files, 2, 2))
    cases: list[tuple[Any, str]] = [
        ([], "no state to merge"),
        (one, "expected a list of states"),
        ([one], r"has 2 shards, and of \[1\] there is no state"),
        ([one, one], "shard 0 of the reader 'Reader' is there twice"),
        ([one, two, 5], "is not a state|expected"),
        ([one, {**two, "random": []}], "differ in random operators"),
        ([one, {**two, "readers": {}}], "differ in readers"),
        ([penstock.merge_states([one, two]), two], "state 0 is a merged one"),
        ([one, {**two, "read": {"Reader": {"samples": 3}}}], "differ in data set and arguments"),
    ]
    for states, problem in cases:
        with pytest.raises(ArgumentError, match=problem):
            penstock.merge_states(states)
    pipe = made(lambda: fn.readers.file(files=files, sampler=[1, 2, 3], name="Reader")[1])
    with pytest.raises(ArgumentError, match="A sampler says itself who reads what"):
        penstock.merge_states([pipe.state_dict()])
    middle = ranks(files, 2, 2)[0]
    middle.run()
    others = ranks(files, 3, 2, middle.state_dict())
    with pytest.raises(ArgumentError, match=r"num_shards=2 .*merge_states makes one state"):
        others[0].build()


def test_broken_samples_that_all_are() -> None:
    known = BrokenSamples()
    known.add(1, "skip")
    assert without(np.array([1]), known, 0).tolist() == []
    assert without(np.array([1, 2]), known, 0).tolist() == [2]
