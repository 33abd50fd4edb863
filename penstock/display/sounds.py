"""Sounds as a page shows them: the wave as a drawing, and, where their rate is known, something to listen to."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_COLUMNS = 240  # of the drawing


def wave(samples: Array) -> str:
    """The envelope of a sound, (time) or (time, channels), as SVG."""
    mono = samples.reshape(len(samples), -1).astype(np.float32).mean(1) if len(samples) else np.zeros(1, np.float32)
    mono = np.nan_to_num(mono)
    starts = np.unique(np.linspace(0, len(mono), _COLUMNS, endpoint=False).astype(int))
    high, low = np.maximum.reduceat(mono, starts), np.minimum.reduceat(mono, starts)
    scale = 30 / max(float(np.abs(mono).max()), 1e-12)
    lines = "".join(
        f"M{i} {32 - h * scale - 0.5:.1f}V{32 - l * scale + 0.5:.1f}"
        for i, (h, l) in enumerate(zip(high.tolist(), low.tolist(), strict=True))  # noqa: E741
    )
    label = f"sound of {len(samples)} samples"
    return (
        f'<svg class="ps-wave" viewBox="0 0 {len(starts)} 64" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}"><path d="{lines}" stroke="currentColor" fill="none"/></svg>'
    )


def wav(samples: Array, rate: int) -> bytes:
    """The file of a sound: 16 bits a sample. Floats that go beyond -1 to 1 are made quieter as a whole."""
    values = np.nan_to_num(samples.astype(np.float64).reshape(len(samples), -1))
    if samples.dtype.kind in "iu":
        values = values / max(abs(np.iinfo(samples.dtype).min), np.iinfo(samples.dtype).max)
    peak = float(np.abs(values).max()) if values.size else 0.0
    data = np.rint(values / max(peak, 1) * 32767).astype("<i2").tobytes()
    channels = values.shape[1]
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2, channels * 2, 16)
    chunks = b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks
