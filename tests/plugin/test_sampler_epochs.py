"""Epochs of iterators whose readers have samplers, against lists made by hand and PyTorch's DataLoader."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from penstock.errors import ArgumentError, GraphError
from penstock.plugin.base import LastBatchPolicy
from penstock.read.sampler import SamplerOrder
from tests.plugin.plain_pipeline import Epoch, ListIterator, PlainPipeline, one_epoch
from tests.small import made, numbers, ten_files

FILL, DROP, PARTIAL = LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL

UNEVEN = [[0, 1, 2, 3, 4, 5], [6, 7, 8], [9, 8, 7, 6, 5, 4, 3], [2, 1, 0, 9], [5, 6, 7, 8]]


class Uneven:
    """Epochs of six, three, seven, four and four samples, again and again."""

    epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch % 5

    def __iter__(self) -> Any:
        return iter(UNEVEN[self.epoch])


class Sized(Uneven):
    """One that says how many the coming epoch has, as good as it knows."""

    def __len__(self) -> int:
        return len(UNEVEN[self.epoch])


def pipeline(sampler: Any, batch_size: int = 4, depth: int = 3, pad: bool = False, size: int = 10) -> PlainPipeline:
    return PlainPipeline(batch_size, SamplerOrder(sampler, size, pad_last_batch=pad), depth)


def iterator(pipes: Any, policy: LastBatchPolicy = FILL, **options: Any) -> ListIterator:
    return ListIterator(pipes, ["n"], **{"reader_name": "Reader", "last_batch_policy": policy, **options})


def epochs(it: Any, loops: int) -> list[Epoch]:
    return [one_epoch(it) for _ in range(loops)]


def alone(batches: list[list[int]]) -> Epoch:
    return [[batch] for batch in batches]


@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize(
    ("policy", "pad", "expected"),
    [
        (FILL, False, [[[0, 1, 2, 3], [4, 5, 6, 7]], [[8, 9, 8, 7]], [[6, 5, 4, 3]], [[2, 1, 0, 9]], [[5, 6, 7, 8]]]),
        (FILL, True, [[[0, 1, 2, 3], [4, 5, 5, 5]], [[6, 7, 8, 8]], [[9, 8, 7, 6], [5, 4, 3, 3]], [[2, 1, 0, 9]]]),
        (PARTIAL, False, [[[0, 1, 2, 3], [4, 5]], [[6, 7, 8]], [[9, 8, 7, 6], [5, 4, 3]], [[2, 1, 0, 9]]]),
        (PARTIAL, True, [[[0, 1, 2, 3], [4, 5]], [[6, 7, 8]], [[9, 8, 7, 6], [5, 4, 3]], [[2, 1, 0, 9]]]),
    ],
)
def test_epochs_that_differ_in_length(
    policy: LastBatchPolicy, pad: bool, expected: list[list[list[int]]], depth: int
) -> None:
    assert epochs(iterator(pipeline(Uneven(), depth=depth, pad=pad), policy), len(expected)) == list(
        map(alone, expected)
    )
    it = iterator(pipeline(Sized(), depth=depth, pad=pad), policy, auto_reset=True)
    for batches in expected:
        assert [batch[0]["n"] for batch in itertools.islice(it, len(batches) - 1)] == batches[:-1]
        assert len(it) == len(batches)
        assert next(it)[0]["n"] == batches[-1]
        assert len(it) == len(batches)
        with pytest.raises(StopIteration):
            next(it)


def test_dropping_what_fills_no_batch() -> None:
    def sampler(epoch: int) -> list[int]:
        return UNEVEN[epoch % 5]

    expected = [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8]], [[9, 8, 7], [6, 5, 4]], [[2, 1, 0]]]
    assert epochs(iterator(pipeline(sampler, batch_size=3), DROP), 4) == list(map(alone, expected))
    it = iterator(pipeline(sampler, depth=1), DROP)
    assert epochs(it, 1) == [alone([[0, 1, 2, 3]])]
    with pytest.raises(ArgumentError, match="epoch 1 has 3 indices, less than one batch of 4"):
        epochs(it, 1)


def test_a_batch_that_takes_all_of_an_epoch_leaves_no_loop_for_it() -> None:
    it = iterator(pipeline([1, 2, 3], batch_size=8))
    assert epochs(it, 2) == [alone([[1, 2, 3, 1, 2, 3, 1, 2]]), alone([[3, 1, 2, 3, 1, 2, 3, 1]])]
    assert it._epoch == 2  # the first batch held all of epochs 0 and 1


@pytest.mark.parametrize("policy", list(LastBatchPolicy))
@pytest.mark.parametrize("batch_size", [3, 4])
def test_breaking_off_begins_the_next_epoch(policy: LastBatchPolicy, batch_size: int) -> None:
    it = iterator(pipeline(lambda epoch: [epoch] * 9, batch_size=batch_size), policy)
    for epoch in range(5):
        assert [batch[0]["n"] for batch in itertools.islice(it, 2)] == [[epoch] * batch_size] * 2


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("batch_size", [1, 3, 4])
@pytest.mark.parametrize("kind", ["random", "weighted", "subset", "distributed"])
def test_what_pytorchs_loader_gives(kind: str, batch_size: int, drop: bool) -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    from torch.utils import data

    def seeded() -> Any:
        return torch.Generator().manual_seed(7)

    make: dict[str, Callable[[], Any]] = {
        "random": lambda: data.RandomSampler(range(10), generator=seeded()),
        "weighted": lambda: data.WeightedRandomSampler([1.0, 9.0, 3.0, 0.0, 5.0], 11, generator=seeded()),
        "subset": lambda: data.SubsetRandomSampler([1, 3, 5, 7, 9], generator=seeded()),
        "distributed": lambda: data.DistributedSampler(range(10), num_replicas=3, rank=1, seed=2),
    }
    sampler = make[kind]()
    # A generator of its own: it would draw a seed for its workers from the global one.
    loader: Any = data.DataLoader(range(10), batch_size, sampler=sampler, drop_last=drop, generator=torch.Generator())
    it = iterator(pipeline(make[kind](), batch_size), DROP if drop else PARTIAL)
    for epoch in range(4):
        if kind == "distributed":
            sampler.set_epoch(epoch)
        assert len(it) == len(loader)
        assert one_epoch(it) == alone([batch.tolist() for batch in loader])


@pytest.mark.parametrize("policy", list(LastBatchPolicy))
def test_pipelines_side_by_side_with_distributed_samplers(policy: LastBatchPolicy) -> None:
    data = pytest.importorskip("torch.utils.data", reason="needs PyTorch")

    def sampler(rank: int) -> Any:
        return data.DistributedSampler(range(10), num_replicas=3, rank=rank)

    together = iterator([pipeline(sampler(rank), batch_size=3) for rank in range(3)], policy)
    each = [iterator(pipeline(sampler(rank), batch_size=3), policy) for rank in range(3)]
    for _ in range(4):
        assert len(together) == len(each[0])
        batches = [one_epoch(it) for it in each]
        assert one_epoch(together) == [[rank[step][0] for rank in batches] for step in range(len(batches[0]))]


def test_pipelines_whose_samplers_differ_in_length() -> None:
    def two() -> list[PlainPipeline]:
        return [pipeline([0, 1, 2], batch_size=2), pipeline([3, 4, 5, 6, 7], batch_size=2)]

    for _ in range(2):
        it = iterator(two(), PARTIAL)
        assert len(it) == 3
        assert epochs(it, 2) == [[[[0, 1], [3, 4]], [[2], [5, 6]], [[], [7]]]] * 2
    for policy in (FILL, DROP):
        it = iterator(two(), policy)
        next(it)
        with pytest.raises(GraphError, match=rf"pipelines \[0\].*LastBatchPolicy.{policy.name} all need as many"):
            list(itertools.starmap(next, [(it,)] * 3))


def test_lengths_that_are_not_known() -> None:
    it = iterator(pipeline(lambda: [1, 2, 3]))
    with pytest.raises(TypeError, match=r"the reader's sampler has no len\(\)"):
        len(it)
    assert it.size == -1
    assert len(list(it)) == 1


@pytest.mark.parametrize(
    ("policy", "pad", "size"), [(FILL, False, 8), (FILL, True, 7), (PARTIAL, False, 8), (DROP, False, 7)]
)
def test_size_is_as_with_other_readers(policy: LastBatchPolicy, pad: bool, size: int) -> None:
    assert iterator(pipeline([1, 2, 3, 4, 5, 6, 7], pad=pad), policy).size == size


def test_a_samplers_size_is_as_good_as_the_readers_name() -> None:
    it = iterator(pipeline([1, 2, 3, 4, 5]), PARTIAL, size=5, reader_name=None)
    assert epochs(it, 2) == [alone([[1, 2, 3, 4], [5]])] * 2
    counted = iterator(pipeline([1, 2, 3, 4, 5]), PARTIAL, size=6, reader_name=None)
    assert epochs(counted, 2) == [alone([[1, 2, 3, 4], [5, 1]]), alone([[4, 5, 1, 2], [3, 4]])]


def test_samplers_without_end_have_one_epoch() -> None:
    it = iterator(pipeline(lambda: itertools.cycle(range(10)), batch_size=5))
    for number, batch in zip(range(50), it, strict=False):
        assert batch[0]["n"] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]][number % 2]


# On real pipelines, which keep back what samplers raise until all before it was handed out.


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("policy", [PARTIAL, DROP])
def test_an_iterator_is_good_for_one_epoch(policy: LastBatchPolicy, depth: int, tmp_path: Any) -> None:
    files = ten_files(tmp_path)
    it = iterator(made(lambda: numbers(files, sampler=iter(range(9))), prefetch_queue_depth=depth), policy)
    whole = [[0, 1, 2, 3], [4, 5, 6, 7], [8]]
    assert one_epoch(it) == alone(whole if policy is PARTIAL else whole[:2])
    for _ in range(2):
        with pytest.raises(ArgumentError, match="epoch 1 cannot begin: an iterator can be gone through once"):
            one_epoch(it)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_a_failing_sampler_takes_no_batch_with_it(depth: int, tmp_path: Any) -> None:
    def sampler() -> Any:
        yield from range(8)
        raise RuntimeError("no more")

    files = ten_files(tmp_path)
    it = iterator(made(lambda: numbers(files, sampler=sampler), prefetch_queue_depth=depth), PARTIAL)
    for _ in range(2):
        loop = iter(it)
        assert [next(loop)[0]["n"] for _ in range(2)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
        with pytest.raises(RuntimeError, match="no more"):
            next(loop)


@pytest.mark.parametrize("policy", list(LastBatchPolicy))
def test_restored_pipelines_go_on_in_the_middle_of_an_epoch(policy: LastBatchPolicy, tmp_path: Any) -> None:
    files = ten_files(tmp_path)

    def begin(**arguments: Any) -> ListIterator:
        pipe = made(lambda: numbers(files, sampler=Sized()), batch_size=3, **arguments)
        return iterator(pipe, policy)

    expected = epochs(begin(), 5)
    it = begin()
    for epoch in range(4):
        for number, _ in enumerate(it):
            rest = expected[epoch][number + 1 :]
            resumed = begin(checkpoint=it.checkpoints()[0])
            assert one_epoch(resumed) == (rest or expected[epoch + 1])
