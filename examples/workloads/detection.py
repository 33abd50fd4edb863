"""Input of an SSD300 from COCO: crops that keep boxes, flips, colours, and boxes matched with the network's anchors.

`library` is `penstock`, or `nvidia.dali`, whose API it has: tests/workloads compares the two, `./dev bench workloads`
times them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

NORMALIZE: dict[str, Any] = {"mean": [123.675, 116.28, 103.53], "std": [58.395, 57.12, 57.375], "output_layout": "CHW"}
# Of each of SSD300's feature maps: cells each way, the side of its anchors and of the next map's, ratios of sides.
MAPS = [
    (38, 21, 45, (2,)), (19, 45, 99, (2, 3)), (10, 99, 153, (2, 3)), (5, 153, 207, (2, 3)), (3, 207, 261, (2,)),
    (1, 261, 315, (2,)),
]  # fmt: skip


def anchors(maps: Sequence[tuple[int, int, int, Sequence[int]]] = MAPS, size: int = 300) -> list[float]:
    """Left, top, right, bottom of each anchor, as parts of the picture: 8732 anchors for SSD300."""
    found: list[float] = []
    for cells, side, next_side, ratios in maps:
        for row, column in itertools.product(range(cells), repeat=2):
            x, y = (column + 0.5) / cells, (row + 0.5) / cells
            for width, height in _sides(side / size, next_side / size, ratios):
                box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
                found += [min(max(v, 0.0), 1.0) for v in box]
    return found


def _sides(side: float, next_side: float, ratios: Sequence[int]) -> Iterator[tuple[float, float]]:
    yield side, side
    yield math.sqrt(side * next_side), math.sqrt(side * next_side)
    for ratio in ratios:
        root = math.sqrt(ratio)
        yield side * root, side / root
        yield side / root, side * root


def pipeline(
    library: ModuleType, folder: Path, *, training: bool, size: int = 300, random_window: bool = True,
    mirror: bool | None = None, anchor_boxes: Sequence[float] = (), **options: Any,
) -> Any:  # fmt: skip
    """Normalized pictures (CHW, FLOAT, `size` each way), the boxes' offsets from each anchor (FLOAT), labels (INT32).

    Anchors without a box have label 0. With `training` pictures are shuffled, cut (unless `random_window` is false),
    mirrored by chance (or, as `mirror` says) and changed in their colours; else they are whole, and in order.
    `anchor_boxes`: others than SSD300's. `options` are those of a Pipeline.
    """
    fn, types = library.fn, library.types
    given = list(anchor_boxes) or anchors()

    @library.pipeline_def(**options)  # type: ignore[untyped-decorator]
    def define() -> Any:
        jpegs, boxes, labels = fn.readers.coco(
            file_root=str(folder), annotations_file=str(folder / "annotations.json"), ltrb=True, ratio=True,
            random_shuffle=training and random_window, skip_empty=True, name="Reader",
        )  # fmt: skip
        if training and random_window:
            begin, extent, boxes, labels = fn.random_bbox_crop(
                boxes, labels, bbox_layout="xyXY", thresholds=[0.0, 0.1, 0.3, 0.5, 0.7, 0.9], aspect_ratio=[0.5, 2.0],
                scaling=[0.3, 1.0], allow_no_crop=True, num_attempts=20,
            )  # fmt: skip
            images = fn.decoders.image_slice(jpegs, begin, extent)
        else:
            images = fn.decoders.image(jpegs)
        images = fn.resize(images, size=[size, size])
        flip: Any = int(bool(mirror))
        if training:
            if random_window:
                changes = {key: fn.random.uniform(range=[0.8, 1.2]) for key in ("brightness", "contrast", "saturation")}
                images = fn.color_twist(images, hue=fn.random.uniform(range=[-18.0, 18.0]), **changes)
            if mirror is None:
                flip = fn.random.coin_flip()
            boxes = fn.bb_flip(boxes, ltrb=True, horizontal=flip)
        images = fn.crop_mirror_normalize(images, mirror=flip, dtype=types.FLOAT, **NORMALIZE)
        offsets, classes = fn.box_encoder(
            boxes, labels, anchors=given, criteria=0.5, offset=True, stds=[0.1, 0.1, 0.2, 0.2]
        )
        return images, offsets, classes

    pipe = define()
    pipe.build()
    return pipe
