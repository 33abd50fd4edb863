"""Samplers of the user's: what they may be, what is read, and what happens when nobody can tell."""

from __future__ import annotations

import doctest
import itertools
import sys
import tracemalloc

import numpy as np
import pytest

from penstock import fn
from penstock.errors import ArgumentError, ArgumentTypeError
from penstock.read import sampler as module
from penstock.read.order import Cursor, Position
from penstock.read.sampler import SamplerOrder
from tests.small import made, numbers, ten_files, values


@pytest.fixture
def ten(tmp_path):
    return ten_files(tmp_path)


def take(sampler, batch_size, batches, size=10, last_batch="wrap"):
    order = SamplerOrder(sampler, size)
    order.last_batch = last_batch
    cursor = Cursor(order)
    return [cursor.take(batch_size)[0].tolist() for _ in range(batches)]


class Rounds:
    """Another order each time it is iterated, as of a random sampler: rounds are told apart by the first index."""

    def __init__(self, length=3):
        self.length, self.round = length, -1

    def __iter__(self):
        self.round += 1
        return iter([(self.round + i) % 10 for i in range(self.length)])

    def __len__(self):
        return self.length


class ByEpoch(Rounds):
    """One that is told the epoch."""

    def set_epoch(self, epoch):
        self.round = epoch - 1


def generator_function():
    yield from (3, 1, 4)


@pytest.mark.parametrize(
    "sampler",
    [
        [3, 1, 4],
        (3, 1, 4),
        np.array([3, 1, 4], np.uint8),
        {3: "", 1: "", 4: ""},
        generator_function,
        lambda: [3, 1, 4],
        lambda epoch: np.array([3, 1, 4]),
        lambda epoch=7: [3, 1, 4],
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_gives_indices(sampler):
    assert take(sampler, 2, 4) == [[3, 1], [4, 3], [1, 4], [3, 1]]


def test_samplers_of_pytorch():
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    from torch.utils.data import RandomSampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler
    from torch.utils.data.distributed import DistributedSampler

    data = range(10)
    assert take(torch.tensor([3, 1, 4]), 3, 2) == [[3, 1, 4]] * 2
    assert take([torch.tensor(3), torch.tensor(1)], 2, 1) == [[3, 1]]
    assert take(SequentialSampler(data), 10, 2) == [list(data)] * 2
    for make in (
        lambda: RandomSampler(data, generator=torch.Generator().manual_seed(3)),
        lambda: SubsetRandomSampler([1, 5, 7, 8], generator=torch.Generator().manual_seed(3)),
        lambda: WeightedRandomSampler([1.0, 5, 0, 3] * 2, 20, generator=torch.Generator().manual_seed(3)),
    ):
        theirs = make()
        expected = [list(theirs) for _ in range(3)]
        assert take(make(), len(theirs), 3) == expected
        assert take(make(), 1, 3 * len(theirs)) == [[i] for epoch in expected for i in epoch]
    for rank in range(3):
        theirs = DistributedSampler(data, num_replicas=3, rank=rank, seed=5)
        expected = []
        for epoch in range(3):
            theirs.set_epoch(epoch)
            expected.append(list(theirs))
        assert take(DistributedSampler(data, num_replicas=3, rank=rank, seed=5), 4, 3) == expected


@pytest.mark.parametrize(
    ("last_batch", "expected"),
    [
        ("wrap", [[0, 1, 2], [1, 2, 3], [4, 2, 3], [4, 5, 6]]),
        ("pad", [[0, 1, 2], [1, 2, 3], [4, 4, 4], [2, 3, 4]]),
        ("partial", [[0, 1, 2], [1, 2, 3], [4, 4, 4], [2, 3, 4]]),
        ("drop", [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]]),
    ],
)
def test_last_batch_of_epochs_that_differ_in_length(last_batch, expected):
    epochs = [[0, 1, 2], [1, 2, 3, 4], [2, 3, 4, 5, 6], [3, 4, 5]]
    assert take(lambda epoch: epochs[epoch], 3, 4, last_batch=last_batch) == expected


def test_epochs_are_numbered():
    cursor = Cursor(SamplerOrder(lambda epoch: [epoch] * (epoch + 1), 10))
    indices, epochs, _ = cursor.take(7)
    assert indices.tolist() == epochs.tolist() == [0, 1, 1, 2, 2, 2, 3]
    assert cursor.state == Position(3, 1)


def test_an_index_that_comes_again_has_a_key_of_its_own():
    whole = Cursor(SamplerOrder(lambda: [5, 2, 5, 5, 2, 7], 10)).take(12)
    assert whole[2].tolist() == [5, 2, 15, 25, 12, 7] * 2
    by_two = Cursor(SamplerOrder(lambda: [5, 2, 5, 5, 2, 7], 10))
    assert np.concatenate([by_two.take(2)[2] for _ in range(6)]).tolist() == whole[2].tolist()


@pytest.mark.parametrize("last_batch", ["wrap", "pad", "partial", "drop"])
def test_going_back_gives_the_same_samples_though_the_sampler_would_not(last_batch):
    order = SamplerOrder(Rounds(7), 10)
    order.last_batch = last_batch
    cursor = Cursor(order)
    states, batches = [], []
    for _ in range(9):
        states.append(cursor.state)
        batches.append(cursor.take(3)[0].tolist())
        if len(states) > 4:
            cursor.forget(states[-4])
            cursor.state = states[-4]
            assert [cursor.take(3)[0].tolist() for _ in range(4)] == batches[-4:]


def test_what_was_forgotten_is_asked_for_again():
    """So it is after a checkpoint: exact for samplers that give the same order for the same epoch."""
    cursor = Cursor(SamplerOrder(ByEpoch(5), 10))
    states, batches = [], []
    for _ in range(6):
        states.append(cursor.state)
        batches.append(cursor.take(3)[0].tolist())
    for state, batch in zip(states, batches, strict=True):
        resumed = Cursor(SamplerOrder(ByEpoch(5), 10))
        resumed.state = state
        assert resumed.take(3)[0].tolist() == batch
        cursor.forget((9, 0))
        cursor.state = state
        assert cursor.take(3)[0].tolist() == batch


def test_endless_samplers_are_drawn_from_as_far_as_needed():
    def endless():
        for i in itertools.count():
            drawn.append(i)
            yield i % 10

    drawn = []
    cursor = Cursor(SamplerOrder(endless, 10))
    tracemalloc.start()
    for _ in range(1000):
        cursor.take(10)
        cursor.forget(cursor.state)
        drawn[:-1] = []
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert drawn == [10_000]  # one more than needed, to know whether the epoch is over
    assert held < 20_000
    cursor.state = (0, 9995)
    assert cursor.take(3)[0].tolist() == [5, 6, 7]


@pytest.mark.parametrize(
    ("sampler", "error", "message"),
    [
        (5, ArgumentTypeError, "sampler=5: expected an iterable of indices"),
        ("abc", ArgumentTypeError, "sampler='abc': expected an iterable"),
        (Rounds, ArgumentTypeError, "expected an iterable"),
        ([], ArgumentError, r"sampler=\[\]: it is empty"),
        ([0, 10], ArgumentError, "index number 1 of epoch 0 is 10: expected a whole number from 0 to 9"),
        ([0, -1], ArgumentError, "is -1: expected a whole number from 0 to 9"),
        ([0.0, 1.0], ArgumentTypeError, "whole numbers, not float64"),
        ([[0, 1], [2, 3]], ArgumentTypeError, r"one axis of indices, not the shape \(2, 2\)"),
        ([[0, 1], [2]], ArgumentTypeError, r"sampler=\[\[0, 1\], \[2\]\]"),
        (lambda: 5, ArgumentTypeError, "a function that returns indices, not 5"),
        (lambda: [], ArgumentError, "it gave no index in epoch 0"),
        (lambda: [0, 10], ArgumentError, "index number 1 of epoch 0 is 10"),
        (lambda: ["one"], ArgumentTypeError, "index number 0 of epoch 0 is one"),
        (lambda: [[0, 1], [2, 3]], ArgumentTypeError, r"it gives batches, such as \[0, 1\], but the pipeline makes"),
        (lambda: [None], ArgumentTypeError, "is None"),
    ],
)
def test_refusals(ten, sampler, error, message):
    with pytest.raises(error, match=f"(?s)readers.file: .*{message}.*operator made at .*small.py"):
        made(lambda: numbers(ten, sampler=sampler)).run()


@pytest.mark.parametrize(
    "arguments",
    [
        {"random_shuffle": True},
        {"num_shards": 2},
        {"num_shards": 2, "shard_id": 1},
        {"stick_to_shard": True},
        {"shuffle_after_epoch": True},
    ],
    ids=str,
)
def test_a_sampler_says_it_all(ten, arguments):
    name = next(iter(arguments))
    with pytest.raises(ArgumentError, match=rf"readers.file: {name}=.*: leave it out, for sampler=\[1, 2\] says"):
        made(lambda: numbers(ten, sampler=[1, 2], **arguments))
    assert values(made(lambda: numbers(ten, sampler=[1, 2], num_shards=1, random_shuffle=False)).run()[0]) == [1, 2] * 2


def test_an_iterator_gives_one_epoch_and_then_an_error_that_names_it(ten):
    pipe = made(lambda: numbers(ten, sampler=iter([1, 2, 3, 4, 5, 6, 7, 8])), prefetch_queue_depth=3)
    assert [values(pipe.run()[0]) for _ in range(2)] == [[1, 2, 3, 4], [5, 6, 7, 8]]
    for _ in range(2):
        with pytest.raises(
            ArgumentError, match=r"(?s)sampler=<list_iterator.*>: epoch 1 cannot begin.*function itself"
        ):
            pipe.run()


@pytest.mark.parametrize("depth", [1, 3])
def test_what_a_sampler_raises_comes_when_all_before_it_was_handed_out(ten, depth):
    class BrokenError(RuntimeError):
        pass

    def sampler():
        yield from range(9)
        if not mended:
            raise BrokenError("no more")
        yield 9

    mended = []
    pipe = made(lambda: numbers(ten, sampler=sampler), prefetch_queue_depth=depth)
    assert [values(pipe.run()[0]) for _ in range(2)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    for _ in range(2):
        with pytest.raises(BrokenError, match="no more"):
            pipe.run()
    mended.append(True)
    assert [values(pipe.run()[0]) for _ in range(2)] == [[8, 9, 0, 1], [2, 3, 4, 5]]


def test_reset_loses_no_sample_of_a_random_sampler(ten):
    pipes = [made(lambda: numbers(ten, sampler=Rounds(7)), prefetch_queue_depth=depth) for depth in (1, 4)]
    for number in range(12):
        if number % 3 == 2:
            pipes[1].reset()
        first, second = (values(pipe.run()[0]) for pipe in pipes)
        assert first == second


def test_checkpoints_go_on_in_the_middle_of_an_epoch(ten):
    def define():
        return numbers(ten, sampler=ByEpoch(7))

    pipe = made(define)
    for _ in range(5):
        state = pipe.checkpoint()
        expected = [values(pipe.run()[0]) for _ in range(2)]
        resumed = made(define, checkpoint=state)
        assert [values(resumed.run()[0]) for _ in range(2)] == expected


def test_ctrl_c_at_any_moment_loses_no_sample():
    def take_all(interrupt_at):
        """Takes all, with Ctrl-C at one line; says whether there was one."""

        def trace(frame, event, _):
            nonlocal lines
            if "penstock/read" not in frame.f_code.co_filename:
                return None
            lines += event == "line"
            if event == "line" and lines == interrupt_at:
                sys.settrace(None)
                raise KeyboardInterrupt
            return trace

        cursor, lines, batches, before = Cursor(SamplerOrder(ByEpoch(5), 10)), 0, [], sys.gettrace()
        while len(batches) < 4:
            state = cursor.state
            sys.settrace(trace)
            try:
                batch = cursor.take(3)[0].tolist()
                cursor.forget(state)
                batches.append(batch)
            except KeyboardInterrupt:
                cursor.state = state
            finally:
                sys.settrace(before)
        assert batches == [[0, 1, 2], [3, 4, 1], [2, 3, 4], [5, 2, 3]]
        return lines >= interrupt_at

    assert sum(map(bool, itertools.takewhile(bool, map(take_all, itertools.count(1))))) > 200


def test_samples_that_come_twice_are_augmented_differently(ten):
    def run(batch_size, **reader):
        pipe = made(lambda: (numbers(ten, **reader), fn.random.uniform(range=[0.0, 1.0])), batch_size=batch_size)
        batches = [pipe.run() for _ in range(8 // batch_size)]
        return [[value for batch in batches for value in values(batch[k])] for k in (0, 1)]

    read, drawn = run(4, sampler=[1, 2, 1, 1, 3, 2, 5, 6])
    assert read == [1, 2, 1, 1, 3, 2, 5, 6]
    assert len(set(drawn)) == 8
    assert run(8, sampler=[1, 2, 1, 1, 3, 2, 5, 6]) == [read, drawn]
    by_reader = dict(zip(*run(8), strict=True))
    assert drawn[:2] + drawn[6:] == [by_reader[i] for i in (1, 2, 5, 6)]


@pytest.mark.parametrize(
    ("action", "expected"), [("skip", [0, 2, 4, 5, 7, 8]), ("replace", [0, 2, 2, 4, 4, 5, 7, 7, 8, 0])]
)
def test_broken_samples_are_left_out(action, expected):
    """However much of the epoch was drawn when they were found, and wherever reading begins."""
    for found in (0, 4, 10):
        order = SamplerOrder(lambda: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 10)
        order.read(0, 0, 10)
        order.forget(0, found)
        for index in (1, 3, 6, 9):
            order.broken.add(index, action)
        for n in (1, 2, 10):
            position, read = 0, []
            while position is not None:
                part = order.read(0, position, n)
                read += part.indices.tolist()
                position = part.position
            assert read == expected


@pytest.mark.parametrize(
    ("sampler", "length"), [([1, 2, 3], 3), (Rounds(5), 5), (generator_function, -1), (iter([1]), -1)], ids=str
)
def test_reader_meta_tells_the_samplers_length(ten, sampler, length):
    pipe = made(lambda: numbers(ten, sampler=sampler, pad_last_batch=True))
    assert pipe.epoch_size("Reader") == length
    assert pipe.reader_meta("Reader") == {
        "epoch_size": length,
        "epoch_size_padded": length,
        "number_of_shards": 1,
        "shard_id": 0,
        "pad_last_batch": 1,
        "stick_to_shard": 0,
    }


def test_examples_in_docstrings():
    results = doctest.testmod(module)
    assert results.attempted
    assert not results.failed
