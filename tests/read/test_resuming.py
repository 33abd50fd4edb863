"""What a pipeline that goes on from a checkpoint may have changed, and what it may not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError
from penstock.plugin.pytorch import DALIGenericIterator, LastBatchPolicy
from tests.small import made, numbers, ten_files, values


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


def after(batches: int, files: list[str], batch_size: int = 2, **arguments: Any) -> str:
    """The state behind so many batches."""
    pipe = made(lambda: numbers(files, **arguments), batch_size=batch_size)
    for _ in range(batches):
        pipe.run()
    return pipe.checkpoint()


def resumed(state: str, files: list[str], batch_size: int = 2, **arguments: Any) -> Pipeline:
    pipe = made(lambda: numbers(files, **arguments), batch_size=batch_size, checkpoint=state)
    pipe.build()
    return pipe


@pytest.mark.parametrize("batches", range(12))
@pytest.mark.parametrize("size", [1, 3, 4, 10])
def test_another_batch_size_goes_on_with_the_next_sample(batches: int, size: int, files: list[str]) -> None:
    pipe = resumed(after(batches, files), files, size)
    got = [n for _ in range(4) for n in values(pipe.run()[0])]
    assert got == [(2 * batches + n) % 10 for n in range(4 * size)]


@pytest.mark.parametrize("size", [3, 4, 5])
def test_so_does_an_iterator(size: int, files: list[str]) -> None:
    """Its epoch has what is left, filled up as always, and the next one what is left of that."""
    batches = DALIGenericIterator(resumed(after(3, files), files, size), ["number"], reader_name="Reader")
    got = [n for _ in range(3) for batch in batches for n in batch[0]["number"].flatten().tolist()]
    assert got == [(6 + n) % 10 for n in range(len(got))]
    assert 24 <= len(got) < 24 + size  # three epochs, the first of which had four samples left


@pytest.mark.parametrize("policy", [LastBatchPolicy.PARTIAL, LastBatchPolicy.DROP])
def test_an_iterator_says_where_it_cannot(policy: LastBatchPolicy, files: list[str]) -> None:
    pipe = resumed(after(1, files), files, 4)
    with pytest.raises(ArgumentError, match="at sample 2 of epoch 0, where no batch of 4 begins"):
        DALIGenericIterator(pipe, ["number"], reader_name="Reader", last_batch_policy=policy)


def test_random_values_stay_with_their_samples(files: list[str]) -> None:
    def define() -> Any:
        return numbers(files), fn.random.uniform()

    pipe = made(define, batch_size=2)
    pipe.run()
    again = made(define, batch_size=5, checkpoint=pipe.checkpoint())
    expected = [pipe.run() for _ in range(5)]
    got = [again.run() for _ in range(2)]
    for k in (0, 1):
        assert [v for o in got for v in values(o[k])] == [v for o in expected for v in values(o[k])]


@pytest.mark.parametrize(
    ("now", "problem"),
    [
        ({"num_shards": 2}, "num_shards=1 when it was made, in the middle of an epoch, and has 2 now"),
        ({"stick_to_shard": True}, "stick_to_shard=False when it was made, in the middle"),
        ({"random_shuffle": True}, "random_shuffle=False when it was made, in the middle"),
    ],
)
def test_another_order_in_the_middle_of_an_epoch(now: dict[str, Any], problem: str, files: list[str]) -> None:
    with pytest.raises(ArgumentError, match=f"checkpoint: the reader 'Reader' had {problem}"):
        resumed(after(1, files), files, **now)
    epoch_begins = resumed(after(5, files), files, **now)
    assert len(values(epoch_begins.run()[0])) == 2


@pytest.mark.parametrize("batches", [1, 5])
def test_another_data_set(batches: int, files: list[str], tmp_path: Path) -> None:
    state = after(batches, files)
    with pytest.raises(ArgumentError, match="'Reader' had samples=10 when it was made, and has 9 now"):
        resumed(state, files[:9])
    other = tmp_path / "other"
    other.mkdir()
    (other / "x").write_bytes(b"x")
    with pytest.raises(ArgumentError, match=r"'Reader' had names='[0-9a-f]{16}' when it was made"):
        resumed(state, [*files[:9], str(other / "x")])
    for file in files:  # the same elsewhere
        (other / Path(file).name).write_bytes(Path(file).read_bytes())
    moved = resumed(state, [str(other / Path(file).name) for file in files])
    assert values(moved.run()[0]) == [2 * batches % 10, 2 * batches % 10 + 1]


def test_another_shard_goes_on_at_the_same_position(files: list[str]) -> None:
    """The state of one process does for all."""
    state = after(1, files, num_shards=2, shard_id=0)
    assert values(resumed(state, files, num_shards=2, shard_id=1).run()[0]) == [7, 8]


def test_a_source_of_samples_goes_on_with_other_batches() -> None:
    def define() -> Any:
        return fn.external_source(lambda info: np.array([info.idx_in_epoch]), batch=False, name="s")

    pipe = made(define, batch_size=2)
    for _ in range(3):
        pipe.run()
    state = pipe.checkpoint()
    assert values(made(define, batch_size=3, checkpoint=state).run()[0]) == [6, 7, 8]
    with pytest.raises(ArgumentError, match="'s' had given 3 batches of 2 samples: it cannot go on with batches of 4"):
        made(define, batch_size=4, checkpoint=state).build()


def test_a_source_of_batches_cannot() -> None:
    pipe = made(lambda: fn.external_source(lambda n: np.full((2, 1), n), name="s"), batch_size=2)
    pipe.run()
    other = made(
        lambda: fn.external_source(lambda n: np.full((4, 1), n), name="s"), batch_size=4, checkpoint=pipe.checkpoint()
    )
    with pytest.raises(ArgumentError, match="'s' had given 1 batches of 2 samples"):
        other.build()


def test_states_that_tell_less_are_taken_as_they_are(files: list[str]) -> None:
    """Those of version 0.1."""
    state = json.loads(after(3, files))
    for key in ("read", "batch_size"):
        del state[key]
    assert values(resumed(json.dumps(state), files, 4).run()[0]) == [6, 7, 8, 9]
    assert len(after(3, files)) < 400
