"""`./dev bench workloads`: the input of whole trainings (examples/workloads) beside DALI's, on the CPU.

    ./dev bench workloads               all of them on 2 threads
    ./dev bench workloads ssd speech    those whose names have one of these in them, nowhere

Pictures are photographs of 500x375 and 100 KB, with eight objects each where there are annotations; sounds are WAV
files of 12 seconds. They lie in the system's cache. The two libraries take turns in one process.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.containers import write_containers
from bench.report import comparison, show, table
from bench.timing import medians, seconds_each
from examples.workloads import classification, detection, segmentation, speech
from tools.photographs import Style, write_folder
from tools.shapes import CLASSES, outline
from tools.sounds import write_commands

PICTURES, SOUNDS, BATCH = 256, 96, 32
Make = Callable[[Any], Any]  # given a library, a pipeline


def _annotate(folder: Path) -> None:
    """Eight objects with polygons of 24 corners for each of the pictures."""
    random = np.random.default_rng(0)
    objects: list[dict[str, Any]] = []
    pictures: list[dict[str, Any]] = []
    for i, path in enumerate(sorted((folder / "files").glob("*/*.jpg"))):
        pictures.append({"id": i, "file_name": str(path.relative_to(folder)), "width": 500, "height": 375})
        for _ in range(8):
            radius = random.uniform(15, 110)
            x, y = random.uniform(radius, 500 - radius), random.uniform(radius, 375 - radius)
            corners = [v for corner in outline("disc", x, y, radius, 0.0) for v in corner]
            box = [round(v, 2) for v in (x - radius, y - radius, 2 * radius, 2 * radius)]
            objects.append({
                "id": len(objects) + 1, "image_id": i, "category_id": int(random.integers(1, 81)), "iscrowd": 0,
                "area": box[2] * box[3], "bbox": box, "segmentation": [corners],
            })  # fmt: skip
    categories = [{"id": i, "name": CLASSES[i % 3]} for i in range(1, 81)]
    document = {"images": pictures, "annotations": objects, "categories": categories}
    (folder / "annotations.json").write_text(json.dumps(document))


def _workloads(folder: Path, threads: int, names: list[str]) -> Iterator[tuple[str, Make]]:
    options: dict[str, Any] = dict(batch_size=BATCH, num_threads=threads, device_id=None, seed=1, training=True)
    titles = {f"ResNet-50 from {kind}": kind for kind in classification.READERS}
    others: dict[str, Callable[..., Any]] = {
        "SSD300 from COCO": detection.pipeline,
        "segmentation from COCO, masks": segmentation.masks,
        "segmentation from COCO, polygons": segmentation.polygons,
    }
    chosen = [t for t in [*titles, *others, "speech from NeMo"] if not names or any(n in t.lower() for n in names)]
    if any(title in titles or title in others for title in chosen):
        for _ in write_folder(folder / "files", PICTURES, Style()):
            pass
        _annotate(folder)
        write_containers(folder)
    for title in chosen:
        if title in titles:
            yield title, partial(classification.pipeline, folder=folder, kind=titles[title], **options)
        elif title in others:
            yield title, partial(others[title], folder=folder, **options)
        else:
            write_commands(folder / "sounds", SOUNDS, seconds=12.0)
            yield title, partial(speech.pipeline, folder=folder / "sounds", **options)


def rows(names: list[str], rounds: int, seconds: float, threads: int) -> Iterator[list[str]]:
    """Of each workload the rates of both, in samples a second."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for title, make in _workloads(Path(folder), threads, names):
            ours, theirs = (make(importlib.import_module(library)) for library in ("penstock", "nvidia.dali"))
            found = [[BATCH / seconds_each(pipe.run, seconds) for pipe in (ours, theirs)] for _ in range(rounds)]
            mine, its = medians(found)
            times = [a / b for a, b in found]
            span = f"{min(times):.2f} to {max(times):.2f}"
            yield [title, f"{mine:,.0f}", f"{its:,.0f}", f"{statistics.median(times):.2f}", span]
            del ours, theirs


def main() -> None:
    options = comparison("workloads", __doc__, "parts of names", rounds=7, seconds=1.0).parse_args()

    def lines() -> Iterator[str]:
        load = os.getloadavg()[0]
        yield from (__doc__ or "").strip().splitlines()[5:]
        yield f"{options.threads} threads; medians of {options.rounds} rounds of {options.seconds:g} s for each library"
        yield f"and of their quotients, with the least and the largest. The machine's load before it was {load:.1f}."
        yield ""
        found = rows(options.names, options.rounds, options.seconds, options.threads)
        yield from table(["input", "Penstock samples/s", "DALI samples/s", "times DALI", "from, to"], found)

    show(options.names, "workloads", "Input of whole trainings", {"all": ("All workloads", lines)})


if __name__ == "__main__":
    main()
