"""Consumers that are slow, that leave, or that fail: memory stays bounded, nothing hangs, everything is released."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, errors, fn
from penstock.plugin.pytorch import DALIGenericIterator
from tests.small import made, numbers, slow, ten_files, values


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No thread and no open file."""

    def state() -> tuple[set[str], int]:
        return set(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))

    gc.collect()
    tasks, descriptors = state()
    yield
    gc.collect()
    until = time.monotonic() + 5
    while state()[0] - tasks and time.monotonic() < until:
        time.sleep(0.01)  # Python's threads are joined a moment before the system's end
    now, still_open = state()
    assert not now - tasks
    assert still_open <= descriptors


def iterator(files: list[str], **arguments: Any) -> DALIGenericIterator:
    return DALIGenericIterator(
        made(lambda: numbers(files), batch_size=2, **arguments), ["number"], reader_name="Reader"
    )


def taken(batch: Any) -> list[int]:
    return batch[0]["number"].flatten().tolist()  # type: ignore[no-any-return]


EPOCH = [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_a_slow_consumer_bounds_memory(depth: int) -> None:
    size, batch = 1 << 20, 4
    pipe = made(lambda: fn.random.uniform(shape=[size // 4]), batch_size=batch, prefetch_queue_depth=depth)
    held = []
    for _ in range(6):
        outputs = pipe.run()
        time.sleep(0.2)
        held.append(pipe.statistics()["memory"]["held"])
    # What is prefetched, what the consumer holds, and scratch memory of the workers.
    assert max(held) <= (depth + 2) * batch * size * 1.25 + 4 * size, held
    assert max(held) >= depth * batch * size
    del outputs


@pytest.mark.parametrize("held", [1, 4])
def test_batches_that_are_held_are_not_overwritten_by_later_ones(held: int, files: list[str]) -> None:
    pipe = made(lambda: fn.random.uniform(shape=[1000]))
    kept = [pipe.run()[0] for _ in range(held)]
    copies = [tensors.as_array().copy() for tensors in kept]
    for _ in range(20):
        pipe.run()
    del pipe
    for tensors, copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(tensors.as_array(), copy)


def test_break_out_of_each_epoch(files: list[str]) -> None:
    batches = iterator(files)
    for steps in (1, 3, 5, 2):
        got = []
        for batch in batches:
            got.append(taken(batch))
            if len(got) == steps:
                break
        assert got == EPOCH[:steps]


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_an_iterator_that_nobody_wants_any_more(steps: int, files: list[str]) -> None:
    batches = iterator(files, prefetch_queue_depth=4)
    for _ in range(steps):
        next(batches)
    dead = weakref.ref(batches)
    del batches
    assert dead() is None


def test_an_iterator_in_a_reference_cycle(files: list[str]) -> None:
    batches = iterator(files)
    cycle: list[Any] = [batches]
    cycle.append(cycle)
    next(batches)
    dead = weakref.ref(batches)
    del batches, cycle
    gc.collect()
    assert dead() is None


def test_a_generator_over_an_iterator_is_closed(files: list[str]) -> None:
    def generator() -> Iterator[list[int]]:
        for batch in iterator(files):
            yield taken(batch)

    batches = generator()
    assert next(batches) == [0, 1]
    batches.close()


def test_an_exception_in_the_loops_body(files: list[str]) -> None:
    batches = iterator(files)

    def train() -> None:
        for batch in batches:
            taken(batch)[0] / 0

    with pytest.raises(ZeroDivisionError):
        train()
    assert [taken(batch) for batch in batches] == EPOCH


def test_two_iterators_over_one_pipeline(files: list[str]) -> None:
    """The second begins an epoch of its own, and the first one's next loop another."""
    pipe = made(lambda: numbers(files), batch_size=2)
    first = DALIGenericIterator(pipe, ["number"], reader_name="Reader")
    assert taken(next(first)) == [0, 1]
    second = DALIGenericIterator(pipe, ["number"], reader_name="Reader")
    assert [taken(batch) for batch in second] == EPOCH
    assert [taken(batch) for batch in first] == EPOCH


def in_thread(run: Callable[[], Any]) -> Any:
    """What it gives, or raises, on another thread."""
    results: list[Any] = []

    def call() -> None:
        try:
            results.append(run())
        except Exception as e:
            results.append(e)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    return results[0]


def test_a_consumer_on_another_thread(files: list[str]) -> None:
    pipe = made(lambda: numbers(files), batch_size=2)
    got = [in_thread(lambda: values(pipe.run()[0])) if n % 2 else values(pipe.run()[0]) for n in range(5)]
    assert got == EPOCH
    batches = DALIGenericIterator(made(lambda: numbers(files), batch_size=2), ["number"], reader_name="Reader")
    assert in_thread(lambda: [taken(batch) for batch in batches]) == EPOCH


def test_consumers_on_several_threads_share_the_batches(files: list[str]) -> None:
    """One after the other, as a lock of theirs sees to."""
    pipe, lock, got = made(lambda: numbers(files), batch_size=2), threading.Lock(), []

    def consume() -> None:
        for _ in range(10):
            with lock:
                got.append(values(pipe.run()[0]))

    threads = [threading.Thread(target=consume) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert got == EPOCH * 6


def test_closing_while_another_thread_waits_for_a_batch() -> None:
    pipe = made(slow, batch_size=100)
    outcome: list[Any] = []

    def consume() -> None:
        try:
            pipe.run()
        except errors.PenstockError as e:
            outcome.append(e)

    thread = threading.Thread(target=consume)
    thread.start()
    time.sleep(0.3)
    pipe.close()
    thread.join(10)
    assert not thread.is_alive()
    assert isinstance(outcome[0], (errors.GraphError, errors.StoppedError))


def test_a_closed_pipeline_says_so_whatever_it_is_asked(files: list[str]) -> None:
    pipe = made(lambda: numbers(files))
    pipe.run()
    pipe.close()
    pipe.close()
    asked: list[Callable[[], Any]] = [pipe.run, pipe.statistics, pipe.schedule_run, pipe.share_outputs]
    for ask in asked:
        with pytest.raises(errors.GraphError, match="the pipeline is closed"):
            ask()


def test_an_error_that_was_caught_keeps_no_pipeline_alive(files: list[str]) -> None:
    """Without the garbage collector's help, since tensors are not all that it would have to find."""
    Path(files[1]).unlink()
    gc.disable()
    try:
        pipe = made(lambda: fn.readers.file(files=files, name="Reader"), batch_size=2)
        with pytest.raises(errors.ReadError):
            pipe.run()
        dead = weakref.ref(pipe)
        del pipe
        assert dead() is None
        batches = DALIGenericIterator(made(lambda: numbers(files), batch_size=2), ["number"], reader_name="Reader")
        dead_iterator = weakref.ref(batches)
        with contextlib.suppress(errors.ReadError):
            next(batches)
        del batches
        assert dead_iterator() is None
    finally:
        gc.enable()


# Sources that raise.


class MineError(Exception):
    pass


def source_that_raises(kind: str, at: int, log: list[int]) -> Any:
    """A source of the samples or batches 0, 1, 2 ...; instead of number ``at`` it raises, once."""

    def number(n: int) -> Any:
        log.append(n)
        if n == at and log.count(n) == 1:
            raise MineError(f"number {n}")
        return np.array([n]) if kind == "sample" else [np.array([n])] * 2

    if kind == "sample":
        return lambda info: number(info.idx_in_epoch)
    if kind == "batch":
        return number

    def generator() -> Iterator[Any]:
        for n in range(1000):
            yield number(n)

    return generator()


def with_source(kind: str, at: int, log: list[int], **arguments: Any) -> Pipeline:
    source = source_that_raises(kind, at, log)
    return made(lambda: fn.external_source(source, batch=kind != "sample"), batch_size=2, **arguments)


@pytest.mark.parametrize("kind", ["sample", "batch", "generator"])
@pytest.mark.parametrize("at", [0, 1, 5, 8])
@pytest.mark.parametrize("depth", [1, 3])
def test_what_a_source_raises_arrives_as_it_is(kind: str, at: int, depth: int) -> None:
    """Once, with the source's own line in its traceback. No batch before it is lost, and none behind it."""
    pipe = with_source(kind, at, log := [], prefetch_queue_depth=depth)
    got: list[int] = []
    raised: list[tuple[str, str]] = []
    for _ in range(9):
        try:
            got.append(values(pipe.run()[0])[0])
        except MineError as e:
            raised.append((str(e), traceback.format_tb(e.__traceback__)[-1]))
        except StopIteration:
            break  # a generator that has raised is at its end
    [(text, last_line)] = raised
    assert text == f"number {at}"
    assert "raise MineError" in last_line
    step = 2 if kind == "sample" else 1
    if kind == "generator":
        assert got == list(range(at))
    else:  # the source is asked for the same once more
        assert got == [step * n for n in range(8)], (got, log)


def test_an_iterator_over_a_source_that_raises() -> None:
    pipe = with_source("batch", 4, [])
    batches = DALIGenericIterator(pipe, ["number"])
    got: list[Any] = []
    for _ in range(8):
        try:
            got.append(taken(next(batches))[0])
        except MineError as e:
            got.append(str(e))
    assert [g for g in got if isinstance(g, int)] == [0, 1, 2, 3, 4, 5, 6]
    assert got.count("number 4") == 1
    assert got.index("number 4") <= 4


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_source_may_end_the_program(error: type[BaseException]) -> None:
    def source(n: int) -> Any:
        if n == 3 and not raised:
            raised.append(n)
            raise error
        return [np.array([n])] * 2

    raised: list[int] = []
    pipe = made(lambda: fn.external_source(source, batch=True), batch_size=2)
    got = []
    for _ in range(7):
        try:
            got.append(values(pipe.run()[0])[0])
        except error:
            got.append(-1)
    assert [g for g in got if g >= 0] == [0, 1, 2, 3, 4, 5]
    assert got.count(-1) == 1
    del pipe
