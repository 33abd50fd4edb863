"""Times the kernels of augmentations on a GPU: ``python -m bench.gpu_kernels``, where PyTorch and a GPU are.

256 pictures of 500x375, HWC, lie on the GPU, in several sets that together exceed its caches; each batch takes the
next set. The profiler of PyTorch measures how long each kernel ran. Beside that stands the floor: the time that the
bytes of the input and of the output take, once, at the rate of a copy within this GPU.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from penstock import Pipeline, fn, types
from penstock.errors import PenstockError
from penstock.graph.node import DataNode

HEIGHT, WIDTH, SIZE = 375, 500, 224
MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]


def normalized(images: DataNode) -> DataNode:
    mirror = fn.random.coin_flip()
    planes: DataNode = fn.crop_mirror_normalize(
        images, mean=MEAN, std=STD, dtype=types.FLOAT16, crop=(SIZE, SIZE), mirror=mirror
    )
    return planes


def coloured(images: DataNode) -> DataNode:
    images = fn.color_twist(images, hue=fn.random.uniform(range=(-20.0, 20.0)), saturation=1.2, brightness=0.9)
    contrasted: DataNode = fn.brightness_contrast(images, contrast=fn.random.uniform(range=(0.8, 1.2)))
    return contrasted


def train(images: DataNode) -> DataNode:
    return normalized(coloured(fn.random_resized_crop(images, size=(SIZE, SIZE))))


def resize(images: DataNode, **arguments: Any) -> DataNode:
    resized: DataNode = fn.resize(images, size=(SIZE, SIZE), **arguments)
    return resized


# What is done to the pictures, which share of them is read on average, and bytes of an element that is written.
CHAINS: dict[str, tuple[Callable[[DataNode], DataNode], float, int]] = {
    "train": (train, 0.54, 2),
    "resized crop, normalized": (lambda i: normalized(fn.random_resized_crop(i, size=(SIZE, SIZE))), 0.54, 2),
    "resized crop": (lambda i: fn.random_resized_crop(i, size=(SIZE, SIZE)), 0.54, 1),
    "colours, normalized": (lambda i: normalized(coloured(i)), SIZE * SIZE / (HEIGHT * WIDTH), 2),
    "normalized": (normalized, SIZE * SIZE / (HEIGHT * WIDTH), 2),
    "resize": (resize, 1, 1),
    "resize, lanczos3": (lambda i: resize(i, interp_type=types.INTERP_LANCZOS3), 1, 1),
    "resize, nearest": (lambda i: resize(i, interp_type=types.INTERP_NN), 1, 1),
}


def copy_rate() -> float:
    """Bytes read and written per second by copies within the GPU's memory."""
    source, target = (torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(2))
    times = []
    for _ in range(20):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        target.copy_(source)
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return 2.0 * source.numel() / float(statistics.median(times))


def pipeline(chain: Callable[[DataNode], DataNode], sets: list[list[torch.Tensor]]) -> Any:
    def batches() -> Iterator[list[torch.Tensor]]:
        while True:
            yield from sets

    pipe = Pipeline(batch_size=len(sets[0]), num_threads=4, device_id=torch.cuda.current_device(), seed=1)
    with pipe:
        images = fn.external_source(source=batches, device="gpu", layout="HWC", no_copy=True)
        pipe.set_outputs(chain(images))
    pipe.build()
    return pipe


def kernel_times(pipe: Any, batches: int) -> tuple[list[float], float]:
    """Microseconds of each kernel, and of a whole batch by the clock."""
    for _ in range(10):
        pipe.run()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(batches):
        pipe.run()
    torch.cuda.synchronize()
    wall = (time.perf_counter() - begin) / batches
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(batches):
            pipe.run()
        torch.cuda.synchronize()
    # Our kernels all have the same name.
    times = [e.device_time_total for e in profiler.events() if e.name == "kernel"]
    return times, wall * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--sets", type=int, default=6)
    parser.add_argument("--batches", type=int, default=100)
    parser.add_argument("--only", default="", help="chains whose names have this in them")
    parser.add_argument("--sources", action="store_true", help="print the kernels' sources")
    options = parser.parse_args()

    rate = copy_rate()
    print(f"{torch.cuda.get_device_name()}: copies run at {rate / 1e12:.2f} TB/s; batches of {options.batch}")
    noise = torch.Generator(device="cuda").manual_seed(1)
    shape = (options.batch, HEIGHT, WIDTH, 3)
    sets = [
        list(torch.randint(0, 256, shape, dtype=torch.uint8, device="cuda", generator=noise))
        for _ in range(options.sets)
    ]
    for name, (chain, share, element) in CHAINS.items():
        if options.only not in name:
            continue
        try:
            pipe = pipeline(chain, sets)
            times, wall = kernel_times(pipe, options.batches)
        except PenstockError as error:
            print(f"{name:26} {error}")
            continue
        bytes_moved = options.batch * 3 * (share * HEIGHT * WIDTH + element * SIZE * SIZE)
        spent, floor = sum(times) / options.batches, bytes_moved / rate * 1e6
        print(
            f"{name:26} {len(times) / options.batches:4.1f} kernels {spent:8.1f} us (floor {floor:6.1f} us, "
            f"{bytes_moved / max(spent, 1e-9) / 1e6:6.2f} TB/s), fastest kernel {min(times, default=0):8.1f} us, "
            f"whole batch {wall:8.1f} us"
        )
        if options.sources:
            print(pipe.explain(source=True))


if __name__ == "__main__":
    main()
