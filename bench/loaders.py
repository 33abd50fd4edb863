"""The usual way without Penstock or DALI: a torch DataLoader over Pillow or OpenCV, written with care.

Pictures travel as bytes (uint8) until a whole batch is normalised at once; Pillow crops and scales in one call on the
decoded picture; OpenCV runs one thread in each worker and scales without antialiasing, as it mostly is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler

MEAN = torch.tensor([123.675, 116.28, 103.53]).view(1, 3, 1, 1)
SCALE = 1 / torch.tensor([58.395, 57.12, 57.375]).view(1, 3, 1, 1)


def random_window(random: np.random.Generator, width: int, height: int) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of a crop of 8-100 % of the area, sides 3:4 to 4:3."""
    for _ in range(10):
        area = random.uniform(0.08, 1) * width * height
        aspect = math.exp(random.uniform(math.log(0.75), math.log(4 / 3)))
        w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < w <= width and 0 < h <= height:
            x, y = int(random.integers(width - w + 1)), int(random.integers(height - h + 1))
            return x, y, x + w, y + h
    return 0, 0, width, height


def shorter_side(size: int, width: int, height: int) -> tuple[int, int]:
    scale = size / min(width, height)
    return round(width * scale), round(height * scale)


def pillow_train(path: Path, random: np.random.Generator) -> np.ndarray:
    from PIL import Image

    with Image.open(path) as picture:
        picture = picture.convert("RGB")
    window = random_window(random, *picture.size)
    pixels = np.asarray(picture.resize((224, 224), Image.Resampling.BILINEAR, window))
    return pixels[:, ::-1] if random.integers(2) else pixels


def pillow_val(path: Path, _: np.random.Generator) -> np.ndarray:
    from PIL import Image

    with Image.open(path) as picture:
        picture = picture.convert("RGB")
    # The window of the picture that becomes the 224x224 in the middle: nothing else is scaled.
    width, height = shorter_side(256, *picture.size)
    w, h = 224 / width * picture.width, 224 / height * picture.height
    x, y = (picture.width - w) / 2, (picture.height - h) / 2
    return np.asarray(picture.resize((224, 224), Image.Resampling.BILINEAR, (x, y, x + w, y + h)))


def _opencv_decode(path: Path) -> np.ndarray:
    import cv2

    picture = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR_RGB)
    assert picture is not None, path
    return picture


def opencv_train(path: Path, random: np.random.Generator) -> np.ndarray:
    import cv2

    pixels = _opencv_decode(path)
    x0, y0, x1, y1 = random_window(random, pixels.shape[1], pixels.shape[0])
    pixels = cv2.resize(pixels[y0:y1, x0:x1], (224, 224), interpolation=cv2.INTER_LINEAR)
    return pixels[:, ::-1] if random.integers(2) else pixels


def opencv_val(path: Path, _: np.random.Generator) -> np.ndarray:
    import cv2

    pixels = _opencv_decode(path)
    width, height = shorter_side(256, pixels.shape[1], pixels.shape[0])
    x, y = (width - 224) // 2, (height - 224) // 2
    pixels = cv2.resize(pixels, (width, height), interpolation=cv2.INTER_LINEAR)
    return pixels[y : y + 224, x : x + 224]


TRANSFORMS = {f.__name__: f for f in (pillow_train, pillow_val, opencv_train, opencv_val)}


class Photographs(Dataset[tuple[np.ndarray, int]]):
    def __init__(self, root: Path, transform: str) -> None:
        self.paths = sorted(root.glob("*/*.jpg"))
        self.classes = sorted({path.parent.name for path in self.paths})
        self.transform = TRANSFORMS[transform]
        self.random = np.random.default_rng()

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        path = self.paths[index]
        return self.transform(path, self.random), self.classes.index(path.parent.name)


def _start_worker(number: int) -> None:
    import cv2

    cv2.setNumThreads(0)
    torch.utils.data.get_worker_info().dataset.random = np.random.default_rng(number)  # type: ignore[union-attr]


def _collate(samples: list[tuple[np.ndarray, int]]) -> tuple[torch.Tensor, torch.Tensor]:
    images, labels = zip(*samples, strict=True)
    batch = torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2)
    return batch.float().sub_(MEAN).mul_(SCALE), torch.tensor(labels)


def batches(library: str, work: str, root: str, workers: int, batch: int) -> Iterator[Any]:
    """Endless batches of ("pillow" or "opencv", "train" or "val"), normalised, under an NCHW view."""
    data = Photographs(Path(root), f"{library}_{work}")
    sampler = RandomSampler(data, replacement=True, num_samples=10**9)
    return iter(
        DataLoader(data, batch, sampler=sampler, num_workers=workers, collate_fn=_collate, worker_init_fn=_start_worker)
    )
