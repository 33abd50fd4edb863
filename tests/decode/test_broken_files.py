"""Files that are no picture, or broken: which error they are, or that they are decoded after all."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import backend, fn, pipeline_def
from penstock.errors import ArgumentError, DecodeError, OperatorError
from tests.decode.dalis import with_dali
from tests.decode.formats import tiff
from tests.decode.pictures import chunk, decode, decode_window, jpeg, pillow, png, smooth
from tests.decode.test_formats import FILES

ROOT = Path(__file__).resolve().parents[2]

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
        (b"\xff", "not a BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP picture"),
        (b"hello, world", "not a BMP, .* or WebP picture .starts with 'hello, w'"),
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


def huge(name: str) -> bytes:
    """The file with a header that says 65500 x 65500; WebP's limit is 16384 x 16384."""
    file = FILES[name][0]
    if name == "webp":
        at = file.index(b"VP8L") + 9
        bits = int.from_bytes(file[at : at + 4], "little") | (1 << 28) - 1
        return file[:at] + bits.to_bytes(4, "little") + file[at + 4 :]
    before, after = {
        "bmp 24": (struct.pack("<ii", 37, 23), struct.pack("<ii", 65500, 65500)),
        "jp2": (struct.pack(">II", 37, 23), struct.pack(">II", 65500, 65500)),
        "j2k": (struct.pack(">II", 37, 23), struct.pack(">II", 65500, 65500)),
        "lossless jpeg 16": (struct.pack(">HH", 23, 37), struct.pack(">HH", 65500, 65500)),
        "pgm": (b"37 23", b"65500 65500"),
        "tiff": (
            b"".join(struct.pack("<HHIHH", tag, 3, 1, size, 0) for tag, size in ((256, 37), (257, 23))),
            b"".join(struct.pack("<HHIHH", tag, 3, 1, 65500, 0) for tag in (256, 257)),
        ),
    }[name]
    assert before in file
    return file.replace(before, after, 1)  # JPEG 2000 has the same numbers again for its tiles


@pytest.mark.parametrize("name", ["bmp 24", "webp", "jp2", "j2k", "lossless jpeg 16", "pgm", "tiff"])
def test_limit_on_pixels_in_every_format(tmp_path: Path, name: str) -> None:
    """It comes before any memory is taken, and is settable."""
    file = huge(name)
    limit = 2**27 if name == "webp" else None
    backend.set_max_decoded_pixels(limit)
    try:
        assert backend.max_decoded_pixels() == (limit or 2**29)
        with pytest.raises(DecodeError, match=f"(65500|16384) pixels.*, more than the limit of {limit or 2**29} "):
            decode(tmp_path, [file])
        backend.set_max_decoded_pixels(37 * 23)
        decode(tmp_path, [FILES[name][0]])
        backend.set_max_decoded_pixels(37 * 23 - 1)
        with pytest.raises(DecodeError, match=r"limit of 850 .set by penstock\.backend\.set_max_decoded_pixels"):
            decode(tmp_path, [FILES[name][0]])
    finally:
        backend.set_max_decoded_pixels(None)


def test_many_channels_count_as_many_pixels(tmp_path: Path) -> None:
    file = FILES["tiff 6 channels"][0]
    backend.set_max_decoded_pixels(2 * 37 * 23 - 1)
    try:
        with pytest.raises(DecodeError, match="37 x 23 pixels of 6 channels, more than the limit of 1701"):
            decode(tmp_path, [file])
    finally:
        backend.set_max_decoded_pixels(None)


@pytest.mark.parametrize("value", [0, -1, True, "many", 1.5])
def test_limit_must_be_a_number_of_pixels(value: Any) -> None:
    with pytest.raises(ArgumentError, match="set_max_decoded_pixels: pixels="):
        backend.set_max_decoded_pixels(value)


@pytest.mark.parametrize(
    ("variable", "name", "message"),
    [
        ("PENSTOCK_LIBTIFF", "tiff", "TIFF pictures need libtiff, .* libtiff6 of Debian .*pip install pillow"),
        ("PENSTOCK_LIBWEBP", "webp", "WebP pictures need libwebp, .* libwebp7 of Debian .*pip install pillow"),
        ("PENSTOCK_LIBOPENJP2", "jp2", "JPEG 2000 pictures need libopenjp2, .* libopenjp2-7 of Debian"),
    ],
)
def test_without_a_library(tmp_path: Path, variable: str, name: str, message: str) -> None:
    """That format alone is an error, which says what to install."""
    code = f"""
import sys
from pathlib import Path
from penstock.errors import OperatorError
from tests.decode.pictures import decode
from tests.decode.test_formats import FILES
folder = Path({str(tmp_path)!r})
print(decode(folder, [FILES["bmp 24"][0]])[0].shape)
for _ in range(2):
    try:
        decode(folder, [FILES[{name!r}][0]])
    except OperatorError as e:
        print(e)
"""
    environment = {**os.environ, variable: str(tmp_path / "none")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300, cwd=ROOT
    )
    first, *others = done.stdout.split("\n", 1)
    assert first == "(23, 37, 3)", done.stderr
    assert len(re.findall(message, others[0])) == 2
    assert f"or set {variable} to its path" in others[0]


def test_numbers_without_a_decoder(tmp_path: Path) -> None:
    """Where DALI gives an error, too."""
    for values, sample_format in ((np.zeros((4, 5, 3), np.int16), 2), (np.zeros((4, 5, 3), np.uint32), 1)):
        with pytest.raises(DecodeError, match=f"TIFF of {values.itemsize * 8} bits of sample format"):
            decode(tmp_path, [tiff(values, sample_format=sample_format)])


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
    assert len(files) == 4
    for ours, theirs, file in zip(decode(tmp_path, files), with_dali(files, "decoders.image"), files, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(ours, pillow(file))


def test_broken_bmp_of_dali_extra(tmp_path: Path, dali_extra: Path) -> None:
    """Their palettes are shorter than their indices say: what is not there is black, as for DALI."""
    files = [path.read_bytes() for path in sorted((dali_extra / "db/fuzzing/bmp").glob("*.bmp"))]
    assert len(files) == 4
    for ours, theirs in zip(decode(tmp_path, files), with_dali(files, "decoders.image"), strict=True):
        np.testing.assert_array_equal(ours, theirs)
