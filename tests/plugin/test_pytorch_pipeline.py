"""The PyTorch iterator on real pipelines: what it gives, who owns the memory, and how loops end."""

from __future__ import annotations

import doctest
import gc
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

import penstock  # noqa: E402
from penstock import fn, pipeline_def  # noqa: E402
from penstock.errors import ReadError  # noqa: E402
from penstock.plugin import pytorch  # noqa: E402
from penstock.plugin.pytorch import DALIClassificationIterator, DALIGenericIterator, LastBatchPolicy  # noqa: E402

COUNT = 26


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """26 files in 3 classes, of 1000 bytes that all are the file's number."""
    root = tmp_path_factory.mktemp("files")
    for i in range(COUNT):
        (root / f"class {i * 3 // COUNT}").mkdir(exist_ok=True)
        (root / f"class {i * 3 // COUNT}/{i:02}.jpg").write_bytes(bytes([i]) * 1000)
    return str(root)


@pipeline_def(batch_size=4, num_threads=2, device_id=None, prefetch_queue_depth=3)
def files(file_root, shard_id=0, num_shards=1, random_shuffle=False, pad_last_batch=False):
    part = {"shard_id": shard_id, "num_shards": num_shards, "pad_last_batch": pad_last_batch}
    return tuple(fn.readers.file(name="Reader", file_root=file_root, random_shuffle=random_shuffle, **part))


def numbers(batches):
    return [[arrays["data"][:, 0].tolist() for arrays in batch] for batch in batches]


@pytest.mark.parametrize("shards", [(0,), (1,), (0, 1, 2)])
@pytest.mark.parametrize("pad", [False, True])
def test_epochs_are_dalis(folder, shards, pad):
    dali = pytest.importorskip("nvidia.dali", reason="needs DALI to compare with")
    from nvidia.dali.plugin import pytorch as dali_pytorch

    @dali.pipeline_def(batch_size=4, num_threads=1, device_id=None)
    def dali_files(reader):
        return tuple(dali.fn.readers.file(name="Reader", **reader))

    readers = [{"file_root": folder, "shard_id": s, "num_shards": 3, "pad_last_batch": pad} for s in shards]
    options = {"reader_name": "Reader", "auto_reset": True}
    ours = DALIClassificationIterator([files(**reader) for reader in readers], **options)
    dalis = dali_pytorch.DALIClassificationIterator([dali_files(reader) for reader in readers], **options)
    for _ in range(3):
        assert len(ours) == len(dalis)
        for our_batch, dali_batch in zip(ours, dalis, strict=True):
            for our, their in zip(our_batch, dali_batch, strict=True):
                assert torch.equal(our["data"], their["data"])
                assert torch.equal(our["label"], their["label"])
                assert our["data"].dtype == their["data"].dtype
                assert our["label"].dtype == their["label"].dtype


@pytest.mark.parametrize("channels_last", [False, True])
def test_partial_batches_have_an_entry_of_each_pipeline(channels_last):
    """The first epoch of uneven shards, in which DALI's shards are of the sizes that its iterator takes them for."""
    dali = pytest.importorskip("nvidia.dali", reason="needs DALI to compare with")
    from nvidia.dali.plugin import pytorch as dali_pytorch

    def epoch(library, iterators, **options):
        pipes = []
        for shard in range(2):
            pipes.append(library.Pipeline(3, 1, None))
            with pipes[-1] as pipe:
                _, labels = library.fn.readers.file(
                    files=[__file__] * 7, labels=list(range(7)), shard_id=shard, num_shards=2, name="Reader"
                )
                picture = library.fn.external_source(lambda: [np.zeros((4, 5, 3), np.uint8)] * 3, layout="HWC")
                pipe.set_outputs(labels, picture)
        iterator = iterators.DALIGenericIterator(
            pipes, ["label", "picture"], reader_name="Reader", last_batch_policy=iterators.LastBatchPolicy.PARTIAL,
            **options,
        )  # fmt: skip
        return [[(d["label"].flatten().tolist(), d["label"].dtype, d["picture"]) for d in batch] for batch in iterator]

    ours = epoch(penstock, pytorch, channels_last=channels_last)
    dalis = epoch(dali, dali_pytorch)
    assert [[entry[:2] for entry in batch] for batch in ours] == [[entry[:2] for entry in batch] for batch in dalis]
    assert [entry[0] for entry in ours[-1]] == [[], [6]]
    for our, their in zip(ours[-1], dalis[-1], strict=True):
        shape = their[2].movedim(-1, 1).shape if channels_last else their[2].shape
        assert our[2].shape == shape
        assert our[2].dtype == their[2].dtype


@pytest.mark.parametrize("policy", list(LastBatchPolicy))
def test_shuffled_epochs_have_each_sample_once(folder, policy):
    its = [
        DALIClassificationIterator(
            files(folder, shard_id=shard, num_shards=2, random_shuffle=True, seed=shard),
            reader_name="Reader",
            last_batch_policy=policy,
        )
        for shard in range(2)
    ]
    for epoch in range(3):
        length = [len(it) for it in its]
        batches = [numbers(it) for it in its]
        assert [len(b) for b in batches] == length
        read = [sample for shard in batches for batch in shard for samples in batch for sample in samples]
        if policy is LastBatchPolicy.PARTIAL:
            assert sorted(read) == list(range(COUNT))
        elif policy is LastBatchPolicy.DROP:
            assert len(set(read)) == len(read) == 24
        elif epoch == 0:
            assert set(read) == set(range(COUNT))


def test_a_tensor_keeps_its_values_however_many_batches_follow(folder):
    it = DALIClassificationIterator(files(folder), reader_name="Reader", auto_reset=True)
    kept = [batch[0]["data"] for _ in range(4) for batch in it]
    expected = np.arange(len(kept) * 4) % COUNT
    del it
    gc.collect()
    assert np.array_equal(torch.cat(kept)[:, 0].numpy(), expected)
    assert all((tensor == tensor[:, :1]).all() for tensor in kept)


@pytest.mark.parametrize("policy", list(LastBatchPolicy))
def test_loops_that_break_leave_nothing_behind(folder, policy):
    it = DALIClassificationIterator(files(folder), reader_name="Reader", last_batch_policy=policy)
    threads = threading.active_count()
    for stop in (1, 3, 2, 0, 5):
        got = [batch for _, batch in zip(range(stop), it, strict=False)]
        assert numbers(got) == [[[4 * i + j for j in range(4)]] for i in range(stop)]
    assert threading.active_count() == threads
    assert len(numbers(it)) == (6 if policy is LastBatchPolicy.DROP else 7)


def test_an_iterator_may_be_dropped_in_the_middle_of_an_epoch(folder):
    for _ in range(5):
        it = DALIClassificationIterator(files(folder), reader_name="Reader")
        assert next(it)[0]["data"][0, 0] == 0
        del it


@pytest.mark.parametrize("bad", [0, 5, 8])
def test_a_batch_that_fails_is_missing_and_the_epoch_goes_on_behind_it(tmp_path, bad):
    """In DALI the pipeline is of no use any more."""
    for i in range(9):
        (tmp_path / f"{i}.jpg").write_bytes(b"x" * (i + 1))
    (tmp_path / f"{bad}.jpg").unlink()

    @pipeline_def(batch_size=2, num_threads=2, device_id=None)
    def pipeline():
        _, labels = fn.readers.file(name="Reader", files=[str(tmp_path / f"{i}.jpg") for i in range(9)])
        return labels

    it = DALIGenericIterator(pipeline(), ["n"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL)
    for _ in range(2):
        got = []
        for batch in range(5):
            if batch == bad // 2:
                with pytest.raises(ReadError, match=rf"{bad}\.jpg"):
                    next(it)
            else:
                got += next(it)[0]["n"].flatten().tolist()
        with pytest.raises(StopIteration):
            next(it)
        it.reset()
        assert got == [i for i in range(9) if i // 2 != bad // 2]


def test_channels_last_pictures(photographs):
    @pipeline_def(batch_size=4, num_threads=2, device_id=None)
    def pictures():
        jpegs, labels = fn.readers.file(name="Reader", file_root=str(photographs))
        return fn.decoders.image(jpegs), labels

    options = {"output_map": ["data", "label"], "reader_name": "Reader"}
    plain = next(DALIGenericIterator(pictures(), **options))[0]["data"]
    (batch,) = next(DALIGenericIterator(pictures(), channels_last=True, **options))
    assert batch["data"].shape == (4, 3, 375, 500)
    assert batch["data"].is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(batch["data"].permute(0, 2, 3, 1), plain)
    assert batch["label"].shape == (4, 1)


def test_the_docstrings_example(tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"x")
    names = {"np": np, "fn": fn, "pipeline_def": pipeline_def, "folder": str(tmp_path)}
    results = doctest.testmod(pytorch, extraglobs=names)
    assert results.attempted == 13
    assert not results.failed
