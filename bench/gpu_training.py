"""`python -m bench.gpu_training WHO ROOT`: training a ResNet-50 from JPEGs, beside one batch that stays on the GPU.

WHO: penstock or dali. Prints a line of JSON: for each number of threads and engine that decodes (with its share of the
pictures), images/s from JPEGs and from the resident batch, in rounds that alternate, and the median of their ratios.
"""

from __future__ import annotations

import gc
import importlib
import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

from bench.pipelines import make
from bench.worker import LIBRARIES

BATCH, STEPS, ROUNDS = 256, 30, 5
THREADS = (16, 4, 2, 1)
ENGINES = {
    "penstock": (("cpu", 0.0), ("cuda", 1.0), ("hardware", 0.65), ("hardware", 0.9)),
    "dali": (("", 0.0), ("", 0.65), ("", 0.9)),
}

Batches = Callable[[], tuple[Any, Any]]


def resident() -> Batches:
    """The same batch every time: pictures and labels."""
    images = torch.randn(BATCH, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (BATCH,), device="cuda")
    return lambda: (images, labels)


def loaded(who: str, root: str, threads: int, engine: str, load: float) -> tuple[Any, Batches]:
    """A pipeline, and what gives its next batch."""
    plugin = importlib.import_module(f"{LIBRARIES[who]}.plugin.pytorch")
    pipe = make(LIBRARIES[who], "train", root, threads, BATCH, load, float16=True, engine=engine)
    iterator = plugin.DALIGenericIterator(pipe, ["image", "label"], reader_name="Reader", auto_reset=True)

    def next_batch() -> tuple[Any, Any]:
        try:
            batch = next(iterator)[0]
        except StopIteration:
            batch = next(iterator)[0]
        return batch["image"], batch["label"].squeeze(-1).cuda(non_blocking=True).long()

    return pipe, next_batch


def main() -> None:
    who, root = sys.argv[1:]
    from torchvision.models import resnet50

    torch.backends.cudnn.benchmark = True
    model: Any = torch.compile(resnet50().cuda().to(memory_format=torch.channels_last))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()

    def rate(batches: Batches, steps: int) -> float:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(steps):
            images, labels = batches()
            images = images.to(dtype=torch.bfloat16, memory_format=torch.channels_last)
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        return steps * BATCH / (time.perf_counter() - begin)

    synthetic, results = resident(), []
    rate(synthetic, 15)
    for threads, (engine, load) in itertools.product(THREADS, ENGINES[who]):
        pipe, batches = loaded(who, root, threads, engine, load)
        rate(batches, 8)
        rounds = [(rate(batches, STEPS), rate(synthetic, STEPS)) for _ in range(ROUNDS)]
        results.append(
            {
                "threads": threads,
                "engine": engine,
                "load": load,
                "rate": statistics.median(r for r, _ in rounds),
                "synthetic": statistics.median(s for _, s in rounds),
                "share": statistics.median(r / s for r, s in rounds),
            }
        )
        del pipe, batches
        gc.collect()
    print(json.dumps({"results": results}))


if __name__ == "__main__":
    main()
