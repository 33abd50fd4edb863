"""One contestant in a process of its own: sets up, then times a round at each request.

Says "ready", then reads one line of JSON per round from standard input and answers with one; see Contestant in
bench/contest.py.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from bench.timing import measured, seconds_each

LIBRARIES = {"penstock": "penstock", "dali": "nvidia.dali"}


def start(
    who: str, work: str, root: str, threads: int, batch: int, load: float | None = None, engine: str = "",
    fancy: bool = False, gpus: int = 1, index: str = "", depth: int = 2,
) -> Callable[[], object]:  # fmt: skip
    """What gives the contestant's next batch: on each GPU, where there are several."""
    if work.startswith("operator "):
        from bench.operators import batches_of

        _, name, number = work.split()
        return batches_of(LIBRARIES[who], name, int(number), root)
    if who in LIBRARIES:
        from bench.pipelines import make

        more: dict[str, Any] = dict(engine=engine, fancy=fancy, index=index, depth=depth)
        pipes = [make(LIBRARIES[who], work, root, threads, batch, load, i, gpus, **more) for i in range(gpus)]
        return lambda: [pipe.run() for pipe in pipes] if gpus > 1 else pipes[0].run()
    from bench.loaders import batches

    loader = batches(who, work, root, threads, batch)
    return lambda: next(loader)


def rate(next_batch: Callable[[], object], batch: int, seconds: float) -> float:
    """Images per second in a steady state: batches that were prepared between rounds are thrown away first."""
    return batch / seconds_each(next_batch, seconds)


def busy_rate(next_batch: Callable[[], object], batch: int, seconds: float, *, spin: bool) -> float:
    """The same with the batches taken by a second thread, while the main one runs pure Python (or sleeps)."""
    results: list[float] = []
    thread = threading.Thread(target=lambda: results.append(rate(next_batch, batch, seconds)))
    thread.start()
    while spin and thread.is_alive():
        sum(i * i for i in range(1000))
    thread.join()
    return results[0]


def main() -> None:
    settings: dict[str, Any] = json.loads(sys.argv[1])
    next_batch = start(**settings)
    batch: int = settings["batch"] * settings.get("gpus", 1)
    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        timed = rate if order["kind"] == "plain" else partial(busy_rate, spin=order["kind"] == "busy")
        print(json.dumps(measured(partial(timed, next_batch, batch, order["seconds"]))), flush=True)


if __name__ == "__main__":
    main()
