"""`python -m bench.growth ROOT EPOCHS`: memory over epochs of the PyTorch iterator, as (epoch, PSS in MB) pairs."""

from __future__ import annotations

import gc
import json
import sys

from bench.memory import memory
from bench.pipelines import make


def main() -> None:
    root, epochs = sys.argv[1], int(sys.argv[2])
    from penstock.plugin.pytorch import DALIGenericIterator

    iterator = DALIGenericIterator(make("penstock", "train", root, 2, 128), ["image", "label"], reader_name="Reader")
    figures = []
    for epoch in range(1, epochs + 1):
        for _ in iterator:
            pass
        iterator.reset()
        if epoch in {5, 10, epochs // 4, epochs // 2, epochs}:
            gc.collect()
            figures.append((epoch, memory()["pss"]))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
