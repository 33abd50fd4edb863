"""What speech recognition begins with, on real recordings: as DALI's operators give it, and as librosa does."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn
from tests.decode.pictures import Array
from tests.small import made

RATE, NFFT, WINDOW, STEP, BANDS = 16_000, 512, 400, 160, 80


@pytest.fixture
def recordings(dali_extra: Path, request: pytest.FixtureRequest) -> list[Array]:
    """Sentences of LibriSpeech, at 16 kHz, as files of one kind."""
    kind = getattr(request, "param", "flac")
    paths = sorted((dali_extra / "db" / "audio" / kind).glob(f"*.{kind}"))[:6]
    assert len(paths) == 6
    return [np.fromfile(path, np.uint8) for path in paths]


def front_end(library: str, files: list[Array]) -> list[list[Array]]:
    """Of each file the samples without silence, decibels of mel bands that are normalized, and cepstra."""
    package, functions = (importlib.import_module(name) for name in (library, f"{library}.fn"))
    types = importlib.import_module(f"{library}.types")
    pipe = package.Pipeline(batch_size=len(files), num_threads=2, device_id=None)
    with pipe:
        sound, _ = functions.decoders.audio(functions.external_source(lambda: files), downmix=True, dtype=types.FLOAT)
        begin, length = functions.nonsilent_region(sound, cutoff_db=-40.0)
        spoken = functions.preemphasis_filter(functions.slice(sound, begin, length, axes=[0]))
        spectra = functions.spectrogram(spoken, nfft=NFFT, window_length=WINDOW, window_step=STEP)
        bands = functions.mel_filter_bank(spectra, sample_rate=RATE, nfilter=BANDS, freq_high=RATE / 2)
        decibels = functions.to_decibels(bands, multiplier=10.0, cutoff_db=-80.0)
        pipe.set_outputs(sound, functions.normalize(decibels, axes=[1]), functions.mfcc(decibels, n_mfcc=13))
    pipe.build()
    outputs = pipe.run()
    return [[np.array(output.at(i)) for output in outputs] for i in range(len(files))]


@pytest.mark.parametrize("recordings", ["wav", "flac"], indirect=True)
def test_as_dali(recordings: list[Array]) -> None:
    pytest.importorskip("nvidia.dali", reason="needs DALI: pip install nvidia-dali-cuda130==2.4.0")
    for ours, theirs in zip(front_end("penstock", recordings), front_end("nvidia.dali", recordings), strict=True):
        for one, other, allowed in zip(ours, theirs, (1e-6, 1e-3, 1e-2), strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=0, atol=allowed)


@pytest.mark.parametrize("formula", ["slaney", "htk"])
def test_as_librosa(recordings: list[Array], formula: str) -> None:
    """What DALI's documentation calls librosa's: both formulas of mel, decibels and cepstra, of the same spectra."""
    librosa = pytest.importorskip("librosa", reason="needs librosa")

    def define() -> Any:
        sound, _ = fn.decoders.audio(fn.external_source(lambda: recordings), downmix=True)
        spectra = fn.spectrogram(sound, nfft=NFFT, window_length=WINDOW, window_step=STEP, power=2)
        bands = fn.mel_filter_bank(spectra, sample_rate=RATE, nfilter=BANDS, mel_formula=formula, normalize=True)
        decibels = fn.to_decibels(bands, multiplier=10.0, reference=1.0, cutoff_db=-100.0)
        return spectra, bands, decibels, fn.mfcc(decibels, n_mfcc=13, dct_type=2, normalize=True)

    outputs = made(define, batch_size=len(recordings)).run()
    filters = librosa.filters.mel(sr=RATE, n_fft=NFFT, n_mels=BANDS, htk=formula == "htk", norm="slaney")
    for i in range(len(recordings)):
        spectra, bands, decibels, cepstra = (np.array(output.at(i)) for output in outputs)
        wanted = filters @ spectra
        np.testing.assert_allclose(bands, wanted, rtol=1e-4, atol=1e-6 * wanted.max())
        np.testing.assert_allclose(decibels, librosa.power_to_db(bands, ref=1.0, amin=1e-10, top_db=None), atol=1e-3)
        np.testing.assert_allclose(cepstra, librosa.feature.mfcc(S=decibels, n_mfcc=13, norm="ortho"), atol=1e-2)
