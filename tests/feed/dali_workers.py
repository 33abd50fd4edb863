"""What DALI's worker processes give, by a process of its own, as pickled traces: DALI's pools may hang at their end."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.feed.sources import pipeline, step
from tests.feed.worker_sources import Ends, fails, numbered, pair

_BATCHES = [[[k + i] for k in range(3)] for i in range(3)]


def batches() -> Any:
    import numpy as np

    return [[np.array(sample) for sample in batch] for batch in _BATCHES]


def generator() -> Any:
    yield from batches()


CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "samples": (Ends(9).sample, {"batch": False}),
    "samples, end within a batch": (Ends(8).sample, {"batch": False}),
    "samples of their own sizes": (numbered, {"batch": False}),
    "no samples": (Ends(0).sample, {"batch": False}),
    "several outputs": (pair, {"batch": False, "num_outputs": 2, "layout": ["HW", "X"]}),
    "batches": (Ends(4).arrays, {"batch": True}),
    "batches by default": (Ends(4).arrays, {}),
    "batches of several sizes": (Ends(5).info, {"batch": True, "batch_info": True}),
    "generator function": (generator, {"batch": True}),
    "generator function, again": (generator, {"batch": True, "cycle": "raise"}),
    "generator function, round": (generator, {"batch": True, "cycle": "quiet"}),
    "iterable, again": (batches(), {"batch": True, "cycle": "raise"}),
    "iterable, round": (batches(), {"batch": True, "cycle": True}),
    "fails": (fails, {"batch": False}),
}


def trace(lib: Any, name: str, depth: int, method: str, keep: list[Any], steps: int = 9) -> list[Any]:
    """What a pipeline of a case gives, with a reset after each end."""
    source, arguments = CASES[name]
    pipe = pipeline(
        lambda lib: lib.fn.external_source(source, parallel=True, prefetch_queue_depth=depth, **arguments),
        lib,
        py_num_workers=2,
        py_start_method=method,
    )
    keep.append(pipe)
    got: list[Any] = []
    while len(got) < steps and not (got and isinstance(got[-1], Exception)):
        got.append(step(pipe))
        if isinstance(got[-1], StopIteration):
            pipe.reset()
            got.append(step(pipe))
    return got


def main() -> None:
    import nvidia.dali as package
    from nvidia.dali import fn, ops, types

    lib = SimpleNamespace(Pipeline=package.Pipeline, fn=fn, ops=ops, types=types)
    keep: list[Any] = []
    found = {name: trace(lib, name, 2, "fork", keep) for name in CASES}
    found["spawn"] = trace(lib, "samples", 1, "spawn", keep)
    for steps in found.values():
        steps[:] = [type(s)() if isinstance(s, Exception) else s for s in steps]  # texts name DALI's causes
    Path(sys.argv[1]).write_bytes(pickle.dumps(found))
    os.killpg(0, signal.SIGKILL)  # with all of DALI's workers


if __name__ == "__main__":
    main()
