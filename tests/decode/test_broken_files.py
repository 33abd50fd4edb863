"""Files that are no picture, or broken: which error they are, or that they are decoded after all."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from penstock import fn, pipeline_def
from penstock.errors import DecodeError, OperatorError
from tests.decode.pictures import chunk, decode, decode_window, jpeg, pillow, png, smooth

RANDOM = np.random.default_rng(1)
PHOTOGRAPH = jpeg(smooth(RANDOM, 160, 120), quality=90)
PROGRESSIVE = jpeg(smooth(RANDOM, 160, 120), quality=90, progressive=True)
PNG = png(smooth(RANDOM, 40, 30), 2, 8)


def cut(file: bytes, share: float) -> bytes:
    return file[: int(len(file) * share)]


def flipped(file: bytes, at: int) -> bytes:
    return file[:at] + bytes([file[at] ^ 0x10]) + file[at + 1 :]


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (b"", "empty"),
        (b"\xff", "not a JPEG or PNG picture"),
        (b"hello, world", "not a JPEG or PNG picture .starts with 'hello, w'"),
        (b"\xff\xd8\xff", "truncated JPEG"),
        (b"\xff\xd8\xff\xe0" + bytes(100), "truncated JPEG"),
        (cut(PHOTOGRAPH, 0.01), "truncated JPEG"),
        (cut(PHOTOGRAPH, 0.5), "ends too early"),
        (cut(PHOTOGRAPH, 0.98), "ends too early"),
        (cut(PROGRESSIVE, 0.5), "ends too early"),
        (PNG[:20], "header is missing or truncated"),
        (cut(PNG, 0.5), "ends too early"),
        (PNG[:-12], "ends too early"),
        (flipped(PNG, 29), "CRC error"),
        (flipped(PNG, len(PNG) // 2), "this PNG cannot be decoded"),
        (png(np.zeros((4, 0, 3)), 2, 8), "0 x 4 pixels"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_error_says_what_is_wrong(tmp_path: Path, file: bytes, message: str) -> None:
    with pytest.raises(DecodeError, match=message) as caught:
        decode(tmp_path, [PHOTOGRAPH, file])
    assert caught.value.file == str(tmp_path / "001.bin")
    assert caught.value.sample == 1
    assert caught.value.operator == "decoders.image"


def test_batch_after_a_broken_file_is_not_spoilt(tmp_path: Path) -> None:
    with pytest.raises(DecodeError):
        decode(tmp_path, [cut(PHOTOGRAPH, 0.5)])
    np.testing.assert_array_equal(decode(tmp_path, [PHOTOGRAPH])[0], pillow(PHOTOGRAPH))


def test_damage_that_libjpeg_goes_on_from_is_not_an_error(tmp_path: Path) -> None:
    """As with DALI: a bad byte in the scan spoils what follows it, and no more."""
    at = len(PHOTOGRAPH) // 2
    damaged = [PHOTOGRAPH[:at] + bytes([b]) + PHOTOGRAPH[at + 1 :] for b in (0x00, 0x55, 0xAA)]
    whole = decode(tmp_path, damaged)
    for file, ours in zip(damaged, whole, strict=True):
        np.testing.assert_array_equal(ours, pillow(file))


@pytest.mark.parametrize("place", [0.5, 0.6, 0.7, 0.8])
def test_fill_bytes_before_stuffing_are_damage(tmp_path: Path, place: float) -> None:
    at = int(len(PHOTOGRAPH) * place)
    file = PHOTOGRAPH[:at] + b"\xff\xff\x00" + PHOTOGRAPH[at + 3 :]
    np.testing.assert_array_equal(decode(tmp_path, [file])[0], pillow(file))


def test_bytes_behind_the_picture_do_not_matter(tmp_path: Path) -> None:
    np.testing.assert_array_equal(decode(tmp_path, [PHOTOGRAPH + b"more" * 99])[0], pillow(PHOTOGRAPH))


def test_only_what_is_needed_is_looked_at(tmp_path: Path) -> None:
    """A window above the fault decodes."""
    top = decode_window(tmp_path, [cut(PHOTOGRAPH, 0.6)], [(10, 0, 90, 30)])[0]
    np.testing.assert_array_equal(top, pillow(PHOTOGRAPH)[0:30, 10:90])


def test_too_many_pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2**31 - 1, 2**31 - 1, 8, 2, 0, 0, 0))
    with pytest.raises(DecodeError, match="2147483647 x 2147483647 pixels, more than the limit of 536870912"):
        decode(tmp_path, [claims])
    sof = PHOTOGRAPH.index(b"\xff\xc0")
    claims = PHOTOGRAPH[: sof + 5] + struct.pack(">HH", 65500, 65500) + PHOTOGRAPH[sof + 9 :]
    with pytest.raises(DecodeError, match="65500 x 65500"):
        decode(tmp_path, [claims])
    monkeypatch.setenv("PENSTOCK_MAX_PIXELS", str(160 * 120))
    decode(tmp_path, [PHOTOGRAPH])
    monkeypatch.setenv("PENSTOCK_MAX_PIXELS", str(160 * 120 - 1))
    with pytest.raises(DecodeError, match="160 x 120 pixels, more than the limit of 19199"):
        decode(tmp_path, [PHOTOGRAPH])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(start=(-1, 0), end=(20, 20)), "axis 1 .W. the window goes from -1 to 20, .* 0 to 160"),
        (dict(start=(0, 0), end=(20, 121)), "axis 0 .H. the window goes from 0 to 121, .* 0 to 120"),
        (dict(start=(5, 5), end=(5, 9)), "is empty"),
    ],
)
def test_window_outside_the_picture(tmp_path: Path, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(OperatorError, match=message):
        decode(tmp_path, [PHOTOGRAPH], fn.decoders.image_slice, **arguments)


def test_input_must_be_bytes(tmp_path: Path) -> None:
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipeline() -> object:
        return fn.decoders.image(np.zeros((4, 4), np.float32))

    with pytest.raises(OperatorError, match="expected the bytes of a file"):
        pipeline().run()


def test_broken_photographs_of_dali_extra(tmp_path: Path, dali_extra: Path) -> None:
    """Four JPEG files that crashed some decoder once; they are damaged in ways that libjpeg goes on from."""
    files = [path.read_bytes() for path in sorted((dali_extra / "db/fuzzing/jpeg").glob("*.jpg"))]
    for ours, file in zip(decode(tmp_path, files), files, strict=True):
        np.testing.assert_array_equal(ours, pillow(file))
    for path in sorted((dali_extra / "db/fuzzing/bmp").glob("*.bmp")):
        with pytest.raises(DecodeError, match="not a JPEG or PNG picture"):
            decode(tmp_path, [path.read_bytes()])
