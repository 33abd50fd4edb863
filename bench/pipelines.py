"""The pipelines that are timed: the same lines for Penstock and for DALI, whose API it has."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

NORMALIZE = {"mean": [123.675, 116.28, 103.53], "std": [58.395, 57.12, 57.375], "output_layout": "CHW"}


def make(library: str, work: str, root: str, threads: int, batch: int) -> Any:
    """A built pipeline of ``library`` ("penstock" or "nvidia.dali"); ``work`` is a name in WORKS."""
    module = importlib.import_module(library)
    fn, types = module.fn, module.types

    def train(jpegs: Any) -> Any:
        images = fn.decoders.image_random_crop(
            jpegs, output_type=types.RGB, random_aspect_ratio=[0.75, 4 / 3], random_area=[0.08, 1.0]
        )
        images = fn.resize(images, resize_x=224, resize_y=224)
        return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), dtype=types.FLOAT, **NORMALIZE)

    def random_resized_crop(jpegs: Any) -> Any:
        images = fn.random_resized_crop(fn.decoders.image(jpegs, output_type=types.RGB), size=(224, 224))
        return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), dtype=types.FLOAT, **NORMALIZE)

    def val(jpegs: Any) -> Any:
        images = fn.resize(fn.decoders.image(jpegs, output_type=types.RGB), resize_shorter=256)
        return fn.crop_mirror_normalize(images, crop=(224, 224), dtype=types.FLOAT, **NORMALIZE)

    def decode(jpegs: Any) -> Any:
        return fn.decoders.image(jpegs, output_type=types.RGB)

    def read(jpegs: Any) -> Any:
        return jpegs

    works: dict[str, Callable[[Any], Any]] = {f.__name__: f for f in (train, random_resized_crop, val, decode, read)}

    @module.pipeline_def(  # type: ignore[untyped-decorator]
        batch_size=batch, num_threads=threads, device_id=None, prefetch_queue_depth=2
    )
    def pipeline() -> Any:
        jpegs, labels = fn.readers.file(file_root=root, random_shuffle=True, name="Reader")
        return works[work](jpegs), labels

    pipe = pipeline()
    pipe.build()
    return pipe
