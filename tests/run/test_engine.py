"""The engine: what is handed out stays valid, errors are named, and pipelines do not disturb each other."""

from __future__ import annotations

import gc
import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn, types
from penstock.errors import OperatorError, OutOfMemoryError, PenstockError, ReadError
from penstock.feed.inputs import Ready
from tests.small import made, slow, ten_files

ROOT = Path(__file__).resolve().parents[2]


def tasks() -> set[str]:
    return set(os.listdir("/proc/self/task"))


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


# What was handed out.


def test_outputs_stay_valid_after_later_runs_and_the_pipelines_end(files: list[str]) -> None:
    pipe = made(lambda: [*fn.readers.file(files=files), fn.random.uniform(shape=[1000])])
    batches = [pipe.run() for _ in range(6)]
    copies = [[[np.array(o.at(i)) for i in range(len(o))] for o in batch] for batch in batches]
    arrays = [[o.at(i) for i in range(len(o))] for batch in batches for o in batch]
    for _ in range(20):
        pipe.run()
    del pipe
    gc.collect()
    for batch, copied in zip(batches, copies, strict=True):
        for output, samples in zip(batch, copied, strict=True):
            assert all(np.array_equal(output.at(i), s) for i, s in enumerate(samples))
    expected = [s for copied in copies for samples in copied for s in samples]
    del batches, batch, output
    gc.collect()
    assert all(np.array_equal(a, b) for a, b in zip((a for group in arrays for a in group), expected, strict=True))


def test_source_info_and_constants_outlive_the_pipeline(files: list[str]) -> None:
    pipe = made(lambda: (fn.readers.file(files=files)[0], types.Constant(np.arange(5), layout="X")))
    data, constant = pipe.run()
    del pipe
    gc.collect()
    assert data[3].source_info() == files[3]
    assert constant.at(2).tolist() == [0, 1, 2, 3, 4]


def test_memory_is_used_again_once_nobody_holds_it() -> None:
    pipe = made(lambda: fn.random.uniform(shape=[100_000]))
    for _ in range(5):
        pipe.run()
    peak = pipe.statistics()["memory"]["peak"]
    for _ in range(30):
        pipe.run()
    assert pipe.statistics()["memory"]["peak"] <= peak * 1.3


def test_slow_consumers_do_not_pile_up_batches() -> None:
    pipe = made(lambda: fn.random.uniform(shape=[250_000]), prefetch_queue_depth=3)  # 4 MB a batch
    for _ in range(4):
        pipe.run()
        time.sleep(0.1)
    assert pipe.statistics()["memory"]["peak"] < 6 * 4.2e6


def test_samples_are_the_same_for_all_threads_and_batches(files: list[str]) -> None:
    def define() -> Any:
        data, labels = fn.readers.file(files=files, random_shuffle=True)
        return data, labels, fn.random.normal(shape=[3])

    def samples(batch_size: int, num_threads: int, depth: int) -> list[bytes]:
        pipe = made(define, batch_size=batch_size, num_threads=num_threads, prefetch_queue_depth=depth)
        found: list[bytes] = []
        while len(found) < 60:
            batch = pipe.run()
            found += [b"".join(o.at(i).tobytes() for o in batch) for i in range(batch_size)]
        return found[:60]

    wanted = samples(1, 1, 1)
    assert len(set(wanted)) == 60
    for arguments in ((10, 1, 2), (7, 4, 3), (64, 8, 2)):
        assert samples(*arguments) == wanted


# Errors on the way.


def test_a_missing_file_is_named_with_operator_sample_and_line(files: list[str]) -> None:
    os.unlink(files[5])
    pipe = made(lambda: fn.readers.file(files=files)[0], batch_size=2)  # the line that is to be named
    assert [len(o.at(1)) for o in (pipe.run()[0], pipe.run()[0])] == [2, 4]
    with pytest.raises(ReadError, match="No such file") as caught:
        pipe.run()
    error = caught.value
    assert isinstance(error, OSError)
    assert (error.operator, error.sample, error.file) == ("readers.file", 1, files[5])
    assert error.location is not None
    assert "test_engine.py" in error.location
    assert "the line that is to be named" in error.location
    for part in (files[5], "readers.file", "test_engine.py"):
        assert part in str(error)
    assert [len(pipe.run()[0].at(1)) for _ in range(2)] == [8, 10]  # what follows is not lost


def test_the_first_sample_that_fails_is_named_whatever_the_threads_do() -> None:
    counts = np.ones(64, np.int32)
    counts[[17, 40, 63]] = 0

    def define() -> Any:
        return fn.random.choice(types.Constant(counts)[fn.reinterpret(fn.readers.file(files=names)[1], shape=[])])

    folder = [str(ROOT / "pyproject.toml")] * 64
    names = folder
    for _ in range(10):
        with pytest.raises(OperatorError, match="at least 1 element") as caught:
            made(define, batch_size=64, num_threads=4).run()
        assert caught.value.sample == 17


def test_a_file_that_became_a_folder_is_an_error(files: list[str]) -> None:
    os.unlink(files[0])
    os.mkdir(files[0])
    with pytest.raises(ReadError, match="directory"):
        made(lambda: fn.readers.file(files=files)[0]).run()


def test_errors_leave_the_pipeline_usable_and_stoppable(files: list[str]) -> None:
    os.unlink(files[0])
    pipe = made(lambda: fn.readers.file(files=files)[0], batch_size=5, prefetch_queue_depth=4)
    for _ in range(3):
        with pytest.raises(ReadError):
            pipe.run()
        assert len(pipe.run()[0]) == 5
    with pytest.raises(ReadError):
        pipe.run()
    pipe.reset()
    assert len(pipe.run()[0]) == 5


# Several at a time.


def test_many_pipelines_at_once(files: list[str]) -> None:
    before = tasks()
    pipes = [
        made(lambda shard=i % 5: fn.readers.file(files=files, shard_id=shard, num_shards=5)[1], batch_size=2)
        for i in range(20)
    ]
    for turn in range(4):
        for i, pipe in enumerate(pipes):
            shard = (i + turn) % 5  # each epoch reads the next part
            assert pipe.run()[0].as_array().ravel().tolist() == [2 * shard, 2 * shard + 1]
    del pipes, pipe
    gc.collect()
    assert not tasks() - before


def test_pipelines_in_threads_do_not_disturb_each_other(files: list[str]) -> None:
    def define() -> Any:
        return fn.readers.file(files=files)[1], fn.random.uniform(shape=[100])

    def collect(seed: int, to: list[bytes]) -> None:
        pipe = made(define, seed=seed)
        for _ in range(100):
            to += [o.as_array().tobytes() for o in pipe.run()]

    wanted: list[list[bytes]] = [[], []]
    found: list[list[bytes]] = [[], []]
    for seed in range(2):
        collect(seed, wanted[seed])
    threads = [threading.Thread(target=collect, args=(seed, found[seed])) for seed in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == wanted
    assert wanted[0] != wanted[1]


def test_closing_from_another_thread_ends_the_wait() -> None:
    pipe = made(slow, batch_size=1000, num_threads=1)
    pipe.build()
    timer = threading.Timer(0.2, pipe.close)
    timer.start()
    start = time.monotonic()
    with pytest.raises(PenstockError):
        pipe.run()
    assert time.monotonic() - start < 5
    timer.join()


def test_waiting_leaves_the_interpreter_to_other_threads() -> None:
    pipe = made(slow, batch_size=16, num_threads=1)
    pipe.build()
    turns = 0
    waiter = threading.Thread(target=pipe.run)
    waiter.start()
    while waiter.is_alive():
        turns += 1
        time.sleep(0.001)
    assert turns > 50


# Fusion.


def test_a_fused_value_that_somebody_else_reads_is_kept(photographs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def define() -> Any:
        pictures = fn.decoders.image(fn.readers.file(file_root=str(photographs))[0])
        floats = fn.cast(pictures, dtype=types.FLOAT)
        return (
            fn.cast(floats, dtype=types.INT16),
            fn.transpose(floats, perm=[2, 0, 1]),
            fn.reshape(pictures, shape=[-1]),
        )

    def run() -> list[bytes]:
        return [o.at(i).tobytes() for o in made(define).run() for i in range(4)]

    fused = run()
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    assert run() == fused


def test_iterations_may_differ_in_size(files: list[str]) -> None:
    pipe = made(lambda: [*fn.readers.file(files=files), fn.random.uniform()])
    engine = pipe._built().executor
    sizes = [3, 1, 4, 2]
    for size in sizes:
        engine.schedule(Ready((), size))
    batches = [engine.take() for _ in sizes]
    assert [len(output) for batch in batches for output in batch] == [n for size in sizes for n in [size] * 3]
    labels = [int(batch[1].at(i)[0]) for batch in batches for i in range(len(batch[1]))]
    assert labels == list(range(10))
    assert len({float(batch[2].at(i)) for batch in batches for i in range(len(batch[2]))}) == 10


def test_more_bytes_than_any_number_of_them() -> None:
    """Each sample alone is more than memory holds, and all together more than 64 bits count."""
    pipe = made(lambda: [fn.random.uniform(shape=[2**30, 2**15])], batch_size=2**18)
    with pytest.raises(OutOfMemoryError, match=r"random\.uniform: the system refused"):
        pipe.run()
