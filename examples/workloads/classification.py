"""Input of a ResNet-50 from folders of files, TFRecord, RecordIO, LMDB or WebDataset: only the reader differs.

`library` is `penstock`, or `nvidia.dali`, whose API it has: tests/workloads compares the two, `./dev bench workloads`
times them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

NORMALIZE: dict[str, Any] = {"mean": [123.675, 116.28, 103.53], "std": [58.395, 57.12, 57.375], "output_layout": "CHW"}


def from_files(library: ModuleType, folder: Path, **reading: Any) -> Any:
    """One folder for each class."""
    return library.fn.readers.file(file_root=str(folder / "files"), **reading)


def from_tfrecord(library: ModuleType, folder: Path, **reading: Any) -> Any:
    """Examples whose features bear ImageNet's names; tfrecord2idx or `python -m penstock index` writes the index."""
    tf = importlib.import_module(f"{library.__name__}.tfrecord")
    features = {
        "image/encoded": tf.FixedLenFeature([], tf.string, ""),
        "image/class/label": tf.FixedLenFeature([1], tf.int64, -1),
    }
    paths = {"path": str(folder / "train.tfrecord"), "index_path": str(folder / "train.tfrecord.idx")}
    read = library.fn.readers.tfrecord(features=features, **paths, **reading)
    return read["image/encoded"], library.fn.cast(read["image/class/label"], dtype=library.types.INT32)


def from_recordio(library: ModuleType, folder: Path, **reading: Any) -> Any:
    """As MXNet's im2rec writes it; labels are floats."""
    paths = {"path": [str(folder / "train.rec")], "index_path": [str(folder / "train.idx")]}
    jpegs, labels = library.fn.readers.mxnet(**paths, **reading)
    return jpegs, library.fn.cast(labels, dtype=library.types.INT32)


def from_lmdb(library: ModuleType, folder: Path, **reading: Any) -> Any:
    """As Caffe's convert_imageset writes it."""
    return library.fn.readers.caffe(path=str(folder / "lmdb"), **reading)


def from_webdataset(library: ModuleType, folder: Path, **reading: Any) -> Any:
    """Pairs of NAME.jpg and NAME.cls, where the label is an integer of 32 bits."""
    types = [library.types.UINT8, library.types.INT32]
    paths = {"paths": [str(folder / "train.tar")], "index_paths": [str(folder / "train.tar.idx")]}
    return library.fn.readers.webdataset(ext=["jpg", "cls"], dtypes=types, **paths, **reading)


READERS: dict[str, Callable[..., Any]] = {
    "files": from_files,
    "TFRecord": from_tfrecord,
    "RecordIO": from_recordio,
    "LMDB": from_lmdb,
    "WebDataset": from_webdataset,
}


def pipeline(library: ModuleType, folder: Path, kind: str, *, training: bool, size: int = 224, **options: Any) -> Any:
    """Normalized pictures (CHW, FLOAT, `size` each way) and labels (INT32, one each).

    With `training` they are random crops of a shuffled epoch, half of them mirrored; else the middle of each picture,
    in order. `options` are those of a Pipeline.
    """
    fn, types = library.fn, library.types

    @library.pipeline_def(**options)  # type: ignore[untyped-decorator]
    def define() -> Any:
        jpegs, labels = READERS[kind](library, folder, random_shuffle=training, name="Reader")
        if training:
            images = fn.decoders.image_random_crop(jpegs, random_area=[0.08, 1.0], random_aspect_ratio=[0.75, 4 / 3])
            images = fn.resize(images, size=[size, size])
            mirror: Any = fn.random.coin_flip()
        else:
            images, mirror = fn.resize(fn.decoders.image(jpegs), resize_shorter=size * 8 // 7), 0
        crop = (size, size)
        return fn.crop_mirror_normalize(images, crop=crop, mirror=mirror, dtype=types.FLOAT, **NORMALIZE), labels

    pipe = define()
    pipe.build()
    return pipe
