"""Formats that nvImageCodec decodes with ``device="mixed"``: TIFF, JPEG 2000, lossless JPEG."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from penstock import fn, pipeline_def, types
from penstock.errors import DecodeError
from penstock.machine import libraries
from tests.decode import formats
from tests.decode.mixed import JPEGS, assert_alike, decode_mixed, mixed_pipeline
from tests.decode.pictures import Array, Window, decode, png, smooth, write

pytestmark = pytest.mark.usefixtures("levels")
RANDOM = np.random.default_rng(13)
PNG = png(RANDOM.integers(0, 256, (71, 80, 3)), 2, 8)


def tiff(values: Array, orientation: int = 1, order: str = "<", most: int = 0) -> bytes:
    """An uncompressed TIFF file of one strip; ``most``: the largest number that its samples use."""
    height, width, channels = values.shape
    bits, data = values.itemsize * 8, 8 + 2 + 12 * 12 + 4
    short, long = 3, 4
    tags = [
        (256, short, 1, width), (257, short, 1, height), (258, short, channels, bits), (259, short, 1, 1),
        (262, short, 1, 2 if channels >= 3 else 1), (273, long, 1, data + 2 * channels), (274, short, 1, orientation),
        (277, short, 1, channels), (278, short, 1, height), (279, long, 1, values.nbytes),
        (281, short, 1, most or 2**bits - 1), (284, short, 1, 1),
    ]  # fmt: skip
    body = struct.pack(order + "2sHIH", b"II" if order == "<" else b"MM", 42, 8, len(tags))
    for number, kind, count, value in tags:
        if count > 2:
            value, kind_of_value = data, "I"  # where the values are
        elif count == 2:
            value, kind_of_value = value << 16 | value, "I"
        else:
            kind_of_value = "I" if kind == long else "H2x"
        body += struct.pack(order + "HHI" + kind_of_value, number, kind, count, value)
    body += struct.pack(order + "I", 0) + struct.pack(order + f"{channels}H", *[bits] * channels)
    assert len(body) == data + 2 * channels
    return body + values.astype(values.dtype.newbyteorder(order)).tobytes()


def upright(picture: Array, orientation: int) -> Array:
    """By EXIF's definition: which corner row 0 and column 0 are at."""
    turned: dict[int, Array] = {
        1: picture, 2: picture[:, ::-1], 3: picture[::-1, ::-1], 4: picture[::-1],
        5: picture.swapaxes(0, 1), 6: np.rot90(picture, -1), 7: np.rot90(picture, 2).swapaxes(0, 1),
        8: np.rot90(picture),
    }  # fmt: skip
    return turned[orientation]


def luma(rgb: Array) -> Array:
    sums: Array = np.floor(rgb[..., :3] @ [0.299, 0.587, 0.114] + 0.5)[..., None]
    return sums.astype(rgb.dtype)


@pytest.fixture
def codec(software_gpu: dict[str, str]) -> None:
    if not software_gpu and not libraries.found("nvimgcodec"):
        pytest.skip("needs nvImageCodec: pip install 'penstock[cuda13]'")


COLOUR = RANDOM.integers(0, 256, (45, 60, 3), np.uint8)
GRAY = RANDOM.integers(0, 256, (33, 80, 1), np.uint8)
DEEP = RANDOM.integers(0, 65536, (40, 30, 3), np.uint16)


@pytest.mark.usefixtures("codec")
@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
def test_tiff(tmp_path: Path, levels: int, order: str) -> None:
    """Beside other formats, in all colours. Gray is by rounded luma, so one level apart from another sum's."""
    files = [JPEGS["4:2:2"], tiff(COLOUR, order=order), PNG, tiff(GRAY, order=order), JPEGS["4:4:4"]]
    repeated = np.repeat(GRAY, 3, -1)
    expected = {
        "RGB": (COLOUR, repeated), "BGR": (COLOUR[..., ::-1], repeated), "GRAY": (luma(COLOUR), GRAY),
        "ANY_DATA": (COLOUR, GRAY),
    }  # fmt: skip
    for output_type, (colour, gray) in expected.items():
        options: dict[str, Any] = dict(output_type=getattr(types, output_type), jpeg_fancy_upsampling=True)
        ours = decode_mixed(tmp_path, files, hw_decoder_load=0.5, **options)
        assert_alike([ours[1], ours[3]], [colour, gray], int(output_type == "GRAY"))
        known = [files[0], files[2], files[4]]
        by_cpu = decode(tmp_path / "known", known, output_type=options["output_type"])
        assert_alike(ours[::2], by_cpu, levels)


@pytest.mark.usefixtures("codec")
def test_tiff_of_16_bits(tmp_path: Path) -> None:
    files = [tiff(DEEP), tiff(COLOUR)]
    deep = DEEP.astype(np.float64) / 65535
    as_bytes, as_words, as_floats = (
        decode_mixed(tmp_path, files, dtype=dtype) for dtype in (types.UINT8, types.UINT16, types.FLOAT)
    )
    assert_alike(as_bytes, [np.floor(deep * 255 + 0.5).astype(np.uint8), COLOUR])
    assert_alike(as_words, [DEEP, COLOUR.astype(np.uint16) * 257])
    np.testing.assert_allclose(as_floats[0], deep, atol=1e-6)
    np.testing.assert_allclose(as_floats[1], COLOUR / 255, atol=1e-6)


@pytest.mark.usefixtures("codec")
def test_numbers_that_use_12_bits(tmp_path: Path, software_gpu: dict[str, str]) -> None:
    """Full scale of what the file says becomes full scale of the output."""
    if not software_gpu:
        pytest.skip("lossless JPEG of 12 bits is tried instead")
    values = RANDOM.integers(0, 4096, (40, 30, 1), np.uint16)
    values[0, :2, 0] = 0, 4095
    (as_bytes,) = decode_mixed(tmp_path, [tiff(values, most=4095)], output_type=types.GRAY)
    assert_alike([as_bytes], [np.floor(values / 4095 * 255 + 0.5).astype(np.uint8)])


@pytest.mark.usefixtures("codec")
def test_tiff_that_lies_on_its_side(tmp_path: Path) -> None:
    files = [tiff(COLOUR, orientation) for orientation in range(1, 9)]
    assert_alike(decode_mixed(tmp_path, files), [upright(COLOUR, k) for k in range(1, 9)])
    assert_alike(decode_mixed(tmp_path, files, adjust_orientation=False), [COLOUR] * 8)
    window: Window = (7, 3, 31, 40)
    ours = decode_mixed(tmp_path, files, fn.decoders.image_slice, start=window[:2], end=window[2:])
    assert_alike(ours, [upright(COLOUR, k)[3:40, 7:31] for k in range(1, 9)])


@pytest.mark.usefixtures("codec")
@pytest.mark.parametrize("order", ["<", ">"], ids=["regions", "no regions"])
def test_windows_of_tiff(tmp_path: Path, order: str) -> None:
    files = [tiff(COLOUR, order=order), tiff(DEEP, order=order)]
    ours = decode_mixed(tmp_path, files, fn.decoders.image_crop, crop=(30, 20), crop_pos_x=1.0, crop_pos_y=0.0)
    deep = np.floor(DEEP / 65535 * 255 + 0.5).astype(np.uint8)
    assert_alike(ours, [COLOUR[:30, 40:], deep[:30, 10:]])


@pytest.mark.usefixtures("codec")
def test_a_broken_tiff_is_named_and_the_pipeline_goes_on(tmp_path: Path) -> None:
    """Whether its header shows it or not, and whatever else is in the batch."""
    good = [tiff(COLOUR), JPEGS["4:4:4"], tiff(GRAY)]
    broken = [good[0][: -COLOUR.nbytes // 2], good[2][:20]]
    names = write(tmp_path, [*good, good[1], broken[0], good[0], good[0], good[1], broken[1]])
    pipe = mixed_pipeline(names, fn.decoders.image, {}, batch_size=3)
    for _ in range(2):
        (out,) = pipe.run()
        assert_alike([np.array(out.as_cpu().at(0))], [COLOUR])
        for sample, name in ((1, names[4]), (2, names[8])):
            with pytest.raises(DecodeError, match="TIFF") as caught:
                pipe.run()
            assert (caught.value.sample, caught.value.file) == (sample, name)


@pytest.mark.usefixtures("codec")
@pytest.mark.parametrize("on_error", ["skip", "replace"])
def test_a_file_that_is_lost_early_stops_the_other_decoder(tmp_path: Path, on_error: str) -> None:
    """One decoder fails when the batch's host part has ended already, so that the batch could be launched."""
    picture = RANDOM.integers(0, 256, (1500, 1500, 3), np.uint8)
    whole = tiff(picture)
    tiffs = write(tmp_path / "tiff", [whole, whole, whole[: -picture.nbytes // 2], whole])
    jpegs = write(tmp_path, [JPEGS["4:4:4"]] * 4)

    @pipeline_def(batch_size=2, num_threads=2, device_id=0)
    def two() -> Any:
        first = fn.decoders.image(fn.readers.file(files=tiffs)[0], device="mixed", on_error=on_error)
        return first, fn.decoders.image(fn.readers.file(files=jpegs)[0], device="mixed", jpeg_engine="cuda")

    (expected,) = decode(tmp_path, [JPEGS["4:4:4"]], jpeg_fancy_upsampling=False)
    pipe = two()
    for _ in range(4):
        for output, wanted in zip(pipe.run(), (picture, expected), strict=True):
            on_cpu = output.as_cpu()
            assert_alike([np.array(on_cpu.at(i)) for i in range(2)], [wanted] * 2)
    assert {sample.file for sample in pipe.broken_samples()} == {tiffs[2]}
    pipe.close()


@pytest.mark.usefixtures("codec")
@pytest.mark.parametrize("make", [fn.decoders.image, fn.decoders.image_crop], ids=["whole", "window"])
def test_what_nvimagecodec_does_not_know_the_cpu_decodes(tmp_path: Path, make: Callable[..., Any]) -> None:
    floats = formats.tiff((COLOUR / 255).astype(np.float32), sample_format=3)
    files = [tiff(COLOUR), floats, JPEGS["4:4:4"], floats]
    window: dict[str, Any] = dict(crop=(20, 17)) if make is fn.decoders.image_crop else {}
    ours = decode_mixed(tmp_path, files, make, dtype=types.FLOAT, jpeg_fancy_upsampling=True, **window)
    expected = decode(tmp_path, files, make, dtype=types.FLOAT, **window)
    for a, b in zip(ours, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)


@pytest.mark.usefixtures("codec")
def test_what_nvimagecodec_cannot_decode_after_all_the_cpu_decodes(tmp_path: Path) -> None:
    """Of TIFF the software GPU's nvImageCodec decodes uncompressed files alone, which it does not say beforehand."""
    file = io.BytesIO()
    Image.fromarray(COLOUR).save(file, "TIFF", compression="tiff_lzw")
    files = [tiff(COLOUR), file.getvalue(), JPEGS["4:4:4"], file.getvalue()]
    ours = decode_mixed(tmp_path, files, jpeg_fancy_upsampling=True)
    assert_alike(ours, decode(tmp_path, files))


@pytest.mark.usefixtures("codec")
def test_jpeg_2000(tmp_path: Path, software_gpu: dict[str, str]) -> None:
    """Lossless files are Pillow's pixels exactly; a decoder of lossy ones may be a level off."""
    if software_gpu:
        pytest.skip("needs an NVIDIA GPU: the software GPU's nvImageCodec knows TIFF alone")
    picture = smooth(RANDOM, 200, 150)
    for lossless in (True, False):
        file = io.BytesIO()
        options: dict[str, Any] = dict(irreversible=False) if lossless else dict(irreversible=True, quality_layers=[10])
        Image.fromarray(picture).save(file, "JPEG2000", **options)
        expected = np.asarray(Image.open(file))
        whole = decode_mixed(tmp_path, [file.getvalue(), JPEGS["4:4:4"]])[0]
        part = decode_mixed(tmp_path, [file.getvalue()], fn.decoders.image_slice, start=(11, 22), end=(101, 92))[0]
        assert_alike([whole, part], [expected, expected[22:92, 11:101]], 0 if lossless else 2)


@pytest.mark.usefixtures("codec")
def test_lossless_jpeg(tmp_path: Path, dali_extra: Path, software_gpu: dict[str, str]) -> None:
    """The same picture with 8, 12 and 16 bits."""
    if software_gpu:
        pytest.skip("needs an NVIDIA GPU: the software GPU's nvImageCodec knows TIFF alone")
    folder = dali_extra / "db/single/jpeg_lossless/0"
    files = [(folder / f"cat-3449999_640_grayscale_{bits}bit.jpg").read_bytes() for bits in (8, 12, 16)]
    pictures = decode_mixed(tmp_path, files, output_type=types.GRAY)
    assert pictures[0].shape == (426, 640, 1)
    assert_alike(pictures[1:], pictures[:1] * 2, 1)
    assert_alike(decode_mixed(tmp_path, files), [np.repeat(picture, 3, -1) for picture in pictures])
    parts = decode_mixed(tmp_path, files, fn.decoders.image_slice, output_type=types.GRAY, start=(10, 20), end=(90, 70))
    assert_alike(parts, [picture[20:70, 10:90] for picture in pictures])
