"""Each pipeline is run in one way: by run(), by schedule_run() and share_outputs(), or by an iterator."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from penstock.errors import DeviceError, GraphError
from tests.plugin.fed_sources import OURS


def pipeline(lib: Any, **arguments: Any) -> Any:
    pipe = lib.Pipeline(**{"batch_size": 2, "num_threads": 1, "device_id": None, **arguments})
    with pipe:
        pipe.set_outputs(np.uint8([1]))
    return pipe


def iterate(lib: Any, pipe: Any) -> None:
    next(lib.plugin.DALIGenericIterator(pipe, ["n"]))


WAYS: dict[str, Callable[[Any, Any], object]] = {
    "run": lambda lib, pipe: pipe.run(),
    "schedule_run": lambda lib, pipe: pipe.schedule_run(),
    "share_outputs": lambda lib, pipe: pipe.share_outputs(),
    "release_outputs": lambda lib, pipe: pipe.release_outputs(),
    "outputs": lambda lib, pipe: pipe.outputs(),
    "iterator": iterate,
}
SCHEDULED = ("schedule_run", "share_outputs", "release_outputs", "outputs")


@pytest.fixture(scope="module", params=["ours", "dali"])
def lib(request: Any) -> Any:
    if request.param == "ours":
        return OURS
    plugin = pytest.importorskip("nvidia.dali.plugin.pytorch", reason="needs DALI and PyTorch to compare with")
    import nvidia.dali as package

    return SimpleNamespace(Pipeline=package.Pipeline, fn=package.fn, plugin=plugin)


@pytest.mark.parametrize(
    ("first", "second"),
    [("run", second) for second in (*SCHEDULED, "iterator")]
    + [("iterator", second) for second in ("run", *SCHEDULED)]
    + [("schedule_run", "run"), ("schedule_run", "iterator")],
)
def test_ways_are_not_mixed(first: str, second: str, lib: Any) -> None:
    pipe = pipeline(lib)
    WAYS[first](lib, pipe)
    with pytest.raises(RuntimeError, match="Mixing pipeline API type") as raised:
        WAYS[second](lib, pipe)
    assert lib is not OURS or isinstance(raised.value, GraphError)
    if first == "run":
        assert len(pipe.run()[0]) == 2  # which is none the worse for it


def test_calls_of_one_way(lib: Any) -> None:
    pipe = pipeline(lib)
    pipe.schedule_run()
    for _ in range(3):
        pipe.share_outputs()
        pipe.release_outputs()
        pipe.schedule_run()
    pipe.outputs()
    pipe.reset()
    iterator = lib.plugin.DALIGenericIterator(other := pipeline(lib), ["n"])
    next(iterator)
    other.reset()
    next(iterator)


def test_the_check_can_be_switched_off(lib: Any) -> None:
    pipe = pipeline(lib)
    pipe.run()
    pipe.enable_api_check(False)
    pipe.schedule_run()
    assert len(pipe.share_outputs()[0]) == 2
    pipe.release_outputs()
    pipe.enable_api_check(True)
    with pytest.raises(RuntimeError, match="Mixing"):
        pipe.schedule_run()


def test_a_second_iterator_is_the_same_way() -> None:
    pipe = pipeline(OURS)
    for _ in range(2):
        iterate(OURS, pipe)


@pytest.mark.parametrize("device_id", [-123, -1])
def test_negative_numbers_are_no_gpus(device_id: int, lib: Any) -> None:
    with pytest.raises((RuntimeError, ValueError)) as raised:  # DALI's depends on whether there is a GPU
        pipeline(lib, device_id=device_id).build()
    assert lib is not OURS or isinstance(raised.value, DeviceError)
