"""Tries all readers on the data sets of their test modules; see tests/read/data_sets.py. No reader is named here."""

from __future__ import annotations

import importlib
import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, merge_states
from penstock.errors import ArgumentError, GraphError, PenstockError, ReadError
from penstock.op import registry
from penstock.read.order import shard_sizes
from tests.read.data_sets import DataSet, keys, pipeline, read, reader, rows

_HERE = Path(__file__).parent
_MODULES = [f"tests.read.{path.stem}" for path in sorted(_HERE.glob("test_*.py")) if path.stem != "test_sweep"]
CASES: list[DataSet] = [case for name in _MODULES for case in getattr(importlib.import_module(name), "CASES", [])]
all_cases = pytest.mark.parametrize("case", CASES, ids=str)
SHARDS = pytest.mark.parametrize("num_shards", [1, 2, 3, 7])


def numbers(case: DataSet, samples: Any) -> list[int]:
    """Which samples of the data set these are; samples that are equal count as the first of them."""
    known = keys(case.samples)
    return [known.index(one) for one in keys(samples)]


def same(case: DataSet, indices: Any) -> list[int]:
    """These indices, as `numbers` tells them."""
    return numbers(case, [case.samples[i] for i in indices])


def test_each_reader_has_cases() -> None:
    swept = {cls for cls in registry.ops.values() if cls.fed}
    assert len(swept) >= 2
    missing = sorted(cls.name for cls in swept - {registry.ops[case.reader] for case in CASES})
    assert not missing, f"these readers have no CASES in tests/read: {missing}"


@all_cases
@pytest.mark.parametrize(("batch_size", "threads"), [(1, 1), (3, 2), (4, 3), (16, 2)])
def test_samples_come_in_order(case: DataSet, batch_size: int, threads: int, tmp_path: Path) -> None:
    pipe = pipeline(case, case.written(tmp_path), batch_size=batch_size, num_threads=threads)
    found = keys(read(pipe, 2 * len(case.samples)))
    assert found == [keys(case.samples)[i % len(case.samples)] for i in range(len(found))]


@pytest.mark.parametrize("case", [c for c in CASES if c.in_memory], ids=str)
def test_another_storage_changes_nothing(case: DataSet) -> None:
    with case.remembered() as arguments:
        pipe = pipeline(case, arguments)
        found = keys(read(pipe, len(case.samples)))
        assert found == [keys(case.samples)[i % len(case.samples)] for i in range(len(found))]
    with pytest.raises(PenstockError, match="cannot be opened: No such file or directory"):
        read(pipeline(case, arguments), 1)


@all_cases
@SHARDS
@pytest.mark.parametrize("stick", [False, True])
def test_shards(case: DataSet, num_shards: int, stick: bool, tmp_path: Path) -> None:
    arguments, size, seen = case.written(tmp_path), len(case.samples), []
    _skip_small(case, num_shards)
    bounds = np.cumsum([0, *shard_sizes(size, num_shards)])
    for shard in range(num_shards):
        some = {"num_shards": num_shards, "shard_id": shard, "stick_to_shard": stick}
        pipe = pipeline(case, arguments | some, batch_size=1)
        for epoch in range(num_shards + 1):
            now = shard if stick else (shard + epoch) % num_shards
            wanted = range(bounds[now], bounds[now + 1])
            assert numbers(case, read(pipe, len(wanted))) == same(case, wanted)
            seen += [*wanted] if epoch == 0 else []
    assert sorted(seen) == [*range(size)]


@all_cases
@pytest.mark.parametrize("shuffle", ["random_shuffle", "shuffle_after_epoch"])
@SHARDS
def test_shuffles(case: DataSet, shuffle: str, num_shards: int, tmp_path: Path) -> None:
    """All samples once in each epoch over all shards, in another order, which is the same for the same seed."""
    if shuffle not in registry.ops[case.reader].arguments:
        pytest.skip(f"{case.reader} has no {shuffle}")
    _skip_small(case, num_shards)
    arguments, sizes = case.written(tmp_path), shard_sizes(len(case.samples), num_shards)
    epochs: list[list[list[int]]] = [[], []]
    for again in range(2):
        pipes = [
            pipeline(case, {**arguments, shuffle: True, "num_shards": num_shards, "shard_id": s}, batch_size=1, seed=5)
            for s in range(num_shards)
        ]
        for epoch in range(4):
            now = [s if shuffle == "shuffle_after_epoch" else (s + epoch) % num_shards for s in range(num_shards)]
            found = [numbers(case, read(pipe, sizes[shard])) for pipe, shard in zip(pipes, now, strict=True)]
            epochs[again].append([number for part in found for number in part])
    assert epochs[0] == epochs[1]
    everything = sorted(same(case, range(len(case.samples))))
    assert all(sorted(epoch) == everything for epoch in epochs[0])
    if len(set(everything)) > 4 and not _in_one_group(case, shuffle):
        assert len({tuple(epoch) for epoch in epochs[0]}) > 1


def _skip_small(case: DataSet, num_shards: int) -> None:
    if len(case.samples) < num_shards == 7:
        pytest.skip("fewer samples than shards")


def _in_one_group(case: DataSet, shuffle: str) -> bool:
    return shuffle == "shuffle_after_epoch" and len(case.files) < 3


@all_cases
def test_seeds(case: DataSet, tmp_path: Path) -> None:
    arguments, size = case.written(tmp_path) | {"random_shuffle": True}, len(case.samples)
    by_pipeline = [numbers(case, read(pipeline(case, arguments, batch_size=1, seed=s), 2 * size)) for s in (1, 1, 2)]
    assert by_pipeline[0] == by_pipeline[1]
    own = [numbers(case, read(pipeline(case, arguments | {"seed": 7}, batch_size=1, seed=s), 2 * size)) for s in (1, 2)]
    assert own[0] == own[1]
    if size > 4:
        assert by_pipeline[0] != by_pipeline[2]


@all_cases
def test_samplers(case: DataSet, tmp_path: Path) -> None:
    last = len(case.samples) - 1
    wanted = [last, 0, last, last, 0]
    pipe = pipeline(case, case.written(tmp_path) | {"sampler": wanted}, batch_size=1)
    assert numbers(case, read(pipe, 10)) == same(case, wanted * 2)
    with pytest.raises(ArgumentError, match=f"index number 0 of epoch 0 is {last + 1}"):
        pipeline(case, case.written(tmp_path) | {"sampler": [last + 1]}).build()


@all_cases
@pytest.mark.parametrize("options", [{}, {"random_shuffle": True}, {"num_shards": 2, "pad_last_batch": True}], ids=str)
def test_checkpoints(case: DataSet, options: dict[str, Any], tmp_path: Path) -> None:
    arguments = case.written(tmp_path) | options
    pipe = pipeline(case, arguments, batch_size=2)
    for _ in range(len(case.samples) // 2 + 2):
        state = pipe.checkpoint()
        wanted = keys(rows(pipe.run()))
        assert keys(rows(pipeline(case, arguments, batch_size=2, checkpoint=state).run())) == wanted
    other = json.loads(state)
    other["read"]["Reader"]["samples"] += 1
    with pytest.raises(ArgumentError, match="'Reader' had samples="):
        pipeline(case, arguments, batch_size=2, checkpoint=json.dumps(other)).build()


@all_cases
@pytest.mark.parametrize("options", [{}, {"random_shuffle": True}], ids=str)
@pytest.mark.parametrize(("before", "after"), [(2, 3), (3, 2), (1, 2)])
def test_other_numbers_of_readers(
    case: DataSet, options: dict[str, Any], before: int, after: int, tmp_path: Path
) -> None:
    """In the middle of an epoch: what the first have left is read by the others, each sample once."""
    if len(case.samples) < max(before, after):
        pytest.skip("fewer samples than readers")
    arguments = case.written(tmp_path) | options

    def pipes(count: int, **more: Any) -> list[Pipeline]:
        each = ({**arguments, "num_shards": count, "shard_id": k} for k in range(count))
        return [pipeline(case, one, batch_size=1, **more) for one in each]

    begun = pipes(before)
    found = [keys(read(pipe, 1))[0] for pipe in begun]
    state = merge_states([pipe.state_dict() for pipe in begun])
    for pipe in pipes(after, checkpoint=state):
        order = pipe.reader_order("Reader")
        left = len(order.indices(0)) if 0 in order.stages else 0  # there may be nothing left for one
        found += keys(read(pipe, left)) if left else []
    assert sorted(found) == sorted(keys(case.samples))


@all_cases
def test_serialized_pipelines(case: DataSet, tmp_path: Path) -> None:
    pipe = pipeline(case, case.written(tmp_path))
    again = Pipeline.deserialize(pipe.serialize())
    assert keys(rows(again.run())) == keys(rows(pipe.run()))


@all_cases
def test_reader_meta(case: DataSet, tmp_path: Path) -> None:
    size = len(case.samples)
    pipe = pipeline(case, case.written(tmp_path) | {"num_shards": 2, "shard_id": 1, "pad_last_batch": True})
    assert pipe.reader_meta("Reader") == {
        "epoch_size": size,
        "epoch_size_padded": -(-size // 2) * 2,
        "number_of_shards": 2,
        "shard_id": 1,
        "pad_last_batch": 1,
        "stick_to_shard": 0,
    }
    with pytest.raises(ArgumentError, match=f"the data set has only {size} samples"):
        pipeline(case, case.written(tmp_path) | {"num_shards": size + 1}).build()


@all_cases
def test_lazy_readers_look_when_they_first_run(case: DataSet, tmp_path: Path) -> None:
    pipe = pipeline(case, case.arguments(str(tmp_path)) | {"lazy_init": True})
    case.written(tmp_path)
    assert keys(rows(pipe.run())) == [keys(case.samples)[i % len(case.samples)] for i in range(3)]


@all_cases
def test_options_that_have_nothing_to_change(case: DataSet, tmp_path: Path) -> None:
    options = {
        "dont_use_mmap": True, "read_ahead": True, "skip_cached_images": True, "tensor_init_bytes": 16,
        "initial_fill": 2, "prefetch_queue_depth": 3,
    }  # fmt: skip
    pipe = pipeline(case, case.written(tmp_path) | options)
    assert keys(rows(pipe.run())) == [keys(case.samples)[i % len(case.samples)] for i in range(3)]


@pytest.mark.parametrize("case", [c for c in CASES if c.broken], ids=str)
@pytest.mark.parametrize("on_error", ["raise", "skip", "replace"])
def test_broken_samples(case: DataSet, on_error: str, tmp_path: Path) -> None:
    assert case.broken
    _, _, broken = case.broken
    size = len(case.samples)
    good = [i for i in range(size) if i != broken]
    pipe = pipeline(case, case.written(tmp_path, harmed=True) | {"on_error": on_error}, batch_size=1)
    if on_error == "raise":
        for i in range(size):
            if i != broken:
                assert numbers(case, read(pipe, 1)) == same(case, [i])
                continue
            with pytest.raises(ReadError, match="operator made at") as caught:
                pipe.run()
            assert caught.value.operator == case.reader
            assert caught.value.file
            assert caught.value.sample == 0
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = numbers(case, read(pipe, 2 * size))
    if on_error == "skip":
        assert found == same(case, [good[i % len(good)] for i in range(2 * size)])
    else:
        wanted = same(case, [*range(size)] * 2)
        assert all(i == j for n, (i, j) in enumerate(zip(found, wanted, strict=True)) if n % size != broken)
        assert {found[broken], found[size + broken]} <= set(same(case, good))
    (one,) = pipe.broken_samples()
    assert (one.reader, one.index, one.epoch, one.action) == ("Reader", broken, 0, on_error)


@all_cases
def test_a_forked_process_gets_an_error(case: DataSet, tmp_path: Path) -> None:
    pipe = pipeline(case, case.written(tmp_path))
    pipe.run()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of threads and fork
        child = os.fork()
    if not child:
        try:
            pipe.run()
        except GraphError:
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    pipe.run()


@all_cases
@pytest.mark.parametrize(
    "options",
    [{}, {"num_shards": 2, "shard_id": 1}, {"num_shards": 2, "stick_to_shard": True, "pad_last_batch": True}],
    ids=str,
)
def test_parity_with_dali(case: DataSet, options: dict[str, Any], tmp_path: Path) -> None:
    """The same samples in the same order, from the same places; and the same is told of the reader."""
    if case.differs:
        pytest.skip(f"differs on purpose: {case.differs}")
    fn = pytest.importorskip("nvidia.dali.fn", reason="needs DALI to compare with")
    from nvidia.dali import Pipeline as DaliPipeline

    arguments = case.written(tmp_path) | options
    theirs = DaliPipeline(batch_size=3, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with theirs:
        theirs.set_outputs(*reader(case.reader, arguments, fn))
    theirs.build()
    ours = pipeline(case, arguments)
    assert ours.reader_meta("Reader") == theirs.reader_meta("Reader")
    for _ in range(len(case.samples) + 1):
        mine, its = ours.run(), theirs.run()
        assert [int(o.dtype) for o in mine] == [int(o.dtype) for o in its]
        assert keys(rows(mine)) == keys(rows(its))
        for a, b in zip(mine, its, strict=True):
            for i in range(3):
                told, theirs_told = a[i].source_info(), b[i].source_info()
                # DALI tells the name in the folder alone, and nothing of labels.
                theirs_told = theirs_told.removeprefix("./")
                assert told.endswith(theirs_told) if theirs_told else told in ("", mine[0][i].source_info())
