"""Input of a segmentation network from COCO: pictures with masks of pixels, or with the polygons of their objects.

`library` is `penstock`, or `nvidia.dali`, whose API it has: tests/workloads compares the two, `./dev bench workloads`
times them.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

NORMALIZE: dict[str, Any] = {"mean": [123.675, 116.28, 103.53], "std": [58.395, 57.12, 57.375], "output_layout": "CHW"}


def masks(
    library: ModuleType, folder: Path, *, training: bool, size: int = 256, window: bool = True, **options: Any
) -> Any:
    """Normalized pictures (CHW, FLOAT, `size` each way) and the class of each pixel (UINT8, `size` each
    way, 1).

    With `training` pictures are shuffled, and picture and mask are cut and mirrored by chance, alike; without `window`
    they are mirrored only, all of them, and stay in order. `options` are those of a Pipeline.
    """
    fn, types = library.fn, library.types
    drawn = training and window

    @library.pipeline_def(**options)  # type: ignore[untyped-decorator]
    def define() -> Any:
        jpegs, _, _, classes = fn.readers.coco(
            file_root=str(folder), annotations_file=str(folder / "annotations.json"), pixelwise_masks=True,
            random_shuffle=drawn, name="Reader",
        )  # fmt: skip
        images, classes = fn.decoders.image(jpegs), fn.cast(classes, dtype=types.UINT8)
        if drawn:
            begin, extent = fn.random_crop_generator(fn.peek_image_shape(jpegs), random_area=[0.25, 1.0])
            images, classes = (fn.slice(x, begin, extent, axes=[0, 1]) for x in (images, classes))
        images = fn.resize(images, size=[size, size])
        classes = fn.resize(classes, size=[size, size], interp_type=types.INTERP_NN)
        mirror = fn.random.coin_flip() if drawn else int(training)
        classes = fn.flip(classes, horizontal=mirror)
        return fn.crop_mirror_normalize(images, mirror=mirror, dtype=types.FLOAT, **NORMALIZE), classes

    pipe = define()
    pipe.build()
    return pipe


def polygons(library: ModuleType, folder: Path, *, training: bool, size: int = 256, **options: Any) -> Any:
    """Normalized pictures (CHW, FLOAT, `size` each way), their boxes and labels, polygons (object, begin, end) and
    their vertices (x and y as parts of the picture).

    With `training` pictures are shuffled, and mirrored by chance with all that belongs to them; else they are in order.
    `options` are those of a Pipeline.
    """
    fn, types = library.fn, library.types

    @library.pipeline_def(**options)  # type: ignore[untyped-decorator]
    def define() -> Any:
        jpegs, boxes, labels, outlines, vertices = fn.readers.coco(
            file_root=str(folder), annotations_file=str(folder / "annotations.json"), polygon_masks=True, ltrb=True,
            ratio=True, random_shuffle=training, name="Reader",
        )  # fmt: skip
        images = fn.resize(fn.decoders.image(jpegs), size=[size, size])
        mirror = fn.random.coin_flip() if training else 0
        boxes = fn.bb_flip(boxes, ltrb=True, horizontal=mirror)
        vertices = fn.coord_flip(vertices, flip_x=mirror)
        images = fn.crop_mirror_normalize(images, mirror=mirror, dtype=types.FLOAT, **NORMALIZE)
        return images, boxes, labels, outlines, vertices

    pipe = define()
    pipe.build()
    return pipe
