"""`python -m bench.gpu_bound ROOT THREADS`: what bounds `train` with kernels of our own, as a line of JSON."""

from __future__ import annotations

import json
import sys

import penstock
from bench.pipelines import LOADS, make


def main() -> None:
    root, threads = sys.argv[1:]
    pipe = make("penstock", "train", root, int(threads), 256, LOADS["penstock"], engine="cuda")
    for _ in range(20):
        pipe.run()
    measured = penstock.profile(pipe, batches=100)
    (decoded,) = measured.figures.decoded.values()
    found = {"bottleneck": measured.bottleneck, "evidence": measured.evidence, "decoded": str(decoded)}
    print(json.dumps({**found, "busy": measured.figures.busy}))


if __name__ == "__main__":
    main()
