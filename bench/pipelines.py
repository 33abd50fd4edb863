"""The pipelines that are timed: the same lines for Penstock and for DALI, whose API it has."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

# Where it is not tuned: much for DALI's hardware decoder, everything for the kernels of Penstock.
LOADS = {"penstock": 1.0, "dali": 0.9}
NORMALIZE = {"mean": [123.675, 116.28, 103.53], "std": [58.395, 57.12, 57.375], "output_layout": "CHW"}


def make(
    library: str, work: str, root: str, threads: int, batch: int, load: float | None = None, device_id: int = 0,
    shards: int = 1, float16: bool = False, engine: str = "", fancy: bool = False, index: str = "",
    depth: int = 2,
) -> Any:  # fmt: skip
    """A built pipeline of ``library`` ("penstock" or "nvidia.dali"); ``work`` is the name of a function below.

    ``load``: on a GPU, with that share of the pictures for its hardware decoder, or of Penstock for the ``engine``
    named; None: on the CPU. ``fancy``: the GPU interpolates chroma as well, which by default it does not. ``index``: of
    the photographs, which DALI has no use for. ``depth``: how many batches are prefetched.
    """
    module = importlib.import_module(library)
    fn, types = module.fn, module.types

    decoder: dict[str, Any] = {"output_type": types.RGB}
    if load is not None:
        decoder |= {"device": "mixed", "hw_decoder_load": load, "jpeg_fancy_upsampling": fancy}
    if engine:
        decoder["jpeg_engine"] = engine
    if index:
        decoder["jpeg_index"] = index
    dtype = types.FLOAT16 if float16 else types.FLOAT

    def train(jpegs: Any) -> Any:
        images = fn.decoders.image_random_crop(
            jpegs, random_aspect_ratio=[0.75, 4 / 3], random_area=[0.08, 1.0], **decoder
        )
        images = fn.resize(images, resize_x=224, resize_y=224)
        return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), dtype=dtype, **NORMALIZE)

    def random_resized_crop(jpegs: Any) -> Any:
        images = fn.random_resized_crop(fn.decoders.image(jpegs, **decoder), size=(224, 224))
        return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), dtype=dtype, **NORMALIZE)

    def val(jpegs: Any) -> Any:
        images = fn.resize(fn.decoders.image(jpegs, **decoder), resize_shorter=256)
        return fn.crop_mirror_normalize(images, crop=(224, 224), dtype=dtype, **NORMALIZE)

    def decode(jpegs: Any) -> Any:
        return fn.decoders.image(jpegs, **decoder)

    def patch(jpegs: Any) -> Any:
        place = {f"crop_pos_{axis}": fn.random.uniform(range=(0.0, 1.0)) for axis in "xy"}
        return fn.decoders.image_crop(jpegs, crop=(224, 224), **place, **decoder)

    def read(jpegs: Any) -> Any:
        return jpegs

    def read_gpu(jpegs: Any) -> Any:
        return jpegs.gpu()

    def mirrored(jpegs: Any) -> Any:
        images = fn.resize(fn.decoders.image(jpegs, **decoder), resize_x=224, resize_y=224)
        return fn.flip(images, horizontal=fn.random.coin_flip())

    def mirrored_if(jpegs: Any) -> Any:
        """The same work, where Python's ``if`` says what is mirrored."""
        images = fn.resize(fn.decoders.image(jpegs, **decoder), resize_x=224, resize_y=224)
        if fn.random.coin_flip():
            images = fn.flip(images)
        return images

    works: dict[str, Callable[[Any], Any]] = {
        f.__name__: f for f in (train, random_resized_crop, val, decode, patch, read, read_gpu, mirrored, mirrored_if)
    }

    @module.pipeline_def(  # type: ignore[untyped-decorator]
        batch_size=batch, num_threads=threads, device_id=None if load is None else device_id,
        prefetch_queue_depth=depth, enable_conditionals=work == "mirrored_if",
    )  # fmt: skip
    def pipeline() -> Any:
        jpegs, labels = fn.readers.file(
            file_root=root, random_shuffle=True, name="Reader", shard_id=device_id, num_shards=shards
        )
        return works[work](jpegs), labels

    pipe = pipeline()
    pipe.build()
    return pipe
