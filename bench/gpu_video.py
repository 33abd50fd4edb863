"""`python -m bench.gpu_video FOLDER`: frames a second of the videos in a folder, for a GPU: NVIDIA's decoder beside the
CPU. Sequences of 16 frames, one behind the other and in random order; copies of the videos make the data set larger.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from penstock import Pipeline, fn

LENGTH, BATCH, SECONDS = 16, 8, 5.0
ORDERS: dict[str, dict[str, Any]] = {"sequential": {}, "random": {"step": 7, "random_shuffle": True}}


def rate(files: list[str], order: str, threads: int, engine: str, **resize: int) -> float:
    """Frames a second that come out."""
    make = fn.readers.video_resize if resize else fn.readers.video
    pipe = Pipeline(batch_size=BATCH, num_threads=threads, device_id=0, seed=1)
    with pipe:
        arguments = dict(filenames=files, sequence_length=LENGTH, video_engine=engine, **ORDERS[order], **resize)
        pipe.set_outputs(make(device="gpu", **arguments))
    for _ in range(5):
        pipe.run()
    begun, frames = time.perf_counter(), 0
    while time.perf_counter() - begun < SECONDS:
        (out,) = pipe.run()
        frames += BATCH * LENGTH
    out.as_cpu()
    return frames / (time.perf_counter() - begun)


def main() -> None:
    files = sorted(str(path) for path in Path(sys.argv[1]).iterdir())
    for order in ORDERS:
        for engine, threads in (("nvdec", 4), ("nvdec", 8), ("nvdec", 16), ("cpu", 16)):
            print(f"{order:12} {engine:6} {threads:3} threads {rate(files, order, threads, engine):8.0f} frames/s")
    resized = rate(files, "random", 16, "nvdec", resize_x=256, resize_y=256)
    print(f"random, resized to 256 x 256, nvdec, 16 threads {resized:8.0f} frames/s")


if __name__ == "__main__":
    main()
