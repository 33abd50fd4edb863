"""`./dev bench datasets`: readers of data sets beside DALI's, on the CPU.

    ./dev bench datasets            all of them on 2 threads
    ./dev bench datasets numpy      those whose names have one of these in them

Files are small ones in the system's cache, so what is timed is opening, reading and parsing them. Batches of 32 samples;
the median of some rounds, in which the two take turns. decoders.inflate is timed beside `lz4.block.decompress` in a loop
of Python's, since DALI has it on GPUs only.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.report import has_dali, table, write

THREADS, BATCH, FILES = 2, 32, 512
SIZES = {"1 KB": 1 << 10, "10 KB": 10 << 10, "100 KB": 100 << 10}
Define = Callable[[Any], Any]  # given a module like `fn`, its outputs


def _pipeline(library: str, define: Define, threads: int) -> Callable[[], object]:
    package = importlib.import_module(library)
    fn = importlib.import_module(f"{library}.fn")
    pipe = package.Pipeline(batch_size=BATCH, num_threads=threads, device_id=None, seed=1, prefetch_queue_depth=2)
    with pipe, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = define(fn)
        pipe.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    pipe.build()
    run: Callable[[], object] = pipe.run
    return run


def _rate(run: Callable[[], object], seconds: float) -> float:
    for _ in range(4):
        run()
    count, begin = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - begin) < seconds:
        run()
        count += BATCH
    return count / elapsed


def _files(folder: Path, size: int, suffix: str, make: Callable[[int], bytes]) -> list[str]:
    (folder / str(size)).mkdir(parents=True, exist_ok=True)
    names = [str(folder / str(size) / f"{i:04}{suffix}") for i in range(FILES)]
    for i, name in enumerate(names):
        Path(name).write_bytes(make(i))
    return names


def _npy(array: Any) -> bytes:
    import io

    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _numpy(folder: Path) -> Iterator[tuple[str, str, Define]]:
    random = np.random.default_rng(0)
    for title, size in SIZES.items():
        rows = size // 256
        for order, kind in (("C", ""), ("F", ", Fortran order")):
            where = folder / order
            names = _files(where, size, ".npy", lambda i, r=rows, o=order: _npy(  # type: ignore[misc]
                np.asarray(random.random((r, 64)).astype(np.float32), order=o)))  # fmt: skip
            yield "readers.numpy", title + kind, lambda fn, n=names: fn.readers.numpy(files=n, random_shuffle=True)
        if size > 10 << 10:
            yield "readers.numpy", f"{title}, a region", lambda fn, n=names: fn.readers.numpy(
                files=n, roi_start=[100, 16], roi_shape=[64, 32]
            )


def _coco(folder: Path) -> Iterator[tuple[str, str, Define]]:
    random = np.random.default_rng(0)
    for title, size in SIZES.items():
        names = _files(folder, size, ".jpg", lambda i, n=size: bytes(n))  # type: ignore[misc]
        objects = []
        for i in range(8 * FILES):
            middle, angle = random.uniform(100, 400, 2), np.linspace(0, 6.28, 25)[:24]
            polygon = np.round(middle + 60 * np.stack([np.cos(angle), np.sin(angle)], 1), 2)
            objects.append({"id": i, "image_id": i % FILES, "category_id": i % 20, "iscrowd": 0,
                            "bbox": [*np.round(middle - 60, 2), 120, 120],
                            "segmentation": [polygon.ravel().tolist()]})  # fmt: skip
        pictures = [{"id": i, "file_name": name, "width": 640, "height": 480} for i, name in enumerate(names)]
        annotations = folder / f"{size}.json"
        categories = [{"id": i} for i in range(20)]
        annotations.write_text(json.dumps({"images": pictures, "annotations": objects, "categories": categories}))
        given = dict(annotations_file=str(annotations), file_root="/", ratio=True, ltrb=True)
        yield "readers.coco", title, lambda fn, g=given: fn.readers.coco(**g)
        if size == 10 << 10:
            yield "readers.coco", f"{title}, polygons", lambda fn, g=given: fn.readers.coco(polygon_masks=True, **g)
            yield "readers.coco", f"{title}, masks of 640x480", lambda fn, g=given: fn.readers.coco(
                pixelwise_masks=True, **g
            )


def _read(folder: Path) -> Iterator[tuple[str, str, Define]]:
    for title, size in SIZES.items():
        names = _files(folder, size, ".bin", lambda i, n=size: bytes(n))  # type: ignore[misc]
        given = [np.frombuffer(name.encode(), np.uint8) for name in names[:BATCH]]
        yield "io.file.read", title, lambda fn, g=given: fn.io.file.read(fn.external_source(lambda: g, batch=True))


def _decode(_: Path) -> Iterator[tuple[str, str, Define]]:
    random = np.random.default_rng(0)
    for title, size in SIZES.items():
        array = random.random((size // 256, 64)).astype(np.float32)
        given = [np.frombuffer(_npy(array), np.uint8)] * BATCH
        yield "decoders.numpy", title, lambda fn, g=given: fn.decoders.numpy(fn.external_source(lambda: g, batch=True))


def _sequence(folder: Path) -> Iterator[tuple[str, str, Define]]:
    from PIL import Image

    base = np.add.outer(np.arange(180), np.arange(320))[..., None] // [2, 3, 4] % 256
    for video in range(4):
        (folder / str(video)).mkdir(parents=True)
        for i in range(40):
            Image.fromarray((base + i).astype(np.uint8)).save(folder / str(video) / f"{i:03}.png")
    yield "readers.sequence", "3 frames of 320x180, PNG", lambda fn: fn.readers.sequence(
        file_root=str(folder), sequence_length=3
    )


def _inflate(_: Path) -> Iterator[tuple[str, str, Define]]:
    import lz4.block

    for title, size in SIZES.items():
        data = (np.arange(size) // 7 % 50 * (np.arange(size) % 11 > 3)).astype(np.uint8).tobytes()
        block = np.frombuffer(lz4.block.compress(data, store_size=False), np.uint8)
        given = [block] * BATCH

        def define(fn: Any, g: Any = given, n: int = size) -> Any:
            return fn.decoders.inflate(fn.external_source(lambda: g, batch=True), shape=[n])

        yield "decoders.inflate", title, define


def _python_inflate(define: Define) -> Callable[[], object]:
    import lz4.block

    found: dict[str, Any] = {}

    class Asked:  # what the pipeline would be given
        class decoders:  # noqa: N801
            @staticmethod
            def inflate(data: Any, shape: list[int]) -> None:
                found.update(data=[bytes(d) for d in data], size=shape[0])

        @staticmethod
        def external_source(source: Callable[[], Any], batch: bool) -> Any:
            return source()

    define(Asked)
    data, size = found["data"], found["size"]
    return lambda: [lz4.block.decompress(d, uncompressed_size=size) for d in data]


WORKS = {"numpy": _numpy, "coco": _coco, "io.file.read": _read, "decoders.numpy": _decode, "sequence": _sequence,
         "inflate": _inflate}  # fmt: skip


def rows(names: list[str], rounds: int, seconds: float, threads: int) -> Iterator[list[str]]:
    """Of each case the rates of both, in samples a second."""
    for name, work in WORKS.items():
        if names and not any(n in name for n in names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            for operator, title, define in work(Path(folder)):
                ours = _pipeline("penstock", define, threads)
                theirs = _python_inflate(define) if name == "inflate" else _pipeline("nvidia.dali", define, threads)
                rates: tuple[list[float], list[float]] = ([], [])
                for _ in range(rounds):
                    for run, found in zip((ours, theirs), rates, strict=True):
                        found.append(_rate(run, seconds))
                mine, its = map(statistics.median, rates)
                yield [f"`{operator}`, {title}", f"{mine:,.0f}", f"{its:,.0f}", f"{mine / its:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev bench datasets", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names (default: all)")
    parser.add_argument("--threads", type=int, default=THREADS, help="of each pipeline")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each library")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of one round")
    options = parser.parse_args()
    if not has_dali():
        sys.exit("DALI, which is compared with, is not installed")

    def lines() -> Iterator[str]:
        yield from (__doc__ or "").strip().splitlines()[5:]
        yield f"{options.threads} threads; {options.rounds} rounds of {options.seconds:g} s for each library."
        yield ""
        found = rows(options.names, options.rounds, options.seconds, options.threads)
        yield from table(["reader", "Penstock samples/s", "DALI samples/s", "times DALI"], list(found))

    if options.names:
        print("\n".join(lines()))
    else:
        write("datasets", "Readers of data sets", {"all": ("All readers", lines)}, False)


if __name__ == "__main__":
    main()
