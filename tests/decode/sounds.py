"""Files of sound, made by soundfile, which has libsndfile and so an encoder for each format."""

from __future__ import annotations

import io
import wave
from functools import cache
from typing import Any

import numpy as np
import pytest

from penstock import fn
from penstock.errors import OperatorError
from tests.small import made

Array = np.ndarray[Any, Any]
RATE = 16000


def wav(samples: Array, rate: int = RATE) -> bytes:
    """INT16 of shape (samples, channels), by Python alone."""
    file = io.BytesIO()
    with wave.open(file, "wb") as w:
        w.setnchannels(samples.shape[1])
        w.setsampwidth(2)
        w.setframerate(rate)
        w.writeframes(samples.astype("<i2").tobytes())
    return file.getvalue()


@cache
def sounds_can_be_decoded() -> bool:
    """Whether there is a libsndfile: the system's, or soundfile's."""
    file = np.frombuffer(wav(np.zeros((8, 1))), np.uint8)
    try:
        made(lambda: fn.decoders.audio(fn.external_source(lambda: [file])), batch_size=1).run()
    except OperatorError:
        return False
    return True


def stereo(length: int = 3000, channels: int = 2) -> Array:
    """FLOAT within -1 to 1."""
    random = np.random.default_rng(length)
    tones = np.sin(np.arange(length)[:, None] * 0.05 * np.arange(1, channels + 1)) * 0.5
    return (tones + 0.01 * random.standard_normal(tones.shape)).astype(np.float32)


@cache
def encoded(format: str, subtype: str | None = None, length: int = 3000, channels: int = 2, rate: int = RATE) -> bytes:
    soundfile = pytest.importorskip("soundfile", reason="soundfile, which encodes sounds, is not installed")
    file = io.BytesIO()
    soundfile.write(file, stereo(length, channels), rate, format=format, subtype=subtype)
    return file.getvalue()


# Format, subtype, and how far samples may be from what was put in.
FORMATS: list[tuple[str, str | None, float]] = [
    ("WAV", "PCM_16", 2e-5), ("WAV", "PCM_24", 2e-7), ("WAV", "PCM_32", 1e-7), ("WAV", "PCM_U8", 8e-3),
    ("WAV", "FLOAT", 0), ("WAV", "DOUBLE", 0), ("WAV", "ULAW", 2e-2), ("FLAC", "PCM_16", 2e-5),
    ("FLAC", "PCM_24", 2e-7), ("OGG", "VORBIS", 0.3), ("OGG", "OPUS", 0.3), ("MP3", None, 0.3), ("AIFF", None, 2e-5),
    ("AU", None, 2e-5), ("CAF", None, 2e-5), ("W64", None, 2e-5),
]  # fmt: skip
each_format = pytest.mark.parametrize(("format", "subtype", "tolerance"), FORMATS)
