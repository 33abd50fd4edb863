"""fn.power_spectrum, against numpy.fft."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.audio.signals import signals, spectra
from tests.cases import Apart, Array, case, samples


def powers(x: Array, axis: int = -1, nfft: int | None = None, power: int = 2) -> Array:
    length = nfft if nfft and nfft > 0 else None
    return np.float32(np.abs(np.fft.rfft(x.astype(np.float64), length, axis)) ** power)


FFTS = Apart(tolerance=1e-4, why="both transforms are of floats; a bin's error is some 1e-7 of the largest bin")


def of(x: Any, **arguments: Any) -> Any:
    return case("power_spectrum", x, reference=powers, tolerance=1e-4, from_dali=FFTS, **arguments)


BLOCKS = samples([np.stack([a[:, :5]] * 2) for a in spectra(20, times=(9, 7, 6)).arrays], "abc")
CASES = [
    of(signals()),
    of(BLOCKS, power=1),
    of(BLOCKS, axis=1),
    of(BLOCKS, axis=1, nfft=64),
    of(BLOCKS, axis=1, nfft=33),
    of(BLOCKS, axis=1, nfft=8),
    of(BLOCKS, nfft=0),
    case("power_spectrum", BLOCKS, reference=powers, differs="DALI takes the last axis for any negative one", axis=-2),
    case("power_spectrum", BLOCKS, reference=powers, differs="DALI has no transforms of 1 or 2 numbers", axis=0),
]


@pytest.mark.parametrize(
    ("x", "arguments", "problem"),
    [
        (np.zeros(9, np.int16), {}, "the input is INT16: expected FLOAT"),
        (np.zeros(9, np.float32), {"axis": 1}, r"axis=1 is no axis of the shape \(9,\)"),
        (np.zeros((9, 0), np.float32), {}, "a transform of 0 numbers"),
    ],
)
def test_mistakes_are_named(x: Array, arguments: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.power_spectrum(constant(x), **arguments))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()


@pytest.mark.parametrize("arguments", [{"power": 0}, {"nfft": 1 << 25}])
def test_wrong_constants(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match="power_spectrum: " + next(iter(arguments))):
        fn.power_spectrum(np.zeros(9, np.float32), **arguments)
