"""Sound texts out of which broken ones are made, and what is done with each: build, and three batches."""

from __future__ import annotations

import io
import json
import os
import tarfile
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from PIL import Image

from penstock import Pipeline, fn, types
from penstock.decode.jpeg_index import build_index
from penstock.graph.node import DataNode
from penstock.op import registry
from penstock.ops import call
from tests.cases import Samples

Try = Callable[[bytes], None]
OPTIONS: dict[str, Any] = dict(batch_size=2, num_threads=2, device_id=None, seed=7)


def three_batches(pipe: Pipeline) -> None:
    """Runs it, as far as it goes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(3):
                for output in pipe.run():
                    for i in range(len(output)):
                        np.array(output.at(i))  # type: ignore[arg-type]
    except StopIteration:
        pass
    finally:
        pipe.close()


def photographs(folder: Path, count: int = 3) -> list[str]:
    """Small JPEG files."""
    paths = []
    for i in range(count):
        picture = np.random.default_rng(i).integers(0, 256, (9 + i, 14, 3), np.uint8)
        file = io.BytesIO()
        Image.fromarray(picture).save(file, "JPEG", quality=60, restart_marker_blocks=1 if i else 0)
        paths.append(str(folder / f"{i}.jpg"))
        Path(paths[-1]).write_bytes(file.getvalue())
    return paths


def training(files: list[str]) -> Pipeline:
    """What people train with."""
    pipe = Pipeline(**OPTIONS)
    with pipe:
        jpegs, labels = fn.readers.file(files=files, random_shuffle=True, name="Reader", labels=[1, 2, 3])
        images = fn.decoders.image_random_crop(jpegs, output_type=types.RGB)
        images = fn.resize(images, resize_x=6, resize_y=5)
        images = fn.crop_mirror_normalize(
            images, dtype=types.FLOAT, output_layout="CHW", crop=(4, 4), mean=[123.7, 116.3, 103.5],
            std=[58.4, 57.1, 57.4], mirror=fn.random.coin_flip(),
        )  # fmt: skip
        angle = fn.random.uniform(range=[-9.0, 9.0])
        turned = fn.rotate(fn.decoders.image(jpegs)[1:8, ::2], angle=angle, fill_value=0) * 2 + np.float32([1, 2, 3])
        pipe.set_outputs(images, labels, turned, labels[0] // 2)
    return pipe


def archived(files: list[str], folder: Path) -> Pipeline:
    """Pictures and their labels out of an archive."""
    path = folder / "pictures.tar"
    with tarfile.open(path, "w") as archive:
        for i, file in enumerate(files):
            archive.add(file, f"{i}.jpg")
            label = tarfile.TarInfo(f"{i}.cls")
            label.size = 1
            archive.addfile(label, io.BytesIO(bytes([48 + i])))
    pipe = Pipeline(**OPTIONS)
    with pipe:
        read: Any = fn.readers.webdataset(
            paths=str(path), ext=["jpg", "cls;txt"], random_shuffle=True, name="Reader",
            dtypes=[types.UINT8, types.UINT8], missing_component_behavior="empty",
        )  # fmt: skip
        jpegs, labels = read
        pictures = fn.decoders.image_crop(jpegs, crop=[5, 6], crop_pos_x=0.3, crop_pos_y=0.9, dtype=types.INT16)
        pipe.set_outputs(pictures, fn.permute_batch(labels, indices=[1, 0]), fn.peek_image_shape(jpegs))
    return pipe


def branching(files: list[str]) -> Pipeline:
    """Samples that take one branch or the other, and parts of pictures that another operator chose."""
    functions: Any = fn
    conditional = functions._conditional
    pipe = Pipeline(**OPTIONS)
    with pipe:
        jpegs, labels = fn.readers.file(files=files, labels=[1, 2, 3], name="Reader")
        anchor, extents = fn.random_crop_generator(fn.peek_image_shape(jpegs), random_area=[0.3, 0.9], seed=5)
        pictures = fn.decoders.image_slice(jpegs, anchor, extents, axes=[0, 1], output_type=types.GRAY)
        chosen = labels[0] > 1
        bright, dark = conditional.split(pictures, predicate=chosen)
        merged = conditional.merge(fn.flip(bright), fn.brightness(dark, brightness=0.5), predicate=chosen)
        corner = fn.decoders.image_slice(jpegs, rel_start=[0.0, 0.1], rel_shape=[0.5, 0.4], axis_names="HW")
        pipe.set_outputs(fn.permute_batch(merged, indices=[1, 1]), corner, fn.cast(chosen, dtype=types.INT32))
    return pipe


def stored(samples: Samples, folder: Path) -> DataNode:
    """Samples that readers take from files, for Python's functions cannot be serialized: their bytes, and shapes."""
    place = Path(mkdtemp(dir=folder))
    for i, array in enumerate(samples.arrays):
        (place / f"{i}.data").write_bytes(np.ascontiguousarray(array).tobytes())
        (place / f"{i}.shape").write_bytes(np.array(array.shape, np.int64).tobytes())
    data, shapes = (
        fn.readers.file(file_root=str(place), files=[f"{i}.{kind}" for i in range(len(samples))])[0]
        for kind in ("data", "shape")
    )
    shape = fn.reinterpret(shapes, dtype=types.INT64)
    return fn.reinterpret(data, dtype=types.to_dali_type(samples.dtype), shape=shape, layout=samples.layout or None)


def sweep(folder: Path) -> list[Pipeline]:
    """One for each operator's first cases, so that every operator and most of their arguments are there."""
    from tests.augment.test_sweep import CASES

    made: list[Pipeline] = []
    seen: dict[str, int] = {}
    for case in CASES:
        seen[case.op] = seen.get(case.op, 0) + 1
        if seen[case.op] > 4:
            continue
        inputs = [small(samples) for samples in case.inputs]
        pipe = Pipeline(**OPTIONS)
        with pipe:
            nodes: list[DataNode] = [stored(samples, folder) for samples in inputs]
            given = {k: stored(v, folder) if isinstance(v, Samples) else v for k, v in case.arguments.items()}
            outputs = call(registry.ops[case.op], tuple(nodes), given)
            pipe.set_outputs(*(outputs if isinstance(outputs, list) else [outputs]))
        made.append(pipe)
    return made


def small(samples: Samples) -> Samples:
    """The same, with pictures cut to a few pixels."""
    if not {"H", "W"} <= set(samples.layout):
        return samples
    axes = [samples.layout.index(axis) for axis in "HW"]
    cut = [tuple(slice(0, 12 if i in axes else None) for i in range(array.ndim)) for array in samples.arrays]
    return Samples(tuple(array[key] for array, key in zip(samples.arrays, cut, strict=True)), samples.layout)


def serialized(folder: Path) -> list[bytes]:
    """Pipelines: ordinary ones, as often as all of the sweep together."""
    texts, files = [pipe.serialize() for pipe in sweep(folder)], photographs(folder)
    ordinary = [pipe.serialize() for pipe in (training(files), archived(files, folder), branching(files))]
    return ordinary * (len(texts) // len(ordinary)) + texts


def try_serialized(folder: Path) -> Try:
    """Makes pipelines of texts. One that asks for very many samples is only built: those take the time they take."""

    def run(text: bytes) -> None:
        pipe = Pipeline.deserialize(text)
        if pipe.max_batch_size > 10_000:
            pipe.build()
        else:
            three_batches(pipe)

    return run


def resumable(files: list[str], checkpoint: Any = None) -> Pipeline:
    """With all that a state tells of: readers, a source that can go on anywhere, and broken files."""
    pipe = Pipeline(**OPTIONS, checkpoint=checkpoint)
    with pipe:
        first = fn.readers.file(files=files, random_shuffle=True, name="Reader", on_error="skip")
        second = fn.readers.file(files=files[:3], name="Others", sampler=[2, 0, 1, 1], on_error="replace")
        given = fn.external_source(lambda i: np.int32([[i % 9], [i % 9]]), name="given")
        pipe.set_outputs(*first, *second, given + 1, fn.random.uniform())
    return pipe


def resumed_files(folder: Path) -> list[str]:
    """One of which is missing."""
    return [*photographs(folder), str(folder / "missing"), *photographs(folder)]


def checkpoints(folder: Path) -> list[bytes]:
    """States after none to five batches."""
    files, texts = resumed_files(folder), []
    for batches in range(6):
        pipe = resumable(files)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(batches):
                pipe.run()
        texts.append(pipe.checkpoint().encode())
        pipe.close()
    return texts + [divided(text) for text in texts[1:4]]


def divided(text: bytes) -> bytes:
    """As if a second reader of the first half had been merged in, and an iterator had noted where it is."""
    state = json.loads(text)
    shard, seed = state["shards"]["Reader"][0]
    state["shards"]["Reader"] = [[shard, seed, *state["readers"]["Reader"]], [1, 7, 0, 1]]
    state["stages"] = {"Reader": [{"epoch": 0, "readers": [[seed, 1], [5, None], [6, 0]], "broken": {"skip": [3]}}]}
    counts = {"epoch": 0, "batch": 1, "origin": 0, "epoch_began": 1, "sources_began": 1}
    state["iterator"] = {"kind": "FILL", "ended": False, **counts}
    return json.dumps(state).encode()


def try_checkpoint(folder: Path) -> Try:
    """Goes on from states."""
    files = resumed_files(folder)
    return lambda text: three_batches(resumable(files, text))


def indexes(folder: Path) -> list[bytes]:
    """Indexes of JPEG files."""
    files = photographs(folder, 4)
    return [Path(build_index(files[:n], folder / f"index{n}")[0]).read_bytes() for n in (1, 4)]


def try_index(folder: Path) -> Try:
    """Decodes the indexed files."""
    files = photographs(folder, 4)

    def run(index: bytes) -> None:
        path = folder / f"index-{os.getpid()}"
        path.write_bytes(index)
        pipe = Pipeline(**OPTIONS)
        with pipe:
            jpegs, _ = fn.readers.file(files=files)
            crop = fn.decoders.image_crop(jpegs, crop=(3, 4), crop_pos_x=0.9, crop_pos_y=0.9, jpeg_index=str(path))
            pipe.set_outputs(crop, fn.decoders.image(jpegs, jpeg_index=str(path)))
        three_batches(pipe)

    return run


# How to make the sound ones, which may start threads; how to try one.
KINDS: dict[str, tuple[Callable[[Path], list[bytes]], Callable[[Path], Try]]] = {
    "serialized": (serialized, try_serialized),
    "checkpoint": (checkpoints, try_checkpoint),
    "index": (indexes, try_index),
}
