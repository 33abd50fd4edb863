"""Sources in workers give what they give without, whatever kind of workers, and how many."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, errors, fn, tensors, types
from tests.feed.sources import assert_same, step
from tests.feed.worker_sources import Array, Ends, OwnError, fails, fails_before_the_end, numbered, pair
from tests.small import made, values

MODES = [True, "threads"]


def traces(source: Any, parallel: Any, steps: int = 9, **arguments: Any) -> list[Any]:
    """What a pipeline of 3 samples gives, and raises, with a reset after each end."""
    options = {k: arguments.pop(k) for k in ("py_num_workers", "py_start_method", "batch_size") if k in arguments}
    if not parallel:
        arguments.pop("prefetch_queue_depth", None)
    pipe = made(
        lambda: fn.external_source(source, parallel=parallel, **arguments), **{"batch_size": 3, **options}
    )  # fmt: skip
    got = []
    for _ in range(steps):
        got.append(step(pipe))
        if isinstance(got[-1], StopIteration):
            pipe.reset()
    pipe.close()
    return got


CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "samples": (Ends(9).sample, {"batch": False}),
    "samples, end within a batch": (Ends(8).sample, {"batch": False}),
    "no samples": (Ends(0).sample, {"batch": False}),
    "several outputs": (pair, {"batch": False, "num_outputs": 2, "layout": ["HW", "X"], "dtype": [types.UINT8, None]}),
    "batches": (Ends(4).batch, {"batch": True}),
    "batches of several sizes": (Ends(5).info, {"batch": True, "batch_info": True}),
    "generator function": (Ends(4), {"batch": True}),
    "generator function, again": (Ends(4), {"batch": True, "cycle": "raise"}),
    "generator function, round": (Ends(4), {"batch": True, "cycle": "quiet"}),
    "iterable": ([np.full((3, 1), i) for i in range(3)], {"batch": True, "cycle": "raise"}),
    "iterable of samples": ([np.full(1, i) for i in range(8)], {"batch": False, "cycle": "raise"}),
    "fails": (fails, {"batch": False}),
    "fails before the end": (fails_before_the_end, {"batch": False}),
    "strided": (lambda i: np.arange(24).reshape(3, 2, 4)[:, :, ::2] + i, {"batch": True}),
    "tensors": (lambda i: tensors.TensorListCPU(np.full((3, 2, 2), i), "HW"), {"batch": True}),
    "empty samples": (lambda info: np.zeros((0, info.idx_in_batch), np.int16), {"batch": False}),
    "numbers": (lambda info: np.float32(info.iteration), {"batch": False}),
}


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("depth", [1, 4])
@pytest.mark.parametrize("parallel", MODES)
@pytest.mark.parametrize("name", CASES)
def test_as_without_workers(name: str, parallel: Any, depth: int, workers: int) -> None:
    source, arguments = CASES[name]
    assert_same(
        traces(source, parallel, prefetch_queue_depth=depth, py_num_workers=workers, **arguments),
        traces(source, False, **arguments),
    )


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_ways_to_start(method: str) -> None:
    offset = 5
    for source, arguments in (
        (Ends(7).sample, {"batch": False}),
        (lambda i: np.full((3, 1), i + offset), {"batch": True}),
    ):
        with_workers = traces(source, True, py_start_method=method, py_num_workers=2, **arguments)
        assert_same(with_workers, traces(source, False, **arguments))


@pytest.mark.parametrize("parallel", MODES)
def test_sources_share_the_workers_and_stay_in_step(parallel: Any) -> None:
    def count() -> Iterator[Array]:
        for i in range(50):
            yield np.full((4, 1), i)

    pipe = made(
        lambda: (
            fn.external_source(lambda info: np.full(1, info.iteration), parallel=parallel, batch=False),
            fn.external_source(count, parallel=parallel, batch=True, prefetch_queue_depth=3),
            fn.external_source(count(), parallel=parallel if parallel != True else "threads", batch=True),  # noqa: E712
            fn.external_source(lambda i: np.full((4, 1), i), parallel=parallel, batch=True, prefetch_queue_depth=2),
            fn.external_source(lambda i: np.full((4, 1), i)),
        ),
        py_num_workers=2,
    )  # fmt: skip
    for i in range(50):
        assert [values(o) for o in pipe.run()] == [[i] * 4] * 5
    with pytest.raises(StopIteration):
        pipe.run()


@pytest.mark.parametrize("parallel", MODES)
def test_outputs_that_are_kept_stay_as_they_are(parallel: Any) -> None:
    """Slots, and the arrays of threads, are used again, but not while anything shows them."""
    pipe = made(lambda: fn.external_source(numbered, parallel=parallel, batch=False), py_num_workers=2)
    kept = [pipe.run()[0] for _ in range(60)]
    pipe.close()
    del pipe
    for n, batch in enumerate(kept):
        for k in range(4):
            assert (batch.at(k) == 4 * n + k).all()
            assert len(batch.at(k)) == 5000 + 4 * n + k


def test_outputs_are_the_workers_memory_and_few_slots_do() -> None:
    pipe = made(lambda: fn.external_source(numbered, parallel=True, batch=False), py_num_workers=1)
    for _ in range(50):
        pipe.run()
    sizes = pipe.external_source_shm_statistics()
    assert 1 <= len(sizes["capacities"]) <= 12
    assert min(sizes["capacities"]) >= 20000
    assert sizes["per_sample_capacities"][0] == sizes["capacities"][0] // 4
    pipe.close()


def test_operators_on_what_workers_give() -> None:
    def picture(info: Any) -> Array:
        return np.full((4, 5, 3), info.idx_in_epoch, np.uint8)

    pipe = made(
        lambda: fn.crop(fn.external_source(picture, parallel=True, batch=False, layout="HWC"), crop=(1, 1)) + 1,
        py_num_workers=2,
    )
    for n in range(5):
        assert values(pipe.run()[0]) == [4 * n + k // 3 + 1 for k in range(12)]


@pytest.mark.parametrize("parallel", MODES)
def test_data_that_fits_nothing_fails_its_iteration_alone(parallel: Any) -> None:
    def give(info: Any) -> Any:
        if info.idx_in_epoch == 5:
            return "a text"
        return np.full(2 if info.idx_in_epoch != 13 else (2, 2), info.idx_in_epoch)

    assert_same(traces(give, parallel, batch=False, py_num_workers=2), traces(give, False, batch=False))


@pytest.mark.parametrize("parallel", MODES)
def test_an_exception_comes_as_it_was_with_the_lines_it_passed(parallel: Any) -> None:
    pipe = made(
        lambda: fn.external_source(fails, parallel=parallel, batch=False, name="mine"), py_num_workers=2,
        prefetch_queue_depth=1,
    )  # fmt: skip
    pipe.run()
    with pytest.raises(Exception, match="sample seven") as caught:
        pipe.run()
    error = caught.value
    assert isinstance(error, OwnError)
    assert error.number == 7
    if parallel is True:
        for part in ("worker_sources.py", "raise OwnError", "test_workers.py"):
            assert part in str(error.__cause__)
    with pytest.raises(type(error)):  # it is asked again
        pipe.run()
    pipe.close()


def test_an_exception_that_cannot_be_pickled() -> None:
    class StrangeError(Exception):
        def __reduce__(self) -> Any:
            raise TypeError("not me")

    def give(info: Any) -> Array:
        raise StrangeError("very")

    pipe = made(lambda: fn.external_source(give, parallel=True, batch=False))
    with pytest.raises(errors.WorkerError, match="StrangeError: very") as caught:
        pipe.run()
    assert "raise StrangeError" in str(caught.value.__cause__)


@pytest.mark.parametrize("parallel", MODES)
def test_sys_exit_does_not_end_the_program(parallel: Any) -> None:
    def give(info: Any) -> Array:
        raise SystemExit(3)

    pipe = made(lambda: fn.external_source(give, parallel=parallel, batch=False))
    with pytest.raises(errors.WorkerError, match="SystemExit"):
        pipe.run()


@pytest.mark.parametrize("parallel", MODES)
def test_workers_work_ahead_and_side_by_side(parallel: Any) -> None:
    def give(i: int) -> Array:
        time.sleep(0.05)
        return np.full((4, 1), i)

    pipe = made(
        lambda: fn.external_source(give, parallel=parallel, batch=True, prefetch_queue_depth=8), py_num_workers=8,
    )  # fmt: skip
    pipe.run()
    begin = time.monotonic()
    for _ in range(32):
        pipe.run()
    assert time.monotonic() - begin < 0.8 * 32 * 0.05  # one behind the other
    pipe.close()


@pytest.mark.parametrize("parallel", MODES)
def test_checkpoints(parallel: Any) -> None:
    def define() -> Any:
        return fn.external_source(Ends(11).sample, parallel=parallel, batch=False)

    pipe = made(define, py_num_workers=2, batch_size=2)
    for _ in range(2):
        pipe.run()
    again = made(define, py_num_workers=2, batch_size=2, checkpoint=pipe.checkpoint())
    for _ in range(3):
        assert_same([step(again)], [step(pipe)])


def test_start_py_workers_starts_them_before_the_pipeline_is_built() -> None:
    pipe = made(lambda: fn.external_source(lambda i: np.full((4, 1), i), parallel=True, batch=True))
    pipe.start_py_workers()
    started = set(multiprocessing.active_children())
    pipe.start_py_workers()
    assert pipe._runner is None, "the engine's threads come later"
    assert set(multiprocessing.active_children()) == started
    assert any(process.name == "penstock-source-0" for process in started)
    assert values(pipe.run()[0]) == [0] * 4


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"source": lambda: 0}, "takes no argument"),
        ({"no_copy": False}, "no_copy"),
        ({"prefetch_queue_depth": 0}, "prefetch_queue_depth=0"),
        ({"parallel": "yes"}, "parallel='yes'"),
        ({"parallel": False, "prefetch_queue_depth": 2}, "prefetch_queue_depth=2"),
        ({"source": None}, "parallel=True"),
    ],
)
def test_arguments_that_make_no_sense(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(errors.ArgumentError, match=problem):
        made(lambda: fn.external_source(**{"source": lambda i: 0, "parallel": True, **arguments}))


def test_pipelines_arguments() -> None:
    for name, value in (("py_start_method", "thread"), ("py_callback_pickler", 5)):
        with pytest.raises(errors.ArgumentError, match=name):
            Pipeline(1, 1, None, **{name: value})
    for parallel in MODES:
        pipe = made(lambda p=parallel: fn.external_source(lambda i: 0, parallel=p), py_num_workers=0)
        with pytest.raises(errors.GraphError, match="py_num_workers=0"):
            pipe.build()
