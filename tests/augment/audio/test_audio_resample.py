"""fn.audio_resample, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.audio.signals import of_type, signals, tone
from tests.cases import Apart, Array, case, per_sample, samples


def as_floats(x: Array) -> Array:
    if x.dtype.kind == "f":
        return x.astype(np.float64)
    top = np.iinfo(x.dtype).max
    return x / top if x.dtype.kind == "i" else x * (2 / top) - 1


def as_type(x: Array, dtype: Any) -> Array:
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return x.astype(dtype)
    limits = np.iinfo(dtype)
    scaled = x * limits.max if dtype.kind == "i" else (x + 1) * (limits.max / 2)
    return np.clip(np.sign(scaled) * np.floor(np.abs(scaled) + 0.5), limits.min, limits.max).astype(dtype)


def weights(x: Array, lobes: int) -> Array:
    """A sinc under a Hann window, from a table of 32 steps for one sample."""

    def at(step: Array) -> Array:
        near = step / 32
        hann = 0.5 * (1 + np.cos(np.pi * near / (lobes + 1 / 64)))
        return np.where(np.abs(step) <= 32 * lobes, np.sinc(near) * hann, 0)

    below = np.floor(x * 32)
    part = x * 32 - below
    return at(below) * (1 - part) + at(below + 1) * part


def resampled(
    x: Array,
    scale: float | None = None,
    in_rate: float = 1.0,
    out_rate: float = 1.0,
    out_length: int | None = None,
    quality: float = 50.0,
    dtype: Any = None,
) -> Array:
    n = len(x)
    lobes = round(0.007 * quality * quality - 0.09 * quality + 3)
    start, end = (1.0, float(np.float32(scale))) if scale is not None else (float(in_rate), float(out_rate))
    count, step = int(np.ceil(n * end / start)), start / end if end else 0.0
    if out_length is not None:
        count, step = int(out_length), n / max(int(out_length), 1)
    signal, places = as_floats(x), np.arange(count) * step
    matrix = np.zeros((count, n))
    for row, place in zip(matrix, places, strict=True):
        first, last = max(int(np.floor(place)) - lobes, 0), min(int(np.floor(place)) + lobes + 2, n)
        row[first:last] = weights(np.arange(first, last) - place, lobes)
    return as_type(np.tensordot(matrix, signal, (1, 0)), types.to_numpy_type(dtype) if dtype is not None else x.dtype)


PLACES = Apart(tolerance=1e-3, why="DALI has places in the signal in floats")
EDGES = "of unsigned integers DALI takes what lies beyond the signal for the least number, not for silence"


def of(x: Any, **arguments: Any) -> Any:
    return case("audio_resample", x, reference=resampled, tolerance=1e-5, from_dali=PLACES, **arguments)


SHORT = (300, 151, 40)
STEREO = samples([np.stack([tone(n, i), tone(n, i + 9), tone(n, i + 20)], 1) for i, n in enumerate(SHORT)], "tc")
ROUNDED = Apart(off_by=40, tolerance=1e-3, why="DALI has places in the signal in floats")
CASES = [
    of(signals(lengths=SHORT), scale=2.0),
    of(signals(lengths=SHORT), scale=1.0),
    of(signals(lengths=SHORT), scale=0.3777),
    of(signals(lengths=SHORT), scale=per_sample([0.0, 0.5, 1.3])),
    of(signals(lengths=SHORT, layout="t"), in_rate=44100.0, out_rate=16000.0),
    of(signals(lengths=SHORT), in_rate=per_sample([8000.0, 16000.0, 22050.0]), out_rate=16000.0, quality=0.0),
    of(signals(lengths=SHORT), in_rate=16000.0, out_rate=per_sample([8000.0, 16000.0, 22050.0]), quality=100.0),
    of(signals(lengths=SHORT), out_length=per_sample(np.int64([0, 700, 41]))),
    of(signals(lengths=SHORT), out_length=100, quality=13.0),
    of(STEREO, scale=1.7),
    of(signals(np.int16, SHORT), scale=1.0),
    of(signals(np.int8, SHORT), scale=1.0, dtype=types.INT16),
    of(signals(np.uint16, SHORT), scale=1.0, dtype=types.FLOAT),
    of(signals(np.int32, SHORT), scale=1.5, dtype=types.FLOAT),
]
CASES += [
    case("audio_resample", signals(np.int16, SHORT), reference=resampled, off_by=1, from_dali=ROUNDED, scale=1.3),
    case(
        "audio_resample", signals(np.float32, SHORT), reference=resampled, off_by=1, from_dali=ROUNDED, scale=0.7,
        dtype=types.INT16,
    ),
    case(
        "audio_resample", signals(np.uint8, SHORT), reference=resampled, off_by=1, differs=EDGES, scale=1.3,
    ),
    case(
        "audio_resample", signals(np.uint8, SHORT), reference=resampled, off_by=1000, differs=EDGES, scale=0.4,
        dtype=types.UINT32,
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("x", "arguments", "problem"),
    [
        (np.zeros(9, np.float64), {"scale": 1.0}, "samples of type FLOAT64"),
        (np.zeros((9, 1, 1), np.float32), {"scale": 1.0}, r"the shape \(9, 1, 1\)"),
        (np.zeros(9, np.float32), {"scale": -1.0}, "scale is -1"),
        (np.zeros(9, np.float32), {"scale": float("nan")}, "scale is -?nan"),
        (np.zeros(9, np.float32), {"in_rate": 0.0, "out_rate": 1.0}, "in_rate is 0"),
        (np.zeros(9, np.float32), {"in_rate": 1.0, "out_rate": -1.0}, "out_rate is -1"),
        (np.zeros(9, np.float32), {"out_length": -1}, "out_length is -1"),
        (np.zeros(9, np.float32), {"scale": 1e12}, "would become|scale is"),
    ],
)
def test_mistakes_are_named(x: Array, arguments: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.audio_resample(constant(x), **arguments))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()


@pytest.mark.parametrize(
    "arguments",
    [
        {}, {"in_rate": 1.0}, {"out_rate": 1.0}, {"scale": 1.0, "out_length": 3}, {"scale": 1.0, "quality": 101.0},
        {"scale": 1.0, "dtype": types.FLOAT64}, {"scale": 1.0, "in_rate": 1.0, "out_rate": 1.0},
    ],
)  # fmt: skip
def test_wrong_constants(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match="audio_resample: "):
        fn.audio_resample(tone(30), **arguments)


def test_a_rate_of_its_own_changes_nothing() -> None:
    for dtype in (np.float32, np.int16, np.uint8):
        x = of_type(tone(500), dtype)
        pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(fn.audio_resample(constant(x), scale=1.0))
        np.testing.assert_array_equal(pipe.run()[0].at(0), x)
