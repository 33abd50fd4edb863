"""BMP, PNM, TIFF, WebP, JPEG 2000 and lossless JPEG: every kind of file against the pixels that were put into it."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from penstock import fn, types
from penstock.errors import DecodeError
from tests.decode.formats import bmp, bmp_rows, lossless_jpeg, nibbles, run_lengths, saved, tiff
from tests.decode.pictures import Array, decode, decode_window, exif, smooth

RANDOM = np.random.default_rng(21)
WIDTH, HEIGHT = 37, 23
RGBA = smooth(RANDOM, WIDTH, HEIGHT, 4)
RGB, GRAY, GRAY_ALPHA = RGBA[..., :3].copy(), RGBA[..., :1].copy(), RGBA[..., [0, 3]].copy()
DEEP = RGB.astype(np.uint16) * 256 + RANDOM.integers(0, 256, RGB.shape, np.uint16)
DEEP_GRAY = DEEP[..., :1].copy()
SIX = np.concatenate([RGB, RGB[::-1]], -1)
BITS = (GRAY > 128).astype(np.uint8)
INDICES = RANDOM.integers(0, 200, (HEIGHT, WIDTH), np.uint8)
PALETTE = RANDOM.integers(0, 256, (200, 3), np.uint8)
BGRA = RGBA[..., [2, 1, 0, 3]].copy()
V555 = ((RGB >> 3).astype(np.uint16) << [10, 5, 0]).sum(-1).astype("<u2")
V565 = ((RGB >> [3, 2, 3]).astype(np.uint16) << [11, 5, 0]).sum(-1).astype("<u2")
S = (WIDTH, HEIGHT)


def text(values: Array) -> bytes:
    return " ".join(map(str, values.ravel())).encode()


def words(values: Array) -> bytes:
    return values.astype(">u2").tobytes()


# Name: the file, and its pixels as stored (uint8, or uint16 at full scale).
FILES: dict[str, tuple[bytes, Array]] = {
    "bmp 24": (bmp(bmp_rows(RGB[..., ::-1]), *S, 24), RGB),
    "bmp 24 from top": (bmp(bmp_rows(RGB[..., ::-1], True), WIDTH, -HEIGHT, 24), RGB),
    "bmp 32": (bmp(bmp_rows(BGRA), *S, 32), RGBA),
    "bmp 32 v5": (bmp(bmp_rows(BGRA), *S, 32, 3, None, (0xFF0000, 0xFF00, 0xFF, 0xFF000000), 124), RGBA),
    "bmp 32 rgba": (bmp(bmp_rows(RGBA), *S, 32, 3, None, (0xFF, 0xFF00, 0xFF0000, 0xFF000000), 108), RGBA),
    "bmp 32 opaque": (
        bmp(bmp_rows(BGRA), *S, 32, 3, None, (0xFF0000, 0xFF00, 0xFF)),
        np.where([1, 1, 1, 0], RGBA, 255).astype(np.uint8),
    ),
    "bmp 555": (bmp(bmp_rows(V555), *S, 16), RGB & 0xF8),
    "bmp 565": (
        bmp(bmp_rows(V565), *S, 16, 3, None, (0xF800, 0x7E0, 0x1F)),
        RGB & np.array([0xF8, 0xFC, 0xF8], np.uint8),
    ),
    "bmp 8": (bmp(bmp_rows(INDICES), *S, 8, 0, PALETTE), PALETTE[INDICES]),
    "bmp 8 gray": (bmp(bmp_rows(INDICES), *S, 8, 0, PALETTE[:, [0, 0, 0]]), PALETTE[INDICES][..., :1]),
    "bmp 8 short palette": (
        bmp(bmp_rows(INDICES), *S, 8, 0, PALETTE[:50]),
        np.where(INDICES[..., None] < 50, PALETTE[INDICES], 0).astype(np.uint8),
    ),
    "bmp 4": (bmp(bmp_rows(nibbles(INDICES % 16)), *S, 4, 0, PALETTE[:16]), PALETTE[INDICES % 16]),
    "bmp 1": (bmp(bmp_rows(np.packbits(BITS[..., 0], 1)), *S, 1, 0, PALETTE[:2]), PALETTE[BITS[..., 0]]),
    "bmp os/2": (bmp(bmp_rows(RGB[..., ::-1]), *S, 24, header=12), RGB),
    "bmp os/2 8": (bmp(bmp_rows(INDICES), *S, 8, 0, np.resize(PALETTE, (256, 3)), header=12), PALETTE[INDICES]),
    "bmp rle8": (bmp(run_lengths(INDICES, 8), *S, 8, 1, PALETTE), PALETTE[INDICES]),
    "bmp rle4": (bmp(run_lengths(INDICES % 16, 4), *S, 4, 2, PALETTE[:16]), PALETTE[INDICES % 16]),
    "pbm text": (b"P1\n# made by hand\n37 23\n" + text(BITS), 255 * (1 - BITS)),
    "pbm text without spaces": (b"P1 37 23\n" + text(BITS).replace(b" ", b""), 255 * (1 - BITS)),
    "pgm text": (b"P2 #\n37 # wide\n23\n255\n" + text(GRAY), GRAY),
    "pgm text 1023": (
        b"P2 37 23 1023\n" + text(DEEP_GRAY >> 6),
        np.floor((DEEP_GRAY >> 6) * (65535 / 1023) + 0.5).astype(np.uint16),
    ),
    "ppm text": (b"P3\n37 23\n255\n" + text(RGB), RGB),
    "pbm": (b"P4\n37 23\n" + np.packbits(BITS[..., 0], 1).tobytes(), 255 * (1 - BITS)),
    "pgm": (b"P5\n37 23\n255\n" + GRAY.tobytes(), GRAY),
    "pgm 100": (b"P5\n37 23\n100\n" + (GRAY // 3).tobytes(), GRAY // 3),
    "pgm 16": (b"P5\n37 23\n65535\n" + words(DEEP_GRAY), DEEP_GRAY),
    "pgm 1023": (
        b"P5\n37 23\n1023\n" + words(DEEP_GRAY >> 6),
        np.floor((DEEP_GRAY >> 6) * (65535 / 1023) + 0.5).astype(np.uint16),
    ),
    "ppm": (b"P6\n#\n37 23\n255\n" + RGB.tobytes(), RGB),
    "ppm 16": (b"P6\n37 23\n65535\n" + words(DEEP), DEEP),
    "tiff": (tiff(RGB), RGB),
    "tiff big endian": (tiff(DEEP, order=">"), DEEP),
    "bigtiff": (tiff(RGB, big=True, rows_per_strip=5), RGB),
    "tiff strips": (tiff(DEEP, rows_per_strip=4), DEEP),
    "tiff deflate": (tiff(RGB, rows_per_strip=4, deflate=True), RGB),
    "tiff tiles": (tiff(RGB, tile=(16, 16)), RGB),
    "tiff tiles 16": (tiff(DEEP, tile=(32, 16), deflate=True), DEEP),
    "tiff large tile": (tiff(GRAY, 1, tile=(64, 64)), GRAY),
    "tiff planar": (tiff(RGB, planar=True, rows_per_strip=7), RGB),
    "tiff planar 16": (tiff(DEEP, planar=True), DEEP),
    "tiff planar tiles": (tiff(DEEP, planar=True, tile=(16, 16)), DEEP),
    "tiff 6 channels": (tiff(SIX), SIX),
    "tiff 6 channels planar": (tiff(SIX, planar=True, tile=(16, 16)), SIX),
    "tiff rgba": (tiff(RGBA), RGBA),
    "tiff gray alpha": (tiff(GRAY_ALPHA, 1), GRAY_ALPHA),
    "tiff white is 0": (tiff(GRAY, 0), 255 - GRAY),
    "tiff white is 0, 16": (tiff(DEEP_GRAY, 0), 65535 - DEEP_GRAY),
    "tiff 1": (tiff(BITS, 1, 1), 255 * BITS),
    "tiff 1, white is 0": (tiff(BITS, 0, 1, tile=(16, 16)), 255 * (1 - BITS)),
    "tiff 2": (tiff(GRAY >> 6, 1, 2), (GRAY >> 6) * 85),
    "tiff 4": (tiff(RGB >> 4, 2, 4, tile=(16, 16)), (RGB >> 4) * 17),
    "tiff 12": (tiff(DEEP >> 4, 2, 12), DEEP >> 4 << 4),
    "tiff palette": (
        tiff(INDICES[..., None], 3, palette=np.resize(PALETTE, (256, 3)).astype(np.uint16) * 257),
        PALETTE[INDICES].astype(np.uint16) * 257,
    ),
    "tiff palette 4": (
        tiff(INDICES[..., None] % 16, 3, 4, palette=PALETTE[:16].astype(np.uint16) * 256),
        PALETTE[INDICES % 16].astype(np.uint16) * 256,
    ),
    "tiff lzw": (saved(Image.fromarray(RGB), "TIFF", compression="tiff_lzw"), RGB),
    "tiff packbits": (saved(Image.fromarray(RGB), "TIFF", compression="packbits"), RGB),
    "tiff group 4": (saved(Image.fromarray(255 * BITS[..., 0]).convert("1"), "TIFF", compression="group4"), 255 * BITS),
    "webp": (saved(Image.fromarray(RGB), "WEBP", lossless=True), RGB),
    "webp rgba": (saved(Image.fromarray(RGBA), "WEBP", lossless=True, exact=True), RGBA),
    "jp2": (saved(Image.fromarray(RGB), "JPEG2000"), RGB),
    "j2k": (saved(Image.fromarray(RGB), "JPEG2000", no_jp2=True), RGB),
    "jp2 gray": (saved(Image.fromarray(GRAY[..., 0]), "JPEG2000"), GRAY),
    "jp2 gray alpha": (saved(Image.fromarray(GRAY_ALPHA, "LA"), "JPEG2000"), GRAY_ALPHA),
    "jp2 rgba": (saved(Image.fromarray(RGBA), "JPEG2000"), RGBA),
    "jp2 16": (saved(Image.fromarray(DEEP_GRAY[..., 0]), "JPEG2000"), DEEP_GRAY),
    "jp2 tiles": (saved(Image.fromarray(RGB), "JPEG2000", tile_size=(16, 16)), RGB),
}
FILES |= {
    f"lossless jpeg predictor {k}": (lossless_jpeg(GRAY, 8, k, restart_rows=5 * (k % 2)), GRAY) for k in range(1, 8)
}
FILES |= {
    "lossless jpeg 16": (lossless_jpeg(DEEP_GRAY, 16, 4), DEEP_GRAY),
    "lossless jpeg 12": (
        lossless_jpeg(DEEP_GRAY >> 4, 12, 7),
        np.floor((DEEP_GRAY >> 4) * (65535 / 4095) + 0.5).astype(np.uint16),
    ),
    "lossless jpeg extremes": (
        lossless_jpeg(np.indices((9, 9)).sum(0)[..., None] % 2 * 65535, 16, 5),
        (np.indices((9, 9)).sum(0)[..., None] % 2 * 65535).astype(np.uint16),
    ),
    "lossless jpeg rgb": (lossless_jpeg(RGB, 8, 6), RGB),
    "lossless jpeg rgb in 3 scans": (lossless_jpeg(RGB, 8, 2, one_scan=False, restart_rows=4), RGB),
    "lossless jpeg 4 components": (lossless_jpeg(RGBA, 8, 4), RGBA),
    "lossless jpeg shifted": (lossless_jpeg(RGB, 8, 3, shift=2), RGB & 0xFC),
}


def as_bytes(stored: Array) -> Array:
    return stored if stored.dtype == np.uint8 else np.floor(stored / 257 + 0.5).astype(np.uint8)


def as_rgb(stored: Array) -> Array:
    return stored[..., :3] if stored.shape[-1] >= 3 else np.repeat(stored[..., :1], 3, -1)


def rgb_of(name: str) -> Array:
    return as_rgb(FILES[name][1])


@pytest.mark.parametrize("name", FILES)
def test_pixels(tmp_path: Path, name: str) -> None:
    """In all colours and three types; gray is within a level of the rounded luma."""
    file, stored = FILES[name]

    def decoded(output_type: str, dtype: str = "UINT8") -> Array:
        kinds: dict[str, Any] = dict(output_type=getattr(types, output_type), dtype=getattr(types, dtype))
        return decode(tmp_path, [file], **kinds)[0]

    np.testing.assert_array_equal(decoded("ANY_DATA"), as_bytes(stored))
    full = stored if stored.dtype == np.uint16 else stored.astype(np.uint16) * 257
    np.testing.assert_array_equal(decoded("ANY_DATA", "UINT16"), full)
    np.testing.assert_allclose(decoded("RGB", "FLOAT"), as_rgb(full) / 65535, rtol=0, atol=1e-7)
    rgb = as_bytes(as_rgb(stored))
    np.testing.assert_array_equal(decoded("RGB"), rgb)
    np.testing.assert_array_equal(decoded("BGR"), rgb[..., ::-1])
    np.testing.assert_allclose(decoded("GRAY")[..., 0], rgb @ [0.299, 0.587, 0.114], rtol=0, atol=1.01)


@pytest.mark.parametrize("name", FILES)
def test_shape_and_windows(tmp_path: Path, name: str) -> None:
    """peek_image_shape says what comes; a window is the same piece of the picture."""
    file, stored = FILES[name]
    (shape,) = decode(tmp_path, [file], fn.peek_image_shape, image_type=types.ANY_DATA)
    assert tuple(shape) == stored.shape
    height, width = stored.shape[:2]
    for x0, y0, x1, y1 in [(0, 0, 1, 1), (width - 1, 3, width, height), (3, height - 1, 8, height), (2, 5, 8, 9)]:
        (part,) = decode_window(tmp_path, [file], [(x0, y0, x1, y1)], output_type=types.ANY_DATA)
        np.testing.assert_array_equal(part, as_bytes(stored)[y0:y1, x0:x1])


LOSSY = {
    "webp": saved(Image.fromarray(smooth(RANDOM, 160, 121)), "WEBP", quality=70),
    "webp alpha": saved(Image.fromarray(smooth(RANDOM, 161, 120, 4)), "WEBP", quality=70),
    "jp2": saved(Image.fromarray(smooth(RANDOM, 160, 121)), "JPEG2000", irreversible=True, quality_layers=[8]),
    "jp2 tiles": saved(
        Image.fromarray(smooth(RANDOM, 160, 121)), "JPEG2000", irreversible=True, quality_layers=[8], tile_size=(64, 64)
    ),
    "tiff jpeg": saved(Image.fromarray(smooth(RANDOM, 160, 121)), "TIFF", compression="jpeg"),
    "tiff jpeg of YCbCr": saved(Image.fromarray(smooth(RANDOM, 160, 121)).convert("YCbCr"), "TIFF", compression="jpeg"),
}


@pytest.mark.parametrize("name", LOSSY)
def test_lossy_windows(tmp_path: Path, name: str) -> None:
    """They are decoded with the neighbours that interpolation and wavelets need. JPEG 2000's are one level off at most:
    OpenJPEG adds in another order."""
    file = LOSSY[name]
    (whole,) = decode(tmp_path, [file])
    for x0, y0, x1, y1 in [(0, 0, 1, 1), (31, 17, 99, 54), (63, 64, 66, 67), (101, 77, 160, 120)]:
        (part,) = decode_window(tmp_path, [file], [(x0, y0, x1, y1)])
        off = np.abs(part.astype(int) - whole[y0:y1, x0:x1])
        assert off.max() <= (1 if name.startswith("jp2") else 0)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation(tmp_path: Path, orientation: int) -> None:
    """TIFF's own tag and WebP's EXIF, as Pillow turns a JPEG of the same EXIF."""
    turned: dict[int, Array] = {
        1: RGB, 2: RGB[:, ::-1], 3: RGB[::-1, ::-1], 4: RGB[::-1], 5: RGB.swapaxes(0, 1), 6: np.rot90(RGB, -1),
        7: np.rot90(RGB, 2).swapaxes(0, 1), 8: np.rot90(RGB),
    }  # fmt: skip
    webp = saved(Image.fromarray(RGB), "WEBP", lossless=True, exif=b"Exif\0\0" + exif(orientation))
    files = [tiff(RGB, orientation=orientation, tile=(16, 16)), webp]
    for picture in decode(tmp_path, files):
        np.testing.assert_array_equal(picture, turned[orientation])
    for picture in decode(tmp_path, files, adjust_orientation=False):
        np.testing.assert_array_equal(picture, RGB)


def test_floats(tmp_path: Path) -> None:
    """TIFF of floats: 0 to 1 is full scale; FLOAT keeps what is beyond it."""
    values = (DEEP / 65535 * 1.5 - 0.2).astype(np.float32)
    values[0, 0] = np.nan
    file = tiff(values, sample_format=3, tile=(16, 16))
    (floats,) = decode(tmp_path, [file], dtype=types.FLOAT)
    np.testing.assert_array_equal(floats, values)
    (whole,) = decode(tmp_path, [file])
    expected = np.floor(np.nan_to_num(values, nan=0.0).clip(0, 1).astype(np.float64) * 255 + 0.5)
    np.testing.assert_array_equal(whole, expected.astype(np.uint8))


def test_cmyk_tiff(tmp_path: Path) -> None:
    """Inks leave light over; ANY_DATA shows the inks."""
    ink = RGBA.astype(int)
    expected = (255 - ink[..., :3]) * (255 - ink[..., 3:]) // 255
    file = saved(Image.fromarray(RGBA, "CMYK"), "TIFF")
    np.testing.assert_array_equal(decode(tmp_path, [file])[0], expected)
    np.testing.assert_array_equal(decode(tmp_path, [file], output_type=types.BGR)[0], expected[..., ::-1])
    np.testing.assert_array_equal(decode(tmp_path, [file], output_type=types.ANY_DATA)[0], RGBA)


def test_first_frame_of_an_animation(tmp_path: Path) -> None:
    """A frame that covers a part alone lies on a transparent canvas."""
    animation = saved(
        Image.fromarray(RGB), "WEBP", save_all=True, append_images=[Image.fromarray(RGB[::-1])], lossless=True
    )
    np.testing.assert_array_equal(decode(tmp_path, [animation])[0], RGB)
    at = animation.index(b"VP8X") + 12
    canvas = animation[:at] + struct.pack("<I", WIDTH + 9)[:3] + struct.pack("<I", HEIGHT + 4)[:3] + animation[at + 6 :]
    frame = canvas.index(b"ANMF") + 8
    moved = canvas[:frame] + struct.pack("<I", 2)[:3] + struct.pack("<I", 1)[:3] + canvas[frame + 6 :]
    (picture,) = decode(tmp_path, [moved], output_type=types.ANY_DATA)
    expected = np.zeros((HEIGHT + 5, WIDTH + 10, 4), np.uint8)
    expected[2 : 2 + HEIGHT, 4 : 4 + WIDTH] = np.dstack([RGB, np.full((HEIGHT, WIDTH), 255, np.uint8)])
    np.testing.assert_array_equal(picture, expected)


@pytest.mark.parametrize("name", [name for name in FILES if "text" not in name])
def test_truncated(tmp_path: Path, name: str) -> None:
    """Half a file is an error, whatever the format."""
    file = FILES[name][0]
    with pytest.raises(DecodeError):
        decode(tmp_path, [file[: len(file) // 2]])


def test_content_counts_and_not_the_name(tmp_path: Path) -> None:
    """A batch of all formats."""
    names = list(FILES)
    for name, picture in zip(names, decode(tmp_path, [FILES[name][0] for name in names]), strict=True):
        np.testing.assert_array_equal(picture, as_bytes(rgb_of(name)), err_msg=name)
