"""What operators are timed on: photographs, boxes, sounds."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

BATCH, THREADS = 64, 2


class Inputs:
    """Batches, with their layouts."""

    def __init__(self, folder: Path) -> None:
        from penstock import Pipeline, fn

        files = itertools.islice(sorted(folder.rglob("*.jpg")), BATCH)
        self._jpegs = [np.frombuffer(file.read_bytes(), np.uint8) for file in files]
        pipe = Pipeline(batch_size=BATCH, num_threads=THREADS, device_id=None)
        with pipe:
            pipe.set_outputs(fn.decoders.image(fn.external_source(lambda: self._jpegs)))
        (images,) = pipe.run()
        self._photos = [np.array(images.at(i)) for i in range(BATCH)]

    def of(self, kind: str) -> tuple[list[Any], str] | None:
        """The batch of a kind and its layout; None where the operator has no input."""
        random = np.random.default_rng(1)
        made: dict[str, Callable[[], tuple[list[Any], str] | None]] = {
            "none": lambda: None,
            "jpegs": lambda: (self._jpegs, ""),
            "photos": lambda: (self._photos, "HWC"),
            "frames": lambda: ([photo[None] for photo in self._photos], "FHWC"),
            "videos": lambda: ([np.stack([photo[:180, :240]] * 8) for photo in self._photos], "FHWC"),
            "boxes": lambda: ([random.random((20, 4), np.float32) / 2 for _ in range(BATCH)], ""),
            "points": lambda: ([random.random((1000, 2), np.float32) for _ in range(BATCH)], ""),
            "masks": lambda: ([photo[:, :, 0] // 64 for photo in self._photos], "HW"),
            "labels": lambda: ([np.array([i % 1000], np.int32) for i in range(BATCH)], ""),
            "signals": lambda: (list(map(_signal, range(BATCH))), ""),
            "pcm": lambda: ([(_signal(i) * 32767).astype(np.int16) for i in range(BATCH)], ""),
            "wavs": lambda: ([_encoded(_signal(i), "WAV") for i in range(BATCH)], ""),
            "flacs": lambda: ([_encoded(_signal(i), "FLAC") for i in range(BATCH)], ""),
            "windows": lambda: ([random.random((400, 512), np.float32) for _ in range(BATCH)], ""),
            "spectra": lambda: ([random.random((257, 300 + 10 * i), np.float32) for i in range(BATCH)], "ft"),
            "mels": lambda: ([random.random((80, 300 + 10 * i), np.float32) for i in range(BATCH)], "ft"),
        }
        return made[kind]()


def _signal(number: int) -> Any:
    """3 to 9 seconds at 16 kHz, FLOAT."""
    random = np.random.default_rng(number)
    t = np.arange(48000 + 1500 * number)
    voice = np.sin(t * 0.05) * (0.3 + 0.2 * np.sin(t * 0.0007)) + 0.02 * random.standard_normal(len(t))
    return np.clip(voice, -1, 1).astype(np.float32)


def _encoded(signal: Any, format: str) -> Any:
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, signal, 16000, format=format, subtype="PCM_16")
    return np.frombuffer(file.getvalue(), np.uint8)
