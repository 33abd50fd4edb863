"""`fn.python_function`: what the function gets and may return, beside DALI itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, errors, fn, ops, pipeline_def, types
from tests.small import made, numbers, ten_files

dali = pytest.importorskip("nvidia.dali")


def ragged(iteration: int) -> list[np.ndarray[Any, Any]]:
    """Three samples of shapes of their own."""
    return [np.arange(6 * (k + 1), dtype=np.int16).reshape(3, -1) + 100 * iteration for k in range(3)]


def dense(iteration: int) -> np.ndarray[Any, Any]:
    return np.arange(12, dtype=np.float32).reshape(3, 2, 2) * (iteration + 1)


def swap(a: Any, b: Any) -> Any:
    return b, a


# Function, other arguments; inputs are `ragged` and `dense`.
CASES: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (lambda a, b: a + 1, {}),
    (lambda a, b: a.T, {}),
    (lambda a, b: np.float64(a.sum()) * np.ones(2), {}),
    (lambda a, b: (b.astype(np.uint8),), {}),
    (swap, {"num_outputs": 2}),
    (swap, {"num_outputs": 2, "output_layouts": "HW"}),
    (swap, {"num_outputs": 2, "output_layouts": ["AB"]}),
    (lambda a, b: a[:, :1] > 2, {}),
    (lambda a, b: np.empty((0, 3), np.float16), {}),
    (lambda a, b: [x * 2 for x in a], {"batch_processing": True}),
    (lambda a, b: (a[::-1], b), {"batch_processing": True, "num_outputs": 2}),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_as_dali_does(number: int) -> None:
    function, arguments = CASES[number]

    def define(fn: Any) -> Any:
        inputs = fn.external_source(source=ragged, batch=True), fn.external_source(source=dense, batch=True)
        outputs = fn.python_function(*inputs, function=function, **arguments)
        return outputs if isinstance(outputs, (list, tuple)) else [outputs]

    ours = Pipeline(3, 2, None)
    theirs = dali.Pipeline(3, 2, None)
    with ours:
        ours.set_outputs(*define(fn))
    with theirs:
        theirs.set_outputs(*define(dali.fn))
    for _ in range(3):
        for mine, its in zip(ours.run(), theirs.run(), strict=True):
            assert mine.layout() == its.layout()
            for i in range(3):
                found, wanted = mine.at(i), its.at(i)
                assert found.dtype == wanted.dtype
                np.testing.assert_array_equal(found, wanted)


def test_without_inputs_and_outputs() -> None:
    calls: list[int] = []

    def define() -> Any:
        assert fn.python_function(function=lambda: calls.append(1), num_outputs=0) == []
        return fn.python_function(function=lambda: np.int32([len(calls)]))

    (output,) = made(define, prefetch_queue_depth=1, exec_async=False, exec_pipelined=False).run()
    assert output.as_array().tolist() == [[4]] * 4
    assert len(calls) == 4


def test_a_batch_may_be_one_array() -> None:
    """Which DALI does not take."""
    pipe = made(
        lambda: fn.python_function(
            fn.external_source(lambda i: np.full((4, 2), i)), function=lambda a: np.stack(a) + len(a),
            batch_processing=True,
        )
    )  # fmt: skip
    assert [pipe.run()[0].as_array().tolist() for _ in range(2)] == [[[4, 4]] * 4, [[5, 5]] * 4]


def test_objects_of_ops() -> None:
    double = ops.PythonFunction(function=lambda x: x * 2, num_outputs=1)
    (output,) = made(lambda: double(types.Constant(np.int32([1, 2])))).run()
    assert output.at(3).tolist() == [2, 4]


def test_between_other_operators(photographs: Path) -> None:
    """Pictures that are decoded go through the function, and on into the next operators; its values are arguments."""

    @pipeline_def(batch_size=8, num_threads=2, device_id=None, seed=3)
    def pipeline(in_python: bool) -> Any:
        files, labels = fn.readers.file(file_root=photographs)
        images = fn.decoders.image(files)
        if in_python:
            images = fn.python_function(images, function=lambda image: 255 - image)
            angle = fn.python_function(labels, function=lambda label: np.float32(10 * label[0]))
        else:
            images, angle = fn.cast(255 - images, dtype=types.UINT8), fn.cast(10 * labels, dtype=types.FLOAT)[0]
        return fn.flip(fn.rotate(images, angle=angle), horizontal=1), labels

    through, beside = pipeline(True), pipeline(False)
    for _ in range(3):
        for mine, wanted in zip(through.run(), beside.run(), strict=True):
            for i in range(8):
                np.testing.assert_array_equal(mine.at(i), wanted.at(i))
    assert "in Python, batch by batch:\n  python_function\n  python_function" in through.explain()


def test_functions_of_functions() -> None:
    """One reads what the other makes, and both what is made on the CPU in between."""

    def define() -> Any:
        x = fn.external_source(lambda i: np.full((4, 2), i, np.int32))
        doubled = fn.python_function(x, function=lambda a: a * 2)
        return fn.python_function(doubled, doubled + x, function=lambda a, b: np.stack([a, b]))

    pipe = made(define)
    for i in range(4):
        np.testing.assert_array_equal(pipe.run()[0].as_array(), np.broadcast_to([[2 * i] * 2, [3 * i] * 2], (4, 2, 2)))


def test_before_files_are_read(tmp_path: Path) -> None:
    """Batches in order, whatever is read ahead."""
    files = ten_files(tmp_path)
    seen: list[list[int]] = []

    def note(batch: list[Any]) -> Any:
        seen.append([int(sample[0]) for sample in batch])
        return batch

    pipe = made(
        lambda: fn.python_function(numbers(files), function=note, batch_processing=True), prefetch_queue_depth=3
    )
    given = [pipe.run()[0].as_array().ravel().tolist() for _ in range(6)]
    assert seen[:6] == given == [[(4 * b + k) % 10 for k in range(4)] for b in range(6)]


def test_batches_of_other_sizes() -> None:
    sizes = [4, 1, 0, 3]
    pipe = made(
        lambda: fn.python_function(
            fn.external_source(lambda i: [np.int32([k]) for k in range(sizes[i])]), function=lambda x: x + 1
        ),
        prefetch_queue_depth=1,
    )
    assert [[int(x[0]) for x in pipe.run()[0]._arrays()] for _ in sizes] == [list(range(1, size + 1)) for size in sizes]


def test_arrays_are_shown_and_may_be_kept() -> None:
    """They show the engine's memory, which is not used again as long as somebody has them; nobody may write there."""
    kept: list[Any] = []

    def keep(array: Any) -> Any:
        assert not array.flags.writeable
        assert not array.flags.owndata
        kept.append(array)
        return array

    pipe = made(
        lambda: fn.python_function(fn.external_source(lambda i: np.full((4, 1000), i, np.int64)) + 1, function=keep)
    )
    for _ in range(8):
        pipe.run()
    pipe.close()
    for i, array in enumerate(kept[:32]):
        assert (array == i // 4 + 1).all()


def test_memory_of_the_users_is_copied() -> None:
    data = [np.full((4, 10), i) for i in range(9)]
    kept: list[Any] = []
    pipe = made(
        lambda: fn.python_function(
            fn.external_source(lambda i: data[i], no_copy=True), function=lambda a: kept.append(a) or a
        ),
        prefetch_queue_depth=1,
    )
    for _ in range(4):
        pipe.run()
    assert not any(np.shares_memory(a, b) for a in kept for b in data)


def test_arguments_that_are_wrong() -> None:
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({}, errors.ArgumentError, "the argument 'function' is required"),
        ({"function": 5}, errors.ArgumentTypeError, "python_function: function=5: expected what can be called"),
        ({"function": len, "num_outputs": -1}, errors.ArgumentError, "num_outputs=-1: expected 0 or more"),
        ({"function": len, "output_layouts": ["A", "B"]}, errors.ArgumentError, "output_layouts=.* at most 1"),
        ({"function": len, "output_layouts": 7}, errors.ArgumentTypeError, "output_layouts=7: expected a layout"),
    ]
    for arguments, error, text in wrong:
        with pytest.raises(error, match=text):
            fn.python_function(types.Constant(1), **arguments)


def test_it_cannot_be_serialized() -> None:
    pipe = made(lambda: fn.python_function(function=lambda: np.zeros(1)))
    with pytest.raises(errors.PenstockError, match=r"python_function .*: function=.* cannot be serialized"):
        pipe.serialize()


def test_figures_and_traces_know_it(tmp_path: Path) -> None:
    import json

    from penstock.insight.profile import Profile

    pipe = made(lambda: fn.python_function(fn.random.uniform(shape=[3]), function=lambda x: x))
    with Profile(pipe, trace=tmp_path / "trace.json"):
        for _ in range(5):
            pipe.run()
    (name,) = [name for name in pipe.statistics()["operators"] if "PythonFunction" in name]
    assert pipe.statistics()["operators"][name]["samples"] >= 20
    assert pipe.statistics()["operators"][name]["run_s"] > 0
    trace = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    (thread,) = [e["tid"] for e in trace if e["name"] == "thread_name" and "Python" in e["args"]["name"]]
    assert sum(e.get("tid") == thread and e["name"] == "python_function" for e in trace) >= 5


def test_the_current_stream_is_that_of_no_gpu() -> None:
    streams: list[Any] = []

    def note(array: Any) -> Any:
        streams.append(ops.PythonFunction.current_stream().ptr)
        return array

    made(lambda: fn.python_function(np.zeros(2), function=note), batch_size=1).run()
    assert set(streams) == {0}
