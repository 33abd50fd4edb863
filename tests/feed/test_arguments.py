"""fn.external_source: arguments that are refused, by position, and as an object."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import fn
from penstock.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeviceError,
)
from tests.feed.sources import OURS, of, pipeline
from tests.small import values


@pytest.mark.parametrize(
    ("source", "arguments", "error"),
    [
        (5, {}, ArgumentTypeError),
        (lambda a, b: 0, {}, ArgumentTypeError),
        (lambda *a: 0, {}, ArgumentTypeError),
        ((i for i in range(3)), {"cycle": "quiet"}, ArgumentTypeError),
        (lambda: 0, {"cycle": "raise"}, ArgumentError),
        ([of(1)], {"cycle": "sometimes"}, ArgumentError),
        (None, {"cycle": "raise"}, ArgumentError),
        (None, {"num_outputs": 2}, ArgumentError),
        (lambda: 0, {"prefetch_queue_depth": 2}, ArgumentError),
    ],
)
def test_arguments_that_dali_refuses_too(source: Any, arguments: dict[str, Any], error: Any, dali: Any) -> None:
    with pytest.raises(error, match="external_source"):
        pipeline(lambda lib: lib.fn.external_source(source, **arguments))
    with pytest.raises((TypeError, ValueError)) as theirs:
        pipeline(lambda lib: lib.fn.external_source(source, **arguments), dali)
    assert issubclass(error, theirs.type)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"parallel": True}, "parallel=True a callable takes one"),
        ({"repeat_last": True}, "repeat_last=True.*fed"),
        ({"num_outputs": 0}, "num_outputs=0: expected 1 or more"),
        ({"layout": 3}, "layout=3: expected a layout"),
        ({"layout": "HWC", "ndim": 2}, "ndim=2: expected 3, as of layout='HWC'"),
        ({"ndim": -1}, "ndim=-1: expected 0 or more"),
        ({"ndim": "x"}, "ndim='x': expected a whole number"),
        ({"dtype": "colour"}, "dtype='colour': expected a type"),
        ({"colour": 2}, "external_source has no argument 'colour'"),
    ],
)
def test_other_arguments_that_make_no_sense(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(ArgumentError, match=problem):
        fn.external_source(lambda: of(1), **arguments)


def test_wrong_devices() -> None:
    with pytest.raises(DeviceError, match="device='mixed'"):
        fn.external_source(lambda: of(1), device="mixed")


def test_arguments_by_position() -> None:
    pipe = pipeline(lambda lib: lib.fn.external_source(lambda: (of(1), of(2)), 2))
    assert [values(o)[0] for o in pipe.run()] == [1, 2]
    with pytest.raises(ArgumentTypeError, match="takes 2 arguments by position, got 3"):
        fn.external_source(lambda: 0, 1, "quiet")


def test_as_objects(dali: Any) -> None:
    def define(lib: Any) -> Any:
        fed = lib.ops.ExternalSource()
        return (
            lib.ops.ExternalSource(lambda: of(1))(),
            *lib.ops.ExternalSource(lambda: (of(2), of(3)), 2)(),
            fed(name="mine"),
        )

    traces = []
    for lib in (OURS, dali):
        pipe = pipeline(define, lib, prefetch_queue_depth=1)
        traces.append([o.as_array().tolist() for o in pipe.run(mine=of(4))])
    assert traces[0] == traces[1]
