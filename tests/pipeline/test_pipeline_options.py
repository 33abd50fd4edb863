"""The arguments of Pipeline's constructor: the effect of each, or that it is accepted."""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import Pipeline, fn, types
from penstock.errors import (
    ArgumentError,
    DeviceError,
    GraphError,
)
from tests.small import made, numbers, ten_files, values


@pytest.fixture
def ten(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


def test_signature_is_dalis() -> None:
    dali = pytest.importorskip("nvidia.dali", reason="DALI, whose signature this is, is not installed")
    theirs, own = (inspect.signature(p.__init__).parameters for p in (dali.Pipeline, Pipeline))
    assert [(p.name, p.default, p.kind) for p in own.values()] == [(p.name, p.default, p.kind) for p in theirs.values()]


def test_properties_are_dalis(ten: list[str]) -> None:
    dali = pytest.importorskip("nvidia.dali", reason="DALI, whose properties these are, is not installed")
    arguments: dict[str, Any] = {
        "batch_size": 3,
        "num_threads": 2,
        "device_id": None,
        "seed": 8,
        "prefetch_queue_depth": 4,
    }
    theirs = dali.Pipeline(**arguments)
    with theirs:
        theirs.set_outputs(dali.fn.random.uniform())
    theirs.build()
    own = made(lambda: numbers(ten), **arguments)
    own.build()
    names = [n for n, v in vars(dali.Pipeline).items() if isinstance(v, property) and not n.startswith("_")]
    assert len(names) > 15
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # DALI's old names
        for name in names:
            assert getattr(own, name) == getattr(theirs, name), name


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"batch_size": 0}, "batch_size=0: expected 1 or more"),
        ({"batch_size": 2.5}, "batch_size=2.5: expected a whole number"),
        ({"num_threads": -1}, "num_threads=-1: expected 1 or more"),
        ({"num_threads": True}, "num_threads=True: expected a whole number"),
        ({"seed": "x"}, "seed='x': expected a whole number"),
        ({"prefetch_queue_depth": 0}, "prefetch_queue_depth=0"),
        ({"prefetch_queue_depth": {"gpu_size": 2}}, "expected the keys 'cpu_size' and 'gpu_size'"),
        ({"exec_async": True, "exec_pipelined": False}, "exec_async=True needs exec_pipelined=True"),
        ({"output_dtype": "no such type"}, "output_dtype='no such type'"),
        ({"output_dtype": types.NO_TYPE}, "output_dtype=types.NO_TYPE"),
        ({"output_ndim": -1}, "output_ndim=-1"),
        ({"output_ndim": "x"}, "output_ndim='x'"),
    ],
)
def test_wrong_values_are_named(arguments: dict[str, Any], wanted: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(wanted)):
        Pipeline(**{"batch_size": 1, "num_threads": 1, "device_id": None, **arguments})


def test_device_id_is_a_number() -> None:
    with pytest.raises(DeviceError, match="device_id='gpu'"):
        Pipeline(1, 1, "gpu")  # type: ignore[arg-type]
    assert Pipeline(1, 1, 3).device_id == 3


@pytest.mark.parametrize("missing", ["batch_size", "num_threads"])
def test_sizes_are_needed_to_build(missing: str) -> None:
    with pytest.raises(ArgumentError, match=f"{missing} is needed"):
        made(lambda: fn.random.uniform(), **{missing: None}).build()


def test_seed(ten: list[str]) -> None:
    def drawn(**arguments: Any) -> list[int]:
        return values(made(lambda: fn.random.uniform(), **arguments).run()[0])

    assert drawn(seed=3) == drawn(seed=3) != drawn(seed=4)
    assert drawn(seed=np.int64(3)) == drawn(seed=3)
    assert drawn(seed=None) != drawn(seed=None)
    assert drawn(seed=-1) != drawn(seed=-1)

    def shuffled(seed: int) -> list[int]:
        return values(made(lambda: numbers(ten, random_shuffle=True), seed=seed, batch_size=10).run()[0])

    assert shuffled(3) == shuffled(3) != shuffled(4)
    assert sorted(shuffled(3)) == list(range(10))


def prefetched(pipe: Pipeline) -> int:
    """How many batches one schedule_run() starts on a fresh pipeline."""
    pipe.schedule_run()
    count = 0
    while not pipe.empty():
        pipe.outputs()
        count += 1
    return count


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ({}, 2),
        ({"prefetch_queue_depth": 5}, 5),
        ({"prefetch_queue_depth": {"cpu_size": 3, "gpu_size": 1}}, 3),
        ({"exec_async": False}, 1),
        ({"exec_async": False, "exec_pipelined": False, "prefetch_queue_depth": 7}, 1),
    ],
)
def test_prefetch(arguments: dict[str, Any], count: int, ten: list[str]) -> None:
    assert prefetched(made(lambda: numbers(ten), **arguments)) == count


def test_readers_may_run_further_ahead(ten: list[str]) -> None:
    assert prefetched(made(lambda: numbers(ten, prefetch_queue_depth=3), prefetch_queue_depth=2)) == 4


def workers() -> dict[int, str]:
    """The engine's threads by their names, which each gives itself as it starts."""
    names = {}
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it ended meanwhile
            names[int(task.name)] = (task / "comm").read_text().strip()
    return {tid: name for tid, name in names.items() if name.startswith("penstock")}


def new_workers(before: dict[int, str], count: int) -> dict[int, str]:
    """Those that were not there before, once there are ``count``."""
    deadline = time.monotonic() + 10
    while len(new := {tid: name for tid, name in workers().items() if tid not in before}) < count:
        assert time.monotonic() < deadline, f"{len(new)} threads instead of {count}"
        time.sleep(0.01)
    return new


def test_num_threads(ten: list[str]) -> None:
    before = workers()
    pipe = made(lambda: (numbers(ten), fn.random.uniform()), num_threads=3)
    pipe.run()
    names = new_workers(before, 6).values()
    assert sum(name.startswith("penstock-io") for name in names) == len(names) - 3 == 3
    pipe.close()
    assert not workers().keys() - before.keys()


@pytest.mark.parametrize("mask", [None, "0"])
def test_set_affinity(mask: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if mask:
        monkeypatch.setenv("DALI_AFFINITY_MASK", mask)
    allowed = [int(mask)] if mask else sorted(os.sched_getaffinity(0))
    before = workers()
    pipe = made(lambda: fn.random.uniform(), num_threads=2, set_affinity=True)
    pipe.run()
    bound = [os.sched_getaffinity(tid) for tid in new_workers(before, 2)]
    assert sorted(map(tuple, bound)) == sorted((allowed[i % len(allowed)],) for i in range(2))


def test_affinity_mask_must_be_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALI_AFFINITY_MASK", "all")
    with pytest.raises(ArgumentError, match="DALI_AFFINITY_MASK='all'"):
        made(lambda: fn.random.uniform(), set_affinity=True).build()


def test_outputs_are_checked() -> None:
    def define() -> Any:
        return fn.random.uniform(shape=[2]), types.Constant(np.zeros((2, 2), np.uint8), layout="HW")

    right = {"output_dtype": [types.FLOAT, None], "output_ndim": [1, 2], "output_layout": [None, "HW"]}
    assert len(made(define, **right).run()) == 2
    for name, wrong in (
        ("output_dtype", types.FLOAT),
        ("output_ndim", [1, 1]),
        ("output_layout", ["", "CH"]),
    ):
        with pytest.raises(GraphError, match=f"{name}: output 1 was to be"):
            made(define, **{name: wrong}).run()
    for name, many in (("output_ndim", [1, 2, 3]), ("output_dtype", [None]), ("output_layout", ["", "", ""])):
        with pytest.raises(RuntimeError, match=rf"{name} has {len(many)} values, but the pipeline has 2 outputs"):
            made(define, **{name: many}).build()


def test_what_is_checked_can_be_asked() -> None:
    def define() -> Any:
        return fn.random.uniform(shape=[2]), types.Constant(np.zeros((2, 2), np.uint8), layout="HW")

    plain = made(define)
    assert plain.output_dtype() == plain.output_ndim() == plain.output_layout() == [None, None]
    pipe = made(define, output_dtype=[types.FLOAT, None], output_ndim=2, output_layout="HW")
    assert pipe.output_dtype() == [types.FLOAT, None]
    assert pipe.output_ndim() == [2, 2]
    assert pipe.output_layout() == ["HW", "HW"]
    with pytest.raises(TypeError, match="output_layout=3"):
        made(define, output_layout=3)


def test_what_is_checked_is_told_as_dali_does() -> None:
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    arguments: list[dict[str, Any]] = [
        {"output_dtype": "FLOAT", "output_ndim": 1}, {"output_dtype": ["FLOAT", None], "output_ndim": [None, 0]}
    ]  # fmt: skip
    for given in arguments:
        answers = []
        for library in (dali, penstock):
            kinds = given["output_dtype"]
            dtype = [k and library.types.FLOAT for k in kinds] if isinstance(kinds, list) else library.types.FLOAT
            pipe = library.Pipeline(4, 1, None, **{**given, "output_dtype": dtype})
            with pipe:
                pipe.set_outputs(library.fn.random.uniform(), library.fn.random.uniform(shape=[]))
            dtypes = [None if d is None else int(d) for d in pipe.output_dtype()]
            answers.append((dtypes, pipe.output_ndim(), pipe.num_outputs))
        assert answers[0] == answers[1]


def test_executor_statistics_are_those_of_dalis_executor(ten: list[str]) -> None:
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    theirs = dali.Pipeline(4, 1, None, enable_memory_stats=True)
    with theirs:
        theirs.set_outputs(dali.fn.readers.file(files=ten)[1])
    theirs.build()
    theirs.run()
    own = made(lambda: numbers(ten), enable_memory_stats=True)
    own.run()
    assert own.executor_statistics() == theirs.executor_statistics() == {}
    assert own.statistics()["memory"]["held"] > 0


def test_arguments_without_effect_are_accepted(ten: list[str]) -> None:
    idle = {
        "bytes_per_sample": 1000,
        "max_streams": 2,
        "default_cuda_stream_priority": 1,
        "enable_memory_stats": True,
        "enable_checkpointing": True,
        "py_num_workers": 2,
        "py_start_method": "spawn",
        "exec_dynamic": False,
    }
    wanted = values(made(lambda: numbers(ten)).run()[0])
    for name, value in idle.items():
        pipe = made(lambda: numbers(ten), **{name: value})
        assert getattr(pipe, name, value) == value
        assert values(pipe.run()[0]) == wanted
