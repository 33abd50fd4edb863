"""fn.spectrogram, against numpy.fft."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.audio.signals import signals, tone
from tests.cases import Apart, Array, case, samples


def spectrogram(
    x: Array,
    nfft: int | None = None,
    window_length: int = 512,
    window_step: int = 256,
    window_fn: Any = None,
    power: int = 2,
    center_windows: bool = True,
    reflect_padding: bool = True,
    layout: str = "ft",
) -> Array:
    signal = x.ravel().astype(np.float64)
    n, half = len(signal), window_length // 2
    window = np.float32(window_fn) if window_fn is not None else np.float32(
        0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(window_length) + 0.5) / window_length)
    )  # fmt: skip
    count = (n if center_windows else n - window_length) // window_step + 1
    starts = np.arange(count)[:, None] * window_step - half * center_windows
    at = starts + np.arange(window_length)
    if reflect_padding and n > 1:
        at = at % (2 * n - 2)
        at = np.minimum(at, 2 * n - 2 - at)
    elif reflect_padding:
        at = np.zeros_like(at)
    inside = (at >= 0) & (at < n)
    windows = np.where(inside, signal[np.where(inside, at, 0)], 0) * window
    found = np.abs(np.fft.rfft(windows, nfft or window_length, axis=1)) ** power
    return np.float32(found if layout == "tf" else found.T)


FFTS = Apart(tolerance=1e-4, why="both transforms are of floats; a bin's error is some 1e-7 of the largest bin")
ODD = {"window_length": 60, "window_step": 31}


def of(x: Any, **arguments: Any) -> Any:
    return case("spectrogram", x, reference=spectrogram, tolerance=1e-4, from_dali=FFTS, **arguments)


CASES = [
    of(signals()),
    of(signals(), nfft=512, window_length=400, window_step=160),
    of(signals(), layout="tf"),
    of(signals(), nfft=60, layout="tf", **ODD),
    of(signals(), nfft=60, power=1, **ODD),
    of(signals(), nfft=75, **ODD),
    of(signals(), nfft=75, layout="tf", **ODD),
    of(signals(), nfft=127, **ODD),
    of(signals(), nfft=2 * 67, reflect_padding=False, **ODD),
    of(signals(), nfft=7 * 11 * 2, center_windows=False, **ODD),
    of(signals(), nfft=4096, window_length=60, window_step=400),
    of(signals(), nfft=8192, window_length=60, window_step=700),
    of(signals(), window_fn=[0.5, 1.0, 2.0, 1.0], window_length=4, window_step=9),
    of(signals(lengths=(1, 2, 40)), window_length=64, window_step=16),
    of(signals(lengths=(1, 2, 40)), window_length=64, window_step=16, reflect_padding=False),
    of(samples([tone(300)[:, None], tone(301)[:, None]]), window_length=64, window_step=20),
    of(samples([tone(300)[None], tone(301)[None]]), window_length=64, window_step=20),
]


@pytest.mark.parametrize("nfft", [*range(1, 70), 121, 243, 256, 400, 441, 961, 1021, 1024, 2042, 3125, 4096, 7919])
def test_transforms_of_any_length(nfft: int) -> None:
    x = np.random.default_rng(nfft).standard_normal(3 * nfft + 5).astype(np.float32)
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(
            fn.spectrogram(
                constant(x),
                nfft=nfft,
                window_length=nfft,
                window_step=max(nfft // 2, 1),
                power=1,
                window_fn=[1.0] * nfft,
            )
        )
    found = pipe.run()[0].at(0)
    wanted = spectrogram(x, window_length=nfft, window_step=max(nfft // 2, 1), power=1, window_fn=np.ones(nfft))
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= 5e-7 * wanted.max()


@pytest.mark.parametrize(
    ("x", "arguments", "problem"),
    [
        (np.zeros(9, np.int16), {}, "the input is INT16: expected FLOAT"),
        (np.zeros((9, 2), np.float32), {}, r"the shape \(9, 2\): expected a signal of one channel"),
        (np.zeros(0, np.float32), {}, "the signal is empty"),
        (np.zeros(9, np.float32), {"center_windows": False}, "9 samples, fewer than a window of 512"),
    ],
)
def test_mistakes_are_named(x: Array, arguments: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.spectrogram(constant(x), **arguments))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()


@pytest.mark.parametrize(
    "arguments",
    [
        {"nfft": 511}, {"nfft": 0}, {"nfft": 1 << 25}, {"window_length": 0}, {"window_step": 0}, {"power": 3},
        {"window_fn": [1.0]}, {"layout": "ff"},
    ],
)  # fmt: skip
def test_wrong_constants(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match="spectrogram: " + next(iter(arguments))):
        fn.spectrogram(tone(3000), **arguments)
