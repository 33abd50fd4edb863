"""Decoding with ``device="mixed"`` by NVIDIA's libraries: what the CPU gives, whichever engine decodes.

test_cuda_jpeg.py has the kernels of our own. On the software GPU JPEG is equal bit for bit; a real one's engines may be
one level off.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import fn, pipeline_def, types
from penstock.decode import engines
from penstock.errors import DecodeError
from penstock.machine import libraries
from tests.decode.mixed import JPEGS, assert_alike, decode_mixed, mixed_pipeline
from tests.decode.pictures import decode, jpeg, png, smooth, write
from tests.decode.test_formats import FILES as FORMATS

pytestmark = pytest.mark.usefixtures("levels")
ROOT = Path(__file__).resolve().parents[2]
RANDOM = np.random.default_rng(12)
FILES = {**JPEGS, "png": png(RANDOM.integers(0, 256, (71, 80, 3)), 2, 8)}
LOADS = [0.0, 0.5, 1.0]


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
        assert counted.files == {"cpu": len(files) - share, "cuda": 0, "nvjpeg": share, "nvimagecodec": 0, "nvdec": 0}
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
    "no picture": (b"hello, world", "not a .*JPEG.* picture .starts with .hello, w"),
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
    engines._warn_without_libraries.cache_clear()
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
import penstock.machine.libraries
from penstock import fn, pipeline_def, types

penstock.machine.libraries.found = lambda name: False

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
