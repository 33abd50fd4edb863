"""The C ABI refuses what does not fit, from any caller."""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.machine import native


@pytest.fixture
def plan() -> Iterator[Any]:
    handle = native.quick().ps_plan_create()
    yield handle
    native.quick().ps_plan_destroy(handle)


def node(plan: Any, kernel: bytes, inputs: list[int], outputs: int = 1, flags: int = 0, scope: int = -1) -> int:
    """The result of adding a node."""
    return int(native.quick().ps_plan_node(plan, kernel, native.ints(inputs), len(inputs), outputs, 0, flags, scope))


def declare(plan: Any, *names: str) -> None:
    """Arguments that the node to come has, but is not given."""
    for name in names:
        native.quick().ps_arg_none(plan, name.encode())


def segment(plan: Any, nodes: list[int], sizes: list[int], where: int = 0) -> int:
    """The result of adding a segment."""
    return int(native.quick().ps_plan_segment(plan, native.ints(nodes), native.ints(sizes), len(sizes), where))


def executor(plan: Any, **more: int) -> tuple[int, Any]:
    """The result of starting an executor, which takes the plan."""
    fields = {"threads": 1, "io_threads": 1, "depth": 1, "gpu_depth": 1, "device": -1, **more}
    options = native.Options(**fields, name=b"test")
    made = c.c_void_p()
    return native.blocking().ps_executor_create(plan, c.byref(options), c.byref(made)), made


def reason() -> str:
    """Why the last call failed."""
    return str(native.last_error().message.decode())


@pytest.mark.parametrize(
    ("kernel", "inputs", "outputs", "flags", "wanted"),
    [
        (b"copy", [], 1, 0, "0 inputs, expected 1"),
        (b"copy", [0, 0], 1, 0, "2 inputs, expected 1"),
        (b"copy", [0], 2, 0, "2 outputs, expected 1"),
        (b"copy", [0], 0, 0, "0 outputs, expected 1"),
        (b"copy", [1], 1, 0, "no value 1"),
        (b"copy", [-1], 1, 0, "no value -1"),
        (b"random_uniform", [], 1, native.NodeFlag.ALIAS, "an alias has an input"),
        (b"nothing", [0], 1, 0, "no kernel is named 'nothing'"),
        (b"paste", [0], 1, 0, "the argument 'fill_value' is needed"),
        (b"subscript", [0] * 38, 1, 0, "38 inputs, expected 1 to 37"),
        (b"full", [], 1, 0, "0 inputs"),
        (b"arithmetic", [0], 1, 0, ""),
    ],
)
def test_nodes(plan: Any, kernel: bytes, inputs: list[int], outputs: int, flags: int, wanted: str) -> None:
    assert native.quick().ps_plan_source(plan, 0) == 0
    names = {b"paste": "ratio paste_x paste_y min_canvas_size fill_value", b"full": "shape value dtype layout"}
    declare(plan, *names.get(kernel, "").split())
    assert node(plan, kernel, inputs, outputs, flags) < 0
    assert wanted in reason()


def test_arguments_of_values_that_are_not_there(plan: Any) -> None:
    native.quick().ps_arg_value(plan, b"probability", 7)
    assert node(plan, b"random_coin_flip", []) < 0
    assert "no value 7" in reason()


@pytest.mark.parametrize(
    ("name", "values", "wanted"),
    [("order", [0, 2], "no input 2"), ("order", [0, -1], "no input -1"), ("order", [0], "'order' is needed")],
)
def test_operands(plan: Any, name: str, values: list[int], wanted: str) -> None:
    native.quick().ps_plan_source(plan, 0)
    texts = (c.c_char_p * 1)(b"add")
    native.quick().ps_arg_strings(plan, b"function", texts, 1)
    native.quick().ps_arg_integers(plan, b"on_gpu", native.integers([0]), 1)
    native.quick().ps_arg_integers(plan, name.encode(), native.integers(values), len(values))
    assert node(plan, b"arithmetic", [0, 0]) < 0
    assert wanted in reason()


@pytest.mark.parametrize(
    ("inputs", "wanted"), [([1, -1, -1], "no input 1"), ([-2, -1, -1], "no input -2"), ([0, -1], "'inputs' is needed")]
)
def test_keys_of_slices(plan: Any, inputs: list[int], wanted: str) -> None:
    """A key of one index, whose numbers are said to come from these inputs."""
    native.quick().ps_plan_source(plan, 0)
    for name, text in ((b"kinds", b"i"), (b"names", b"i")):
        native.quick().ps_arg_strings(plan, name, (c.c_char_p * 1)(text), 1)
    native.quick().ps_arg_integers(plan, b"values", native.integers([0, 0, 0]), 3)
    native.quick().ps_arg_integers(plan, b"inputs", native.integers(inputs), len(inputs))
    assert node(plan, b"subscript", [0]) < 0
    assert wanted in reason()


def test_kinds_of_arguments(plan: Any) -> None:
    """A kernel that reads a text as a number, or a number as a text, is no operator."""
    native.quick().ps_plan_source(plan, 0)
    native.quick().ps_arg_strings(plan, b"horizontal", (c.c_char_p * 1)(b"1"), 1)
    declare(plan, "vertical", "depthwise")
    assert node(plan, b"flip", [0]) < 0
    assert "reads the argument 'horizontal' as numbers, which it is not" in reason()
    native.quick().ps_arg_integers(plan, b"function", native.integers([1]), 1)
    native.quick().ps_arg_integers(plan, b"order", native.integers([0]), 1)
    native.quick().ps_arg_integers(plan, b"on_gpu", native.integers([0]), 1)
    assert node(plan, b"arithmetic", [0]) < 0
    assert "reads the argument 'function' as a text, which it is not" in reason()


def test_keys_of_tables(plan: Any) -> None:
    native.quick().ps_plan_source(plan, 0)
    declare(plan, "dtype")
    for name, numbers in ((b"keys", [-5]), (b"values", [1]), (b"default_value", [0])):
        native.quick().ps_arg_integers(plan, name, native.integers(numbers), 1)
    assert node(plan, b"lookup_table", [0]) < 0
    assert "-5 is no place" in reason()


@pytest.mark.parametrize(
    ("add", "wanted"),
    [
        (lambda p: segment(p, [0, 2], [2]), "no node 2"),
        (lambda p: segment(p, [-1], [1]), "no node -1"),
        (lambda p: segment(p, [0], [0]), "a group of 0"),
        (lambda p: segment(p, [0], [1], 4), "no such kind"),
        (lambda p: native.quick().ps_plan_scope(p, 0, 0, 1), "no scope 0"),
        (lambda p: native.quick().ps_plan_scope(p, -1, 9, 1), "no value 9"),
        (lambda p: native.quick().ps_plan_limit(p, 9, -1), "no value 9"),
        (lambda p: native.quick().ps_plan_limit(p, 1, 5), "no scope 5"),
        (lambda p: node(p, b"copy", [0], scope=2), "no scope 2"),
        (lambda p: native.quick().ps_plan_outputs(p, native.ints([3]), 1), "no value 3"),
        (lambda p: native.quick().ps_plan_constant(p, c.byref(native.Tensor(ndim=13))), "13 axes"),
        (lambda p: native.quick().ps_plan_constant(p, c.byref(native.Tensor(ndim=-1))), "-1 axes"),
        (lambda p: native.quick().ps_arg_table(p, b"names", c.byref(native.Tensor(ndim=13))), "13 axes"),
        (
            lambda p: native.quick().ps_memory_file(b"/a", None, 0) or native.quick().ps_memory_file(b"/a", b"x", 1),
            "the name /a does not begin with memory://",
        ),
        (lambda p: native.quick().ps_plan_constant(p, c.byref(native.Tensor(dtype=12))), "type number 12"),
    ],
)
def test_plans(plan: Any, add: Callable[[Any], int], wanted: str) -> None:
    native.quick().ps_plan_source(plan, 0)
    assert node(plan, b"copy", [0]) == 1
    assert node(plan, b"copy", [1]) == 2
    assert add(plan) < 0
    assert wanted in reason()


@pytest.mark.parametrize(
    ("segments", "wanted"),
    [
        ([[0]], "in no segment"),
        ([[0, 1], [1]], "there twice"),
        ([[1], [0]], "only after it"),
        ([[1, 0]], "only after it"),
    ],
)
def test_the_order_of_nodes(segments: list[list[int]], wanted: str) -> None:
    plan = native.quick().ps_plan_create()
    native.quick().ps_plan_source(plan, 0)
    node(plan, b"copy", [0])
    node(plan, b"copy", [1])
    for nodes in segments:
        assert segment(plan, nodes, [1] * len(nodes)) == 0
    result, _ = executor(plan)
    assert result < 0
    assert wanted in reason()


def test_what_is_fed() -> None:
    library = native.quick()
    plan = library.ps_plan_create()
    library.ps_plan_source(plan, 0)
    node(plan, b"copy", [0])
    segment(plan, [0], [1])
    library.ps_plan_outputs(plan, native.ints([1]), 1)
    result, handle = executor(plan)
    assert result == 0
    ids = native.integers([0])
    try:
        for value, wanted in ((1, "none that is fed"), (2, "no value 2"), (-1, "no value -1")):
            assert library.ps_executor_feed_integers(handle, value, ids, 1) < 0
            assert wanted in reason()
        assert library.ps_executor_schedule(handle, 1, ids, ids) < 0
        assert "was not fed" in reason()
        assert library.ps_executor_schedule(handle, -1, ids, ids) < 0
        assert "-1 samples" in reason()
        assert library.ps_executor_feed_integers(handle, 0, ids, 1) == 0
        assert library.ps_executor_schedule(handle, 1, ids, ids) == 0
        answer = native.Answer()
        while not answer.state:
            native.blocking().ps_executor_wait(handle, 100, 0, c.byref(answer))
        assert answer.state == 1
        library.ps_batch_destroy(answer.batch)
    finally:
        native.blocking().ps_executor_destroy(c.byref(handle))


@pytest.mark.parametrize("field", ["threads", "io_threads", "depth", "gpu_depth"])
def test_options(field: str) -> None:
    result, _ = executor(native.quick().ps_plan_create(), **{field: 0})
    assert result < 0
    assert "an executor with 0" in reason()
