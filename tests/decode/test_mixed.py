"""Decoding with ``device="mixed"`` by NVIDIA's libraries: what the CPU gives, whoever decodes what.

test_cuda_jpeg.py has the kernels of our own. On the software GPU JPEG is equal bit for bit; a real one's engines may be
one level off.
"""

from __future__ import annotations

import ctypes
import io
import os
import struct
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import fn, pipeline_def, types
from penstock.errors import DecodeError
from penstock.run import gpu, libraries
from tests.decode import formats
from tests.decode.pictures import Array, Window, decode, jpeg, png, smooth, write
from tests.decode.test_formats import FILES as FORMATS

ROOT = Path(__file__).resolve().parents[2]
RANDOM = np.random.default_rng(11)
JPEGS = {
    "4:4:4": jpeg(smooth(RANDOM, 140, 91), subsampling="4:4:4"),
    "4:2:2": jpeg(smooth(RANDOM, 101, 70), subsampling="4:2:2"),
    "4:2:0": jpeg(smooth(RANDOM, 97, 123), subsampling="4:2:0", quality=95),
    "restarts": jpeg(smooth(RANDOM, 90, 81), restart_marker_blocks=3),
    "gray": jpeg(smooth(RANDOM, 90, 81, 1), "L"),
    "progressive": jpeg(smooth(RANDOM, 90, 81), progressive=True),
    "cmyk": jpeg(smooth(RANDOM, 90, 81, 4), "CMYK"),
    "turned": jpeg(smooth(RANDOM, 90, 81), orientation=6),
    "small": jpeg(smooth(RANDOM, 20, 17)),
    "more 4:2:0": jpeg(smooth(RANDOM, 200, 150), subsampling="4:2:0"),
}
FILES = {**JPEGS, "png": png(RANDOM.integers(0, 256, (71, 80, 3)), 2, 8)}
LOADS = [0.0, 0.5, 1.0]


@pytest.fixture(params=["software", pytest.param("real", marks=pytest.mark.gpu)], autouse=True)
def levels(request: pytest.FixtureRequest, software_gpu: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> int:
    """By how much a JPEG decoder may be off, which is nvJPEG. Tests marked gpu are those of a real GPU."""
    monkeypatch.setenv("PENSTOCK_JPEG", "hardware")
    if (request.param == "software") != bool(software_gpu):
        pytest.skip("for a GPU in software" if request.param == "software" else "needs an NVIDIA GPU")
    return 0 if software_gpu else 1


@pipeline_def(num_threads=3, device_id=0, seed=7, prefetch_queue_depth=2)
def mixed_pipeline(names: Sequence[str], make: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    encoded, _ = fn.readers.file(files=names)
    return make(encoded, device="mixed", **arguments)


def decode_mixed(
    folder: Path, files: Sequence[bytes], make: Callable[..., Any] | None = None, batches: int = 2, **arguments: Any
) -> list[Array]:
    """The last of some batches, which are all the same."""
    pipe = mixed_pipeline(write(folder, files), make or fn.decoders.image, arguments, batch_size=len(files))
    with pipe:
        for _ in range(batches):
            (out,) = pipe.run()
        on_cpu = out.as_cpu()
    pipe.close()
    return [np.array(on_cpu.at(i)) for i in range(len(files))]


def assert_alike(ours: Sequence[Array], expected: Sequence[Array], most: int = 0) -> None:
    assert len(ours) == len(expected)
    for a, b in zip(ours, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.astype(np.int64), b.astype(np.int64), rtol=0, atol=most)


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("output_type", ["RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"])
def test_colours(tmp_path: Path, levels: int, output_type: str, load: float) -> None:
    files, kind = list(FILES.values()), getattr(types, output_type)
    expected = decode(tmp_path, files, output_type=kind)
    arguments: dict[str, Any] = dict(output_type=kind, hw_decoder_load=load, jpeg_fancy_upsampling=True)
    assert_alike(decode_mixed(tmp_path, files, **arguments), expected, levels)


@pytest.mark.parametrize("dtype", ["FLOAT", "UINT16"])
def test_other_types_are_decoded_by_the_cpu(tmp_path: Path, dtype: str) -> None:
    files, arguments = list(FILES.values()), dict(dtype=getattr(types, dtype))
    expected = decode(tmp_path, files, **arguments)
    for a, b in zip(decode_mixed(tmp_path, files, jpeg_fancy_upsampling=True, **arguments), expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize(
    ("make", "arguments"),
    [
        (fn.decoders.image_crop, dict(crop=(50, 61), crop_pos_x=0.3, crop_pos_y=0.8)),
        (fn.decoders.image_slice, dict(rel_start=(0.1, 0.2), rel_shape=(0.51, 0.4))),
        (fn.decoders.image_random_crop, dict(random_area=[0.1, 0.6])),
    ],
    ids=["crop", "slice", "random crop"],
)
def test_windows(tmp_path: Path, levels: int, make: Callable[..., Any], arguments: dict[str, Any], load: float) -> None:
    files = [file for name, file in FILES.items() if name != "small"]
    expected = decode(tmp_path, files, make, **arguments)
    ours = decode_mixed(tmp_path, files, make, 1, hw_decoder_load=load, jpeg_fancy_upsampling=True, **arguments)
    assert_alike(ours, expected, levels)


def test_chroma_is_repeated_unless_asked_otherwise(tmp_path: Path) -> None:
    """All decoders of a batch do it alike: the CPU's are the same for any share, and differ from interpolation."""
    files = [JPEGS["4:2:0"], JPEGS["progressive"], JPEGS["more 4:2:0"]]
    by_cpu, by_gpu = (decode_mixed(tmp_path, files, hw_decoder_load=load) for load in (0.0, 1.0))
    assert_alike(by_gpu, by_cpu)
    for ours, interpolated in zip(by_cpu, decode(tmp_path, files), strict=True):
        assert np.abs(ours.astype(int) - interpolated).max() > 1


@pytest.mark.parametrize(
    ("load", "order", "share"),
    [
        (0.0, "ss", 0),
        (1.0, "ssls", 4),
        (0.5, "ssss", 2),
        (0.5, "sssssssslsss", 8),
        (0.5, "lssssssss", 1),
        (0.25, "ssss", 1),
        (0.9, "p", 0),
        (0.4, "s", 0),
        (0.5, "s", 1),
        (0.5, "pspspsps", 2),
    ],
)
def test_the_gpus_share_goes_by_bytes(
    tmp_path: Path, software_gpu: dict[str, str], load: float, order: str, share: int
) -> None:
    """Of the files that it can decode, the first ones."""
    if not software_gpu:
        pytest.skip("a real nvJPEG does not tell how much it decodes")
    kinds = {"s": JPEGS["4:4:4"], "p": JPEGS["progressive"], "l": jpeg(smooth(RANDOM, 700, 400), quality=95)}
    assert len(kinds["l"]) > 8 * len(kinds["s"])
    files = [kinds[k] for k in order]
    names = write(tmp_path, files)
    options = dict(hw_decoder_load=load, jpeg_fancy_upsampling=True)
    pipe = mixed_pipeline(
        names, fn.decoders.image, options, batch_size=len(files), exec_pipelined=False, exec_async=False
    )
    pipe.build()
    decoded = ctypes.CDLL(software_gpu["PENSTOCK_NVJPEG"]).software_gpu_jpegs
    for _ in range(2):
        before = decoded()
        with penstock.profile(pipe) as p:
            (out,) = pipe.run()
        assert decoded() - before == share
        (counted,) = p.figures.decoded.values()
        assert counted.files == {"cpu": len(files) - share, "cuda": 0, "nvjpeg": share, "nvimagecodec": 0}
        assert counted.bytes["nvjpeg"] == sum(
            map(len, [f for f, k in zip(files, order, strict=True) if k != "p"][:share])
        )
        assert_alike([np.array(out.as_cpu().at(i)) for i in range(len(files))], decode(tmp_path, files))


def test_two_decoders_and_two_pipelines_share_what_nvjpeg_keeps(tmp_path: Path, levels: int) -> None:
    names, files = write(tmp_path, list(FILES.values())), list(FILES.values())

    @pipeline_def(batch_size=len(files), num_threads=2, device_id=0)
    def pipeline(load: float) -> Any:
        encoded, _ = fn.readers.file(files=names)
        options: dict[str, Any] = dict(device="mixed", hw_decoder_load=load, jpeg_fancy_upsampling=True)
        return fn.decoders.image(encoded, **options), fn.decoders.image(encoded, output_type=types.GRAY, **options)

    pipes = [pipeline(1.0), pipeline(0.7)]
    expected = [decode(tmp_path, files), decode(tmp_path, files, output_type=types.GRAY)]
    for _ in range(3):
        for pipe in pipes:
            for out, wanted in zip(pipe.run(), expected, strict=True):
                lists = out.as_cpu()
                assert_alike([np.array(lists.at(i)) for i in range(len(files))], wanted, levels)
    pipes.pop(0).close()
    (out, _) = pipes[0].run()
    assert_alike([np.array(out.as_cpu().at(i)) for i in range(len(files))], expected[0], levels)


BROKEN = {
    "no picture": (b"hello, world", "not a JPEG, .* or PNM picture"),
    "cut off": (JPEGS["more 4:2:0"][:4000], "ends too early"),
    "empty": (b"", "empty"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_named_and_the_pipeline_goes_on(tmp_path: Path, levels: int, kind: str) -> None:
    good = [JPEGS["4:4:4"], JPEGS["more 4:2:0"], JPEGS["gray"]]
    names = write(tmp_path, [*good, good[0], BROKEN[kind][0], good[2]])
    pipe = mixed_pipeline(names, fn.decoders.image, dict(jpeg_fancy_upsampling=True, hw_decoder_load=1.0), batch_size=3)
    expected = decode(tmp_path / "good", good)
    for _ in range(2):
        (out,) = pipe.run()
        assert_alike([np.array(out.as_cpu().at(i)) for i in range(3)], expected, levels)
        with pytest.raises(DecodeError, match=BROKEN[kind][1]) as caught:
            pipe.run()
        assert (caught.value.sample, caught.value.file, caught.value.operator) == (1, names[4], "decoders.image")


def test_what_nvjpeg_refuses_the_cpu_decodes(
    tmp_path: Path, levels: int, monkeypatch: pytest.MonkeyPatch, software_gpu: dict[str, str]
) -> None:
    if not software_gpu:
        pytest.skip("which files a real GPU's engines refuse is not known")
    monkeypatch.setenv("SOFTWARE_GPU_JPEG_REFUSES", str(len(JPEGS["4:2:2"])))
    files = list(FILES.values())
    pipe = mixed_pipeline(write(tmp_path, files), fn.decoders.image, dict(hw_decoder_load=1.0), batch_size=len(files))
    with penstock.profile(pipe) as p:
        pipe.run()
    pipe.close()
    (counted,) = p.figures.decoded.values()
    batches = (counted.files["cpu"] - counted.refused) / 5  # progressive, CMYK, turned, small, PNG
    assert batches in (1, 2, 3)  # it works ahead
    assert counted.refused in (1, 2, 3)  # likewise, and further ahead than the CPU's part
    for make, arguments in (
        (fn.decoders.image, {}),
        (fn.decoders.image_slice, dict[str, Any](rel_start=(0.2, 0.1), rel_end=(0.9, 1.0))),
    ):
        ours = decode_mixed(tmp_path, files, make, hw_decoder_load=1.0, jpeg_fancy_upsampling=True, **arguments)
        assert_alike(ours, decode(tmp_path, files, make, **arguments))


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (("nvjpeg",), "nvJPEG was not found, so .* decodes JPEG on the CPU, .* pip install 'penstock.cuda13.'"),
        (("nvimgcodec",), "nvImageCodec was not found, so .* decodes JPEG 2000, TIFF and lossless JPEG on the CPU, "),
        (("nvjpeg", "nvimgcodec"), "nvJPEG and nvImageCodec were not found, "),
    ],
    ids=["nvJPEG", "nvImageCodec", "both"],
)
def test_a_warning_says_what_brings_the_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], message: str
) -> None:
    """Once in a process, and not for those who ask for the CPU."""
    monkeypatch.setattr(libraries, "found", lambda name: name not in missing)
    gpu._warn_without_libraries.cache_clear()
    files = [JPEGS["4:4:4"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decode_mixed(tmp_path, files, hw_decoder_load=0.0)
    with pytest.warns(UserWarning, match=message):
        decode_mixed(tmp_path, files)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decode_mixed(tmp_path, files)


MISSING = """
import sys, warnings
import numpy as np
import penstock.run.libraries
from penstock import fn, pipeline_def, types

penstock.run.libraries.found = lambda name: False

@pipeline_def(batch_size=len(sys.argv) - 1, num_threads=2, device_id=0)
def pipeline(device):
    return fn.decoders.image(fn.readers.file(files=sys.argv[1:])[0], device=device, jpeg_fancy_upsampling=True)

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        (mixed,) = pipeline("mixed").run()
print([str(w.message)[:27] for w in caught])
(cpu,) = pipeline("cpu").run()
mixed = mixed.as_cpu()
print([np.array_equal(mixed.at(i), cpu.at(i)) for i in range(len(cpu))])
"""


def test_without_the_libraries_the_cpu_decodes(tmp_path: Path, software_gpu: dict[str, str]) -> None:
    if any(has_library(f"lib{name}.so.{n}") for name, n in (("nvjpeg", 13), ("nvjpeg", 12), ("nvimgcodec", 0))):
        pytest.skip("the system has them")
    names = ["tiff", "jp2", "j2k", "lossless jpeg 16", "tiff 1", "tiff planar tiles", "bmp 24", "webp"]
    files = write(tmp_path, [JPEGS["4:2:2"], *(FORMATS[name][0] for name in names), JPEGS["turned"]])
    nowhere = {"PENSTOCK_NVJPEG": str(tmp_path / "none"), "PENSTOCK_NVIMGCODEC": str(tmp_path / "none")}
    done = subprocess.run(
        [sys.executable, "-c", MISSING, *files],
        env={**os.environ, **nowhere}, capture_output=True, text=True, timeout=300, cwd=ROOT,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["['nvJPEG and nvImageCodec wer']", str([True] * len(files))], done.stderr


def has_library(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


# Formats that nvImageCodec decodes.


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
    files = [JPEGS["4:2:2"], tiff(COLOUR, order=order), FILES["png"], tiff(GRAY, order=order), JPEGS["4:4:4"]]
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
        for sample, name, message in ((1, names[4], "nvImageCodec"), (2, names[8], "TIFF")):
            with pytest.raises(DecodeError, match=message) as caught:
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
