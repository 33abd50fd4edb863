"""Workers that die, hang or are left: a clear error, or another in their place; nothing is lost, doubled or left."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import errors, fn
from tests.faults.interrupts import interrupted_at
from tests.feed.worker_sources import Array, Dies, Waits
from tests.small import made, values


def numbers(source: Any, parallel: Any = True, **arguments: Any) -> Any:
    """A pipeline of 4 samples of a source of one number each."""
    options = {"py_num_workers": 2, "prefetch_queue_depth": 1, **arguments}
    return made(lambda: fn.external_source(source, parallel=parallel, batch=False, name="mine"), **options)


def processes(pipe: Any) -> list[int]:
    return [one.process.pid for one in pipe._workers._pools[0]._held.workers.values()]


def is_gone(pid: int, seconds: float = 10.0) -> bool:
    """Whether a process ends within that time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_another_takes_the_place_of_a_worker_that_dies(how: str, tmp_path: Path) -> None:
    pipe = numbers(Dies(how, tmp_path / "died"))
    told = "exit code 3" if how == "exit" else "SIGKILL"
    with pytest.warns(RuntimeWarning, match=f"{told}.*another takes its place"):
        got = [values(pipe.run()[0]) for _ in range(6)]
    assert got == [[4 * n + k for k in range(4)] for n in range(6)]
    pipe.close()


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_a_sample_that_kills_each_worker_is_an_error(how: str) -> None:
    pipe = numbers(Dies(how))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert values(pipe.run()[0]) == [0, 1, 2, 3]
        for _ in range(2):
            with pytest.raises(errors.WorkerError, match=r"'mine'.*iteration 1 of epoch 0(.|\n)*operator made at"):
                pipe.run()
    pipe.close()


def test_workers_may_be_killed_at_any_moment() -> None:
    """No sample is lost, doubled or torn."""

    def give(info: Any) -> Array:
        return np.full(2000, info.idx_in_epoch)

    pipe = numbers(give, prefetch_queue_depth=2, py_num_workers=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for n in range(60):
            if n % 6 == 3:
                os.kill(processes(pipe)[n % 3], signal.SIGKILL)
            batch = pipe.run()[0]
            for k in range(4):
                assert (batch.at(k) == 4 * n + k).all(), n
    assert len(processes(pipe)) == 3
    pipe.close()


def test_the_worker_of_an_iterable_dies() -> None:
    """Nobody knows where it was: an error until it begins anew."""
    pipe = made(
        lambda: fn.external_source([np.full((4, 1), i) for i in range(5)], parallel=True, batch=True, cycle="raise"),
        prefetch_queue_depth=1, py_num_workers=1,
    )  # fmt: skip
    pipe.run()
    os.kill(processes(pipe)[0], signal.SIGKILL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        got: list[Any] = []
        while not got or got[-1] != "lost":
            try:
                got.append(values(pipe.run()[0])[0])
            except errors.WorkerError:
                got.append("lost")
        assert got[:-1] == list(range(1, len(got)))
        with pytest.raises(errors.WorkerError, match="SIGKILL, and with it the place"):
            pipe.run()
    pipe.start_epoch(1)
    assert [values(pipe.run()[0])[0] for _ in range(5)] == [0, 1, 2, 3, 4]
    pipe.close()


@pytest.mark.parametrize("parallel", [True, "threads"])
def test_a_source_that_hangs_is_an_error_in_time(
    parallel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_READ_TIMEOUT", "0.5")
    hangs = tmp_path / "hangs"
    hangs.touch()
    pipe = numbers(Waits(hangs, 3600.0 if parallel is True else 4.0), parallel)
    assert values(pipe.run()[0]) == [0, 1, 2, 3]
    text = r"'mine'.*has not answered for 0.5 s(.|\n)*PENSTOCK_READ_TIMEOUT(.|\n)*operator made at"
    with pytest.raises(errors.WorkerError, match=text):
        pipe.run()
    hangs.unlink()
    assert values(pipe.run()[0]) == [4, 5, 6, 7]
    pipe.close()


def test_a_worker_that_cannot_start() -> None:
    class Source:
        def __call__(self, info: Any) -> Array:
            return np.zeros(1)

        def __reduce__(self) -> Any:
            return _explode, ()

    pipe = numbers(Source(), py_start_method="spawn", py_num_workers=1)
    with pytest.raises(ZeroDivisionError):
        pipe.run()
    pipe.close()


def _explode() -> None:
    raise ZeroDivisionError("while it is restored")


@pytest.mark.parametrize("way", ["close", "delete"])
@pytest.mark.parametrize("busy", [False, True])
def test_nothing_is_left_of_a_pipeline_in_mid_epoch(way: str, busy: bool, tmp_path: Path) -> None:
    hangs = tmp_path / "hangs"
    if busy:
        hangs.touch()
    gc.collect()
    before = os.listdir("/proc/self/fd"), os.listdir("/dev/shm")
    pipe = numbers(Waits(hangs))
    kept = pipe.run()[0]
    pids = processes(pipe)
    begin = time.monotonic()
    if way == "close":
        pipe.close()
        assert all(is_gone(pid, 0.1) for pid in pids)
    del pipe
    gc.collect()
    assert time.monotonic() - begin < 5
    assert all(is_gone(pid) for pid in pids)
    assert values(kept) == [0, 1, 2, 3]
    del kept
    gc.collect()
    after = os.listdir("/proc/self/fd"), os.listdir("/dev/shm")
    assert len(after[0]) <= len(before[0]) + 1  # the listing itself is one
    assert set(after[1]) <= set(before[1])


SCRIPT = """
import json, os, signal, sys, threading, time
import numpy as np
from penstock import Pipeline, fn

def give(info):
    if info.idx_in_epoch >= 8:
        time.sleep(3600)
    return np.full(10, info.idx_in_epoch)

if __name__ == "__main__":
    pipe = Pipeline(4, 1, None, py_num_workers=2, py_start_method=sys.argv[1], prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(fn.external_source(give, parallel=True, batch=False))
    pipe.run()
    print(json.dumps([one.process.pid for one in pipe._workers._pools[0]._held.workers.values()]), flush=True)
    if sys.argv[2] == "sleep":
        time.sleep(3600)
    try:
        pipe.run(), pipe.run()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def start(tmp_path: Path, method: str, then: str) -> tuple[Any, list[int]]:
    (tmp_path / "script.py").write_text(SCRIPT)
    run = subprocess.Popen(
        [sys.executable, "-W", "error", tmp_path / "script.py", method, then], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert run.stdout is not None
    return run, json.loads(run.stdout.readline())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_end_with_the_process_that_is_killed(method: str, tmp_path: Path) -> None:
    run, pids = start(tmp_path, method, "sleep")
    run.kill()
    run.communicate()
    assert all(is_gone(pid) for pid in pids)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_ctrl_c_while_a_source_is_waited_for(method: str, tmp_path: Path) -> None:
    """All processes of the terminal get it. Nothing is printed but by the script, and nothing left."""
    run, pids = start(tmp_path, method, "run")
    time.sleep(0.5)
    os.killpg(run.pid, signal.SIGINT)
    out, err = run.communicate(timeout=30)
    assert (out, err, run.returncode) == ("interrupted\n", "", 0)
    assert all(is_gone(pid) for pid in pids)


def test_ctrl_c_loses_nothing_in_workers() -> None:
    """Before any line of what asks workers, and takes up what they gave."""

    def count() -> Any:
        for i in range(10000):
            yield np.full((4, 1), i)

    pipe = made(
        lambda: (
            fn.external_source(lambda info: np.full(1, info.iteration), parallel=True, batch=False),
            fn.external_source(count, parallel=True, batch=True),
            fn.external_source(count, parallel="threads", batch=True),
        ),
        py_num_workers=2,
        prefetch_queue_depth=1,
    )
    line, outcome, n = 0, "interrupted", 0
    pipe.run()
    while outcome == "interrupted" and line < 400:
        line += 1
        outcome = interrupted_at(line, pipe.run)
        found = [values(o)[0] for o in pipe.run()]
        assert found[0] == found[1] == found[2] > n, f"line {line}"
        n = found[0]
    assert line > 30
    pipe.close()
