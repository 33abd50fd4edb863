"""The order of samples against DALI's readers and against what shards and shuffles must be by definition."""

from __future__ import annotations

import doctest
from itertools import product

import numpy as np
import pytest

from penstock.errors import ArgumentError
from penstock.read import listing, order
from penstock.read.order import Cursor, EpochOrder, permutation, shard_sizes

SIZES = [4, 7, 10, 12, 13]
SHARDS = [1, 2, 3, 4]


@pytest.fixture(scope="module")
def dali_reads(tmp_path_factory):
    """A function that gives the samples DALI reads, and what it tells about its reader."""
    fn = pytest.importorskip("nvidia.dali.fn", reason="needs DALI to compare with")
    from nvidia.dali import pipeline_def

    file = tmp_path_factory.mktemp("dali") / "file.jpg"
    file.write_bytes(b"x")

    def read(size, batch_size, batches, **arguments):
        @pipeline_def(batch_size=batch_size, num_threads=1, device_id=None, prefetch_queue_depth=1)
        def pipeline():
            _, labels = fn.readers.file(name="R", files=[str(file)] * size, **arguments)
            return labels

        pipe = pipeline()
        pipe.build()
        read = [np.asarray(pipe.run()[0].as_tensor()).ravel().tolist() for _ in range(batches)]
        return read, pipe.reader_meta("R")

    return read


def take(order, batch_size, batches):
    cursor = Cursor(order)
    return [cursor.take(batch_size)[0].tolist() for _ in range(batches)]


@pytest.mark.parametrize(("size", "num_shards"), [*product(SIZES, SHARDS), (11, 5), (13, 6), (13, 7), (17, 8)])
def test_reads_what_dali_reads(dali_reads, size, num_shards):
    for shard_id, batch_size, pad, stick in product(range(num_shards), (1, 3, 5), (False, True), (False, True)):
        arguments = {"shard_id": shard_id, "num_shards": num_shards, "pad_last_batch": pad, "stick_to_shard": stick}
        batches = 3 * size // batch_size + 2
        expected, meta = dali_reads(size, batch_size, batches, **arguments)
        order = EpochOrder(size, batch_size=batch_size, **arguments)
        assert take(order, batch_size, batches) == expected, arguments
        assert order.reader_meta() == meta, arguments


@pytest.mark.parametrize("shuffle", ["random_shuffle", "shuffle_after_epoch"])
@pytest.mark.parametrize("num_shards", [1, 3])
def test_tells_what_dali_tells_about_shuffled_readers(dali_reads, shuffle, num_shards):
    arguments = {"num_shards": num_shards, "pad_last_batch": True, shuffle: True}
    _, meta = dali_reads(10, 4, 1, **arguments)
    assert EpochOrder(10, batch_size=4, **arguments).reader_meta() == meta


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("num_shards", SHARDS)
@pytest.mark.parametrize("shuffling", [{}, {"random_shuffle": True}, {"shuffle_after_epoch": True}], ids=str)
def test_shards_cover_the_data_set_in_each_epoch(size, num_shards, shuffling):
    # Seeds differ, as they do where each process seeds its pipeline with its rank.
    orders = [EpochOrder(size, shard_id=s, num_shards=num_shards, seed=s, **shuffling) for s in range(num_shards)]
    for epoch in range(2 * num_shards):
        shards = [order.indices(epoch) for order in orders]
        assert sorted(np.concatenate(shards)) == list(range(size))
        assert sorted(map(len, shards)) == sorted(shard_sizes(size, num_shards))


def test_shard_sizes_are_as_even_as_can_be():
    for size, shards in product(range(1, 20), range(1, 6)):
        sizes = shard_sizes(size, shards)
        assert sizes.sum() == size
        assert np.ptp(sizes) <= 1


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("num_shards", SHARDS)
def test_a_reader_goes_through_all_shards_in_turn(num_shards, shuffle):
    order = EpochOrder(13, num_shards=num_shards, shard_id=num_shards - 1, random_shuffle=shuffle)
    for begin in (0, num_shards):
        epochs = [order.indices(begin + i) for i in range(num_shards)]
        assert sorted(np.concatenate(epochs)) == list(range(13))


def test_a_reader_that_sticks_to_its_shard_keeps_its_samples_but_not_their_order():
    order = EpochOrder(100, num_shards=4, shard_id=2, random_shuffle=True, stick_to_shard=True, seed=3)
    epochs = [order.indices(epoch) for epoch in range(8)]
    assert len({tuple(sorted(epoch)) for epoch in epochs}) == 1
    assert len({tuple(epoch) for epoch in epochs}) == 8


def test_shuffled_shards_change_once_a_reader_has_been_through_all_of_them():
    order = EpochOrder(100, num_shards=4, random_shuffle=True)
    assert set(order.indices(0)) != set(order.indices(4))


@pytest.mark.parametrize("shuffling", ["random_shuffle", "shuffle_after_epoch"])
def test_shuffling_depends_on_epoch_and_seed_only(shuffling):
    seed = "seed" if shuffling == "random_shuffle" else "shuffle_after_epoch_seed"

    def order(value):
        return EpochOrder(50, **{shuffling: True, seed: value})

    assert order(1).indices(7).tolist() == order(1).indices(7).tolist()
    different = [order(1).indices(0), order(1).indices(1), order(2).indices(0), np.arange(50)]
    assert len({tuple(indices) for indices in different}) == 4


def test_shuffles_the_whole_shard_evenly():
    """Each sample comes first about equally often: chi-squared with 9 degrees of freedom, 99.9 % below 27.9."""
    order = EpochOrder(10, random_shuffle=True, seed=5)
    first = np.bincount([order.indices(epoch)[0] for epoch in range(2000)], minlength=10)
    assert ((first - 200) ** 2 / 200).sum() < 27.9


def test_permutation_never_changes():
    """Checkpoints rely on it. By definition: the order of Philox' numbers, of which the low 4 bits are replaced."""
    numbers = np.random.Philox(key=np.array([7, 3], np.uint64), counter=np.array([0, 0, 0, 1], np.uint64)).random_raw(9)
    by_hand = sorted(range(9), key=lambda i: (int(numbers[i]) * 16 % 2**64, i))
    assert permutation(9, seed=7, epoch=3, purpose=1).tolist() == by_hand == [3, 0, 4, 6, 1, 8, 5, 7, 2]


@pytest.mark.parametrize(
    ("last_batch", "shards"),
    [
        ("wrap", [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]]),
        ("pad", [[0, 1, 2, 2, 2, 2], [3, 4, 5, 5, 5, 5], [6, 7, 8, 9, 9, 9]]),
        ("partial", [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9, 9, 9]]),
        ("drop", [[0, 1, 2], [3, 4, 5], [6, 7, 8]]),
    ],
)
def test_last_batch(last_batch, shards):
    for shard_id, expected in enumerate(shards):
        order = EpochOrder(10, batch_size=3, num_shards=3, shard_id=shard_id)
        order.last_batch = last_batch
        assert order.indices(0).tolist() == expected


def test_dropping_every_batch_is_refused():
    order = EpochOrder(10, batch_size=4, num_shards=3)
    with pytest.raises(ArgumentError, match="3 samples"):
        order.last_batch = "drop"
    with pytest.raises(ArgumentError, match="'keep'"):
        order.last_batch = "keep"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 0}, "0 samples"),
        ({"size": 5, "batch_size": 0}, "batch_size=0"),
        ({"size": 5, "num_shards": 0}, "num_shards=0"),
        ({"size": 5, "num_shards": 2, "shard_id": 2}, "shard_id=2"),
        ({"size": 5, "num_shards": 2, "shard_id": -1}, "shard_id=-1"),
        ({"size": 2, "num_shards": 3}, "num_shards=3.*2 samples"),
        ({"size": 5, "random_shuffle": True, "shuffle_after_epoch": True}, "exclude each other"),
        ({"size": 5, "stick_to_shard": True, "shuffle_after_epoch": True}, "stick_to_shard"),
    ],
)
def test_arguments_that_make_no_sense(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        EpochOrder(**arguments)


def test_cursor_runs_over_the_ends_of_epochs():
    cursor = Cursor(EpochOrder(3))
    indices, epochs, keys = cursor.take(8)
    assert indices.dtype == epochs.dtype == keys.dtype == np.int64
    assert indices.tolist() == [0, 1, 2, 0, 1, 2, 0, 1]
    assert epochs.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert keys.tolist() == indices.tolist()
    assert cursor.state == (2, 2)
    assert cursor.take(1)[0].tolist() == [2]
    assert cursor.state == (3, 0)


@pytest.mark.parametrize("last_batch", ["wrap", "pad", "partial", "drop"])
def test_cursor_goes_on_from_any_state(last_batch):
    def cursor():
        order = EpochOrder(23, batch_size=4, num_shards=3, shard_id=1, random_shuffle=True, seed=9)
        order.last_batch = last_batch
        return Cursor(order)

    original, states, batches = cursor(), [], []
    for _ in range(12):
        states.append(original.state)
        batches.append(original.take(4)[0].tolist())
    for state, batch in zip(states, batches, strict=True):
        resumed = cursor()
        resumed.state = tuple(state)
        assert resumed.take(4)[0].tolist() == batch


def test_setting_the_state_notices_a_change_of_the_order():
    order = EpochOrder(5, batch_size=3)
    cursor = Cursor(order)
    cursor.take(1)
    order.last_batch = "partial"
    cursor.state = (0, 3)
    assert cursor.take(3)[0].tolist() == [3, 4, 4]


def test_cursor_refuses_impossible_states():
    with pytest.raises(ArgumentError, match="position=-1"):
        Cursor(EpochOrder(3)).state = (0, -1)


@pytest.mark.parametrize("module", [order, listing])
def test_examples_in_docstrings(module):
    results = doctest.testmod(module)
    assert results.attempted
    assert not results.failed
