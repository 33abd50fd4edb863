"""Conditionals give what DALI's do, by the same definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock
from tests.pipeline.conditional.graphs import GRAPHS, Graph, both, early_returns, nested

dali = pytest.importorskip("nvidia.dali")

BATCH = 6


def numbers(i: int) -> list[np.ndarray[Any, Any]]:
    return [np.array((k * 7 + i * 5) % 12 - 5, np.int32) for k in range(BATCH)]


def truths(i: int) -> list[np.ndarray[Any, Any]]:
    return [np.array([(k + i) % 2 == 0, True, False][i % 3]) for k in range(BATCH)]


def pipeline(library: Any, graph: Graph, enable_conditionals: bool = True, **arguments: Any) -> Any:
    @library.pipeline_def(
        enable_conditionals=enable_conditionals,
        **{"batch_size": BATCH, "num_threads": 2, "device_id": None} | arguments,
    )
    def definition() -> Any:
        x = library.fn.external_source(source=numbers, batch=True)
        b = library.fn.external_source(source=truths, batch=True)
        return graph(library.fn, library.types, x, b)

    return definition()


def outputs(pipe: Any) -> list[list[np.ndarray[Any, Any]]]:
    return [[np.array(output.at(i)) for i in range(len(output))] for output in pipe.run()]


@pytest.mark.parametrize("graph", GRAPHS)
def test_as_dali_does(graph: Graph) -> None:
    ours, theirs = pipeline(penstock, graph), pipeline(dali, graph)
    for _ in range(6):
        for mine, wanted in zip(outputs(ours), outputs(theirs), strict=True):
            for a, b in zip(mine, wanted, strict=True):
                assert a.dtype == b.dtype
                np.testing.assert_array_equal(a, b)


def no_value(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if b:
        t = x
    return t


def other_lengths(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if b:
        y = [x]
    else:
        y = [x, x]
    return y[0]


def other_types(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if b:
        y = 1.5
    else:
        y = 2
    return y


def other_axes(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if b:
        x = fn.stack(x, x)
    return x


def no_number(fn: Any, types: Any, x: Any, b: Any) -> Any:
    y = None
    if b:
        y = x
    return y


def texts(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if b:
        y = "HW"
    else:
        y = "WH"
    return fn.reshape(x, shape=[1, 1], layout=y)


def no_scalar(fn: Any, types: Any, x: Any, b: Any) -> Any:
    if fn.stack(x, x):
        x = x + 1
    return x


def numbers_in_logic(fn: Any, types: Any, x: Any, b: Any) -> Any:
    return x and b


def numbers_behind_logic(fn: Any, types: Any, x: Any, b: Any) -> Any:
    return b or 5


def while_loop(fn: Any, types: Any, x: Any, b: Any) -> Any:
    while x < 10:
        x = x + 1
    return x


def assertion(fn: Any, types: Any, x: Any, b: Any) -> Any:
    assert x > 0
    return x


def truth_value(fn: Any, types: Any, x: Any, b: Any) -> Any:
    return bool(x)


def stopped_loop(fn: Any, types: Any, x: Any, b: Any) -> Any:
    for _ in range(3):
        if x > 0:
            break
        x = x + 1
    return x


MISTAKES = {
    no_value: "t has no value in the `else` branch",
    other_lengths: "y cannot be merged: it is a list of 1 in one branch of the `if`, and a list of 2 in the other",
    other_types: "the samples differ: this sample is .* with 0 axes",
    other_axes: "the samples differ: this sample is INT32 with",
    no_number: "y cannot be merged: it is a node in one branch of the `if`, and None in the other",
    texts: "y cannot be merged: it is 'HW' in one branch of the `if`, and 'WH' in the other",
    no_scalar: r"predicate: expected one value, without axes, got the shape \(2,\)",
    numbers_in_logic: "predicate: expected BOOL, got INT32",
    numbers_behind_logic: "the samples differ: this sample is .* with 0 axes",
    while_loop: "has no truth value while the pipeline is being defined",
    assertion: "has no truth value while the pipeline is being defined",
    truth_value: "has no truth value while the pipeline is being defined",
    stopped_loop: "`break` in an `if` on a node",
}


def thrice(library: Any, graph: Graph) -> None:
    pipe = pipeline(library, graph)
    for _ in range(3):
        pipe.run()


@pytest.mark.parametrize("graph", MISTAKES)
def test_mistakes_have_the_class_that_dali_raises(graph: Graph) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - whatever DALI raises
        thrice(dali, graph)
    with pytest.raises(penstock.errors.PenstockError, match=MISTAKES[graph]) as ours:
        thrice(penstock, graph)
    classes = [c for c in type(theirs.value).__mro__ if c.__module__ == "builtins"]
    assert isinstance(ours.value, classes[0])


@pytest.mark.parametrize("graph", [both, nested, early_returns])
def test_without_conditionals_a_node_has_no_truth_value(graph: Graph) -> None:
    for library in (penstock, dali):
        with pytest.raises(TypeError):
            pipeline(library, graph, enable_conditionals=False)


def test_gpu_values_decide_nothing(software_gpu: dict[str, str]) -> None:
    def graph(fn: Any, types: Any, x: Any, b: Any) -> Any:
        if x.gpu() > 0:
            x = x + 1
        return x

    with pytest.raises(penstock.errors.DeviceError, match=r"if: .* is on the GPU"):
        pipeline(penstock, graph, device_id=0)


def test_on_a_gpu(software_gpu: dict[str, str]) -> None:
    def graph(fn: Any, types: Any, x: Any, b: Any) -> Any:
        y = fn.stack(x.gpu(), x.gpu() * 2)
        if b:
            y = y * 10 + x.gpu()
        elif x > 0:
            y = -y
        return y

    def on_cpu(fn: Any, types: Any, x: Any, b: Any) -> Any:
        y = fn.stack(x, x * 2)
        if b:
            y = y * 10 + x
        elif x > 0:
            y = -y
        return y

    gpu, cpu = pipeline(penstock, graph, device_id=0), pipeline(penstock, on_cpu)
    for _ in range(6):
        for mine, wanted in zip(gpu.run()[0].as_cpu(), outputs(cpu)[0], strict=True):
            np.testing.assert_array_equal(mine, wanted)


def marked(fn: Any, types: Any, x: Any, b: Any) -> Any:
    return penstock.pipeline.do_not_convert(lambda v: v if v > 0 else -v)(x)


def test_functions_marked_so_are_left_alone() -> None:
    with pytest.raises(TypeError, match="no truth value"):
        pipeline(penstock, marked)
