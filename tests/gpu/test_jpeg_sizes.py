"""JPEG files of all sizes in a batch, up to 100 megapixels, by the kernels that decode them: pixels are libjpeg's.

Needs a real GPU; tests/decode/test_cuda_jpeg_limits.py has what the one in software can do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.decode.pictures import Array, jpeg, smooth, write

ROOT = Path(__file__).resolve().parents[2]
RANDOM = np.random.default_rng(15)
LARGE = [(10_000, 10_000), (65_500, 1530), (1530, 65_500)]  # 100 megapixels each
LONG = [(65_500, 1), (1, 65_500), (65_500, 8), (8, 65_500)]
PROGRAM = """
import json, sys
import numpy as np
import penstock
from penstock import fn, pipeline_def
from PIL import Image

Image.MAX_IMAGE_PIXELS = None
names = sys.argv[1:]
if len(names) == 1:
    names = open(names[0]).read().split()

@pipeline_def(batch_size=len(names), num_threads=4, device_id=0, exec_async=False, exec_pipelined=False)
def pipeline():
    encoded, _ = fn.readers.file(files=names)
    return fn.decoders.image(encoded, device="mixed", jpeg_engine="cuda", jpeg_fancy_upsampling=True)

pipe = pipeline()
with penstock.profile(pipe) as p:
    for _ in range(2):
        (out,) = pipe.run()
        on_cpu = out.as_cpu()
        del out
for i, name in enumerate(names):
    assert np.array_equal(on_cpu.at(i), np.asarray(Image.open(name).convert("RGB"))), name
(decoded,) = p.figures.decoded.values()
print(json.dumps({"files": decoded.files, "refused": decoded.refused}))
"""


def tiled(width: int, height: int) -> Array:
    """Of one pattern, which begins anew where blocks do not."""
    pattern = smooth(RANDOM, 501, 397)
    down, across = -(-height // len(pattern)), -(-width // pattern.shape[1])
    return np.tile(pattern, (down, across, 1))[:height, :width]


@pytest.mark.gpu
@pytest.mark.parametrize("budget", ["", "8G"], ids=["all memory", "8 GB"])
def test_100_megapixels_among_1000_small_ones(tmp_path: Path, software_gpu: dict[str, str], budget: str) -> None:
    """With little memory a batch is decoded in more groups."""
    if software_gpu:
        pytest.skip("needs an NVIDIA GPU")
    files = [
        jpeg(smooth(RANDOM, *RANDOM.integers(1, 120, 2)), subsampling=int(RANDOM.integers(3))) for _ in range(1000)
    ]
    for k, size in enumerate(LARGE + LONG):
        for n, subsampling in enumerate(["4:4:4", "4:2:2", "4:2:0"]):
            if size in LONG or k == n or k == 0:
                files.insert(100 * k + n, jpeg(tiled(*size), quality=90, subsampling=subsampling))
    names = tmp_path / "names"
    names.write_text("\n".join(write(tmp_path / "files", files)))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(names)],
        env={**os.environ, "PENSTOCK_DEVICE_MEMORY": budget}, capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["refused"] == 0
    assert report["files"]["cuda"] == 2 * len(files)
