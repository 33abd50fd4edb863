"""JPEG by kernels of our own where sizes, memory and files are at their limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import backend, fn, pipeline_def
from penstock.errors import DecodeError
from tests.decode.pictures import jpeg, pillow, smooth, write
from tests.decode.test_cuda_jpeg import assert_equal, decode_mixed, pipeline

pytestmark = pytest.mark.usefixtures("software_gpu")
ROOT = Path(__file__).resolve().parents[2]
RANDOM = np.random.default_rng(14)
LONGEST = 65500  # pixels a side
SIZES = [(LONGEST, 1), (1, LONGEST), (LONGEST, 8), (8, LONGEST), (1, 1), (2, 1), (1, 2), (8, 8), (17, 16), (9, 3000)]


@pytest.mark.parametrize("kind", ["4:4:4", "4:2:2", "4:2:0", "gray"])
def test_the_longest_sides_among_the_shortest(tmp_path: Path, kind: str) -> None:
    counts: dict[str, int] = {}
    if kind == "gray":
        files = [jpeg(smooth(RANDOM, *size, 1), "L") for size in SIZES]
    else:
        files = [jpeg(smooth(RANDOM, *size), subsampling=kind) for size in SIZES]
    assert_equal(decode_mixed(tmp_path, files, counts=counts), [pillow(file) for file in files])
    assert counts == {"cuda": len(files), "refused": 0}


def test_files_that_lie_anywhere(tmp_path: Path) -> None:
    """Not side by side in a reader's memory: each is copied by itself, wherever it begins."""
    files = [jpeg(smooth(RANDOM, *RANDOM.integers(1, 90, 2))) for _ in range(20)]
    arrays = []
    for k, file in enumerate(files):
        memory = np.zeros(len(file) + k, np.uint8)
        memory[k:] = np.frombuffer(file, np.uint8)
        arrays.append(memory[k:])

    @pipeline_def(batch_size=20, num_threads=2, device_id=0)
    def fed() -> Any:
        encoded = fn.external_source(lambda: arrays, no_copy=True)
        return fn.decoders.image(encoded, device="mixed", jpeg_engine="cuda", jpeg_fancy_upsampling=True)

    with fed() as pipe:
        (out,) = pipe.run()
        on_cpu = out.as_cpu()
        assert_equal([np.array(on_cpu.at(k)) for k in range(20)], [pillow(file) for file in files])
    pipe.close()


def with_size(file: bytes, width: int, height: int) -> bytes:
    """The same scan behind another frame header."""
    at = file.index(b"\xff\xc0")
    return file[: at + 5] + height.to_bytes(2, "big") + width.to_bytes(2, "big") + file[at + 9 :]


def test_a_header_may_promise_four_billion_pixels(tmp_path: Path) -> None:
    """More than is decoded, unless the limit is set higher: then the CPU's decoder finds out."""
    file, good = jpeg(smooth(RANDOM, 64, 48))[:-2], jpeg(smooth(RANDOM, 160, 150))
    files = [good, with_size(file, LONGEST, LONGEST)]
    with pytest.raises(DecodeError, match=r"65500 x 65500 pixels, more than the limit of \d+ .set by ") as caught:
        decode_mixed(tmp_path, files)
    assert caught.value.sample == 1
    before = backend.max_decoded_pixels()
    backend.set_max_decoded_pixels(LONGEST**2)
    try:
        window = dict(start=(100, 100), end=(140, 140))
        with pytest.raises(DecodeError, match="ends too early") as caught:
            decode_mixed(tmp_path, files, fn.decoders.image_slice, **window)
    finally:
        backend.set_max_decoded_pixels(before)
    assert caught.value.sample == 1


@pytest.mark.parametrize(("size", "refused"), [((128, 96), 1), ((3000, 3000), 0)], ids=["little", "much"])
def test_scans_too_short_for_their_headers(tmp_path: Path, size: tuple[int, int], refused: int) -> None:
    """A block takes two bits at least: where there are fewer, no memory of the GPU's is taken for the picture."""
    good, broken = jpeg(smooth(RANDOM, 70, 60)), with_size(jpeg(smooth(RANDOM, 64, 48))[:-2], *size)
    names = write(tmp_path, [good, broken, good])
    more = dict(exec_async=False, exec_pipelined=False)
    pipe = pipeline(names, fn.decoders.image, {}, batch_size=3, **more)
    with penstock.profile(pipe) as p, pytest.raises(DecodeError, match="ends too early") as caught:
        pipe.run()
    pipe.close()
    assert (caught.value.sample, caught.value.file) == (1, names[1])
    (decoded,) = p.figures.decoded.values()
    assert decoded.refused == refused


def gray_of_zeros(width: int, height: int) -> bytes:
    """4:2:0 of which all codes are a single zero: a decoder that begins in a wrong block never finds out."""

    def segment(marker: int, body: bytes) -> bytes:
        return bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + body

    frame = b"\x08" + height.to_bytes(2, "big") + width.to_bytes(2, "big") + b"\x03\x01\x22\0\x02\x11\0\x03\x11\0"
    table = b"\x01" + bytes(16)
    head = [segment(0xDB, b"\0" + b"\x01" * 64), segment(0xC0, frame)]
    head += [segment(0xC4, b"\0" + table), segment(0xC4, b"\x10" + table)]
    head.append(segment(0xDA, b"\x03\x01\0\x02\0\x03\0\0\x3f\0"))
    mcus = -(-width // 16) * -(-height // 16)
    return b"".join([b"\xff\xd8", *head, bytes(-(-mcus * 12 // 8)), b"\xff\xd9"])


@pytest.mark.parametrize(("height", "by"), [(800, "cuda"), (1600, "cpu")])
def test_what_one_thread_would_decode_for_long_is_left_to_the_cpu(tmp_path: Path, height: int, by: str) -> None:
    """Large areas of one colour: others would wait."""
    window = dict(start=(LONGEST - 9, height - 7), end=(LONGEST, height))
    counts: dict[str, int] = {}
    ours = decode_mixed(tmp_path, [gray_of_zeros(LONGEST, height)], fn.decoders.image_slice, counts=counts, **window)
    assert_equal(ours, [np.full((7, 9, 3), 128, np.uint8)])
    assert counts == {by: 1, "refused": int(by == "cpu")}


SMALL_BUDGET = """
import json, sys
import numpy as np
import penstock
from penstock import fn, pipeline_def
from tests.decode.pictures import pillow

@pipeline_def(batch_size=len(sys.argv) - 1, num_threads=2, device_id=0, exec_async=False, exec_pipelined=False)
def pipeline():
    encoded, _ = fn.readers.file(files=sys.argv[1:])
    return fn.decoders.image(encoded, device="mixed", jpeg_fancy_upsampling=True)

pipe = pipeline()
with penstock.profile(pipe) as p:
    for _ in range(3):
        (out,) = pipe.run()
        on_cpu = out.as_cpu()
        del out
        for i, name in enumerate(sys.argv[1:]):
            np.testing.assert_array_equal(on_cpu.at(i), pillow(open(name, "rb").read()))
(decoded,) = p.figures.decoded.values()
print(json.dumps({**decoded.files, "refused": decoded.refused}))
"""


@pytest.mark.parametrize("budget", range(37, 56, 6))
def test_a_small_file_of_a_large_picture_behind_a_large_file(tmp_path: Path, budget: int) -> None:
    """There is room for one of them, and the second one needs more than half of what both need."""
    noise, flat = RANDOM.integers(0, 256, (300, 300, 3), np.uint8), np.full((3000, 3000, 3), 99, np.uint8)
    files = [jpeg(noise, quality=100, subsampling="4:4:4"), jpeg(flat, subsampling="4:2:0")]
    assert len(files[0]) > len(files[1])
    done = subprocess.run(
        [sys.executable, "-c", SMALL_BUDGET.replace("range(3)", "range(1)"), *write(tmp_path, files)],
        env={**os.environ, "PENSTOCK_DEVICE_MEMORY": f"{budget}M"}, capture_output=True, text=True, timeout=120,
        cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts["cpu"] + counts["cuda"] == 2
    assert counts["cpu"] == counts["refused"]


@pytest.mark.parametrize(("budget", "large"), [("16M", 0), ("20M", 0), ("34M", 1), ("256M", 1)])
def test_batches_are_decoded_with_the_memory_there_is(tmp_path: Path, budget: str, large: int) -> None:
    """In groups; what needs too much by itself is left to the CPU, and only that."""
    files = [jpeg(smooth(RANDOM, 300, 200), quality=95, subsampling="4:4:4") for _ in range(10 if large else 30)]
    if large:
        files.insert(7, jpeg(smooth(RANDOM, 2000, 2000), quality=92, subsampling="4:4:4"))
    names = write(tmp_path, files)
    done = subprocess.run(
        [sys.executable, "-c", SMALL_BUDGET, *names],
        env={**os.environ, "PENSTOCK_DEVICE_MEMORY": budget}, capture_output=True, text=True, timeout=300, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    left = 3 * large if budget == "34M" else 0
    assert json.loads(done.stdout) == {
        "cpu": left, "cuda": 3 * len(files) - left, "nvjpeg": 0, "nvimagecodec": 0, "nvdec": 0, "refused": left,
    }  # fmt: skip


@pytest.mark.parametrize("budget", ["24M", "34M", "64M", "256M"])
def test_progressive_files_among_others_with_the_memory_there_is(tmp_path: Path, budget: str) -> None:
    """Those that are decoded beside the others at first, and the others, need more than there is."""
    files = [jpeg(smooth(RANDOM, 300, 200), quality=90, progressive=k % 3 > 0) for k in range(30)]
    files.insert(11, jpeg(smooth(RANDOM, 1200, 1000), quality=60, progressive=True))
    done = subprocess.run(
        [sys.executable, "-c", SMALL_BUDGET, *write(tmp_path, files)],
        env={**os.environ, "PENSTOCK_DEVICE_MEMORY": budget}, capture_output=True, text=True, timeout=300, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts["cpu"] + counts["cuda"] == 3 * len(files)
    assert counts["cpu"] == counts["refused"]
    assert counts["refused"] == 0 or budget in ("24M", "34M")
