"""Several threads at one pipeline: each batch goes to one of them, and nobody waits for ever."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, errors, fn
from penstock.feed import turn
from tests.faults.interrupts import called_at, interrupted_at
from tests.faults.processes import finish, script
from tests.small import made, numbers, ten_files, values


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


def at_once(*work: Callable[[], Any]) -> list[BaseException]:
    """Does these in threads of their own, all at once; what they raise."""
    raised: list[BaseException] = []

    def guarded(one: Callable[[], Any]) -> None:
        try:
            one()
        except BaseException as e:
            raised.append(e)

    threads = [threading.Thread(target=guarded, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return raised


def counting(**arguments: Any) -> Pipeline:
    """Batch n has two samples n."""
    return made(lambda: fn.external_source(lambda n: [np.int64(n)] * 2, batch=True), batch_size=2, **arguments)


@pytest.mark.parametrize("depth", [1, 3])
def test_each_batch_goes_to_one_of_several_threads(depth: int, files: list[str]) -> None:
    def define() -> Any:
        return fn.external_source(lambda n: [np.int64(n)] * 2, batch=True), numbers(files)

    pipe = made(define, batch_size=2, prefetch_queue_depth=depth)  # built by one of them, too
    got: list[tuple[Any, Any]] = []

    def consume() -> None:
        for _ in range(100):
            number, sample = (values(o) for o in pipe.run())
            got.append((number, sample))

    assert not at_once(*[consume] * 4)
    got.sort()
    assert got == [([n, n], [2 * n % 10, (2 * n + 1) % 10]) for n in range(400)]


def test_who_feeds_a_batch_gets_it() -> None:
    pipe = made(lambda: fn.external_source(name="x") * 2, batch_size=1)

    def serve(k: int) -> None:
        for n in range(k, k + 100):
            assert values(pipe.run(x=np.array([[n]]))[0]) == [2 * n]

    assert not at_once(*[lambda k=k: serve(k) for k in (0, 1000, 2000, 3000)])  # type: ignore[misc]


def test_resets_beside_runs(files: list[str]) -> None:
    """A reset throws nothing away that somebody got, and brings nothing twice."""
    pipe = made(lambda: numbers(files), batch_size=2)
    got: list[list[int]] = []
    done = threading.Event()

    def consume() -> None:
        for _ in range(200):
            got.append(values(pipe.run()[0]))
        done.set()

    def reset() -> None:
        while not done.is_set():
            pipe.reset()

    assert not at_once(consume, reset)
    assert got == [[2 * n % 10, (2 * n + 1) % 10] for n in range(200)]


def test_what_only_looks_may_be_called_beside_runs(files: list[str]) -> None:
    pipe = made(lambda: (fn.external_source(lambda n: [np.int64(n)] * 2, batch=True), numbers(files)), batch_size=2)
    pipe.build()
    got: list[int] = []
    done = threading.Event()

    def consume() -> None:
        for _ in range(300):
            number, sample = (values(o) for o in pipe.run())
            assert sample == [2 * number[0] % 10, (2 * number[0] + 1) % 10]
            got.append(number[0])
        done.set()

    def look() -> None:
        while not done.is_set():
            for call in (
                pipe.empty, pipe.checkpoint, pipe.statistics, pipe.explain, pipe.handed_out,
                pipe.broken_samples, lambda: pipe.reader_position("Reader"), lambda: pipe.epoch_size("Reader"),
            ):  # fmt: skip
                call()  # type: ignore[operator]

    assert not at_once(consume, look, look)
    assert got == list(range(300))


def test_closing_beside_all_else(files: list[str]) -> None:
    """Whatever the others are at, they get an error that says so, and no thread is left."""
    for n in range(30):
        pipe = made(lambda: (numbers(files), fn.external_source(name="x")), batch_size=2)
        pipe.build()

        def run(pipe: Pipeline = pipe) -> None:
            while True:
                pipe.run(x=np.zeros((2, 1)))

        def look(pipe: Pipeline = pipe) -> None:
            while True:
                pipe.statistics()

        def close(pipe: Pipeline = pipe, seconds: float = n * 1e-3) -> None:
            time.sleep(seconds)
            pipe.close()

        raised = at_once(run, look, close)
        assert len(raised) == 2
        assert all(isinstance(e, (errors.GraphError, errors.StoppedError)) for e in raised), raised


def test_data_may_be_fed_while_another_thread_waits_for_it() -> None:
    """By `feed_input`, and by a `run` of its own."""
    pipe = made(lambda: fn.external_source(name="x", blocking=True), batch_size=1, prefetch_queue_depth=1)
    got: list[int] = []

    def consume() -> None:
        got.extend(values(pipe.run()[0]))

    def feed() -> None:
        time.sleep(0.2)
        pipe.feed_input("x", np.array([[1]]))
        time.sleep(0.2)
        got.extend(values(pipe.run(x=np.array([[2]]))[0]))
        pipe.feed_input("x", np.array([[3]]))

    assert not at_once(consume, consume, feed)
    assert sorted(got) == [1, 2, 3]


# Sources that use their own pipeline.


def test_a_source_that_runs_its_own_pipeline() -> None:
    def source(n: int) -> Any:
        if n == 2:
            pipe.run()
        return [np.int64(n)] * 2

    pipe = made(lambda: fn.external_source(source, batch=True, name="mine"), batch_size=2, prefetch_queue_depth=1)
    assert [values(pipe.run()[0])[0] for _ in range(2)] == [0, 1]
    with pytest.raises(errors.GraphError, match=r"run\(\): the source of external_source 'mine' is being asked"):
        pipe.run()


def test_a_source_that_waits_for_a_thread_that_runs_its_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn, "PATIENCE", 0.3)
    raised: list[BaseException] = []

    def source(n: int) -> Any:
        if n == 1:
            raised.extend(at_once(pipe.run))
        return [np.int64(n)] * 2

    pipe = made(lambda: fn.external_source(source, batch=True, name="mine"), batch_size=2, prefetch_queue_depth=1)
    assert [values(pipe.run()[0])[0] for _ in range(3)] == [0, 1, 2]  # it survives that
    [error] = raised
    assert isinstance(error, errors.GraphError)
    assert "'mine' is being asked by this pipeline, on another thread" in str(error)


def test_a_source_may_look_at_its_pipeline_and_feed_others() -> None:
    seen: list[int] = []

    def source(n: int) -> Any:
        assert not at_once(lambda: pipe.feed_input("fed", np.full((2, 1), n)))
        assert not at_once(lambda: seen.append(pipe.handed_out()), pipe.checkpoint, pipe.empty)
        return [np.int64(n)] * 2

    pipe = made(
        lambda: (fn.external_source(source, batch=True), fn.external_source(name="fed")), batch_size=2,
        prefetch_queue_depth=1,
    )  # fmt: skip
    pipe.feed_input("fed", np.full((2, 1), -1))
    assert [[values(o)[0] for o in pipe.run()] for _ in range(3)] == [[0, -1], [1, 0], [2, 1]]
    assert seen == [0, 1, 2]


# Processes.


def test_fork_while_another_thread_runs() -> None:
    """The child is told so, and does not wait for a thread that it does not have."""
    process = script(
        """
        import os, sys, threading, time, warnings
        warnings.simplefilter("ignore")
        from penstock import fn, pipeline_def
        from penstock.errors import GraphError

        @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        def waits():
            return fn.external_source(source, batch=True)

        def source(n):
            asked.set()
            go.wait()
            return [n] * 2

        asked, go = threading.Event(), threading.Event()
        pipe = waits()
        threading.Thread(target=pipe.run).start()
        asked.wait()
        child = os.fork()
        if not child:
            try:
                pipe.run()
            except GraphError as e:
                os._exit(7)
            os._exit(1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        go.set()
        """
    )
    assert finish(process) == ("7\n", "")


# Signal handlers, on the thread that they interrupt.


def test_closing_in_a_handler_while_a_batch_is_awaited() -> None:
    for _ in range(5):
        process = script(
            """
            import signal
            from penstock import errors
            from tests.small import made, slow

            pipe = made(slow, batch_size=200, num_threads=2, prefetch_queue_depth=3)
            pipe.build()
            signal.signal(signal.SIGTERM, lambda *_: pipe.close())
            print("waiting", flush=True)
            try:
                pipe.run()
            except (errors.StoppedError, errors.GraphError) as e:
                print("stopped")
            """
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        out, err = finish(process)
        assert (out.splitlines()[-1], err) == ("stopped", "")


@pytest.mark.parametrize("what", ["checkpoint", "close", "run", "empty", "feed"])
def test_a_handler_at_any_line(what: str, files: list[str]) -> None:
    """It comes before each line of what `run` does, and not one batch is lost or doubled by it."""

    def made_now(checkpoint: str | None = None) -> Pipeline:
        return made(
            lambda: (fn.external_source(lambda n: [np.int64(n)] * 2, batch=True, name="s"), numbers(files)),
            batch_size=2, checkpoint=checkpoint,
        )  # fmt: skip

    def fed() -> Pipeline:
        pipe = made(lambda: fn.external_source(name="x"), batch_size=1)
        for n in range(4):
            pipe.feed_input("x", np.array([[n]]))
        return pipe

    called, line, texts, refused = True, 0, {}, []
    while called:
        line += 1
        pipe = fed() if what == "feed" else made_now()
        before = [values(pipe.run()[0])[0] for _ in range(2)]
        assert before == [0, 1]
        seen: list[Any] = []

        def handler(pipe: Pipeline = pipe, seen: list[Any] = seen) -> None:
            if what == "run":
                try:
                    seen.append(values(pipe.run()[0])[0])  # before the other has begun, or when it is over
                except errors.GraphError as e:
                    refused.append(str(e))
            elif what == "feed":
                pipe.feed_input("x", np.array([[4]]))
            else:
                seen.append(getattr(pipe, what)())

        outcome: Any = None
        try:
            called, outcome = called_at(line, pipe.run, handler)
        except (errors.GraphError, errors.StoppedError):
            assert what == "close", f"line {line}"
        if what == "close":
            pipe.close()
            continue
        if what == "run" and seen:
            assert sorted([values(outcome[0])[0], *seen]) == [2, 3], f"line {line}"
            assert [values(o)[0] for o in pipe.run()] == [4, 8], f"line {line}"
            continue
        assert values(outcome[0])[0] == 2, f"line {line}"
        if what == "feed":
            assert [values(pipe.run()[0])[0] for _ in range(1 + called)] == [3, 4][: 1 + called], f"line {line}"
            continue
        assert [values(o)[0] for o in pipe.run()] == [3, 6], f"line {line}"
        if what == "checkpoint" and called and seen[0] not in texts:
            number, sample = (values(o)[0] for o in made_now(seen[0]).run())
            texts[seen[0]] = number
            assert sample == 2 * number % 10
            assert number in (2, 3), f"line {line}"
    assert line > 20
    assert all("in the middle of another call" in text or "is being asked" in text for text in refused)
    assert bool(refused) == (what == "run")
    if what == "checkpoint":
        assert sorted(texts.values()) == [2, 3]


def test_checkpoints_of_a_handler_that_comes_in_real_time(files: list[str]) -> None:
    """Wherever it interrupts, its state is that behind the last batch or, at most, before the one being returned."""
    process = script(
        """
        import json, random, signal, sys
        from penstock import Pipeline, fn

        pipe = Pipeline(batch_size=2, num_threads=2, device_id=None, seed=1)
        with pipe:
            number = fn.readers.file(files=sys.argv[1:], name="Reader")[1]
            pipe.set_outputs(fn.external_source(lambda i: [i.iteration] * 2, batch_info=True, name="s"), number)
        pipe.build()
        states = []
        signal.signal(signal.SIGALRM, lambda *_: states.append((len(got), json.loads(pipe.checkpoint()))))
        random.seed(5)
        got = []
        signal.setitimer(signal.ITIMER_REAL, 1e-3, 7e-4)
        while len(states) < 400:
            a, b = pipe.run()
            got.append((int(a.at(0)), b.as_array().ravel().tolist()))
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert [n for n, _ in got] == list(range(len(got)))
        assert all(samples == [2 * n % 10, (2 * n + 1) % 10] for n, samples in got)
        for taken, state in states:
            epoch, position = state["readers"]["Reader"]
            n = state["sources"]["s"][1]
            assert taken <= n <= taken + 1, (taken, state)
            assert 10 * epoch + position == 2 * n, state
        print("done")
        """,
        *files,
    )
    out, err = finish(process, 120)
    assert (out, process.returncode) == ("done\n", 0), err


def test_the_turn_is_free_after_ctrl_c_at_any_line() -> None:
    pipe = counting()
    outcome, line, last = "interrupted", 0, -1
    while outcome == "interrupted":
        line += 1
        outcome = interrupted_at(line, pipe.run)
        got: list[int] = []
        assert not at_once(lambda got=got: got.append(values(pipe.run()[0])[0]))  # type: ignore[misc]
        assert last < got[0] <= last + 2, f"line {line}"
        last = got[0]
    assert line > 20
