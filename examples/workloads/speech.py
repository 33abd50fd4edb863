"""Input of a network for speech (Jasper, RNN-T) from NeMo's manifests: sounds to normalized mel bands of one length.

`library` is `penstock`, or `nvidia.dali`, whose API it has: tests/workloads compares the two, `./dev bench workloads`
times them.
"""

from __future__ import annotations

import math
from pathlib import Path
from types import ModuleType
from typing import Any

RATE = 16000.0


def pipeline(
    library: ModuleType, folder: Path, *, training: bool, bands: int = 80, speed: float | None = None, **options: Any
) -> Any:
    """Mel bands (FLOAT, `bands` and 10 ms each), how many of the latter were there before padding, and texts (UINT8).

    With `training` sounds are shuffled and played 10 % faster or slower by chance, or as `speed` says; else they are in
    order. `options` are those of a Pipeline.
    """
    fn, types = library.fn, library.types

    @library.pipeline_def(**options)  # type: ignore[untyped-decorator]
    def define() -> Any:
        sound, text = fn.readers.nemo_asr(
            manifest_filepaths=[str(folder / "manifest.json")], sample_rate=RATE, downmix=True, dtype=types.FLOAT,
            read_sample_rate=False, random_shuffle=training and speed is None, max_duration=16.7, name="Reader",
        )  # fmt: skip
        if training:
            faster: Any = fn.random.uniform(range=[0.9, 1.1]) if speed is None else speed
            sound = fn.audio_resample(sound, scale=1.0 / faster)
        sound = fn.preemphasis_filter(sound, preemph_coeff=0.97)
        power = fn.spectrogram(sound, nfft=512, window_length=320, window_step=160)
        mels = fn.mel_filter_bank(power, sample_rate=RATE, nfilter=bands)
        logarithms = fn.to_decibels(mels, multiplier=math.log(10), reference=1.0, cutoff_db=math.log(1e-20))
        normalized = fn.normalize(logarithms, axes=[1], epsilon=1e-5)
        length = normalized.shape()[1]
        return fn.pad(normalized, axes=[1], fill_value=0), length, text

    pipe = define()
    pipe.build()
    return pipe
