"""This library's part of `./dev bench video`."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from bench.video_work import CLIP, OUT, RATE, SPREAD, STRIDE, files, pair
from penstock import Pipeline, fn

IN_ORDER = 30  # frames of a sequence, where all are read


def pipeline(work: str, root: str, threads: int, count: int) -> tuple[Pipeline, int]:
    """What does the work, and how many frames a batch has; of files with ``count`` frames each."""
    names = files(root)
    batch = {"clips": 8, "spread": 4, "stamps": 64}.get(work, 2)
    pipe = Pipeline(batch_size=batch, num_threads=threads, device_id=None, seed=1)
    with pipe:
        pipe.set_outputs(_frames(work, names, count))
    return pipe, batch * {"clips": CLIP, "spread": SPREAD, "stamps": 2}.get(work, IN_ORDER)


def _frames(work: str, names: list[str], count: int) -> Any:
    if work == "clips":
        return fn.readers.video_resize(
            filenames=names, sequence_length=CLIP, stride=STRIDE, step=1, random_shuffle=True, size=(OUT, OUT)
        )
    if work == "spread":
        frames = fn.experimental.readers.video(filenames=names, sequence_length=SPREAD, uniform_sample=True)
        return fn.resize(frames, size=(OUT, OUT))
    if work == "stamps":
        random.Random(1).shuffle(names)
        frames, _ = fn.experimental.readers.video(file_list=_list(names, count), sequence_length=2, uniform_sample=True)
        return frames
    return fn.readers.video(filenames=names, sequence_length=IN_ORDER)


def _list(names: list[str], count: int) -> str:
    """Two times of each file: from the first frame to the last of a part, whose end is not one of it."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
        for name in names:
            first, last = pair(Path(name).name, count)
            file.write(f"{name} 0 {first / RATE:.6f} {(last + 1) / RATE:.6f}\n")
    return file.name
