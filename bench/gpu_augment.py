"""`python -m bench.gpu_augment WHO`: augmentation of pictures that are on the GPU, as one line of JSON."""

from __future__ import annotations

import importlib
import json
import statistics
import sys
import time
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from bench.worker import LIBRARIES

BATCH, SETS = 256, 4
NORMALIZE = {"mean": [123.675, 116.28, 103.53], "std": [58.395, 57.12, 57.375], "output_layout": "CHW"}


def make(library: str) -> Any:
    module = importlib.import_module(library)
    fn, types = module.fn, module.types
    # Several batches in turn, so that caches do not hold them.
    sets = [torch.randint(0, 256, (BATCH, 375, 500, 3), dtype=torch.uint8, device="cuda") for _ in range(SETS)]
    torch.cuda.synchronize()
    turn = iter(range(10**9))

    @module.pipeline_def(batch_size=BATCH, num_threads=8, device_id=0, prefetch_queue_depth=2)  # type: ignore[untyped-decorator]
    def pipeline() -> Any:
        images = fn.external_source(
            source=lambda: sets[next(turn) % SETS], batch=True, device="gpu", layout="HWC", no_copy=True
        )
        uniform = fn.random.uniform
        images = fn.random_resized_crop(images, size=(224, 224), random_area=[0.08, 1.0])
        twist = {name: uniform(range=[0.6, 1.4]) for name in ("saturation", "contrast", "brightness")}
        images = fn.color_twist(images, hue=uniform(range=[-20.0, 20.0]), **twist)
        scale, contrast = uniform(range=[0.8, 1.2]), uniform(range=[0.8, 1.2])
        images = fn.brightness_contrast(images, brightness=scale, contrast=contrast)
        return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), dtype=types.FLOAT16, **NORMALIZE)

    pipe = pipeline()
    pipe.build()
    return pipe


def main() -> None:
    pipe = make(LIBRARIES[sys.argv[1]])
    for _ in range(20):
        pipe.run()
    rounds = []
    for _ in range(5):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(100):
            pipe.run()
        torch.cuda.synchronize()
        rounds.append((time.perf_counter() - begin) * 10)
    count = 50
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(count):
            pipe.run()
        torch.cuda.synchronize()
    events = [e for e in profiler.events() if e.device_type.name == "CUDA"]
    copies = [e for e in events if e.name.startswith(("Memcpy", "Memset"))]
    print(
        json.dumps({
            "wall_ms": statistics.median(rounds),
            "gpu_ms": sum(e.self_device_time_total for e in events) / 1000 / count,
            "kernels": round((len(events) - len(copies)) / count),
            "copies": round(len(copies) / count),
            "by_name": {
                name[:60]: round(sum(e.self_device_time_total for e in events if e.name == name) / 1000 / count, 4)
                for name in {e.name for e in events}
            },
        })
    )  # fmt: skip


if __name__ == "__main__":
    main()
