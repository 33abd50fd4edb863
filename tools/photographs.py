"""Writes folders of JPEG photographs made of the pictures inside scikit-image's and scikit-learn's wheels.

Each photograph is a random crop of a picture, at a random scale and mirrored or not, with its own light and grain. The
grain (or, for a detailed picture, a slight blur) is what brings a file to the size asked for: how long a JPEG takes to
decode depends on its bytes more than on its pixels.
"""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

# One class a picture: none of these is downloaded, all are files of the wheels.
PICTURES: Mapping[str, tuple[str, ...]] = {
    "astronaut": ("skimage.data", "astronaut.png"),
    "cat": ("skimage.data", "chelsea.png"),
    "coffee": ("skimage.data", "coffee.png"),
    "flower": ("sklearn.datasets", "images", "flower.jpg"),
    "galaxies": ("skimage.data", "hubble_deep_field.jpg"),
    "motorcycle": ("skimage.data", "motorcycle_left.png"),
    "rocket": ("skimage.data", "rocket.jpg"),
    "temple": ("sklearn.datasets", "images", "china.jpg"),
}


@dataclass(frozen=True)
class Style:
    """How the photographs of a folder look as files."""

    width: int = 500
    height: int = 375
    quality: tuple[int, int] = (90, 96)  # drawn anew for each
    subsampling: str = "4:2:0"
    kilobytes: tuple[int, int] = (90, 115)  # drawn anew for each


@cache
def _picture(name: str) -> Image.Image:
    package, *path = PICTURES[name]
    with files(package).joinpath(*path).open("rb") as file:
        return Image.open(file).convert("RGB")


def _encode(picture: Image.Image, grain: np.ndarray, detail: float, style: Style, quality: int) -> bytes:
    if detail < 0:
        pixels = np.asarray(picture.filter(ImageFilter.GaussianBlur(-detail)))
    else:
        pixels = np.clip(np.asarray(picture) + detail * grain[..., None], 0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=quality, subsampling=style.subsampling)
    return file.getvalue()


def photograph(name: str, seed: int, style: Style) -> bytes:
    """One photograph of a class as a JPEG file: the same for the same seed."""
    random = np.random.default_rng([seed, len(name)])
    source = _picture(name)
    aspect = style.width / style.height
    largest = min(source.width, source.height * aspect)
    width = largest * random.uniform(0.65, 1)
    x, y = random.uniform(0, [source.width - width, source.height - width / aspect])
    picture = source.resize(
        (style.width, style.height), Image.Resampling.BICUBIC, (x, y, x + width, y + width / aspect)
    )
    if random.integers(2):
        picture = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    light, tint = random.uniform(0.75, 1.15), random.uniform(0.94, 1.06, 3)
    picture = Image.fromarray(np.clip(np.asarray(picture) * (light * tint), 0, 255).astype(np.uint8))
    grain = random.standard_normal((style.height, style.width), np.float32)
    quality, size = int(random.integers(style.quality[0], style.quality[1] + 1)), random.uniform(*style.kilobytes)
    low, high = -3.0, 12.0  # more detail, more bytes: bisect
    for _ in range(6):
        detail = (low + high) / 2
        file = _encode(picture, grain, detail, style, quality)
        if abs(len(file) / 1000 - size) < 0.02 * size:
            break
        low, high = (detail, high) if len(file) / 1000 < size else (low, detail)
    return file


def _write(path: Path, seed: int, style: Style) -> int:
    return path.write_bytes(photograph(path.parent.name, seed, style))


def write_folder(root: Path, count: int, style: Style) -> Iterator[int]:
    """Writes ``count`` photographs to ``root/CLASS/NUMBER.jpg``, spread over the classes; gives the bytes of each.

    The folder appears whole or not at all: an interrupted run leaves nothing that looks finished.
    """
    unfinished = root.with_name(root.name + ".unfinished")
    names = list(PICTURES)
    paths = [unfinished / names[i % len(names)] / f"{i // len(names):05}.jpg" for i in range(count)]
    for name in names:
        (unfinished / name).mkdir(parents=True, exist_ok=True)
    arguments = (_write, paths, range(count), [style] * count)
    if count * style.width * style.height < 64 * 500 * 375:
        yield from map(*arguments)
    else:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            yield from pool.map(*arguments)
    unfinished.rename(root)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("root", type=Path)
    parser.add_argument("--count", type=int, default=1200)
    arguments = parser.parse_args()
    written = sum(write_folder(arguments.root, arguments.count, Style()))
    print(f"{arguments.count} photographs, {written / 1e6:.1f} MB, in {arguments.root}")


if __name__ == "__main__":
    main()
