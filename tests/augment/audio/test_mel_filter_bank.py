"""fn.mel_filter_bank, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.audio.signals import spectra
from tests.cases import Apart, Array, case, samples


def to_mel(f: Any, htk: bool) -> Any:
    if htk:
        return 1127 * np.log1p(f / 700)
    return np.where(f < 1000, f * 3 / 200, 15 + np.log(np.maximum(f, 1) / 1000) * 27 / np.log(6.4))


def to_hz(m: Any, htk: bool) -> Any:
    return 700 * np.expm1(m / 1127) if htk else np.where(m < 15, m * 200 / 3, 1000 * 6.4 ** ((m - 15) / 27))


def banks(
    x: Array,
    axis: int = 0,
    nfilter: int = 128,
    sample_rate: float = 44100.0,
    freq_low: float = 0.0,
    freq_high: float = 0.0,
    normalize: bool = True,
    mel_formula: str = "slaney",
) -> Array:
    htk, high = mel_formula == "htk", freq_high or sample_rate / 2
    edges = to_hz(np.linspace(to_mel(freq_low, htk), to_mel(high, htk), nfilter + 2), htk)
    bins = np.arange(x.shape[axis]) * sample_rate / max(2 * x.shape[axis] - 2, 1)
    weights = np.stack([np.interp(bins, edges[i : i + 3], [0, 1, 0]) for i in range(nfilter)])
    if normalize:
        weights *= 2 / (edges[2:] - edges[:-2])[:, None]
    return np.moveaxis(np.tensordot(weights, x.astype(np.float64), (1, axis)), 0, axis).astype(np.float32)


NEAR = Apart(tolerance=1e-4, why="DALI computes the weights of bins in floats")
ARGUMENTS: list[dict[str, Any]] = [
    {"nfilter": 10},
    {"nfilter": 20, "sample_rate": 16000.0, "mel_formula": "htk"},
    {"nfilter": 7, "normalize": False, "freq_low": 300.0, "freq_high": 7000.0},
    {},
]
CASES = [
    case("mel_filter_bank", spectra(257, layout), reference=partial(banks, axis=axis), tolerance=2e-5, from_dali=NEAR,
         **arguments)
    for arguments in ARGUMENTS
    for layout, axis in (("ft", 0), ("tf", 1))
]  # fmt: skip
CASES += [
    case("mel_filter_bank", samples(list(spectra(33).arrays)), reference=banks, from_dali=NEAR, nfilter=10),
    case("mel_filter_bank", samples([a[:, 0] for a in spectra(33).arrays]), reference=banks, from_dali=NEAR, nfilter=5),
    case(
        "mel_filter_bank",
        samples([np.stack([a.T] * 3, 2) for a in spectra(33).arrays], "tfc"),
        reference=partial(banks, axis=1),
        from_dali=NEAR,
        nfilter=10,
    ),
    case(
        "mel_filter_bank",
        spectra(33),
        reference=banks,
        differs="where freq_high is above half the sample rate, DALI reads beyond the spectrum",
        nfilter=10,
        freq_high=30000.0,
    ),
]


@pytest.mark.parametrize(
    ("x", "layout", "problem"),
    [
        (np.zeros((9, 2), np.float64), "ft", "the input is FLOAT64: expected FLOAT"),
        (np.zeros((9, 2), np.float32), "AB", "the layout 'AB' has no axis of frequencies, 'f'"),
        (np.float32(1), "", "the input is a number"),
    ],
)
def test_mistakes_are_named(x: Array, layout: str, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.mel_filter_bank(constant(x, layout)))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()


@pytest.mark.parametrize(
    "arguments",
    [
        {"nfilter": 0}, {"sample_rate": 0.0}, {"freq_low": -1.0}, {"freq_low": 9e4}, {"mel_formula": "x"},
        {"freq_low": 200.0, "freq_high": 100.0},
    ],
)  # fmt: skip
def test_wrong_constants(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match="mel_filter_bank: " + next(iter(arguments))):
        fn.mel_filter_bank(np.zeros((9, 2), np.float32), **arguments)
