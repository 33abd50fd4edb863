"""Times JPEG decoding on a GPU by engine: ``python -m bench.gpu_jpeg``, where PyTorch and a GPU are.

Whole photographs from files in the page cache to RGB in the GPU's memory, by kernels of our own and by nvJPEG. The
profiler of PyTorch tells how long each of our kernels ran.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from bench.photos import SETS, describe, photos
from penstock import fn, pipeline_def

# In the order in which they run (native/gpu/cuda_jpeg.cpp), if no picture of a batch is too small for one of them.
KERNELS = (
    "tables", "count", "unstuff", "synchronize", "join", "settle", "write", "dc", "transform",
    "pixels",
)  # fmt: skip


@pipeline_def(device_id=0, seed=1)
def decoding(root: Path, engine: str, load: float) -> Any:
    files, _ = fn.readers.file(file_root=str(root), random_shuffle=True)
    return fn.decoders.image(
        files, device="mixed", jpeg_engine=engine, hw_decoder_load=load, jpeg_fancy_upsampling=True
    )


def rate(pipe: Any, batches: int, size: int) -> float:
    """Images per second, the median of five rounds."""
    for _ in range(10):
        pipe.run()
    rates = []
    for _ in range(5):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(batches):
            pipe.run()
        torch.cuda.synchronize()
        rates.append(batches * size / (time.perf_counter() - begin))
    return sorted(rates)[2]


def kernel_times(pipe: Any, batches: int) -> list[float]:
    """Microseconds of each kernel, in the order in which they ran."""
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(batches):
            pipe.run()
        torch.cuda.synchronize()
    ours = [e for e in profiler.events() if e.name == "kernel"]
    return [e.device_time_total for e in sorted(ours, key=lambda e: e.time_range.start)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", default="420", choices=SETS)
    parser.add_argument("--count", type=int, help="so many photographs, for a short trial")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--batches", type=int, default=40)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--loads", type=float, nargs="*", default=[0.65, 1.0], help="hw_decoder_load, of nvJPEG")
    options = parser.parse_args()

    root = photos(options.photos, options.count)
    print(f"{torch.cuda.get_device_name()}: {describe(root)}, batches of {options.batch}, {options.threads} threads")
    more: dict[str, Any] = dict(batch_size=options.batch, num_threads=options.threads, prefetch_queue_depth=3)
    with decoding(root, "cuda", 1.0, **more) as pipe:
        print(f"{'cuda':14}{rate(pipe, options.batches, options.batch):10.0f} images/s")
        print("\n".join(line for line in pipe.explain().splitlines() if "so far" in line))
        times = kernel_times(pipe, options.batches)
    pipe.close()
    for k, name in enumerate(KERNELS):
        own = sorted(times[k :: len(KERNELS)])
        if own and len(times) % len(KERNELS) == 0:
            print(f"  {name:14}{own[len(own) // 2]:10.1f} us a batch")
    if len(times) % len(KERNELS):
        print(f"  {sum(times) / options.batches:.1f} us a batch in {len(times)} launches")
    for load in options.loads:
        with decoding(root, "hardware", load, **more) as pipe:
            print(f"{f'nvJPEG {load}':14}{rate(pipe, options.batches, options.batch):10.0f} images/s")
        pipe.close()


if __name__ == "__main__":
    main()
