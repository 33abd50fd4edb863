"""`python -m bench.video_limits epochs|handles|hours|start`: what videos take, in a process of its own."""

from __future__ import annotations

import gc
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.memory import memory
from bench.video_files import videos
from penstock import Pipeline, fn
from penstock.read.video_index import index_video

EPOCHS = 200


@contextmanager
def linked(count: int) -> Iterator[list[str]]:
    """So many files."""
    some = videos("short")
    with tempfile.TemporaryDirectory(dir=some[0].parent.parent) as folder:
        names = [f"{folder}/{i:05}.mp4" for i in range(count)]
        for i, name in enumerate(names):
            os.link(some[i % len(some)], name)
        yield names


def reader(names: list[str], batch: int, **options: Any) -> Pipeline:
    pipe = Pipeline(batch_size=batch, num_threads=2, device_id=None, seed=1)
    with pipe:
        pipe.set_outputs(fn.experimental.readers.video(filenames=names, name="Reader", **options))
    return pipe


def epochs() -> str:
    with linked(50) as names:
        pipe = reader(names, 10, sequence_length=4, stride=3, step=20, random_shuffle=True)
        runs = -(-pipe.reader_meta("Reader")["epoch_size"] // 10)
        found = []
        for epoch in range(1, EPOCHS + 1):
            for _ in range(runs):
                pipe.run()
            if epoch in (5, 20, 50, 100, 150, EPOCHS):
                gc.collect()
                found.append(f"{epoch}: {memory()['pss']:.0f}")
    return ", ".join(found)


def handles() -> str:
    with linked(1000) as names:
        before = len(os.listdir("/proc/self/fd"))
        pipe = reader(names, 10, sequence_length=2, step=100)
        most = 0
        for _ in range(100):
            pipe.run()
            most = max(most, len(os.listdir("/proc/self/fd")) - before)
    return f"{most} descriptors"


def hours() -> str:
    (path,) = videos("hours")
    os.environ["PENSTOCK_CACHE"] = tempfile.mkdtemp()
    index_video(str(videos("short")[0]))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    made = index_video(str(path))
    seconds = time.perf_counter() - begin
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    shutil.rmtree(os.environ["PENSTOCK_CACHE"])
    return f"{seconds:.1f} s, {more / 1024:.0f} MB, {made.block.nbytes / 1e6:.1f} MB for {made.frames} frames"


def start() -> str:
    with linked(10_000) as names:
        os.environ["PENSTOCK_CACHE"] = str(Path(names[0]).parent / "cache")
        reader(names, 8, sequence_length=2, step=30).run()
        begin = time.perf_counter()
        reader(names, 8, sequence_length=2, step=30, random_shuffle=True).run()
        return f"{time.perf_counter() - begin:.2f} s"


if __name__ == "__main__":
    print(json.dumps({"found": {"epochs": epochs, "handles": handles, "hours": hours, "start": start}[sys.argv[1]]()}))
