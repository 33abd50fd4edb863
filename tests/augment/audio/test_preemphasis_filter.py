"""fn.preemphasis_filter, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.audio.signals import signals, tone
from tests.cases import Array, case, per_sample, samples


def filtered(x: Array, preemph_coeff: float = 0.97, border: str = "clamp", dtype: Any = types.FLOAT) -> Array:
    numbers = x.ravel().astype(np.float64 if x.dtype == np.float64 else np.float32)
    first = {"clamp": numbers[:1], "reflect": numbers[1:2], "zero": numbers[:0]}[border]
    before = np.concatenate([first if len(first) else numbers.dtype.type([0]), numbers[:-1]])
    found = numbers - numbers.dtype.type(np.float32(preemph_coeff)) * before
    to = np.dtype(types.to_numpy_type(dtype))
    if to.kind != "f":
        limits = np.iinfo(to)
        wide = found.astype(np.longdouble)
        if border == "zero":  # nothing is taken from the first one
            wide[:1] = x.ravel()[:1]
        found = np.clip(np.sign(wide) * np.floor(np.abs(wide) + 0.5), limits.min, limits.max)
    return found.astype(to).reshape(x.shape)


CASES = [
    case("preemphasis_filter", signals(), reference=filtered, border=border, preemph_coeff=coeff)
    for border in ("clamp", "reflect", "zero")
    for coeff in (0.97, -2.5, per_sample([0.0, 0.5, 1.0]))
]
CASES += [
    case("preemphasis_filter", signals(dtype), reference=filtered)
    for dtype in (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64, np.float64)
]
CASES += [
    case("preemphasis_filter", signals(np.int16), reference=filtered, off_by=1, dtype=dtype)
    for dtype in (
        types.UINT8, types.INT8, types.UINT16, types.INT16, types.UINT32, types.INT32, types.UINT64, types.INT64,
        types.FLOAT64,
    )
]  # fmt: skip
CASES += [
    case("preemphasis_filter", signals(np.float64), reference=filtered, dtype=types.FLOAT64),
    *(
        case("preemphasis_filter", samples([np.int32([first])]), reference=filtered, border="zero", dtype=dtype)
        for first, dtype in ((312443827, types.UINT32), (-18036301, types.INT64), (-5, types.UINT8))
    ),
    case("preemphasis_filter", samples([tone(60).reshape(3, 20), tone(8).reshape(2, 4)], "ct"), reference=filtered),
    case("preemphasis_filter", signals(lengths=(1, 2, 1)), reference=filtered),
    case(
        "preemphasis_filter",
        signals(lengths=(1, 2, 1)),
        reference=filtered,
        differs="a single sample has a zero before it where it is reflected, DALI reads beyond it",
        border="reflect",
    ),
]


@pytest.mark.parametrize("dtype", [np.float16, np.bool_])
def test_mistakes_are_named(dtype: Any) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.preemphasis_filter(constant(np.zeros(3, dtype))))
    with pytest.raises(OperatorError, match=r"the input is .*: expected integers, FLOAT or FLOAT64"):
        pipe.run()


@pytest.mark.parametrize("arguments", [{"border": "wrap"}, {"dtype": types.FLOAT16}])
def test_wrong_constants(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match="preemphasis_filter: " + next(iter(arguments))):
        fn.preemphasis_filter(tone(30), **arguments)
