"""Nodes, what pipelines accept as outputs, and what is said about mistakes in operators' arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeviceError,
    GraphError,
    OperatorError,
    PenstockError,
    UnknownArgumentError,
)
from tests.small import made, numbers, ten_files


@pytest.fixture
def ten(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


def test_preserved_operators_run_without_being_asked_for() -> None:
    def define(**arguments: Any) -> Any:
        fn.random.choice(0, **arguments)  # there is nothing to choose from
        return fn.random.uniform()

    made(define).run()
    with pytest.raises(OperatorError, match=r"random\.choice"):
        made(lambda: define(preserve=True)).run()


def test_add_sink() -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.add_sink(fn.random.choice(0))
        pipe.set_outputs(fn.random.uniform())
    with pytest.raises(OperatorError, match=r"random\.choice"):
        pipe.run()


def test_names_are_unique() -> None:
    pipe = made(lambda: (fn.random.uniform(name="Draw"), fn.random.normal(name="Draw")))
    with pytest.raises(GraphError, match=r"two operators are named 'Draw'.*test_graph\.py"):
        pipe.build()


def test_nodes_have_no_values_while_the_pipeline_is_defined() -> None:
    node = fn.random.uniform()
    for use, word in ((bool, "truth value"), (iter, "iterated"), (len, "length")):
        with pytest.raises(GraphError, match=word):
            use(node)
    there = node.gpu()
    assert (node.device, there.device, there.cpu().device) == ("cpu", "gpu", "cpu")
    assert node.cpu() is node
    assert there.gpu() is there
    assert node in {node}


@pytest.mark.parametrize("wrong", [None, "text", [[1, 2]], {"a": 1}])
def test_outputs_must_be_nodes(wrong: Any) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pytest.raises(ArgumentTypeError, match=r"output 1 of the pipeline is .*: (expected a node|a list inside)"):
        pipe.set_outputs(1, wrong)


def test_outputs_are_fixed_once_built(ten: list[str]) -> None:
    pipe = made(lambda: numbers(ten))
    pipe.build()
    with pytest.raises(GraphError, match="built already"):
        pipe.set_outputs(1)


def test_a_pipeline_needs_outputs() -> None:
    with pytest.raises(GraphError, match="no outputs"):
        Pipeline(batch_size=1, num_threads=1, device_id=None).build()


# Mistakes in operators' arguments.


@pytest.mark.parametrize(
    ("make", "kind", "wanted"),
    [
        (
            lambda: fn.random.uniform(rang=[0, 1]),
            UnknownArgumentError,
            "random.uniform has no argument 'rang'. Did you mean 'range'?",
        ),
        (lambda: fn.random.uniform(xyz=1), TypeError, "It has: dtype, range, seed, shape, values"),
        (
            lambda: fn.random.uniform(range="wide"),
            ArgumentTypeError,
            "range='wide': expected a number or a list of them",
        ),
        (
            lambda: fn.random.uniform(dtype="wide"),
            ArgumentTypeError,
            "dtype='wide': expected a type such as types.FLOAT",
        ),
        (lambda: fn.random.uniform(seed=fn.random.uniform()), ArgumentTypeError, "seed must be a constant"),
        (
            lambda: fn.transpose(np.zeros(2), transpose_layout="x"),
            ArgumentTypeError,
            "transpose_layout='x': expected True or False",
        ),
        (lambda: fn.cast(np.zeros(2)), ArgumentError, "the argument 'dtype' is required"),
        (lambda: fn.cast(dtype=types.FLOAT), ArgumentTypeError, "cast takes 1 input, got 0"),
        (lambda: fn.random.choice(1, 2, 3), ArgumentTypeError, "random.choice takes 1 to 2 inputs, got 3"),
        (
            lambda: fn.random.beta(device="gpu"),
            DeviceError,
            "random.beta: device='gpu': this operator runs on 'cpu'",
        ),
        (
            lambda: fn.cast([fn.random.uniform(), fn.random.uniform()], dtype=types.FLOAT, typ=1),
            UnknownArgumentError,
            "'typ'",
        ),
    ],
)
def test_mistakes_are_named(make: Callable[[], Any], kind: type[Exception], wanted: str) -> None:
    with pytest.raises(kind, match=re.escape(wanted)) as caught:
        make()
    assert isinstance(caught.value, PenstockError)


def test_lists_of_inputs_have_one_length() -> None:
    a, b = fn.random.uniform(), fn.random.uniform()
    with pytest.raises(ArgumentError, match=r"different lengths: \[1, 2\]"):
        fn.cast_like([a, b], [a])


def test_nodes_of_another_pipeline_are_refused() -> None:
    first, second = (Pipeline(batch_size=1, num_threads=1, device_id=None) for _ in range(2))
    with first:
        theirs = fn.external_source(source=[np.int32([1])], batch=False, name="theirs") + 1
        first.set_outputs(theirs)
    with second:
        own = fn.external_source(source=[np.int32([10])], batch=False)
        second.set_outputs(theirs + own)
    with pytest.raises(RuntimeError, match=r"belongs to another pipeline(.|\n)*made at .*test_graph"):
        second.build()
    assert first.run()[0].as_array().tolist() == [[2]]


def test_nodes_made_outside_of_pipelines_are_everybodys() -> None:
    shared = types.Constant(np.float32([1, 2]))
    for add in (1, 2):
        pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(shared + add)
        assert pipe.run()[0].at(0).tolist() == [1 + add, 2 + add]
