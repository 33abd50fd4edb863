"""fn.decoders.audio: every format, against what was put into it, soundfile, DALI and broken files."""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, DecodeError, OperatorError, PenstockError
from tests.decode.sounds import RATE, Array, each_format, encoded, stereo, wav
from tests.small import made

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip("soundfile", reason="soundfile, which has libsndfile, is not installed")


def decoded(files: Sequence[bytes], library: Any = None, **arguments: Any) -> tuple[list[Array], list[float]]:
    """The sounds, and their rates."""
    arrays = [np.frombuffer(file, np.uint8) for file in files]
    maker, function = (library.pipeline.Pipeline, library.fn) if library else (Pipeline, fn)
    pipe = maker(batch_size=len(files), num_threads=2, device_id=None, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(*function.decoders.audio(function.external_source(lambda: arrays), **arguments))
    if library:
        pipe.build()
    sounds, rates = pipe.run()
    return [np.array(sounds.at(i)) for i in range(len(files))], [float(rates.at(i)) for i in range(len(files))]


@each_format
def test_samples_are_those_that_were_put_in(format: str, subtype: str | None, tolerance: float) -> None:
    (found,), (rate,) = decoded([encoded(format, subtype)])
    assert found.shape == (3000, 2)
    assert found.dtype == np.float32
    assert rate == RATE
    assert np.abs(found - stereo()).mean() <= tolerance


@each_format
def test_integers_are_at_full_scale(format: str, subtype: str | None, tolerance: float) -> None:
    file = encoded(format, subtype)
    (floats,), _ = decoded([file])
    for dtype, top in ((types.INT16, 2.0**15), (types.INT32, 2.0**31)):
        (found,), _ = decoded([file], dtype=dtype)
        assert found.dtype == types.to_numpy_type(dtype)
        assert np.abs(found / top - floats).max() < 1e-4


@pytest.mark.parametrize("channels", [1, 2, 5])
def test_channels_are_mixed(channels: int) -> None:
    file = encoded("WAV", "FLOAT", channels=channels)
    (found,), _ = decoded([file], downmix=True)
    np.testing.assert_allclose(found, stereo(channels=channels).mean(1), atol=1e-6)


@pytest.mark.parametrize("rate", [8000.0, 16000.0, 22050.0, 48000.0])
@pytest.mark.parametrize("downmix", [False, True])
def test_resampled_as_by_the_operator(rate: float, downmix: bool) -> None:
    file = np.frombuffer(encoded("FLAC", "PCM_16"), np.uint8)

    def both() -> Any:
        files = fn.external_source(lambda: [file])
        once, new = fn.decoders.audio(files, sample_rate=rate, downmix=downmix, quality=30)
        plain, old = fn.decoders.audio(files, downmix=downmix)
        return once, new, fn.audio_resample(plain, in_rate=old, out_rate=rate, quality=30)

    once, new, twice = made(both, batch_size=1).run()
    np.testing.assert_array_equal(once.at(0), twice.at(0))
    assert new.at(0) == rate


def test_rates_differ_within_a_batch() -> None:
    files = [encoded("WAV", "PCM_16", rate=rate) for rate in (8000, 16000, 44100)]
    arrays = [np.frombuffer(file, np.uint8) for file in files]
    wanted = np.float32([16000, 0, -1])

    def define() -> Any:
        return fn.decoders.audio(
            fn.external_source(lambda: arrays), sample_rate=fn.external_source(lambda: list(wanted))
        )

    sounds, rates = made(define, batch_size=3).run()
    assert [len(sounds.at(i)) for i in range(3)] == [6000, 3000, 3000]
    assert rates.as_array().ravel().tolist() == [16000, 16000, 44100]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"downmix": True},
        {"dtype": "INT16"},
        {"dtype": "INT32"},
        {"dtype": "INT16", "downmix": True},
        {"sample_rate": 8000.0},
        {"sample_rate": 22050.0, "downmix": True},
        {"sample_rate": 44100.0, "quality": 100.0},
    ],
)
@each_format
def test_as_dali(format: str, subtype: str | None, tolerance: float, arguments: dict[str, Any]) -> None:
    """To the last bit where nothing but decoding is asked for; its resampling is a little off (audio_resample)."""
    dali = pytest.importorskip("nvidia.dali", reason="DALI is not installed")
    if format == "MP3":
        pytest.skip("DALI has no MP3")
    if "dtype" in arguments and subtype in ("FLOAT", "DOUBLE") and not arguments.get("downmix"):
        pytest.skip("differs on purpose: DALI rounds floats to integers without a scale")
    file = encoded(format, subtype)
    ours = {k: getattr(types, v) if k == "dtype" else v for k, v in arguments.items()}
    theirs = {k: getattr(dali.types, v) if k == "dtype" else v for k, v in arguments.items()}
    (found,), rate = decoded([file], **ours)
    (wanted,), their_rate = decoded([file], dali, **theirs)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    assert rate == their_rate
    lossy = format == "OGG"  # its decoder is of another version
    allowed = 1e-4 if "sample_rate" in arguments else 1e-6 if lossy else 0
    top = 1 if found.dtype == np.float32 else np.iinfo(found.dtype).max
    off = np.abs(found.astype(np.float64) - wanted).max() / top
    assert off <= allowed + (2 / top if lossy and top > 1 else 0), off


@pytest.mark.parametrize("kind", ["wav", "flac", "ogg"])
def test_speech_as_dali(kind: str, dali_extra: Path) -> None:
    dali = pytest.importorskip("nvidia.dali", reason="DALI is not installed")
    files = [path.read_bytes() for path in sorted((dali_extra / "db" / "audio" / kind).glob(f"*.{kind}"))[:8]]
    assert files
    found, rates = decoded(files, downmix=True)
    wanted, their_rates = decoded(files, dali, downmix=True)
    assert rates == their_rates
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6 if kind == "ogg" else 0)


def broken(file: bytes, count: int, seed: int) -> list[bytes]:
    """Half of them cut off, half with some bits turned over."""
    random = np.random.default_rng(seed)
    found = []
    for i in range(count):
        if i % 2:
            found.append(file[: int(random.integers(0, len(file)))])
            continue
        data = bytearray(file)
        end = 200 if i % 4 else len(file)  # headers above all
        for at in random.integers(0, min(end, len(file)), int(random.integers(1, 9))):
            data[at] ^= 1 << int(random.integers(0, 8))
        found.append(bytes(data))
    return found


@pytest.mark.parametrize(
    ("format", "subtype"),
    [("WAV", "PCM_16"), ("WAV", "FLOAT"), ("FLAC", "PCM_16"), ("OGG", "VORBIS"), ("OGG", "OPUS"), ("MP3", None)],
)
def test_broken_files_are_decoded_or_refused(format: str, subtype: str | None) -> None:
    """400 of each. A crash would end the tests here; any other exception than the library's own fails."""
    refused, messages = 0, []
    files = broken(encoded(format, subtype, 1500), 400, len(format))
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        data = fn.external_source(name="file")
        pipe.set_outputs(*fn.decoders.audio(data, downmix=True, sample_rate=8000.0))
    for file in files:
        try:
            pipe.run(file=[np.frombuffer(file, np.uint8)])
        except PenstockError as error:  # broken; or of such a rate that there would be too many samples
            refused += isinstance(error, DecodeError) or "sample_rate is" in str(error)
            messages.append(str(error))
    assert all("decoders.audio: " in message for message in messages)
    assert refused == len(messages)
    assert 10 < refused <= 400


def test_errors_name_the_file(tmp_path: Path) -> None:
    good, bad = encoded("FLAC", "PCM_16"), encoded("FLAC", "PCM_16")[:2000]
    for name, data in (("a.flac", good), ("cut.flac", bad)):
        (tmp_path / name).write_bytes(data)

    def define() -> Any:
        files = fn.readers.file(file_root=str(tmp_path), files=["a.flac", "cut.flac"])[0]
        return fn.decoders.audio(files)

    with pytest.raises(DecodeError, match=r"cut\.flac"):
        made(define, batch_size=2).run()


def test_broken_files_are_skipped(tmp_path: Path) -> None:
    for i, data in enumerate([wav(np.full((9, 1), 5)), b"RIFF nothing", wav(np.full((4, 1), 7))]):
        (tmp_path / f"{i}.wav").write_bytes(data)

    def define() -> Any:
        files = fn.readers.file(file_root=str(tmp_path), files=["0.wav", "1.wav", "2.wav"])[0]
        return fn.decoders.audio(files, dtype=types.INT16, downmix=True, on_error="skip")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (sounds, _) = made(define, batch_size=2).run()
    assert [sounds.at(i).tolist() for i in range(2)] == [[5] * 9, [7] * 4]


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        (b"", "the file is empty"),
        (b"nothing of the kind" * 20, "this sound cannot be decoded"),
        (encoded("OGG", "VORBIS")[:-100] if importlib.util.find_spec("soundfile") else b"", "its last page is missing"),
    ],
)
def test_what_is_no_sound(file: bytes, problem: str) -> None:
    with pytest.raises(DecodeError, match=problem):
        decoded([file])


def test_there_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_MAX_PIXELS", "5999")
    with pytest.raises(DecodeError, match="3000 samples of 2 channels, more than the limit of 5999"):
        decoded([encoded("WAV", "PCM_16")])
    monkeypatch.setenv("PENSTOCK_MAX_PIXELS", "6000")
    decoded([encoded("WAV", "PCM_16")])
    with pytest.raises(OperatorError, match="sample_rate is 16001"):
        decoded([encoded("WAV", "PCM_16")], sample_rate=16001.0)


def test_without_the_library(tmp_path: Path) -> None:
    """An error that says what to install; in a process of its own, since a library is loaded once."""
    code = """
from tests.decode.sounds import sounds_can_be_decoded, wav
from tests.decode.test_audio import decoded
import numpy as np
print(sounds_can_be_decoded())
decoded([wav(np.zeros((3, 1)))])
"""
    environment = {**os.environ, "PENSTOCK_LIBSNDFILE": str(tmp_path / "none")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300, cwd=ROOT
    )
    assert done.stdout == "False\n", done.stderr
    message = (
        r"OperatorError: decoders.audio: Sound files need libsndfile, .* libsndfile1 of Debian .*pip install sound"
    )
    assert re.search(message, done.stderr), done.stderr
    assert "or set PENSTOCK_LIBSNDFILE to its path" in done.stderr


@pytest.mark.parametrize("arguments", [{"quality": 101.0}, {"dtype": types.UINT8}])
def test_wrong_constants(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match="decoders.audio: " + next(iter(arguments))):
        decoded([wav(np.zeros((3, 1)))], **arguments)


def test_only_files_are_decoded() -> None:
    pipe = made(lambda: fn.decoders.audio(fn.external_source(lambda: [np.zeros((2, 2), np.uint8)])), batch_size=1)
    with pytest.raises(OperatorError, match="expected the bytes of a file"):
        pipe.run()


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "PCM_32"])
@pytest.mark.parametrize(("format", "endian"), [("WAV", "FILE"), ("WAV", "BIG"), ("WAVEX", "FILE")])
@pytest.mark.parametrize("shape", [(20000, 1), (5001, 3), (2, 1024), (0, 2)])
def test_wave_files_are_soundfiles_to_the_last_bit(subtype: str, format: str, endian: str, shape: Any) -> None:
    """The lowest byte of a number comes first, in RIFX the highest; samples are read piece by piece."""
    soundfile = importlib.import_module("soundfile")
    random = np.random.default_rng(shape)
    file = io.BytesIO()
    numbers = random.integers(-(2**31), 2**31, shape).astype(np.int32)
    numbers[:1, :1] = -(2**31)
    numbers[1:2, :1] = 2**31 - 1
    soundfile.write(file, numbers, 16000, format=format, subtype=subtype, endian=endian)
    wanted, _ = soundfile.read(io.BytesIO(file.getvalue()), dtype="float32", always_2d=True)
    (found,), _ = decoded([file.getvalue()])
    np.testing.assert_array_equal(found, wanted)
