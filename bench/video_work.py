"""What the contestants of `./dev bench video` are asked for: the same clips of the same files for each."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RATE = 30
CLIP, STRIDE = 16, 4  # frames of a random clip
SPREAD = 64  # frames of a long video
OUT = 224  # pixels, of width and height, that clips are resized to


@dataclass(frozen=True)
class Clip:
    """Frames of a file, by number."""

    path: str
    frames: list[int]


def spread(count: int, wanted: int) -> list[int]:
    """So many frames of ``count``, from the first to the last."""
    return [(2 * i * (count - 1) + wanted - 1) // (2 * (wanted - 1)) for i in range(wanted)]


def pair(name: str, count: int) -> tuple[int, int]:
    """The two frames of a short file that are wanted."""
    first, second = sorted(random.Random(name).sample(range(count), 2))
    return first, second


def files(root: str) -> list[str]:
    """The videos of a folder."""
    return sorted(str(path) for path in Path(root).glob("*.mp4"))


def clips(work: str, root: str, count: int) -> Iterator[Clip]:
    """For ever: of files that have ``count`` frames each."""
    paths = files(root)
    chosen = random.Random(1)
    while True:
        if work == "stamps":
            for path in chosen.sample(paths, len(paths)):
                yield Clip(path, list(pair(Path(path).name, count)))
        elif work == "spread":
            for path in paths:
                yield Clip(path, spread(count, SPREAD))
        else:
            first = chosen.randrange(count - (CLIP - 1) * STRIDE)
            yield Clip(chosen.choice(paths), list(range(first, first + (CLIP - 1) * STRIDE + 1, STRIDE)))
