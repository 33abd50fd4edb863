"""Epochs of iterators: which samples come in which batch, against DALI's iterator where that is right."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from penstock.errors import ArgumentError, ArgumentTypeError, GraphError
from penstock.plugin.base import LastBatchPolicy
from penstock.read.order import EpochOrder
from tests.plugin.plain_pipeline import ListIterator, one_epoch, pipelines

FILL, DROP, PARTIAL = LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL
EPOCHS = 4


def iterator(size, batch_size, shards=(0,), policy=FILL, options=None, **reader):
    options = {"reader_name": "Reader"} if options is None else options
    return ListIterator(pipelines(size, batch_size, shards, **reader), ["n"], last_batch_policy=policy, **options)


def epochs_of(it, count=EPOCHS):
    """The length that is announced for each epoch, the size, and the epoch's batches."""
    epochs = []
    for _ in range(count):
        epochs.append((len(it), it.size, one_epoch(it)))
        it.reset()
    return epochs


def flat(epoch):
    return [sample for batch in epoch for samples in batch for sample in samples]


@pytest.fixture(scope="module")
def dali_epochs(tmp_path_factory):
    """A function that gives what `epochs_of` does, from DALI's pipeline and DALI's iterator."""
    plugin = pytest.importorskip("nvidia.dali.plugin.pytorch", reason="needs DALI and PyTorch to compare with")
    from nvidia.dali import fn, pipeline_def

    file = tmp_path_factory.mktemp("dali") / "file.jpg"
    file.write_bytes(b"x")

    @pipeline_def(num_threads=1, device_id=None)
    def pipeline(size, reader):
        _, labels = fn.readers.file(name="Reader", files=[str(file)] * size, **reader)
        return labels

    def epochs(size, batch_size, shards=(0,), policy=FILL, options=None, **reader):
        options = {"reader_name": "Reader"} if options is None else options
        pipes = [pipeline(size, dict(reader, shard_id=shard), batch_size=batch_size) for shard in shards]
        policy = plugin.LastBatchPolicy[policy.name]
        return epochs_of(plugin.DALIGenericIterator(pipes, ["n"], last_batch_policy=policy, **options))

    return epochs


@pytest.mark.parametrize(
    ("size", "num_shards"), [*product([4, 7, 12, 13], [1, 2, 3, 4]), (11, 5), (13, 6), (13, 7), (17, 8)]
)
def test_fill_gives_what_dali_gives(dali_epochs, size, num_shards):
    for batch_size, pad, stick in product((1, 3, 5), (False, True), (False, True)):
        reader = {"num_shards": num_shards, "pad_last_batch": pad, "stick_to_shard": stick}
        for shards in {(num_shards - 1,), tuple(range(num_shards))}:
            case = (size, batch_size, shards)
            assert epochs_of(iterator(*case, **reader)) == dali_epochs(*case, **reader), (batch_size, reader)


@pytest.mark.parametrize("policy", [PARTIAL, DROP])
@pytest.mark.parametrize(("size", "num_shards"), [(7, 1), (8, 2), (10, 2), (12, 4), (24, 8)])
def test_partial_and_drop_give_what_dali_gives_for_equal_padded_shards(dali_epochs, policy, size, num_shards):
    """Only there DALI's epochs are right. Without padding it goes on behind the samples that it took for the end of the
    last epoch and threw away, so they are missing; and with shards of different sizes its batches may be empty, or its
    readers out of step with its epochs.
    """
    for batch_size, stick in product((1, 2, 3), (False, True)):
        reader = {"num_shards": num_shards, "pad_last_batch": True, "stick_to_shard": stick}
        case = (size, batch_size, tuple(range(num_shards)), policy)
        assert epochs_of(iterator(*case, **reader)) == dali_epochs(*case, **reader), (batch_size, reader)


@pytest.mark.parametrize("options", [{}, {"random_shuffle": True}, {"shuffle_after_epoch": True}], ids=str)
@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("num_shards", [1, 2, 3, 4])
def test_partial_gives_each_sample_once_in_batches_that_are_never_empty(num_shards, pad, options):
    for size, batch_size in product((4, 7, 12, 13), (1, 3, 5)):
        reader = dict(num_shards=num_shards, pad_last_batch=pad, **options)
        its = [iterator(size, batch_size, (shard,), PARTIAL, **reader) for shard in range(num_shards)]
        for _ in range(EPOCHS):
            lengths = [len(it) for it in its]
            epochs = [one_epoch(it) for it in its]  # the processes of a training, one after another
            assert sorted(sample for epoch in epochs for sample in flat(epoch)) == list(range(size))
            assert all(samples for epoch in epochs for batch in epoch for samples in batch)
            assert [len(epoch) for epoch in epochs] == lengths
            assert all(len(samples) == batch_size for epoch in epochs for batch in epoch[:-1] for samples in batch)


@pytest.mark.parametrize("num_shards", [2, 3])
def test_partial_with_several_pipelines_has_an_entry_of_each(num_shards):
    shards = tuple(range(num_shards))
    together = epochs_of(iterator(10, 3, shards, PARTIAL, num_shards=num_shards))
    alone = [epochs_of(iterator(10, 3, (s,), PARTIAL, num_shards=num_shards)) for s in shards]
    for epoch in range(EPOCHS):
        batches = together[epoch][2]
        for step, batch in enumerate(batches):
            assert batch == [a[epoch][2][step][0] if step < len(a[epoch][2]) else [] for a in alone]
        assert len(batches) == max(len(a[epoch][2]) for a in alone) == together[epoch][0]


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("num_shards", [1, 2, 3])
def test_drop_gives_full_batches_of_one_epoch_and_as_many_to_all_shards(num_shards, pad):
    for size, batch_size in product((7, 12, 13), (1, 2)):
        reader = {"num_shards": num_shards, "pad_last_batch": pad}
        its = [iterator(size, batch_size, (shard,), DROP, **reader) for shard in range(num_shards)]
        orders = [EpochOrder(size, shard_id=shard, num_shards=num_shards) for shard in range(num_shards)]
        batches = size // num_shards // batch_size
        for epoch in range(EPOCHS):
            for it, order in zip(its, orders, strict=True):
                assert len(it) == batches
                assert flat(one_epoch(it)) == order.indices(epoch)[: batches * batch_size].tolist()


@pytest.mark.parametrize("stick", [False, True])
@pytest.mark.parametrize("num_shards", [1, 2, 3, 4])
def test_fill_loses_no_sample_and_keeps_shards_in_step(num_shards, stick):
    """Each shard gets the reader's samples without a gap, over many epochs, and all get as many batches."""
    for size, batch_size in product((4, 13), (1, 5, 9)):
        shards = tuple(range(num_shards))
        reader = {"num_shards": num_shards, "stick_to_shard": stick}
        epochs = [epochs_of(iterator(size, batch_size, (shard,), **reader), 12) for shard in shards]
        assert len({tuple(len(batches) for _, _, batches in shard) for shard in epochs}) == 1
        for shard in shards:
            order = EpochOrder(size, shard_id=shard, **reader)
            read = [sample for _, _, batches in epochs[shard] for sample in flat(batches)]
            whole = np.concatenate([order.indices(epoch) for epoch in range(len(read) + 1)])
            assert read == whole[: len(read)].tolist()
            assert all(length == len(batches) > 0 for length, _, batches in epochs[shard])


@pytest.mark.filterwarnings("ignore:Please set `reader_name`")
@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize(("size", "batch_size", "shards"), [(10, 4, 1), (10, 3, 2), (10, 5, 2), (12, 4, 3), (9, 3, 1)])
def test_size_gives_what_dali_gives(dali_epochs, size, batch_size, shards, pad):
    case = (size, batch_size, tuple(range(shards)))
    options = {"size": size, "last_batch_padded": pad}
    reader = {"num_shards": shards, "pad_last_batch": pad}
    ours, dalis = epochs_of(iterator(*case, options=options, **reader)), dali_epochs(*case, options=options, **reader)
    assert [batches for _, _, batches in ours] == [batches for _, _, batches in dalis]
    assert [s for _, s, _ in ours] == [s for _, s, _ in dalis] == [size] * EPOCHS
    # DALI announces as many batches for epochs of which the one before took some.
    assert [length for length, _, _ in ours] == [len(batches) for _, _, batches in ours]


@pytest.mark.filterwarnings("ignore:Please set `reader_name`")
@pytest.mark.parametrize("policy", [PARTIAL, DROP])
@pytest.mark.parametrize("num_shards", [1, 2])
def test_a_size_that_is_a_readers_is_as_good_as_its_name(policy, num_shards):
    """DALI knows no more than the number then, and goes wrong as in the tests of these policies above."""
    case = (11, 2, tuple(range(num_shards)), policy)
    by_name = epochs_of(iterator(*case, num_shards=num_shards))
    by_size = epochs_of(iterator(*case, options={"size": 11}, num_shards=num_shards))
    assert [batches for _, _, batches in by_size] == [batches for _, _, batches in by_name]


@pytest.mark.filterwarnings("ignore:Please set `reader_name`")
def test_a_size_that_is_no_readers_counts_samples_wherever_they_come_from(dali_epochs):
    options = {"size": 6}
    ours = epochs_of(iterator(10, 4, options=options))
    assert [batches for _, _, batches in ours] == [batches for _, _, batches in dali_epochs(10, 4, options=options)]
    assert flat(epochs_of(iterator(10, 4, policy=PARTIAL, options=options))[0][2]) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("policy", list(LastBatchPolicy))
@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("auto_reset", [False, True])
def test_break_ends_an_epoch_and_the_next_loop_begins_the_next_one(policy, pad, auto_reset):
    """DALI goes on in the middle, with a warning."""
    reader = {"num_shards": 2, "random_shuffle": True}
    it = iterator(
        20, 3, (0, 1), policy, {"reader_name": "Reader", "auto_reset": auto_reset}, pad_last_batch=pad, **reader
    )
    orders = [EpochOrder(20, shard_id=shard, **reader) for shard in (0, 1)]
    for epoch, stop in enumerate([1, 2, 3, None]):
        batches = one_epoch(batch for _, batch in zip(range(stop or 99), it, strict=False))
        assert len(batches) == (stop or {FILL: 4, PARTIAL: 4, DROP: 3}[policy])
        for shard, order in enumerate(orders):
            read = [sample for batch in batches for sample in batch[shard]]
            assert read[:10] == order.indices(epoch)[: len(read)].tolist()
    assert all(pipe.cancelled for pipe in it._pipes)


def test_breaks_keep_shards_in_step():
    its = [iterator(13, 2, (shard,), num_shards=4) for shard in range(4)]
    for stop in (2, 1, None, 3, None, None):
        steps = [sum(1 for _ in zip(range(stop or 99), it, strict=False)) for it in its]
        assert len(set(steps)) == 1
    firsts = [next(iter(it))[0]["n"][0] for it in its]
    assert len(set(firsts)) == 4


def test_reset_in_mid_epoch_begins_the_next_epoch():
    it = iterator(10, 4, policy=PARTIAL)
    next(it)
    it.reset()
    it.reset()  # nothing was taken: nothing to reset
    assert one_epoch(it) == [[[0, 1, 2, 3]], [[4, 5, 6, 7]], [[8, 9]]]
    assert it._pipes[0].cursor.state.epoch >= 2


@pytest.mark.parametrize("taken", [1, 99])
def test_another_iterator_for_a_pipeline_begins_the_next_epoch(taken):
    """DALI's goes on where the pipeline was left."""
    pipes = pipelines(10, 4, random_shuffle=True)
    order = EpochOrder(10, random_shuffle=True)
    for epoch, policy in enumerate([PARTIAL, FILL, DROP, PARTIAL]):
        it = ListIterator(pipes, ["n"], reader_name="Reader", last_batch_policy=policy)
        read = flat(one_epoch(batch for _, batch in zip(range(taken), it, strict=False)))
        assert read[:10] == order.indices(epoch)[: len(read)].tolist()
        assert len(read) == (4 if taken == 1 else {PARTIAL: 10, FILL: 12, DROP: 8}[policy])


def test_without_auto_reset_the_end_lasts_until_reset():
    it = iterator(6, 3, options={"reader_name": "Reader", "auto_reset": "no"})
    assert len(list(it)) == 2
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(it)
    it.reset()
    assert it.next()[0]["n"] == [0, 1, 2]
    assert len(list(it)) == 2  # a loop always begins an epoch


def test_auto_reset_goes_on_by_itself():
    it = iterator(6, 3, options={"reader_name": "Reader", "auto_reset": "yes"})
    for _ in range(3):
        assert [next(it)[0]["n"], next(it)[0]["n"]] == [[0, 1, 2], [3, 4, 5]]
        with pytest.raises(StopIteration):
            next(it)


def test_nothing_in_flight_is_lost_at_the_end_of_an_epoch():
    for policy in LastBatchPolicy:
        it = iterator(20, 3, policy=policy)
        epochs_of(it)
        assert it._pipes[0].cancelled == 0, policy


def test_length_counts_the_epoch_under_way_and_then_the_next():
    it = iterator(10, 4)
    lengths = [len(it)]
    for _ in it:
        lengths.append(len(it))
    assert lengths == [3, 3, 3, 3]
    assert len(it) == 2  # the first epoch's last batch took two samples of this one
    assert len(list(it)) == 2


def test_without_size_the_pipeline_ends_the_epoch():
    order = EpochOrder(100)
    pipe = type(pipelines(1, 1)[0])(4, order, ends=3)
    it = ListIterator(pipe, ["n"], auto_reset=True)
    with pytest.raises(TypeError, match="reader_name or size"):
        len(it)
    assert it.size == -1
    assert flat(one_epoch(it)) == list(range(12))
    assert len(one_epoch(it)) == 3


@pytest.mark.parametrize("prepare", [False, True])
def test_prepare_first_batch_starts_work_at_once(prepare):
    it = iterator(10, 4, options={"reader_name": "Reader", "prepare_first_batch": prepare})
    assert it._pipes[0].built
    assert it._pipes[0].empty() is not prepare
    assert len(list(it)) == 3


def test_fill_last_batch_is_deprecated():
    for fill, policy in ((True, FILL), (False, PARTIAL)):
        with pytest.warns(Warning, match="last_batch_policy"):
            it = iterator(10, 4, options={"reader_name": "Reader", "fill_last_batch": fill})
        assert flat(one_epoch(it)) == flat(one_epoch(iterator(10, 4, policy=policy)))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"size": 0}, ArgumentError, "size=0"),
        ({"size": 5, "reader_name": "Reader"}, ArgumentError, "size=5 and reader_name='Reader'"),
        ({"reader_name": "Reader", "last_batch_padded": True}, ArgumentError, "last_batch_padded=True"),
        ({"reader_name": "Reader", "auto_reset": "maybe"}, ArgumentError, "auto_reset='maybe'"),
        ({"reader_name": "Reader", "output_map": ["a", "a"]}, ArgumentError, "once"),
        ({"reader_name": "Reader", "last_batch_policy": "FILL"}, ArgumentTypeError, "'FILL'"),
        ({"reader_name": "Reader", "pipelines": []}, ArgumentError, "at least one"),
        ({"reader_name": "Reader", "pipelines": None}, ArgumentError, "at least one"),
        ({"pipelines": pipelines(9, 3, (0, 1), num_shards=2)}, ArgumentError, "2 pipelines need"),
        ({"reader_name": "Reader", "pipelines": pipelines(9, 3) + pipelines(9, 2)}, ArgumentError, r"\[3, 2\]"),
        ({"reader_name": "Reader", "pipelines": pipelines(9, 3) + pipelines(8, 3)}, ArgumentError, "epoch_size"),
        (
            {"reader_name": "Reader", "pipelines": pipelines(2, 3), "last_batch_policy": DROP},
            ArgumentError,
            "leaves nothing",
        ),
    ],
    ids=str,
)
def test_refusals(options, error, message):
    with pytest.raises(error, match=message):
        ListIterator(**{"pipelines": pipelines(9, 3), "output_map": ["n"], **options})


def test_names_and_outputs_must_be_as_many():
    with pytest.raises(ArgumentError, match="2 names, but the pipeline has 1 outputs"):
        next(ListIterator(pipelines(9, 3), ["a", "b"], reader_name="Reader"))


def test_batches_of_another_size_are_refused_where_samples_are_counted():
    pipe = pipelines(9, 3)[0]
    it = ListIterator(pipe, ["n"], reader_name="Reader", prepare_first_batch=False)
    pipe.schedule_run()
    pipe.queue[0] = pipe.queue[0][:2]
    with pytest.raises(GraphError, match="2 samples"):
        next(it)
