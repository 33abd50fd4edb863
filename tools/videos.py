"""Short videos of things that move, for examples: which action it is, no single frame tells.

    python -m tools.videos actions --count 200

writes such a folder, with a sub-folder for each action. Needs PyAV, whose FFmpeg encodes (`pip install av`).
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np

ACTIONS = ("down", "grows", "left", "right", "shrinks", "turns left", "turns right", "up")
FRAMES, WIDTH, HEIGHT = 20, 96, 72
_DIRECTIONS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}

Array = np.ndarray[Any, Any]


def _smooth(random: np.random.Generator, height: int, width: int, step: int) -> Array:
    coarse = random.uniform(0, 255, (height // step + 2, width // step + 2, 3))
    found: Array = coarse.repeat(step, 0).repeat(step, 1)[:height, :width]
    return found


def frames(action: str, random: np.random.Generator) -> list[Array]:
    """A thing of random form, colour and speed before a random background, with noise."""
    background = _smooth(random, HEIGHT, WIDTH, 12) * 0.5
    color = random.uniform(120, 255, 3)
    radius, corners, phase = random.uniform(11, 15), int(random.integers(3, 6)), random.uniform(0, 2 * math.pi)
    speed, turn, growth = random.uniform(1.2, 1.9), random.uniform(0.12, 0.2), random.uniform(1.04, 1.06)
    dx, dy = _DIRECTIONS.get(action, (0, 0))
    middle = (FRAMES - 1) / 2
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    found = []
    for i in range(FRAMES):
        at = i - middle
        left, top = WIDTH / 2 + dx * speed * at, HEIGHT / 2 + dy * speed * at
        size = radius * {"grows": growth, "shrinks": 1 / growth}.get(action, 1) ** at
        angle = phase + {"turns left": -turn, "turns right": turn}.get(action, 0) * at
        around, away = np.arctan2(y - top, x - left) - angle, np.hypot(x - left, y - top)
        edge = size * math.cos(math.pi / corners) / np.cos((around % (2 * math.pi / corners)) - math.pi / corners)
        picture = np.where((away < edge)[..., None], color, background)
        found.append(np.clip(picture + random.normal(0, 6, (HEIGHT, WIDTH, 1)), 0, 255).astype(np.uint8))
    return found


def _encode(path: Path, pictures: list[Array]) -> None:
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.options = {"preset": "veryfast", "threads": "1"}
        for picture in pictures:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))


def write_actions(folder: str | Path, count: int, seed: int = 0) -> None:
    """Writes ``count`` videos, each action's to a sub-folder of its name."""
    for number in range(count):
        action = ACTIONS[number % len(ACTIONS)]
        path = Path(folder, action, f"{number:05}.mp4")
        path.parent.mkdir(parents=True, exist_ok=True)
        _encode(path, frames(action, np.random.default_rng([seed, number])))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    write_actions(options.folder, options.count, options.seed)


if __name__ == "__main__":
    main()
