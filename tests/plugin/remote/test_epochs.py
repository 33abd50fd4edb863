"""Epochs of trainers whose batches others make are those of pipelines of their own, whoever dies."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from penstock.errors import ArgumentError, WorkerError
from penstock.plugin.base import LastBatchPolicy
from penstock.plugin.remote.units import Made, Unit
from penstock.read.order import EpochOrder
from penstock.run.merge import merge_states
from tests.plugin.plain_pipeline import ListIterator, PlainPipeline, one_epoch
from tests.plugin.remote.workers import SEED, Workers, facts, remote

ORDERS: list[dict[str, Any]] = [
    {}, {"random_shuffle": True}, {"shuffle_after_epoch": True}, {"stick_to_shard": True, "pad_last_batch": True}
]  # fmt: skip


def iterator(pipe: Any, policy: LastBatchPolicy) -> ListIterator:
    return ListIterator(pipe, ["n"], reader_name="Reader", last_batch_policy=policy)


@pytest.mark.parametrize("policy", list(LastBatchPolicy))
@pytest.mark.parametrize("shards", [1, 2, 3])
def test_batches_are_those_of_a_pipeline_of_ones_own(policy: LastBatchPolicy, shards: int) -> None:
    for size, batch, order, deaths in product((13, 40), (1, 4), ORDERS, (0, 0.2)):
        for shard in range(shards):
            arguments = {"num_shards": shards, "shard_id": shard, "seed": SEED, **order}
            own = iterator(PlainPipeline(batch, EpochOrder(size, batch_size=batch, **arguments)), policy)
            workers = Workers(3, deaths=deaths, seed=size + shard)
            far = iterator(remote(workers, facts(size, batch, **order), shard_id=shard, num_shards=shards), policy)
            assert [one_epoch(far) for _ in range(3)] == [one_epoch(own) for _ in range(3)]
            assert (workers.died > 0) == (deaths > 0) or size == 13


def test_no_more_is_under_way_than_was_asked_for() -> None:
    workers = Workers(5)
    pipe = remote(workers, facts(1000, 2), ahead=4)
    assert len(one_epoch(iterator(pipe, LastBatchPolicy.FILL))) == 500
    assert workers.most <= 4
    assert pipe.statistics() == {"batches": 500, "bytes": 8000, "again": 0}


def test_states_go_on_anywhere() -> None:
    def made(deaths: float = 0.1) -> Any:
        return iterator(remote(Workers(2, deaths=deaths), facts(50, 4, random_shuffle=True)), LastBatchPolicy.PARTIAL)

    expected = one_epoch(made())
    for done in range(len(expected)):
        some = made()
        for _ in range(done):
            next(some)
        state = json.loads(json.dumps(some.state_dict()))
        other = made()
        next(other)
        other.load_state_dict(state)
        assert one_epoch(other) == expected[done:]


@pytest.mark.parametrize("policy", list(LastBatchPolicy))
def test_another_number_of_trainers_goes_on(policy: LastBatchPolicy) -> None:
    of = facts(101, 3, random_shuffle=True)

    def made(shard: int, shards: int, state: Any = None) -> ListIterator:
        pipe = remote(Workers(2, deaths=0.1), of, shard_id=shard, num_shards=shards, checkpoint=state)
        return iterator(pipe, policy)

    before = [made(shard, 3) for shard in range(3)]
    seen = [n for one in before for _ in range(4) for n in next(one)[0]["n"]]
    state = merge_states([one.state_dict() for one in before])
    rest = [one_epoch(made(shard, 5, state)) for shard in range(5)]
    seen += [n for batches in rest for batch in batches for part in batch for n in part]
    if policy is LastBatchPolicy.PARTIAL:
        assert sorted(seen) == list(range(101))
    else:
        assert len({len(batches) for batches in rest}) == 1
        assert set(seen) == set(range(101)) if policy is LastBatchPolicy.FILL else len(set(seen)) == len(seen)


def test_errors_come_in_their_place_and_the_rest_goes_on() -> None:
    def fails(unit: Unit) -> Made:
        first = int(unit.samples["Reader"].indices[0])
        return Made(failure=OSError("gone")) if first == 4 else Made([("", unit.samples["Reader"].indices[:, None])])

    batches = iterator(remote(Workers(2, fails), facts(12, 2)), LastBatchPolicy.FILL)
    got: list[Any] = []
    for _ in range(6):
        try:
            got += next(batches)[0]["n"]
        except OSError as error:
            got.append(str(error))
    assert got == [0, 1, 2, 3, "gone", 6, 7, 8, 9, 10, 11]


def test_that_nobody_is_there_is_an_error() -> None:
    pipe = remote(Workers(0), facts(12, 2))
    pipe.schedule_run()
    with pytest.raises(WorkerError, match=r"for 1 s there was no actor"):
        pipe.share_outputs()


def test_arguments_are_checked() -> None:
    with pytest.raises(ArgumentError, match="ahead=0"):
        remote(Workers(1), facts(12, 2), ahead=0)
    with pytest.raises(ArgumentError, match=r"shard_id=2 is not in the range"):
        remote(Workers(1), facts(12, 2), shard_id=2, num_shards=2)
    with pytest.raises(ArgumentError, match=r"reader named 'x'; there are: Reader"):
        ListIterator(remote(Workers(1), facts(12, 2)), ["n"], reader_name="x")
    other = remote(Workers(1), facts(13, 2)).state_dict()
    ours = remote(Workers(1), facts(12, 2))
    ours.check_state(ours.state_dict())
    with pytest.raises(ArgumentError, match=r"samples=13"):
        ours.load_state_dict(other)
