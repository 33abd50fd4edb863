"""PNG: every colour type and depth, against the samples that were written."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from penstock import types
from tests.decode.pictures import chunk, decode, decode_window, exif, png, smooth, some_windows

GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6
SAMPLES = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGBA: 4}
KINDS = [(GRAY, b) for b in (1, 2, 4, 8, 16)] + [(PALETTE, b) for b in (1, 2, 4, 8)]
KINDS += [(t, b) for t in (RGB, GRAY_ALPHA, RGBA) for b in (8, 16)]


class Written:
    """A PNG file, and what it shows: colour and alpha as numbers of ``bits`` bits (8 or 16)."""

    def __init__(self, random: np.random.Generator, color_type: int, bits: int, interlaced: bool = False):
        width, height = 37, 23
        values = random.integers(0, 2**bits, (height, width, SAMPLES[color_type]))
        chunks, shown = [], values
        if color_type == PALETTE:
            palette = random.integers(0, 256, (2**bits, 3))
            transparency = random.integers(0, 256, 2**bits, np.uint8).tobytes()  # is dropped
            chunks = [chunk(b"PLTE", palette.astype(np.uint8).tobytes()), chunk(b"tRNS", transparency)]
            shown = palette[values[..., 0]]
        elif color_type == GRAY:
            chunks = [chunk(b"tRNS", struct.pack(">H", int(values[0, 0, 0])))]  # dropped too
            shown = values * (255 // (2**bits - 1)) if bits < 8 else values
        self.file = png(values, color_type, bits, interlaced, chunks)
        self.shown = shown.astype(np.uint16 if bits == 16 else np.uint8)

    @property
    def dtype(self) -> types.DALIDataType:
        return types.to_dali_type(self.shown.dtype)

    @property
    def rgb(self) -> np.ndarray[Any, Any]:
        return self.shown[..., :1].repeat(3, -1) if self.shown.shape[-1] < 3 else self.shown[..., :3]


@pytest.mark.parametrize("interlaced", [False, True], ids=["plain", "interlaced"])
@pytest.mark.parametrize(("color_type", "bits"), KINDS)
def test_colours(tmp_path: Path, random: np.random.Generator, color_type: int, bits: int, interlaced: bool) -> None:
    written = Written(random, color_type, bits, interlaced)

    def ours(output_type: types.DALIImageType) -> np.ndarray[Any, Any]:
        return decode(tmp_path, [written.file], output_type=output_type, dtype=written.dtype)[0]

    np.testing.assert_array_equal(ours(types.RGB), written.rgb)
    np.testing.assert_array_equal(ours(types.BGR), written.rgb[..., ::-1])
    np.testing.assert_array_equal(ours(types.ANY_DATA), written.shown)
    gray = ours(types.GRAY)
    assert gray.shape == (*written.rgb.shape[:2], 1)
    assert np.abs(gray[..., 0] - written.rgb @ [0.299, 0.587, 0.114]).max() <= (4 if bits == 16 else 1.01)
    if written.shown.shape[-1] < 3:
        np.testing.assert_array_equal(gray, written.shown[..., :1])
    windows = some_windows(random, 37, 23, 3)
    parts = decode_window(tmp_path, [written.file] * len(windows), windows, dtype=written.dtype)
    for (x0, y0, x1, y1), part in zip(windows, parts, strict=True):
        np.testing.assert_array_equal(part, written.rgb[y0:y1, x0:x1])


@pytest.mark.parametrize(("dtype", "scale"), [(types.UINT8, 255), (types.INT16, 32767), (types.FLOAT, 1)])
def test_16_bits_to_other_types(
    tmp_path: Path, random: np.random.Generator, dtype: types.DALIDataType, scale: int
) -> None:
    written = Written(random, RGB, 16)
    ours = decode(tmp_path, [written.file], dtype=dtype)[0]
    assert np.abs(ours - written.rgb / 65535 * scale).max() <= (1e-6 if dtype == types.FLOAT else 0.5)


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_orientation(tmp_path: Path, random: np.random.Generator, orientation: int) -> None:
    values = random.integers(0, 256, (20, 30, 3))
    file = png(values, RGB, 8, chunks=[chunk(b"eXIf", exif(orientation))])
    turns = {1: 0, 3: 2, 6: 3, 8: 1}[orientation]  # counterclockwise
    np.testing.assert_array_equal(decode(tmp_path, [file])[0], np.rot90(values, turns))
    np.testing.assert_array_equal(decode(tmp_path, [file], adjust_orientation=False)[0], values)


def test_gamma_and_background_are_left_alone(tmp_path: Path, random: np.random.Generator) -> None:
    values = random.integers(0, 256, (20, 30, 4))
    chunks = [chunk(b"gAMA", struct.pack(">I", 100000)), chunk(b"bKGD", struct.pack(">HHH", 9, 200, 9))]
    np.testing.assert_array_equal(decode(tmp_path, [png(values, RGBA, 8, chunks=chunks)])[0], values[..., :3])


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGB", "RGBA", "I;16"])
def test_files_of_pillow(tmp_path: Path, random: np.random.Generator, mode: str) -> None:
    """At every level of compression, with the filters that it chooses, and as large as is unpacked in pieces."""
    pixels = smooth(random, 401, 300, 4) + random.integers(0, 3, (300, 401, 4), np.uint8)
    picture = Image.fromarray(pixels).convert("L").convert(mode) if mode == "I;16" else Image.fromarray(pixels)
    picture = picture if mode == "I;16" else picture.convert("RGB").quantize() if mode == "P" else picture.convert(mode)
    files = []
    settings: list[dict[str, Any]] = [{"compress_level": level} for level in range(10)]
    for options in [*settings, {"compress_type": 4}, {"optimize": True}]:
        file = io.BytesIO()
        picture.save(file, "PNG", **options)
        files.append(file.getvalue())
    whole = np.asarray(picture) if mode == "I;16" else np.asarray(picture.convert("RGB"))
    for ours in decode(tmp_path, files, dtype=types.UINT16 if mode == "I;16" else types.UINT8):
        np.testing.assert_array_equal(ours, whole[..., None].repeat(3, -1) if mode == "I;16" else whole)


def test_first_picture_of_an_animation(tmp_path: Path, random: np.random.Generator) -> None:
    frames = [Image.fromarray(smooth(random, 50, 40)) for _ in range(3)]
    file = io.BytesIO()
    frames[0].save(file, "PNG", save_all=True, append_images=frames[1:])
    np.testing.assert_array_equal(decode(tmp_path, [file.getvalue()])[0], np.asarray(frames[0]))
