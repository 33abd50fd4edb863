"""Writes pictures of coloured shapes with COCO's annotations: the box, the polygon and the class of each shape."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

CLASSES = ("disc", "square", "triangle")
_CORNERS = {"disc": 24, "square": 4, "triangle": 3}


def outline(kind: str, x: float, y: float, radius: float, turn: float) -> list[tuple[float, float]]:
    """The corners of a shape around a point; a disc has 24. `turn` is an angle in radians."""
    n = _CORNERS[kind]
    angles = [turn + 2 * math.pi * i / n for i in range(n)]
    return [(round(x + radius * math.cos(a), 2), round(y + radius * math.sin(a), 2)) for a in angles]


def _picture(random: np.random.Generator, width: int, height: int) -> Image.Image:
    """A slope of two dull colours with some grain."""
    dull = random.uniform(60, 150, (2, 3))
    slope = np.linspace(0, 1, width)[None, :, None] * np.linspace(0.5, 1, height)[:, None, None]
    grain = random.normal(0, 6, (height, width, 1))
    return Image.fromarray(np.clip(dull[0] * slope + dull[1] * (1 - slope) + grain, 0, 255).astype(np.uint8))


def _placed(random: np.random.Generator, width: int, height: int, most: int) -> list[tuple[float, float, float]]:
    """Middles and radii of shapes that do not touch."""
    found: list[tuple[float, float, float]] = []
    for _ in range(int(random.integers(1, most + 1)) * 8):
        radius = random.uniform(0.1, 0.22) * min(width, height)
        x, y = random.uniform(radius, width - radius), random.uniform(radius, height - radius)
        if len(found) < most and all(math.hypot(x - a, y - b) > radius + c for a, b, c in found):
            found.append((x, y, radius))
    return found


def write_shapes(folder: Path, count: int, width: int = 160, height: int = 120, most: int = 3, seed: int = 0) -> None:
    """`count` pictures (NUMBER.jpg) of up to `most` shapes each, and `annotations.json`: the same for the same seed."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures: list[dict[str, Any]] = []
    objects: list[dict[str, Any]] = []
    for number in range(count):
        random = np.random.default_rng([seed, number])
        picture = _picture(random, width, height)
        draw = ImageDraw.Draw(picture)
        for x, y, radius in _placed(random, width, height, most):
            kind = int(random.integers(len(CLASSES)))
            corners = outline(CLASSES[kind], x, y, radius, random.uniform(0, 2 * math.pi))
            bright = random.permutation([random.uniform(190, 255), random.uniform(0, 255), random.uniform(0, 60)])
            draw.polygon(corners, tuple(int(v) for v in bright))
            objects.append(_annotation(len(objects) + 1, number, kind + 1, corners))
        picture.save(folder / f"{number:05}.jpg", quality=92)
        pictures.append({"id": number, "file_name": f"{number:05}.jpg", "width": width, "height": height})
    categories = [{"id": i + 1, "name": name} for i, name in enumerate(CLASSES)]
    document = {"images": pictures, "annotations": objects, "categories": categories}
    (folder / "annotations.json").write_text(json.dumps(document))


def _annotation(number: int, image: int, category: int, corners: list[tuple[float, float]]) -> dict[str, Any]:
    xs, ys = zip(*corners, strict=True)
    box = [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]
    return {
        "id": number, "image_id": image, "category_id": category, "iscrowd": 0, "area": box[2] * box[3],
        "bbox": [round(v, 2) for v in box], "segmentation": [[v for corner in corners for v in corner]],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args()
    write_shapes(options.folder, options.count)


if __name__ == "__main__":
    main()
