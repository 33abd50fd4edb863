"""Functions of the user's that fail, block, or use what they must not; and pipelines that end meanwhile."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, errors, fn
from tests.faults.processes import finish, script
from tests.small import made, numbers, ten_files


def called(function: Any, **arguments: Any) -> Pipeline:
    """A pipeline of a function of the iteration's number."""
    return made(
        lambda: fn.python_function(fn.external_source(lambda i: np.full((4, 1), i)), function=function), **arguments
    )


def tasks() -> set[str]:
    return set(os.listdir("/proc/self/task"))


def test_what_it_raises_is_its_iterations_failure() -> None:
    def odd(x: Any) -> Any:
        if x[0] % 2:
            raise KeyError("odd")
        return x

    pipe = called(odd, prefetch_queue_depth=3)
    for i in range(6):
        if i % 2:
            with pytest.raises(
                errors.FunctionError, match=r"python_function: the function raised KeyError: 'odd'\n.*operator made at"
            ) as caught:
                pipe.run()
            cause = caught.value.__cause__
            assert isinstance(cause, KeyError)
            assert cause.__traceback__
            assert cause.__traceback__.tb_frame.f_code is odd.__code__
            assert caught.value.operator == "python_function"
        else:
            assert pipe.run()[0].as_array().ravel().tolist() == [i] * 4


def test_an_exit_is_a_failure_too() -> None:
    def leave(x: Any) -> Any:
        raise SystemExit(3)

    with pytest.raises(errors.FunctionError, match="SystemExit: 3"):
        called(leave).run()


@pytest.mark.parametrize(
    ("returned", "arguments", "text"),
    [
        (None, {}, "num_outputs=1, but the function returned None"),
        ("text", {}, "what the function returned makes no batch"),
        (np.array([None]), {}, "makes no batch"),
        ((1, 2), {}, "num_outputs=1, but the function returned 2"),
        (np.zeros(2), {"num_outputs": 2}, "num_outputs=2, but the function returned no tuple"),
        ((1, 2, 3), {"num_outputs": 2}, "num_outputs=2, but the function returned 3"),
        ((np.zeros(1), None), {"num_outputs": 2}, "output 1 of the function makes no batch"),
        (np.zeros((3, 1)), {"batch_processing": True}, "returned 3 samples, but was given 4"),
        ([np.zeros(1), np.zeros((1, 1))] * 2, {"batch_processing": True}, "makes no batch: sample 1 has the shape"),
        ([np.zeros(1)] * 4, {"batch_processing": True, "output_layouts": "HW"}, "makes no batch: .*layout"),
    ],
)
def test_what_makes_no_batch(returned: Any, arguments: dict[str, Any], text: str) -> None:
    def define() -> Any:
        outputs = fn.python_function(fn.random.uniform(), function=lambda x: returned, **arguments)
        return outputs

    with pytest.raises(errors.FunctionError, match=text) as caught:
        made(define).run()
    assert caught.value.__cause__ is None


def test_it_must_not_use_its_pipeline() -> None:
    for use in ("run()", "reset()", "schedule_run()", "wait()"):
        holder: list[Pipeline] = []

        def function(x: Any, use: str = use, holder: list[Pipeline] = holder) -> Any:
            holder[0].empty()  # what only looks
            holder[0].checkpoint()
            return getattr(holder[0], use[:-2])()

        holder.append(called(function))
        with pytest.raises(errors.FunctionError, match="must not use the pipeline itself") as caught:
            holder[0].run()
        assert isinstance(caught.value.__cause__, errors.GraphError)
        assert use in str(caught.value.__cause__)
        holder[0].close()


def test_it_may_use_another_pipeline() -> None:
    other = made(lambda: fn.external_source(lambda i: np.full((4, 1), 10 * i)))
    pipe = called(lambda x: x + other.run()[0].at(0))
    assert [pipe.run()[0].at(0)[0] for _ in range(2)] == [0, 41]  # a call for each sample


def test_it_runs_ahead_on_a_thread_of_its_own() -> None:
    threads, ahead = set(), threading.Semaphore(0)

    def function(x: Any) -> Any:
        threads.add(threading.current_thread())
        ahead.release()
        return x

    pipe = called(function, prefetch_queue_depth=3)
    pipe.run()
    for _ in range(3 * 4):  # the batch that was taken, and those ahead
        assert ahead.acquire(timeout=60)
    assert len(threads) == 1
    assert threading.current_thread() not in threads
    pipe.close()
    assert not threads.pop().is_alive()


def test_reset_does_not_wait_for_it() -> None:
    """What it returns for a batch that was thrown away is dropped, and the next one comes in its turn."""
    entered, go_on, seen = threading.Event(), threading.Event(), []

    def function(batch: Any) -> Any:
        seen.append(int(batch[0][0]))
        entered.set()
        assert go_on.wait(60)
        return [x * 10 for x in batch]

    pipe = made(
        lambda: fn.python_function(
            fn.external_source(lambda i: np.full((4, 1), i)), function=function, batch_processing=True
        )
    )
    pipe.schedule_run()
    assert entered.wait(60)
    pipe.reset()
    pipe.schedule_run()
    go_on.set()
    assert [pipe.outputs()[0].at(0)[0] for _ in range(2)] == [0, 10]
    assert seen[:3] == [0, 0, 1]
    pipe.close()


def test_closing_while_it_is_called() -> None:
    entered, go_on, threads = threading.Event(), threading.Event(), []

    def function(x: Any) -> Any:
        threads.append(threading.current_thread())
        entered.set()
        go_on.wait(60)
        return x

    pipe = called(function)
    pipe.schedule_run()
    assert entered.wait(60)
    with pytest.warns(RuntimeWarning, match="has not returned within 1 s of closing"):
        pipe.close()
    go_on.set()
    threads[0].join(60)
    assert not threads[0].is_alive()


def test_it_may_close_its_pipeline() -> None:
    holder: list[Pipeline] = []
    holder.append(called(lambda x: holder[0].close() or x))
    with pytest.raises((errors.StoppedError, errors.GraphError)):
        holder[0].run()


def test_deleting_the_pipeline_ends_the_thread() -> None:
    gc.collect()
    before = tasks()
    for runs in (0, 2):
        pipe = called(lambda x: x)
        pipe.build()
        for _ in range(runs):
            pipe.run()
        dead, thread = weakref.ref(pipe), pipe._built().executor.calls.thread
        del pipe
        assert dead() is None
        assert not thread.is_alive()
        deadline = time.monotonic() + 1  # a thread that has been joined is the system's for a moment more
        while str(thread.native_id) in tasks() and time.monotonic() < deadline:
            time.sleep(0.001)
        assert tasks() == before


def test_a_pipeline_that_its_function_knows() -> None:
    """As in methods of a class that has the pipeline: the thread does not keep it."""

    class Owner:
        def __init__(self) -> None:
            self.pipe = called(self.function)

        def function(self, x: Any) -> Any:
            return x

    owner = Owner()
    owner.pipe.run()
    before, dead = tasks(), weakref.ref(owner.pipe)
    del owner
    deadline = time.monotonic() + 60
    while dead() is not None and time.monotonic() < deadline:  # a call that is under way ends first
        gc.collect()
        time.sleep(0.01)
    assert dead() is None
    while len(tasks()) >= len(before) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(tasks()) < len(before)


def test_ctrl_c_while_it_is_awaited() -> None:
    """The function goes on; the next call finds the batch."""
    go_on = threading.Event()

    def function(x: Any) -> Any:
        assert go_on.wait(60)
        return x

    pipe = called(function)
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        pipe.run()
    go_on.set()
    assert [pipe.run()[0].at(0)[0] for _ in range(3)] == [0, 1, 2]


def test_the_end_of_the_process() -> None:
    """With a function that is being called, and with one that is not."""
    for sleep in (0, 1000):
        out, _ = finish(
            script(
                f"""
                import time
                import numpy as np
                from penstock import fn, pipeline_def

                @pipeline_def(batch_size=2, num_threads=1, device_id=None)
                def pipeline():
                    return fn.python_function(function=lambda: time.sleep({sleep}) or np.zeros(1))

                pipe = pipeline()
                pipe.schedule_run()
                time.sleep(0.2)
                print("end", flush=True)
                """
            )
        )
        assert out == "end\n"


def test_a_forked_child() -> None:
    pipe = called(lambda x: x)
    pipe.run()
    child = os.fork()
    if not child:
        status = 1
        try:
            pipe.run()
        except errors.GraphError as e:
            status = 0 if "another process" in str(e) else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert pipe.run()[0].at(0)[0] == 1


def test_broken_samples_are_left_out_before_it(tmp_path: Path) -> None:
    files = ten_files(tmp_path)
    os.remove(files[3])

    pipe = made(
        lambda: fn.python_function(numbers(files, on_error="skip", stick_to_shard=True), function=lambda x: x * 10),
        batch_size=3,
    )
    with pytest.warns(UserWarning, match="1 broken sample skipped"):
        seen = [int(x) for _ in range(6) for x in pipe.run()[0].as_array().ravel()]
    assert seen == [10 * n for n in [0, 1, 2, 4, 5, 6, 7, 8, 9] * 2]
