"""The benchmark of operators leaves none out; floors of kernels are counted right."""

from __future__ import annotations

import numpy as np
import pytest

from bench.jpeg_work import count_symbols
from bench.operators import CASES, ON_GPU
from tests.decode.pictures import jpeg
from tools.parity import operators

# They only fill memory or wrap another one that is timed; or what they do is timed with all others. What optical_flow
# does is OpenCV's, or the GPU's engine's.
_ELSEWHERE = {
    "cast_like", "constant", "dl_tensor_python_function", "experimental.resize", "external_source", "full_like", "ones",
    "ones_like", "optical_flow", "python_function", "zeros", "zeros_like",
}  # fmt: skip
# By bench/readers.py and bench/datasets.py, and in the pipelines of bench/cpu.py.
_WITH_FILES = {
    "decoders.inflate", "decoders.numpy", "experimental.readers.fits", "io.file.read", "readers.caffe",
    "readers.caffe2", "readers.coco", "readers.file", "readers.mxnet", "readers.nemo_asr", "readers.numpy",
    "readers.sequence", "readers.tfrecord", "readers.webdataset",
}  # fmt: skip
# What videos take is FFmpeg's time.
_VIDEOS = {
    "decoders.video", "experimental.inputs.video", "experimental.readers.video", "readers.video",
    "readers.video_resize",
}  # fmt: skip


@pytest.mark.parametrize("name", operators())
def test_each_operator_is_timed(name: str) -> None:
    group = name.partition(".")[0]
    assert name in CASES or name in ON_GPU or group in CASES or name in _ELSEWHERE | _WITH_FILES | _VIDEOS, (
        f"{name} has no case in bench/operators.py"
    )


@pytest.mark.parametrize(
    ("subsampling", "luma", "blocks"), [("4:4:4", 140, 420), ("4:2:0", 140, 210), ("4:2:2", 140, 280)]
)
def test_symbols_of_a_jpeg_are_counted(subsampling: str, luma: int, blocks: int) -> None:
    """One colour: each block has a DC value and its end. With a cosine, those of luma have one value more."""
    flat = np.full((112, 80, 3), 120, np.uint8)
    assert count_symbols(jpeg(flat, subsampling=subsampling))[0] == 2 * blocks
    wave = 128 + 50 * np.cos((2 * np.arange(112) + 1) * np.pi / 16)
    gray = np.broadcast_to(wave.round().astype(np.uint8)[:, None, None], flat.shape)
    file = jpeg(gray, subsampling=subsampling, quality=50)
    assert count_symbols(file)[0] == 2 * blocks + luma


def test_symbols_of_a_part_of_a_jpeg_are_counted(random: np.random.Generator) -> None:
    file = jpeg(random.integers(0, 256, (160, 160, 3), np.uint8), quality=90)
    symbols, size = count_symbols(file)
    some, within = count_symbols(file, size // 2)
    assert 0.4 * size < within <= size // 2
    assert some / within == pytest.approx(symbols / size, rel=0.02)
