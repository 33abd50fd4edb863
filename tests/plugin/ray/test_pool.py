"""Trainers that Ray's actors feed, while actors and whole nodes die: on a cluster of several nodes."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="needs Ray: ./dev test frameworks ray has it")

from penstock import Pipeline, fn, merge_states, pipeline_def, types  # noqa: E402
from penstock.errors import ArgumentError, ReadError, WorkerError  # noqa: E402
from penstock.plugin.numpy import DALIGenericIterator, LastBatchPolicy  # noqa: E402
from penstock.plugin.ray import Pool  # noqa: E402

COUNT = 200  # files: the photographs, again and again


def definition(folder: str, pause: float = 0, **reader: Any) -> Pipeline:
    """Augmented pictures, and the number of each; a pause makes batches come slowly."""
    files = [str(path) for path in sorted(Path(folder).glob("*/*.jpg"))]

    @pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=3)
    def pipeline() -> Any:
        names = [files[k % len(files)] for k in range(COUNT)]
        jpegs, numbers = fn.readers.file(
            files=names, labels=list(range(COUNT)), random_shuffle=True, name="Reader", **reader
        )
        images = fn.decoders.image_random_crop(jpegs, output_type=types.RGB)
        if pause:
            numbers = fn.python_function(numbers, function=lambda n: time.sleep(pause / 4) or n)
        return fn.resize(images, size=(64, 64)), numbers

    return pipeline()


def iterator(pipe: Any, policy: LastBatchPolicy = LastBatchPolicy.PARTIAL) -> Any:
    return DALIGenericIterator(pipe, ["images", "number"], reader_name="Reader", last_batch_policy=policy)


def numbers(batches: Any) -> list[int]:
    return [int(n) for batch in batches for n in batch[0]["number"].ravel()]


def test_epochs_are_those_of_a_pipeline_of_ones_own(cluster: Any, photographs: Path) -> None:
    made = functools.partial(definition, str(photographs))
    pool = Pool(made, actors=4)
    own = iterator(definition(str(photographs), num_shards=2, shard_id=1))
    pipe = pool.pipeline(shard_id=1, num_shards=2)
    far = iterator(pipe)
    for _ in range(2):
        count = 0
        for ours, theirs in zip(far, own, strict=True):
            assert all(np.array_equal(ours[0][name], theirs[0][name]) for name in ours[0])
            count += 1
        assert count == 25
    assert pipe.statistics()["batches"] == 50
    assert pipe.statistics()["bytes"] >= 200 * 64 * 64 * 3
    while len(pool.actors()) < 4:
        time.sleep(0.1)
    asked = [actor.__ray_call__.remote(node_of) for actor in pool.actors().values()]
    assert len(set(ray.get(asked))) == 2
    pool.close()
    with pytest.raises(WorkerError, match="the pool was closed"):
        numbers(far)


def test_arrays_show_the_object_stores_memory(cluster: Any, photographs: Path) -> None:
    pipe = Pool(functools.partial(large, str(photographs))).pipeline()
    pipe.schedule_run()
    batch = pipe.share_outputs()[0]
    assert any(begin <= batch.data_ptr() < end for begin, end in plasma())
    batch.as_array()[:] = 1  # nobody else has it
    assert batch.as_array().min() == 1


def node_of(actor: Any) -> str:
    """What an actor says of where it is."""
    return str(ray.get_runtime_context().get_node_id())


def large(folder: str) -> Pipeline:
    """Batches that are too large to come with the answer."""
    pipe = Pipeline(batch_size=8, num_threads=1, device_id=None)
    with pipe:
        jpegs, _ = fn.readers.file(file_root=folder, name="Reader")
        pipe.set_outputs(fn.resize(fn.decoders.image(jpegs), size=(300, 300)))
    return pipe


def plasma() -> list[tuple[int, int]]:
    """Where this process has the object store's memory."""
    maps = [line.split() for line in Path("/proc/self/maps").read_text().splitlines() if "plasma" in line]
    return [(int(m[0].split("-")[0], 16), int(m[0].split("-")[1], 16)) for m in maps]


def test_actors_die_and_join_in_the_middle_of_an_epoch(cluster: Any, photographs: Path) -> None:
    pool = Pool(functools.partial(definition, str(photographs), 0.05), actors=2)
    pipe = pool.pipeline(ahead=8)
    seen: list[int] = []
    for step, batch in enumerate(iterator(pipe)):
        seen += [int(n) for n in batch[0]["number"].ravel()]
        if step % 10 == 5:
            for actor in list(pool.actors().values())[: 1 + (step == 25)]:  # once all of them
                ray.kill(actor)
        if step == 12:
            pool.resize(4)
        if step == 30:
            pool.resize(1)
    assert sorted(seen) == list(range(COUNT))
    assert pipe.statistics()["again"] > 0


def test_a_node_dies_and_another_joins(cluster: Any, photographs: Path) -> None:
    pool = Pool(functools.partial(definition, str(photographs), 0.05), actors=4)
    while len(pool.actors()) < 4:
        time.sleep(0.1)
    pipe = pool.pipeline(ahead=8)
    order = numbers(iterator(definition(str(photographs))))
    seen: list[int] = []
    for step, batch in enumerate(iterator(pipe)):
        seen += [int(n) for n in batch[0]["number"].ravel()]
        if step == 10:
            cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
        if step == 25:
            cluster.add_node(num_cpus=2, object_store_memory=100 << 20)
    assert seen == order  # not only once each, but in the same order
    assert pipe.statistics()["again"] > 0


def test_trainers_are_in_step_and_go_on_as_another_number(cluster: Any, photographs: Path) -> None:
    """Three trainers, each a task of Ray's, share an epoch; two go on in its middle."""

    @ray.remote(num_cpus=0)
    def train(pool: Pool, shard: int, shards: int, steps: int, state: Any) -> tuple[list[int], Any]:
        batches = iterator(pool.pipeline(shard, shards, ahead=3, checkpoint=state))
        got: list[int] = []
        for batch in batches:
            got += [int(n) for n in batch[0]["number"].ravel()]
            steps -= 1
            if not steps:
                break
        return got, batches.state_dict()

    pool = Pool(functools.partial(definition, str(photographs), 0.02), actors=3)
    before = ray.get([train.remote(pool, shard, 3, 7, None) for shard in range(3)])
    state = merge_states([state for _, state in before])
    after = ray.get([train.remote(pool, shard, 2, 0, state) for shard in range(2)])
    assert sorted(n for got, _ in [*before, *after] for n in got) == list(range(COUNT))


def test_mistakes_are_the_users_own_errors(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="actors=0"):
        Pool(functools.partial(definition, "x"), actors=0)
    with pytest.raises(ReadError, match="nowhere"):
        Pool(functools.partial(large, str(tmp_path / "nowhere")))
    with pytest.raises(WorkerError, match="no actor could be started in 3 s"):
        Pool(functools.partial(definition, "x"), options={"num_cpus": 64}, timeout=3)
