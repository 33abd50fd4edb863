"""JPEG: equal to libjpeg-turbo (Pillow's) bit for bit, as a whole and in windows."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from penstock import types
from tests.decode.pictures import decode, decode_window, jpeg, jpeg_parts, pillow, smooth, some_windows

SIZES = [(1, 1), (3, 2), (16, 8), (17, 33), (100, 75), (131, 90)]


@pytest.mark.parametrize("progressive", [False, True], ids=["baseline", "progressive"])
@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
def test_equal_to_libjpeg(tmp_path: Path, random: np.random.Generator, subsampling: str, progressive: bool) -> None:
    files = [
        jpeg(smooth(random, *size), subsampling=subsampling, progressive=progressive, quality=quality)
        for size in SIZES
        for quality in (30, 75, 96)
    ]
    for ours, file in zip(decode(tmp_path, files), files, strict=True):
        np.testing.assert_array_equal(ours, pillow(file))


@pytest.mark.parametrize(
    "options",
    [
        dict(restart_marker_blocks=1),
        dict(restart_marker_rows=1),
        dict(optimize=True),
        dict(progressive=True),
        dict(subsampling="4:4:4"),
        dict(subsampling="4:2:2"),
    ],
    ids=str,
)
def test_window_is_part_of_the_whole(tmp_path: Path, random: np.random.Generator, options: dict[str, object]) -> None:
    file = jpeg(smooth(random, 150, 110), quality=90, **options)
    whole = pillow(file)
    windows = some_windows(random, 150, 110, 12)
    for (x0, y0, x1, y1), ours in zip(windows, decode_window(tmp_path, [file] * len(windows), windows), strict=True):
        np.testing.assert_array_equal(ours, whole[y0:y1, x0:x1])


def test_photographs_are_equal_to_libjpeg(tmp_path: Path, dali_extra: Path) -> None:
    files = [path.read_bytes() for path in sorted((dali_extra / "db/single/jpeg").glob("*/*.jpg"))[::4]]
    assert len(files) > 8
    for ours, file in zip(decode(tmp_path, files), files, strict=True):
        np.testing.assert_array_equal(ours, pillow(file))


def test_output_types(tmp_path: Path, random: np.random.Generator) -> None:
    file = jpeg(smooth(random, 61, 43), subsampling="4:2:0")
    rgb = pillow(file)

    def ours(output_type: types.DALIImageType) -> np.ndarray:
        return decode(tmp_path, [file], output_type=output_type)[0]

    np.testing.assert_array_equal(ours(types.RGB), rgb)
    np.testing.assert_array_equal(ours(types.BGR), rgb[..., ::-1])
    np.testing.assert_array_equal(ours(types.ANY_DATA), rgb)
    luma = Image.open(io.BytesIO(file))
    luma.draft("L", None)  # the stored luma plane
    np.testing.assert_array_equal(ours(types.GRAY)[..., 0], np.asarray(luma))
    # BT.601 with luma from 16 to 235, by its definition.
    kr, kb = 0.299, 0.114
    r, g, b = np.moveaxis(rgb.astype(np.float64) / 255, -1, 0)
    y = kr * r + (1 - kr - kb) * g + kb * b
    defined = [16 + 219 * y, 128 + 112 * (b - y) / (1 - kb), 128 + 112 * (r - y) / (1 - kr)]
    assert np.abs(ours(types.YCbCr) - np.stack(defined, -1)).max() <= 0.501


def test_grayscale_file(tmp_path: Path, random: np.random.Generator) -> None:
    file = jpeg(smooth(random, 61, 43, 1), "L")
    gray = pillow(file, "L")
    for output_type, expected in [
        (types.GRAY, gray),
        (types.ANY_DATA, gray),
        (types.RGB, gray.repeat(3, -1)),
        (types.BGR, gray.repeat(3, -1)),
    ]:
        np.testing.assert_array_equal(decode(tmp_path, [file], output_type=output_type)[0], expected)
    y, cb, cr = np.moveaxis(decode(tmp_path, [file], output_type=types.YCbCr)[0].astype(float), -1, 0)
    assert np.abs(y - (16 + gray[..., 0] / 255 * 219)).max() <= 0.501
    assert (cb == 128).all()
    assert (cr == 128).all()


@pytest.mark.parametrize("adobe", [True, False])
def test_cmyk(tmp_path: Path, random: np.random.Generator, adobe: bool) -> None:
    """Adobe's programs store inks inverted, and say so by their marker; without it, inks are stored as such."""
    file = jpeg(smooth(random, 61, 43, 4), "CMYK", quality=95)
    if not adobe:
        file = b"".join(part for part in jpeg_parts(file) if part[:2] != b"\xff\xee")
    stored = 255 - np.asarray(Image.open(io.BytesIO(file))).astype(int)  # Pillow inverts all
    light = stored if adobe else 255 - stored
    rgb = light[..., :3] * light[..., 3:] // 255
    np.testing.assert_array_equal(decode(tmp_path, [file])[0], rgb)
    np.testing.assert_array_equal(decode(tmp_path, [file], output_type=types.BGR)[0], rgb[..., ::-1])
    np.testing.assert_array_equal(decode(tmp_path, [file], output_type=types.ANY_DATA)[0], stored)
    gray = decode(tmp_path, [file], output_type=types.GRAY)[0]
    assert np.abs(gray[..., 0] - rgb @ [0.299, 0.587, 0.114]).max() <= 1
    window = decode_window(tmp_path, [file], [(20, 11, 40, 31)])[0]
    np.testing.assert_array_equal(window, rgb[11:31, 20:40])


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("little_endian", [True, False])
def test_orientation(tmp_path: Path, random: np.random.Generator, orientation: int, little_endian: bool) -> None:
    file = jpeg(smooth(random, 90, 50), orientation=orientation, little_endian=little_endian, subsampling="4:2:0")
    upright = pillow(file)
    np.testing.assert_array_equal(decode(tmp_path, [file])[0], upright)
    as_stored = np.asarray(Image.open(io.BytesIO(file)))
    np.testing.assert_array_equal(decode(tmp_path, [file], adjust_orientation=False)[0], as_stored)
    height, width = upright.shape[:2]
    windows = some_windows(random, width, height, 4)
    for (x0, y0, x1, y1), ours in zip(windows, decode_window(tmp_path, [file] * len(windows), windows), strict=True):
        np.testing.assert_array_equal(ours, upright[y0:y1, x0:x1])


@pytest.mark.parametrize(
    "dtype",
    [types.INT8, types.UINT16, types.INT16, types.UINT32, types.INT32, types.FLOAT],
)
def test_dtype_maps_full_scale_to_full_scale(
    tmp_path: Path, random: np.random.Generator, dtype: types.DALIDataType
) -> None:
    file = jpeg(smooth(random, 61, 43))
    numpy_type = np.dtype(types.to_numpy_type(dtype))
    scale = 1.0 if numpy_type.kind == "f" else np.iinfo(numpy_type).max
    expected = pillow(file) / 255 * scale
    ours = decode(tmp_path, [file], dtype=dtype)[0]
    assert ours.dtype == numpy_type
    tolerance = scale * 2e-7 + (0 if numpy_type.kind == "f" else 0.5)
    assert np.abs(ours - expected).max() <= tolerance


def test_fast_idct_is_less_exact(tmp_path: Path, random: np.random.Generator) -> None:
    file = jpeg(smooth(random, 120, 80), quality=95)
    exact, fast = decode(tmp_path, [file])[0], decode(tmp_path, [file], use_fast_idct=True)[0]
    difference = np.abs(exact.astype(int) - fast)
    assert 0 < difference.max() <= 20
    assert difference.mean() < 2


def test_exif_that_is_nonsense_leaves_the_picture_upright(tmp_path: Path, random: np.random.Generator) -> None:
    plain = jpeg(smooth(random, 40, 30))
    expected = pillow(plain)
    soi, *rest = jpeg_parts(plain)
    good = jpeg(smooth(random, 40, 30), orientation=6)
    block = next(part for part in jpeg_parts(good) if part[:2] == b"\xff\xe1")[10:]
    broken = [block[:n] for n in range(len(block))]  # cut off before the orientation's value, or behind it
    broken += [block[:-6] + bytes([9]) + block[-5:], b"XX" + block[2:], b"", bytes(64), b"\xff" * 64]
    broken += [bytes(random.integers(0, 256, 40, np.uint8)) for _ in range(40)]
    files = []
    for tiff in broken:
        body = b"Exif\0\0" + tiff
        files.append(soi + b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body + b"".join(rest))
    for ours in decode(tmp_path, files):
        assert ours.shape in {expected.shape, (40, 30, 3)}  # the cut-off ones may still hold an orientation
    np.testing.assert_array_equal(decode(tmp_path, files[-1:])[0], expected)
