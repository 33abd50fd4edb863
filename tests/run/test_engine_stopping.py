"""The engine stops at any moment, without a hang, a leak or a lost thread."""

from __future__ import annotations

import json
import os
import signal
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn
from tests.faults.interrupts import interrupted_at
from tests.faults.processes import finish, script
from tests.small import made, slow, ten_files


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


SLOW_PIPELINE = """
    import os, sys, time
    from tests.small import made, slow

    pipe = made(slow, batch_size=200, num_threads=2, prefetch_queue_depth=3)
    pipe.build()
"""


def tasks() -> set[str]:
    return set(os.listdir("/proc/self/task"))


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("runs", [0, 1, 3])
def test_deleting_a_pipeline_ends_its_threads(runs: int, files: list[str]) -> None:
    before, open_before = tasks(), descriptors()
    pipe = made(lambda: (fn.readers.file(files=files)[0], slow()), prefetch_queue_depth=4, num_threads=3)
    pipe.build()
    assert len(tasks() - before) == 6
    for _ in range(runs):
        pipe.run()
    if not runs:
        pipe.schedule_run()
    dead = weakref.ref(pipe)
    del pipe
    assert dead() is None
    assert not tasks() - before
    assert descriptors() <= open_before


def test_deleting_a_pipeline_does_not_wait_for_its_batches() -> None:
    pipe = made(slow, batch_size=2000, prefetch_queue_depth=3)  # half a minute's work
    pipe.schedule_run()
    time.sleep(0.1)
    start = time.monotonic()
    del pipe
    assert time.monotonic() - start < 5


def test_break_out_of_a_loop(files: list[str]) -> None:
    before = tasks()

    def first_batch() -> Any:
        pipe = made(lambda: (fn.readers.file(files=files)[0], slow()))
        while True:
            return pipe.run()

    assert len(first_batch()[0]) == 4
    assert not tasks() - before


def test_reset_while_batches_are_under_way() -> None:
    pipe = made(slow, batch_size=2000, prefetch_queue_depth=3)
    pipe.schedule_run()
    start = time.monotonic()
    pipe.reset()
    assert time.monotonic() - start < 5
    assert pipe.empty()


def test_ctrl_c_while_a_batch_is_awaited() -> None:
    process = script(
        SLOW_PIPELINE
        + """
    print("waiting", flush=True)
    start = time.monotonic()
    try:
        pipe.run()
    except KeyboardInterrupt:
        print("interrupted")
    """
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    out, err = finish(process)
    assert (out, process.returncode) == ("interrupted\n", 0), err
    assert time.monotonic() - start < 5


def test_ctrl_c_at_any_moment_loses_no_batch(files: list[str]) -> None:
    """Real signals, at random moments. One that is between the engine and this script's list may be lost."""
    process = script(
        """
        import random, signal, sys
        from penstock import Pipeline, fn

        pipe = Pipeline(batch_size=2, num_threads=2, device_id=None, seed=1)
        with pipe:
            number = fn.readers.file(files=sys.argv[1:])[1]
            pipe.set_outputs(fn.external_source(lambda i: [i.iteration] * 2, batch_info=True, batch=True), number)
        pipe.build()
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        random.seed(5)
        got, interrupts = [], 0
        while interrupts < 300:
            try:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-4, 2e-3))
                for _ in range(1000):  # Python itself swallows what is raised in __del__
                    got.append((pipe.run(), interrupts))
            except KeyboardInterrupt:
                interrupts += 1
        got.append((pipe.run(), interrupts))
        numbers = [(int(a.at(0)), b.as_array().ravel().tolist(), seen) for (a, b), seen in got]
        for n, samples, _ in numbers:
            assert samples == [2 * n % 10, (2 * n + 1) % 10], (n, samples)
        gaps = [(after[0] - before[0] - 1, after[2] - before[2]) for before, after in zip(numbers, numbers[1:])]
        assert all(0 <= lost <= signals for lost, signals in gaps), gaps
        assert sum(lost for lost, _ in gaps) <= interrupts // 4, gaps
        print("done")
        """,
        *files,
    )
    out, err = finish(process, 120)
    assert (out, process.returncode) == ("done\n", 0), err


@pytest.mark.parametrize("action", ["run", "reset"])
def test_ctrl_c_between_any_two_lines(action: str, files: list[str]) -> None:
    """The batches go on where they were: none comes twice, and one is lost only if it had been handed out."""

    def numbered(info: Any) -> Any:
        return [np.int64(info.iteration)] * 2

    pipe = made(
        lambda: (
            fn.external_source(numbered, batch=True, batch_info=True, name="source"), fn.readers.file(files=files)[1],
            fn.external_source(name="fed"),
        ),
        batch_size=2,
    )  # fmt: skip
    pipe.build()
    fed = expected = line = 0

    def feed_and_run() -> Any:
        nonlocal fed
        while fed < expected + 6:
            pipe.feed_input("fed", np.full(2, fed))
            fed += 1
        return pipe.run()

    for _ in range(4):
        feed_and_run()
        expected += 1
    outcomes = set()
    while "finished" not in outcomes:
        line += 1
        outcome = interrupted_at(line, pipe.run if action == "run" else pipe.reset)
        if outcome != "interrupted":
            outcomes.add("finished")
        handed_out = json.loads(pipe.checkpoint())["sources"]["source"][1]
        assert handed_out in (expected, expected + 1)
        if outcome == "interrupted":
            outcomes.add("after" if handed_out > expected else "before")
        expected = handed_out
        batch = [o.as_array().ravel().tolist() for o in feed_and_run()]
        n = expected
        assert batch == [[n, n], [2 * n % 10, (2 * n + 1) % 10], [n, n]], f"line {line}"
        expected += 1
    assert line > 20
    assert outcomes == {"before", "after", "finished"} if action == "run" else {"before", "finished"}


@pytest.mark.parametrize(
    "ending", ["pass", "sys.exit(0)", "keep = pipe; pipe.keep = pipe", "raise SystemExit", "pipe.run = None"]
)
def test_the_interpreter_ends_with_a_pipeline_alive(ending: str) -> None:
    process = script(SLOW_PIPELINE + f"\n    pipe.schedule_run()\n    time.sleep(0.2)\n    {ending}\n")
    start = time.monotonic()
    out, err = finish(process)
    assert (out, err, process.returncode) == ("", "", 0)
    assert time.monotonic() - start < 8


def test_an_exception_ends_the_program_as_it_should() -> None:
    process = script(SLOW_PIPELINE + "\n    pipe.schedule_run()\n    raise ValueError('mine')\n")
    _, err = finish(process)
    assert process.returncode == 1
    assert err.endswith("ValueError: mine\n")


def test_fork_after_build() -> None:
    """The child gets a clear error, can build its own, and ends; the parent goes on."""
    process = script(
        """
        import os, sys, warnings
        warnings.simplefilter("ignore")  # newer Pythons warn of threads and fork
        from penstock import fn, pipeline_def
        from penstock.errors import GraphError

        @pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=3)
        def numbers():
            return fn.random.uniform()

        pipe = numbers()
        first = pipe.run()
        child = os.fork()
        if child == 0:
            try:
                pipe.run()
            except GraphError as error:
                assert "built in another process" in str(error), error
                own = numbers().run()
                assert own[0].as_array().tolist() == first[0].as_array().tolist()
                del pipe, own
                sys.exit(7)
            sys.exit(1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 7, status
        assert len(pipe.run()[0]) == 4
        print("parent goes on")
        """
    )
    out, err = finish(process)
    assert (out, err, process.returncode) == ("parent goes on\n", "", 0)


def test_no_memory_grows_over_many_epochs(photographs: Path) -> None:
    process = script(
        """
        import os, sys
        from penstock import fn, pipeline_def, types

        @pipeline_def(batch_size=8, num_threads=2, device_id=None, seed=3)
        def pictures():
            files, labels = fn.readers.file(file_root=sys.argv[1], random_shuffle=True, name="Reader")
            return fn.cast(fn.decoders.image(files), dtype=types.FLOAT), labels, fn.random.normal(shape=[100])

        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        pipe = pictures()
        sizes = []
        for epoch in range(240):
            for _ in range(2):
                pipe.run()
            if epoch % 40 == 39:
                held = pipe.statistics()["memory"]["held"]  # varies by a batch, as threads happen to meet
                assert held < 8 * sum(b.nbytes for b in map(pipe.run()[0].at, range(8))), held
                sizes.append(resident() - held)
        print(len(os.listdir("/proc/self/fd")))
        print(*sizes)
        """,
        str(photographs),
    )
    out, err = finish(process, 120)
    assert process.returncode == 0, err
    open_files, sizes = out.splitlines()
    assert int(open_files) < 12
    grown = [int(s) for s in sizes.split()]
    assert grown[-1] - grown[1] < 3e6, f"resident bytes, without pools, after each 40 epochs: {grown}"
