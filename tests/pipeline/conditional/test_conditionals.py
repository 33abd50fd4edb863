"""Conditionals where DALI has none, and what runs in a branch."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, pipeline_def, types
from penstock.errors import ArgumentError, ArgumentTypeError, NodeContentsError
from penstock.graph.branch import Branch
from tests.pipeline.conditional.graphs import GRAPHS, Graph, drawn

VALUES = np.int32([3, -1, 4, -5, 0, 9])


def made(define: Callable[..., Any], *args: Any, **arguments: Any) -> Pipeline:
    """A pipeline of the values that `define` makes of a node with one of `VALUES` per sample."""
    given = {"batch_size": len(VALUES), "num_threads": 2, "device_id": None, "seed": 7, **arguments}

    @pipeline_def(enable_conditionals=True, **given)
    def definition() -> Any:
        return define(fn.external_source(source=lambda: VALUES), *args)

    return definition()


def results(define: Callable[..., Any]) -> list[list[Any]]:
    return [[np.array(output.at(i)).tolist() for i in range(len(output))] for output in made(define).run()]


def expected(define: Callable[..., Any]) -> list[list[Any]]:
    """What Python makes of each number."""
    found = [define(int(v)) for v in VALUES]
    return [list(column) for column in zip(*(f if isinstance(f, tuple) else (f,) for f in found), strict=True)]


def expressions(x: Any) -> Any:
    return x * 10 if x > 0 else -x, (x if x > 3 else 7) if x > -2 else 8


def several_comparisons(x: Any) -> Any:
    return -2 < x <= 3, 0 < x < 10 > x + 2, 3 == x != 4


def a_lambda(x: Any) -> Any:
    absolute = lambda v: v if v > 0 else -v  # noqa: E731
    return absolute(x)


def comprehension(x: Any) -> Any:
    return tuple(v if v > 0 else v * 100 for v in (x, x + 2, x - 2))


class Private:
    def __init__(self, by: int):
        self.__by = by

    def times(self, x: Any) -> Any:
        if x > 0:
            x = x * self.__by
        return x


class Heir(Private):
    def times(self, x: Any) -> Any:
        return super().times(x) if x != 3 else x - 1


def private_names(x: Any) -> Any:
    return Private(3).times(x), Heir(5).times(x)


def loop_with_several(x: Any) -> Any:
    total = x * 0
    for i in range(4):
        if x > i:
            total = total + x
        elif x == 0:
            total = total - 1
    return total


def in_blocks(x: Any) -> Any:
    with threading.Lock():
        try:
            if x > 0:
                x = x + 1
        finally:
            x = x * 2
    return x


def swapped(x: Any) -> Any:
    a, b = x, x * 2
    if x > 0:
        a, b = b, a
    return a, b


@pytest.mark.parametrize(
    "define",
    [
        expressions, several_comparisons, a_lambda, comprehension, private_names, loop_with_several, in_blocks, swapped,
    ],
)  # fmt: skip
def test_as_python_does(define: Callable[..., Any]) -> None:
    assert results(define) == expected(define)


def test_operators_run_on_the_samples_of_their_branch() -> None:
    seen: dict[str, list[int]] = {"yes": [], "no": [], "inner": []}

    def note(name: str) -> Callable[[Any], Any]:
        def look(v: Any) -> Any:
            seen[name].append(int(v))
            return v

        return look

    def define(x: Any) -> Any:
        if x > 0:
            y = fn.python_function(x, function=note("yes"))
            if x > 3:
                y = fn.python_function(y * 2, function=note("inner"))
        else:
            y = fn.python_function(x, function=note("no"))
        return y

    pipe = made(define, prefetch_queue_depth=1)
    assert [int(v) for v in pipe.run()[0].as_array()] == [3, -1, 8, -5, 0, 18]
    pipe.close()
    assert {name: values[:n] for (name, values), n in zip(seen.items(), (3, 3, 2), strict=True)} == {
        "yes": [3, 4, 9],
        "no": [-1, -5, 0],
        "inner": [8, 18],
    }


def test_a_branch_decodes_its_own_pictures(photographs: Path) -> None:
    @pipeline_def(batch_size=8, num_threads=2, device_id=None, seed=5, enable_conditionals=True)
    def branches() -> Any:
        files, labels = fn.readers.file(file_root=photographs)
        if labels[0] % 2 == 1:
            images = fn.flip(fn.decoders.image(files))
        else:
            images = fn.decoders.image(files)
        return images

    @pipeline_def(batch_size=8, num_threads=2, device_id=None, seed=5)
    def whole() -> Any:
        files, labels = fn.readers.file(file_root=photographs)
        return fn.flip(fn.decoders.image(files), horizontal=labels[0] % 2)

    pipe = branches()
    for mine, wanted in zip(pipe.run()[0], whole().run()[0], strict=True):
        np.testing.assert_array_equal(mine, wanted)
    assert "decoders.image → flip, of samples for which" in pipe.explain()


def test_random_numbers_are_those_of_the_sample() -> None:
    def define(x: Any) -> Any:
        drawn = fn.random.uniform(range=[0.0, 1.0], seed=3)
        y = -1.0
        if x > 0:
            y = fn.random.uniform(range=[0.0, 1.0], seed=3)
        return drawn, y

    whole, some = made(define).run()
    for i, value in enumerate(VALUES):
        assert some.at(i) == (whole.at(i) if value > 0 else -1)


@pytest.mark.parametrize("graph", [g for g in GRAPHS if g is not drawn])
def test_serialized_and_again(graph: Graph, tmp_path: Path) -> None:
    files = []
    for i in range(4):
        (tmp_path / f"{i}").write_bytes(bytes([i]))
        files.append(str(tmp_path / f"{i}"))

    @pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=5, enable_conditionals=True)
    def definition() -> Any:
        x = fn.readers.file(files=files, labels=[3, -1, 4, -5])[1][0]
        return graph(fn, types, x, x < 4)

    text = definition().serialize()
    assert text == definition().serialize()
    for mine, wanted in zip(Pipeline.deserialize(text).run(), definition().run(), strict=True):
        for a, b in zip(mine, wanted, strict=True):
            np.testing.assert_array_equal(a, b)


def test_nodes_of_an_if_are_made_on_its_line() -> None:
    def define(x: Any) -> Any:
        if x > 0:
            y = x
        else:
            y = 2.0
        return y

    first = define.__code__.co_firstlineno
    pipe = made(define)
    lines = {node.op.name: node.location.line - first for node in pipe.nodes if node.location}
    assert lines["_conditional.merge"] == 1
    assert lines["gt"] == 1
    with pytest.raises(RuntimeError, match=r"samples differ.*\n(.*\n)?.*made at .*test_conditionals.py:.*if x > 0:"):
        pipe.run()


def test_a_branch_that_fails_is_left() -> None:
    def define(x: Any) -> Any:
        try:
            if x > 0:
                raise KeyError
        except KeyError:
            return x + 1

    assert [int(v) for v in made(define).run()[0].as_array()] == [v + 1 for v in VALUES]
    assert Branch.stack() == ()


def test_a_definition_that_fails_leaves_nothing() -> None:
    def define(x: Any) -> Any:
        if x > 0:
            raise KeyError("mine")
        return x

    with pytest.raises(KeyError, match="mine"):
        made(define)
    assert Branch.stack() == ()


def test_pipelines_are_forgotten() -> None:
    def define(x: Any) -> Any:
        if x > 0:
            y = x * 2
        else:
            y = x
        return y if x > 1 else -y

    pipe = made(define)
    pipe.run()
    kept = weakref.ref(pipe)
    del pipe
    gc.collect()
    assert kept() is None


def elements_of_arrays(x: Any) -> Any:
    table = np.zeros(3, object)
    if x > 0:
        table[0] = x
    return x


def lists_of_other_lengths(x: Any) -> Any:
    found = {"a": x}
    if x > 0:
        found["b"] = x
    return found["a"]


def return_in_a_loop(x: Any) -> Any:
    for _ in range(3):
        if x > 0:
            return x
    return x


def read_of_no_value(x: Any) -> Any:
    if x > 0:
        y = x
    return y + 1


def half_a_return(x: Any) -> Any:
    if x > 0:
        return x


@pytest.mark.parametrize(
    ("define", "error", "problem"),
    [
        (
            elements_of_arrays,
            ArgumentTypeError,
            "an element of table is assigned in an `if` on a node: it is a ndarray",
        ),
        (lists_of_other_lengths, ArgumentError, r"it is a dict of \['a', 'b'\] in one branch .* a dict of \['a'\] in"),
        (return_in_a_loop, NodeContentsError, "`return` in an `if` on a node"),
        (read_of_no_value, ArgumentError, "y has no value in the `else` branch"),
        (half_a_return, ArgumentError, "the returned value cannot be merged: it is a node .* None in the other"),
    ],
)
def test_mistakes_are_told(define: Callable[..., Any], error: type[Exception], problem: str) -> None:
    with pytest.raises(error, match=problem):
        made(define)
