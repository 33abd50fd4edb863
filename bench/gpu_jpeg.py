"""Times JPEG decoding on a GPU by engine: ``python -m bench.gpu_jpeg``, where PyTorch and a GPU are.

Whole photographs from files in the page cache to RGB in the GPU's memory, by kernels of our own and by nvJPEG. The
profiler of PyTorch measures how long each of our kernels ran. The last line is JSON, for ``./dev bench jpeg``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from bench.gpu_kernels import copy_rate
from bench.photos import SETS, describe, index_of, photos
from penstock import fn, pipeline_def

# In the order in which they run (native/cuda/decode/jpeg/jpeg.cpp).
FOUND, INDEXED = ("synchronize", "join", "resolve"), ("seed",)  # where subsequences begin
PLANES, DIRECT = ("transform", "pixels"), ("direct",)  # DIRECT: of all photographs no chroma is coarser
SCANS = ("scans",)  # of progressive files, instead of all before PLANES


def kernels(photographs: str, indexed: bool) -> tuple[str, ...]:
    if photographs == "progressive":
        return SCANS + PLANES
    entries = INDEXED if indexed else FOUND
    samples = DIRECT if photographs == "444" else PLANES
    return ("tables", "count", "unstuff", *entries, "coefficients", "dc", *samples)


@pipeline_def(device_id=0, seed=1)
def decoding(root: Path, engine: str, load: float, index: str | None) -> Any:
    files, _ = fn.readers.file(file_root=str(root), random_shuffle=True)
    return fn.decoders.image(
        files, device="mixed", jpeg_engine=engine, hw_decoder_load=load, jpeg_fancy_upsampling=True,
        jpeg_index=index,
    )  # fmt: skip


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
    return statistics.median(rates)


def kernel_times(pipe: Any, batches: int, names: tuple[str, ...]) -> dict[str, float]:
    """Microseconds of each kernel a batch; of all together, if they are others than these."""
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(batches):
            pipe.run()
        torch.cuda.synchronize()
    ours = sorted((e for e in profiler.events() if e.name == "kernel"), key=lambda e: e.time_range.start)
    times = [e.device_time_total for e in ours]
    if not times or len(times) % len(names):
        return {f"all {len(times)}": sum(times) / batches}
    each = len(times) // len(names)
    groups = max(round(each / batches), 1)  # a large batch is decoded in several; others were under way at the ends
    return {name: groups * sum(times[k :: len(names)]) / each for k, name in enumerate(names)}


def lane_rate() -> float:
    """Instructions per second of all lanes."""
    query = ["nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits"]
    clock = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
    lanes = 4 * 32  # to which a multiprocessor gives an instruction in each cycle
    return float(torch.cuda.get_device_properties(0).multi_processor_count * lanes) * float(clock) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", default="420", choices=SETS)
    parser.add_argument("--count", type=int, help="so many photographs, for a short trial")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--batches", type=int, default=40)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--index", action="store_true", help="our kernels get an index of the photographs")
    parser.add_argument("--loads", type=float, nargs="*", default=[0.65, 1.0], help="hw_decoder_load, of nvJPEG")
    options = parser.parse_args()

    root = photos(options.photos, options.count)
    print(f"{torch.cuda.get_device_name()}: {describe(root)}, batches of {options.batch}, {options.threads} threads")
    more: dict[str, Any] = dict(batch_size=options.batch, num_threads=options.threads, prefetch_queue_depth=3)
    index = str(index_of(root)) if options.index else None
    with decoding(root, "cuda", 1.0, index, **more) as pipe:
        rates = {"cuda": rate(pipe, options.batches, options.batch)}
        print(f"{'cuda':14}{rates['cuda']:10.0f} images/s")
        print("\n".join(line for line in pipe.explain().splitlines() if "so far" in line))
        times = kernel_times(pipe, options.batches, kernels(options.photos, options.index))
    pipe.close()
    for name, microseconds in times.items():
        print(f"  {name:14}{microseconds:10.1f} us a batch")
    for load in options.loads:
        with decoding(root, "hardware", load, None, **more) as pipe:
            name = f"nvJPEG {load}"
            rates[name] = rate(pipe, options.batches, options.batch)
            print(f"{name:14}{rates[name]:10.0f} images/s")
        pipe.close()
    print(json.dumps({"rates": rates, "kernels": times, "copies": copy_rate(), "lanes": lane_rate()}))


if __name__ == "__main__":
    main()
