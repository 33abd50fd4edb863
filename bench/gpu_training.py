"""`python -m bench.gpu_training SOURCE ROOT THREADS`: images/s of training a ResNet-50, as one line of JSON.

SOURCE: synthetic (one batch that stays on the GPU), penstock or dali.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

from bench.pipelines import make
from bench.worker import LIBRARIES

BATCH, LOAD = 256, {"penstock": 0.9, "dali": 0.9}


def batches(source: str, root: str, threads: int) -> Callable[[], tuple[Any, Any]]:
    """What gives the next batch: pictures (bf16 to be, channels_last) and labels."""
    if source == "synthetic":
        images = torch.randn(BATCH, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
        labels = torch.randint(0, 1000, (BATCH,), device="cuda")
        return lambda: (images, labels)
    import importlib

    plugin = importlib.import_module(f"{LIBRARIES[source]}.plugin.pytorch")
    pipe = make(LIBRARIES[source], "train", root, threads, BATCH, LOAD[source], float16=True)
    iterator = plugin.DALIGenericIterator(pipe, ["image", "label"], reader_name="Reader", auto_reset=True)

    def next_batch() -> tuple[Any, Any]:
        try:
            batch = next(iterator)[0]
        except StopIteration:
            batch = next(iterator)[0]
        return batch["image"], batch["label"].squeeze(-1).cuda(non_blocking=True).long()

    return next_batch


def main() -> None:
    source, root, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    from torchvision.models import resnet50

    torch.backends.cudnn.benchmark = True
    model: Any = torch.compile(resnet50().cuda().to(memory_format=torch.channels_last))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    next_batch = batches(source, root, threads)

    def step() -> None:
        images, labels = next_batch()
        images = images.to(dtype=torch.bfloat16, memory_format=torch.channels_last)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    for _ in range(15):
        step()
    rates = []
    for _ in range(3):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(40):
            step()
        torch.cuda.synchronize()
        rates.append(40 * BATCH / (time.perf_counter() - begin))
    print(json.dumps({"rate": sorted(rates)[1], "rates": rates}))


if __name__ == "__main__":
    main()
