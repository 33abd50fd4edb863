"""`./dev bench datasets`: readers of data sets beside DALI's, on the CPU.

    ./dev bench datasets            all of them on 2 threads
    ./dev bench datasets numpy      those whose names have one of these in them

Files are small ones in the system's cache, so what is timed is opening, reading and parsing them. Batches of 32
samples; the median of some rounds, in which the two take turns. decoders.inflate is timed beside
`lz4.block.decompress` in a loop of Python's, on one thread and without a pipeline, since DALI has it on GPUs only.
"""

from __future__ import annotations

import importlib
import io
import json
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bench.report import comparison, show, table
from bench.timing import medians, seconds_each

BATCH, FILES = 32, 512
ARRAYS = 2500  # files: more than DALI keeps mapped, which are the 1024 that it shuffles among
SIZES = {"1 KB": 1 << 10, "10 KB": 10 << 10, "100 KB": 100 << 10}
Define = Callable[[Any], Any]  # given a module like `fn`, its outputs
Cases: TypeAlias = Iterator[tuple[str, str, Define]]  # operator, title, call


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
    return BATCH / seconds_each(run, seconds, least=1)


def _reader(name: str, **arguments: Any) -> Define:
    """A call of this operator."""

    def define(fn: Any) -> Any:
        for part in name.split("."):
            fn = getattr(fn, part)
        return fn(**arguments)

    return define


def _fed(name: str, data: list[Any], **arguments: Any) -> Define:
    """A call of this operator, with these samples as its input."""

    def define(fn: Any) -> Any:
        given = fn.external_source(lambda: data, batch=True)
        for part in name.split("."):
            fn = getattr(fn, part)
        return fn(given, **arguments)

    return define


def _files(folder: Path, suffix: str, contents: Iterable[bytes]) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for i, data in enumerate(contents):
        names.append(str(folder / f"{i:04}{suffix}"))
        Path(names[-1]).write_bytes(data)
    return names


def _npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _array(size: int) -> Any:
    return np.random.default_rng(0).random((size // 256, 64)).astype(np.float32)


def _numpy(folder: Path) -> Cases:
    name = "readers.numpy"
    for title, size in SIZES.items():
        array = _array(size)
        files = _files(folder / title, ".npy", [_npy(array)] * ARRAYS)
        turned = _files(folder / f"{title} F", ".npy", [_npy(np.asfortranarray(array))] * ARRAYS)
        yield name, title, _reader(name, files=files, random_shuffle=True)
        yield name, f"{title}, Fortran order", _reader(name, files=turned, random_shuffle=True)
        if size > 10 << 10:
            yield name, f"{title}, a region", _reader(name, files=files, roi_start=[100, 16], roi_shape=[64, 32])


def _annotations(names: list[str]) -> dict[str, Any]:
    """Eight objects, each a polygon of 24 vertices, in each picture of 640x480."""
    random, objects = np.random.default_rng(0), []
    angle = np.linspace(0, 6.28, 25)[:24]
    for i in range(8 * len(names)):
        middle = random.uniform(100, 400, 2)
        polygon = np.round(middle + 60 * np.stack([np.cos(angle), np.sin(angle)], 1), 2).ravel().tolist()
        box = [*np.round(middle - 60, 2), 120, 120]
        objects.append({"id": i, "image_id": i % len(names), "category_id": i % 20, "iscrowd": 0, "bbox": box,
                        "segmentation": [polygon]})  # fmt: skip
    pictures = [{"id": i, "file_name": name, "width": 640, "height": 480} for i, name in enumerate(names)]
    return {"images": pictures, "annotations": objects, "categories": [{"id": i} for i in range(20)]}


def _coco(folder: Path) -> Cases:
    name = "readers.coco"
    for title, size in SIZES.items():
        files = _files(folder / title, ".jpg", [bytes(size)] * FILES)
        annotations = folder / f"{size}.json"
        annotations.write_text(json.dumps(_annotations(files)))
        given = dict(annotations_file=str(annotations), file_root="/", ratio=True, ltrb=True)
        yield name, title, _reader(name, **given)
        if size == 10 << 10:
            yield name, f"{title}, polygons", _reader(name, polygon_masks=True, **given)
            yield name, f"{title}, masks of 640x480", _reader(name, pixelwise_masks=True, **given)


def _read(folder: Path) -> Cases:
    for title, size in SIZES.items():
        files = _files(folder / title, ".bin", [bytes(size)] * BATCH)
        names = [np.frombuffer(file.encode(), np.uint8) for file in files]
        yield "io.file.read", title, _fed("io.file.read", names)


def _decode(_: Path) -> Cases:
    for title, size in SIZES.items():
        data = [np.frombuffer(_npy(_array(size)), np.uint8)] * BATCH
        yield "decoders.numpy", title, _fed("decoders.numpy", data)


def _sequence(folder: Path) -> Cases:
    from PIL import Image

    base = np.add.outer(np.arange(180), np.arange(320))[..., None] // [2, 3, 4] % 256
    for video in range(4):
        (folder / str(video)).mkdir(parents=True)
        for i in range(40):
            Image.fromarray((base + i).astype(np.uint8)).save(folder / str(video) / f"{i:03}.png")
    define = _reader("readers.sequence", file_root=str(folder), sequence_length=3)
    yield "readers.sequence", "3 frames of 320x180, PNG", define


def _blocks(size: int) -> list[Any]:
    import lz4.block

    data = (np.arange(size) // 7 % 50 * (np.arange(size) % 11 > 3)).astype(np.uint8).tobytes()
    return [np.frombuffer(lz4.block.compress(data, store_size=False), np.uint8)] * BATCH


def _inflate(_: Path) -> Cases:
    for title, size in {"100 KB": 100 << 10, "1 MB": 1 << 20}.items():
        yield "decoders.inflate", title, _fed("decoders.inflate", _blocks(size), shape=[size])


def _python_inflate(title: str) -> Callable[[], object]:
    """The same without a pipeline."""
    import lz4.block

    size = {"100 KB": 100 << 10, "1 MB": 1 << 20}[title]
    data = [bytes(block) for block in _blocks(size)]
    return lambda: [lz4.block.decompress(block, uncompressed_size=size) for block in data]


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
                theirs = _python_inflate(title) if name == "inflate" else _pipeline("nvidia.dali", define, threads)
                found = [[_rate(run, seconds) for run in (ours, theirs)] for _ in range(rounds)]
                mine, its = medians(found)
                yield [f"`{operator}`, {title}", f"{mine:,.0f}", f"{its:,.0f}", f"{mine / its:.2f}"]


def main() -> None:
    options = comparison("datasets", __doc__, "parts of names", rounds=5, seconds=0.5).parse_args()

    def lines() -> Iterator[str]:
        yield from (__doc__ or "").strip().splitlines()[5:]
        yield f"{options.threads} threads; {options.rounds} rounds of {options.seconds:g} s for each library."
        yield ""
        found = rows(options.names, options.rounds, options.seconds, options.threads)
        yield from table(["reader", "Penstock samples/s", "DALI samples/s", "times DALI"], list(found))

    show(options.names, "datasets", "Readers of data sets", {"all": ("All readers", lines)})


if __name__ == "__main__":
    main()
