"""Ctrl-C in every stage: while a pipeline is built, iterated, closed, while kernels are compiled, at the end."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from penstock import Pipeline, errors, fn
from penstock.plugin.pytorch import DALIGenericIterator
from tests.faults.interrupts import interrupted_at
from tests.faults.processes import finish, script
from tests.small import made, numbers, ten_files, values


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


def tasks() -> set[str]:
    return set(os.listdir("/proc/self/task"))


def left_behind(before: set[str]) -> set[str]:
    """Threads that came since then. The system lists a thread a little longer than others wait for its end."""
    end = time.monotonic() + 20
    while (new := tasks() - before) and time.monotonic() < end:
        time.sleep(0.001)
    return new


def test_between_any_two_lines_of_build(files: list[str]) -> None:
    """What was begun leaves no thread behind, and building again works."""

    class Ours(Pipeline):
        def define_graph(self) -> Any:
            source = fn.external_source(lambda i: [i.iteration] * 2, batch_info=True, batch=True, name="source")
            return source, numbers(files)

    gc.collect()
    before = tasks()
    outcome, line = "interrupted", 0
    while outcome == "interrupted":
        line += 1
        pipe = Ours(batch_size=2, num_threads=1, device_id=None)
        outcome = interrupted_at(line, pipe.build)
        for n in range(2):
            assert [values(o) for o in pipe.run()] == [[n, n], [2 * n, 2 * n + 1]], f"line {line}"
        del pipe
        assert not left_behind(before), f"line {line}"
    assert line > 50


def test_between_any_two_lines_of_close(files: list[str]) -> None:
    gc.collect()
    before = tasks()
    outcome, line = "interrupted", 0
    while outcome == "interrupted":
        line += 1
        pipe = made(lambda: numbers(files), batch_size=2, num_threads=1)
        pipe.run()
        outcome = interrupted_at(line, pipe.close)
        if line % 2:
            pipe.close()
            with pytest.raises(errors.GraphError, match="closed"):
                pipe.run()
        del pipe
        assert not left_behind(before), f"line {line}"
    assert line > 4


@pytest.mark.parametrize("shards", [1, 2])
def test_between_any_two_lines_of_an_iterator(shards: int, files: list[str]) -> None:
    """At most the batch in hand is lost, of all pipelines alike, and epochs end where they should."""
    pipes = [made(lambda k=k: numbers(files, shard_id=k, num_shards=shards), batch_size=1) for k in range(shards)]
    batches = DALIGenericIterator(pipes, ["number"], reader_name="Reader")
    steps = 10 // shards

    def taken(batch: Any) -> list[int]:
        return [int(one["number"]) for one in batch]

    line, finished = 0, False
    while not finished:
        iterator, got = iter(batches), []
        for step in range(steps + 2):
            if step == steps // 2:
                line += 1
                batch = interrupted_at(line, lambda it=iterator: next(it))
                if batch == "interrupted":
                    continue
                finished = True
            else:
                batch = next(iterator, None)
            if batch is None:
                break
            got.append(taken(batch))
        # Shards rotate: what the pipelines read in this epoch begins anywhere, but goes on in step.
        expected = [
            [(got[0][k] + n) % 10 if shards == 1 else got[0][k] + n for k in range(shards)] for n in range(steps)
        ]
        missing = [e for e in expected if e not in got]
        assert got == [e for e in expected if e not in missing], f"line {line}"
        assert missing in ([], [expected[steps // 2]]), f"line {line}"
    assert line > 30


def test_between_any_two_lines_of_an_iterators_reset(files: list[str]) -> None:
    batches = DALIGenericIterator(made(lambda: numbers(files), batch_size=3), ["number"], reader_name="Reader")
    outcome, line = "interrupted", 0
    while outcome == "interrupted":
        line += 1
        next(batches)
        outcome = interrupted_at(line, batches.reset)
        epoch = [batch[0]["number"].flatten().tolist() for batch in batches]
        # The last batch is filled with the next epoch's first samples.
        assert epoch == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 0, 1]], f"line {line}"
        batches.reset()
        next(batches)
    assert line > 20


def test_in_a_source(files: list[str]) -> None:
    """The batch that it was asked for is asked for again."""
    process = script(
        """
        import time
        from penstock import Pipeline, fn

        def source(n):
            if n == 3:
                print("asked", flush=True)
                time.sleep(5 if not interrupts else 0)
            return [n] * 2

        interrupts, got = 0, []
        pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(fn.external_source(source, batch=True))
        while len(got) < 6:
            try:
                got.append(int(pipe.run()[0].at(0)))
            except KeyboardInterrupt:
                interrupts += 1
        print(got, interrupts)
        """
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "asked\n"
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    out, err = finish(process)
    assert (out, err, process.returncode) == ("asked\n[0, 1, 2, 3, 4, 5] 1\n", "", 0)
    assert time.monotonic() - start < 4


def test_while_kernels_are_compiled(software_gpu: dict[str, str], tmp_path: Path) -> None:
    """The compiler goes on, and the next batch uses what it has made."""
    compiler, begun = shutil.which("g++"), tmp_path / "begun"
    if not software_gpu or compiler is None:
        pytest.skip("needs a compiler that can be slowed down")
    slow = tmp_path / "bin" / "g++"
    slow.parent.mkdir()
    go, late = tmp_path / "go", tmp_path / "late"
    wait = f"for i in $(seq 300); do [ -e {go} ] && break; sleep 0.1; done; [ -e {go} ] || touch {late}"
    slow.write_text(f'#!/bin/sh\ntouch {begun}; {wait}; exec {compiler} "$@"\n')
    slow.chmod(0o755)
    process = script(
        """
        import numpy as np
        from penstock import Pipeline, fn

        pipe = Pipeline(batch_size=2, num_threads=1, device_id=0)
        with pipe:
            pipe.set_outputs(fn.external_source(lambda: [np.full(5, 7, np.uint8)] * 2, batch=True, device="gpu") * 3)
        pipe.build()
        try:
            pipe.run()
            print("was not interrupted", flush=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        print(pipe.run()[0].as_cpu().as_array().ravel().tolist())
        """,
        PENSTOCK_CACHE=str(tmp_path / "cache"), PATH=f"{slow.parent}:{os.environ['PATH']}",
    )  # fmt: skip
    assert process.stdout is not None
    while not begun.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert not late.exists()  # the compiler still waits
    go.touch()
    out, err = finish(process, 60)
    assert (out, err, process.returncode) == (f"{[21] * 10}\n", "", 0)


def test_while_the_interpreter_ends() -> None:
    """Once more, by an impatient user: it ends all the same, and soon."""
    process = script(
        """
        from tests.small import made, slow

        pipe = made(slow, batch_size=800)
        pipe.schedule_run()
        print("ends", flush=True)
        """
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ends\n"
    start = time.monotonic()
    for _ in range(3):
        time.sleep(0.02)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    finish(process)
    assert time.monotonic() - start < 8


def test_numbers_of_a_source_after_many_interrupts() -> None:
    """Signals in the middle of NumPy and of the engine."""
    process = script(
        """
        import random, signal
        import numpy as np
        from penstock import Pipeline, fn
        from penstock.plugin.pytorch import DALIGenericIterator

        pipe = Pipeline(batch_size=2, num_threads=2, device_id=None, seed=1)
        with pipe:
            pipe.set_outputs(fn.external_source(lambda n: [np.full(9, n)] * 2, batch=True))
        batches = DALIGenericIterator(pipe, ["n"])
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        random.seed(5)
        got, interrupts = [], 0
        while interrupts < 150:
            try:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-4, 3e-3))
                for _ in range(1000):  # Python itself swallows what is raised in __del__
                    got.append(int(next(batches)[0]["n"][1, 8]))
            except KeyboardInterrupt:
                interrupts += 1
        got.append(int(next(batches)[0]["n"][1, 8]))
        steps = [b - a for a, b in zip(got, got[1:])]
        # None comes twice, and an interrupt costs one at most: that which it kept from being noted here.
        assert min(steps) >= 1 and sum(steps) - len(steps) <= interrupts, steps
        print("done")
        """
    )
    out, err = finish(process, 60)
    assert (out, process.returncode) == ("done\n", 0), err
