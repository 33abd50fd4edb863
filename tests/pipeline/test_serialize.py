"""Serialized pipelines: what goes through them, and what becomes of texts that were changed."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import OperatorConcurrency, Pipeline, StreamPolicy, fn, types
from penstock.errors import ArgumentError, GraphError, PenstockError
from tests.small import made, ten_files, values

ROOT = Path(__file__).resolve().parents[2]
Document = dict[str, Any]


def operator(name: str, arguments: Document | None = None, inputs: Any = (), **more: Any) -> Document:
    """An operator of a text."""
    fixed = {"device": "cpu", "preserve": False, "nodes": {}, "location": None}
    return {"operator": name, "name": "one", **fixed, "inputs": list(inputs), "arguments": arguments or {}, **more}


def text(*operators: Document, **arguments: Any) -> str:
    """Of a pipeline that hands out the last operator's output."""
    options = {"batch_size": 1, "num_threads": 1, "device_id": None, **arguments}
    parts = {"penstock_pipeline": 1, "arguments": options, "operators": operators}
    return json.dumps({**parts, "outputs": [[len(operators) - 1, 0]]})


def array(*numbers: int) -> Document:
    """An operator that is this array."""
    document = json.loads(made(lambda: np.int32(numbers)).serialize())
    found: Document = document["operators"][0]
    return {**found, "name": "array", "location": None}


def sound() -> Document:
    """A text that works, with an operator of each kind."""

    def define() -> Any:
        x = fn.random.uniform(range=[0.0, 1.0], shape=[4, 5], name="x")
        i = fn.random.uniform(range=[0.0, 2.0], dtype=types.INT32)
        return x[i:, ::-2] * np.float32([1, 2, 3]) + 5, fn.lookup_table(i, keys=[0, 1], values=[3.0, 4.0]), x.shape()

    found: Document = json.loads(made(define, seed=1).serialize())
    assert Pipeline.deserialize(json.dumps(found)).run()
    return found


# What goes through.


def test_a_fresh_process_knows_all_operators(tmp_path: Path) -> None:
    made(lambda: fn.readers.file(files=ten_files(tmp_path))[1]).serialize(filename=tmp_path / "pipeline.json")
    code = (
        "from penstock import Pipeline; import sys\n"
        "print(Pipeline.deserialize(filename=sys.argv[1]).run()[0].as_array().ravel().tolist())"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "pipeline.json")]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "[0, 1, 2, 3]\n", done.stderr


def test_a_text_is_the_same_again() -> None:
    document = sound()
    assert json.loads(Pipeline.deserialize(json.dumps(document)).serialize()) == document


def test_enums_go_through() -> None:
    options: Document = dict(stream_policy=StreamPolicy.SINGLE, concurrency=OperatorConcurrency.BACKEND)
    again = Pipeline.deserialize(made(lambda: fn.random.uniform(), **options).serialize())
    assert again.stream_policy is StreamPolicy.SINGLE
    assert again.concurrency is OperatorConcurrency.BACKEND


def test_a_drawn_seed_is_not_written() -> None:
    def unseeded() -> Pipeline:
        pipe = Pipeline(batch_size=4, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(fn.random.uniform())
        return pipe

    one = unseeded().serialize()
    assert one == unseeded().serialize()
    drawn = [values(Pipeline.deserialize(one).run()[0]) for _ in range(2)]
    assert drawn[0] != drawn[1]
    assert (
        Pipeline.deserialize(one, seed=5).seed == Pipeline.deserialize(made(fn.random.uniform, seed=5).serialize()).seed
    )


def test_arguments_that_a_pipeline_was_not_given_come_from_the_text() -> None:
    given = made(lambda: fn.random.uniform(), batch_size=3, seed=9, output_ndim=0).serialize()
    pipe = Pipeline()
    pipe.deserialize_and_build(given)
    assert (pipe.max_batch_size, pipe.num_threads, pipe.seed) == (3, 2, 9)
    assert len(pipe.run()[0]) == 3
    other = Pipeline(batch_size=5, seed=1)
    other.deserialize_and_build(given)
    assert (other.max_batch_size, other.num_threads, other.seed) == (5, 2, 1)


@pytest.mark.parametrize("wrong", ["any", 42])
def test_define_graph_must_be_callable(wrong: Any) -> None:
    hint = r" Didn't you want to write `\.serialize\(filename=\.\.\.\)`\?" if wrong == "any" else "$"
    with pytest.raises(TypeError, match=r"^Provided `define_graph` argument is not callable\." + hint):
        made(lambda: fn.random.uniform()).serialize(wrong)


def test_define_graph_is_refused_where_the_outputs_are_set() -> None:
    with pytest.raises(GraphError, match="outputs are set already"):
        made(lambda: fn.random.uniform()).serialize(define_graph=lambda: fn.random.uniform())

    class Own(Pipeline):
        def define_graph(self) -> Any:
            return fn.constant(idata=[1])

    pipe = Own(batch_size=1, num_threads=1, device_id=None)
    given = pipe.serialize(define_graph=lambda: fn.constant(idata=[2]))
    assert given == pipe.serialize(define_graph=lambda: fn.constant(idata=[3]))  # as DALI: it is known by then
    assert values(Pipeline.deserialize(given).run()[0]) == [2]


# What was changed.

LONG = 10**30
MISSING: dict[str, Document] = {
    "an input": operator("resize", {"size": [2.0, 2.0]}),
    "an argument": operator("paste", {}, [[0, 0]]),
    "a kernel's argument": operator("constant", {"shape": [2]}),
}
CHANGES: dict[str, Callable[[Document], Any]] = {
    "no operators": lambda d: d.pop("operators"),
    "a part more": lambda d: d.update(more=1),
    "operators of another type": lambda d: d.update(operators={"a": 1}),
    "an operator of another type": lambda d: d["operators"].insert(0, 5),
    "an unknown operator": lambda d: d["operators"][0].update(operator="readers.nothing"),
    "an operator's field missing": lambda d: d["operators"][0].pop("device"),
    "an operator's field more": lambda d: d["operators"][0].update(code="print(1)"),
    "a device": lambda d: d["operators"][0].update(device="tpu"),
    "a device of another type": lambda d: d["operators"][0].update(device=["cpu"]),
    "a name of another type": lambda d: d["operators"][0].update(name=7),
    "an unknown argument": lambda d: d["operators"][0]["arguments"].update(nothing=1),
    "a type": lambda d: d["operators"][0]["arguments"].update(dtype=12),
    "an argument of another kind": lambda d: d["operators"][0]["arguments"].update(shape="x"),
    "a huge number": lambda d: d["operators"][0]["arguments"].update(shape=[LONG]),
    "no number": lambda d: d["operators"][0]["arguments"].update(shape=[float("nan")]),
    "an operator that comes later": lambda d: d["operators"][2]["inputs"].append([9, 0]),
    "an output that is not there": lambda d: d["outputs"].append([0, 1]),
    "a reference of another type": lambda d: d["outputs"].append("x"),
    "a reference before the first": lambda d: d["outputs"].append([-1, 0]),
    "a device by argument": lambda d: d["operators"][0]["arguments"].update(device="gpu"),
    "half a character": lambda d: d["operators"][0].update(name="\ud800"),
    "a zero in a name": lambda d: d["operators"][0].update(name="a\0b"),
    "a batch size": lambda d: d["arguments"].update(batch_size=2**31),
    "a depth": lambda d: d["arguments"].update(prefetch_queue_depth=2**31),
    "two depths": lambda d: d["arguments"].update(prefetch_queue_depth={"cpu_size": 1, "more": 2}),
    "too many samples": lambda d: d["arguments"].update(prefetch_queue_depth=1000, batch_size=1000),
    "threads": lambda d: d["arguments"].update(num_threads=10**6),
    "an unknown option": lambda d: d["arguments"].update(checkpoint="{}"),
    "an option of another type": lambda d: d["arguments"].update(exec_async="yes"),
    "a policy": lambda d: d["arguments"].update(stream_policy="ALL"),
    "a location": lambda d: d["operators"][0].update(location=["a.py"]),
    "a location of another type": lambda d: d["operators"][0].update(location=[1, 2, 3]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_texts_are_refused(change: str) -> None:
    document = sound()
    CHANGES[change](document)
    with pytest.raises(PenstockError) as error:
        Pipeline.deserialize(json.dumps(document))
    assert isinstance(error.value, (ArgumentError, GraphError)) or "device" in change


@pytest.mark.parametrize("what", MISSING)
def test_what_a_call_needs_a_text_needs_too(what: str) -> None:
    with pytest.raises(ArgumentError, match=r"operators\[1\] of the text"):
        Pipeline.deserialize(text(array(1, 2), MISSING[what]))


@pytest.mark.parametrize(
    ("function", "order", "inputs"),
    [("add", [0, 1], 1), ("add", [0, 5], 2), ("add", [0, 0], 2), ("add", [], 0), ("plus", [0], 1), ("nothing", [0], 1),
     ("sqrt", [0, 1], 2), ("clamp", [0, 1], 2)],
)  # fmt: skip
def test_operands_that_are_not_there(function: str, order: list[int], inputs: int) -> None:
    arguments = {"function": function, "order": order, "on_gpu": 0}
    with pytest.raises(PenstockError):
        Pipeline.deserialize(text(array(1, 2), operator("_arithmetic", arguments, [[0, 0]] * inputs)))


@pytest.mark.parametrize(
    ("kinds", "sources"),
    [("i", [1, -1, -1]), ("i", [-1, -1, -1]), ("i", [0, 0, -1]), ("i", []), ("x", [0, -1, -1]), ("ee", [-1] * 6),
     ("i", [-2, -1, -1]), ("r", [0, 0, 99]), ("i" * 13, [0] * 39)],
)  # fmt: skip
def test_keys_that_are_none(kinds: str, sources: list[int]) -> None:
    arguments = {"kinds": kinds, "names": "?" * len(kinds), "values": [0] * len(sources), "inputs": sources}
    with pytest.raises(ArgumentError):
        Pipeline.deserialize(text(array(1, 2), operator("_subscript", arguments, [[0, 0]])))


def test_arrays_are_as_large_as_they_say() -> None:
    for change in (
        {"dtype": "|O"},
        {"dtype": "<c16"},
        {"shape": [3]},
        {"shape": [-1]},
        {"data": "%"},
        {"shape": [2**62, 4]},
    ):
        one = array(1, 2)
        one["arguments"]["array"] = {**one["arguments"]["array"], **change}
        with pytest.raises(ArgumentError, match=r"operators\[0\]\.arguments\.array"):
            Pipeline.deserialize(text(one))


@pytest.mark.parametrize(
    "bomb", ["[" * 100_000, '{"penstock_pipeline": ' * 50_000, "9" * 10_000, '{"a": 1, "a": 2}', "[" * 500 + "]" * 500]
)
def test_bombs(bomb: str) -> None:
    with pytest.raises(ArgumentError, match=r"is not what Pipeline\.serialize\(\) gave"):
        Pipeline.deserialize(bomb)
    with pytest.raises(ArgumentError, match="checkpoint"):
        Pipeline(batch_size=1, num_threads=1, device_id=None, checkpoint=bomb)


def test_lists_in_lists_have_an_end() -> None:
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    with pytest.raises(ArgumentError, match="lists in each other"):
        Pipeline.deserialize(text(operator("constant", {"idata": deep})))


def test_two_operators_of_one_name() -> None:
    with pytest.raises(GraphError, match="two operators are named 'array'"):
        Pipeline.deserialize(text(array(1), {**array(2), "inputs": []}, operator("cat", {}, [[0, 0], [1, 0]])))


def test_no_file_is_opened_for_a_location(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret line\n")
    location = [str(secret), 1, "f"]
    with pytest.raises(PenstockError) as error:
        Pipeline.deserialize(text(operator("resize", location=location)))
    assert f"{secret}:1, in f" in str(error.value)
    assert "the secret line" not in str(error.value)
    failing = operator("random.uniform", {"range": [0.0, 1.0], "shape": [-1]}, location=[*location, "fn.my_line()"])
    with pytest.raises(PenstockError, match=r"in f: fn\.my_line\(\)"):
        Pipeline.deserialize(text(failing)).run()


def test_a_text_is_not_changed_by_what_is_made_of_it() -> None:
    document = sound()
    before = copy.deepcopy(document)
    pipe = Pipeline.deserialize(json.dumps(document))
    pipe.run()
    assert json.loads(pipe.serialize()) == before


# What calls refuse, and texts with them.


@pytest.mark.parametrize(
    "make",
    [
        lambda: fn.zeros(shape=[2], dtype=types.NO_TYPE),
        lambda: fn.ones(shape=[2], dtype=-1),
        lambda: fn.reinterpret(np.uint8([1, 2]), dtype=types.STRING),
        lambda: fn.zeros(shape=[2], dtype=types.TENSOR_LAYOUT),
        lambda: fn.zeros(shape=[2**40, 2**40]),
        lambda: fn.zeros(shape=[0, 2**62, 2**62]),
        lambda: fn.constant(idata=[2**70]),
        lambda: fn.readers.file(files=["a\0b"])[0],
    ],
)
def test_no_tensor_can_have_this(make: Callable[[], Any]) -> None:
    with pytest.raises(PenstockError):
        made(make).run()


@pytest.mark.parametrize("depth", [2**31, 1025, 0, -1])
def test_batches_ahead_are_limited(depth: int, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="prefetch_queue_depth"):
        fn.readers.file(files=ten_files(tmp_path), prefetch_queue_depth=depth)
    with pytest.raises(ArgumentError, match="prefetch_queue_depth"):
        Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=depth)


# States.

STATE: Document = {"penstock": 1, "seed": 1, "samples": 0, "readers": {"Reader": [0, 4]}}


@pytest.mark.parametrize(
    "change",
    [
        {"penstock": 2}, {"seed": "x"}, {"seed": 2**70}, {"samples": -1}, {"samples": 1.5}, {"readers": []},
        {"readers": {"Reader": 1}}, {"readers": {"Reader": [0]}}, {"readers": {"Reader": [-1, 0]}},
        {"readers": {"Reader": [0, 2**64]}}, {"readers": {"Reader": [0, None]}}, {"readers": {"Other": [0, 0]}},
        {"sources": {"x": [0, 0]}}, {"sources": 1}, {"broken": {"Reader": {"skip": 1}}}, {"more": 1},
        {"broken": {"Reader": {"explode": [1]}}}, {"broken": {"Reader": {"skip": [-1]}}},
    ],
    ids=str,
)  # fmt: skip
def test_changed_states_are_refused(change: Document, tmp_path: Path) -> None:
    files = ten_files(tmp_path)

    def resumed(state: Document) -> list[Any]:
        return values(
            made(lambda: fn.readers.file(files=files, name="Reader")[1], checkpoint=json.dumps(state)).run()[0]
        )

    assert resumed(STATE) == [4, 5, 6, 7]
    with pytest.raises(ArgumentError, match=r"checkpoint|no input named"):
        resumed({**STATE, **change})


@pytest.mark.parametrize("wrong", [b"x", 5, [], "null", "7"])
def test_other_things_are_no_states(wrong: Any) -> None:
    with pytest.raises(ArgumentError, match="checkpoint"):
        Pipeline(batch_size=1, num_threads=1, device_id=None, checkpoint=wrong)
