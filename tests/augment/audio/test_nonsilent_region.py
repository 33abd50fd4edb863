"""fn.nonsilent_region, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.audio.signals import signals, tone
from tests.cases import Array, case, samples


def region(
    x: Array,
    cutoff_db: float = -60.0,
    reference_power: float = 0.0,
    window_length: int = 2048,
    reset_interval: int = 8192,
) -> tuple[Array, Array]:
    window_length = max(min(window_length, len(x)), 1)
    sums = np.concatenate([[0], np.cumsum(x.astype(np.longdouble) ** 2)])
    ends = np.arange(1, len(x) + 1)
    means = np.float32((sums[ends] - sums[np.maximum(ends - window_length, 0)]) / window_length)
    reference = np.float32(reference_power or means.max(initial=0))
    loud = np.flatnonzero(means >= reference * np.float32(10 ** (cutoff_db / 10)))
    if not len(loud):
        return np.int32(0), np.int32(0)  # type: ignore[return-value]
    begin = max(loud[0] - window_length + 1, 0)
    return np.int32(begin), np.int32(loud[-1] + 1 - begin)


def of(x: Any, **arguments: Any) -> Any:
    return case("nonsilent_region", x, reference=region, **arguments)


CASES = [of(signals(), **arguments) for arguments in (
    {}, {"window_length": 64}, {"window_length": 64, "cutoff_db": -20.0}, {"window_length": 128, "cutoff_db": -10.0},
    {"window_length": 1, "cutoff_db": -3.0}, {"window_length": 4096}, {"window_length": 64, "reference_power": 0.1},
    {"window_length": 64, "cutoff_db": 10.0}, {"window_length": 64, "reference_power": 1e9},
    {"window_length": 256, "reset_interval": 1024, "cutoff_db": -30.0},
)]  # fmt: skip
CASES += [
    of(signals(dtype), window_length=64, cutoff_db=-20.0)
    for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16)
]
CASES += [
    of(samples([np.zeros(100, np.float32), np.float32([1]), tone(5)])),
    case(
        "nonsilent_region",
        signals(),
        reference=region,
        differs="DALI takes no reset_interval that is no multiple of the window",
        window_length=100,
    ),
]


@pytest.mark.parametrize(
    ("x", "problem"),
    [
        (np.zeros(9, np.float64), "the input is FLOAT64: expected FLOAT or integers"),
        (np.zeros((9, 1), np.float32), r"the shape \(9, 1\): expected one axis"),
    ],
)
def test_mistakes_are_named(x: Array, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*fn.nonsilent_region(constant(x)))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()


@pytest.mark.parametrize("arguments", [{"window_length": 0}, {"reference_power": -1.0}])
def test_wrong_constants(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match="nonsilent_region: " + next(iter(arguments))):
        fn.nonsilent_region(tone(30), **arguments)
