"""Signals that the operators on sound are tried on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.cases import Array, Samples, samples

LENGTHS = (3000, 1501, 700)


def tone(length: int, seed: int = 0) -> Array:
    """Some tones and noise, FLOAT, within -1 to 1; the first and last fifth are nearly silent."""
    random = np.random.default_rng([seed, length])
    t = np.arange(length)
    found = 0.3 * np.sin(t * 0.05) + 0.2 * np.sin(t * 0.7 + 1) + 0.1 * random.standard_normal(length)
    found *= np.where((t < length // 5) | (t >= length - length // 5), 1e-4, 1)
    return np.clip(found, -1, 1).astype(np.float32)


def of_type(signal: Array, dtype: Any) -> Array:
    """At full scale; unsigned ones have their zero in the middle."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return signal.astype(dtype)
    limits = np.iinfo(dtype)
    wide = signal.astype(np.float64) if dtype.kind == "i" else (signal.astype(np.float64) + 1) / 2
    return np.clip(np.round(wide * min(limits.max, 1 << 31)), limits.min, min(limits.max, 1 << 62)).astype(dtype)


def signals(dtype: Any = np.float32, lengths: Sequence[int] = LENGTHS, layout: str = "") -> Samples:
    return samples([of_type(tone(n, i), dtype) for i, n in enumerate(lengths)], layout)


def spectra(bins: int = 33, layout: str = "ft", times: Sequence[int] = (40, 7, 1)) -> Samples:
    """Powers over a wide range, FLOAT."""
    random = np.random.default_rng(bins)
    arrays = [(random.random((bins, n)) ** 4 * 100).astype(np.float32) for n in times]
    return samples([a.T.copy() if layout == "tf" else a for a in arrays], layout)
