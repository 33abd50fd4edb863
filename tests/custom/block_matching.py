"""The software GPU's optical flow (tests/software_gpu/nvof.cpp) in NumPy, and videos to try it on."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
REACH = {0.0: 4, 0.5: 3, 1.0: 2}  # pixels, by preset
BLOCK = np.arange(-4, 4)


def video(height: int, width: int, moves: list[tuple[int, int]], channels: int = 3, seed: int = 0) -> Array:
    """Frames of a texture that moves by (x, y) from each frame to the next."""
    random = np.random.default_rng(seed)
    margin = 8 + int(np.abs(np.cumsum(moves, 0)).max(initial=0))
    noise = random.random((height + 2 * margin, width + 2 * margin, channels))
    for axis in (0, 1):
        noise = sum(np.roll(noise, i, axis) for i in range(-2, 3))
    scene = np.uint8(255 * (noise - noise.min()) / np.ptp(noise))
    x = y = margin
    frames = []
    for dx, dy in [(0, 0), *moves]:
        x, y = x - dx, y - dy
        frames.append(scene[y : y + height, x : x + width])
    return np.stack(frames)


def cells(extent: int, grid: int) -> int:
    return -(-extent // grid)


def gray(frame: Array, bgr: bool = False) -> Array:
    if frame.shape[2] == 1:
        return frame[:, :, 0].astype(np.int64)
    r, g, b = (frame[:, :, k].astype(np.int64) for k in ((2, 1, 0) if bgr else (0, 1, 2)))
    return (77 * r + 150 * g + 29 * b) >> 8


class _Pair:
    """Two frames, and the middles of cells in the later one."""

    def __init__(self, later: Array, before: Array, grid: int):
        self._before = before
        height, width = later.shape
        y = np.minimum(np.arange(cells(height, grid)) * grid + grid // 2, height - 1)
        x = np.minimum(np.arange(cells(width, grid)) * grid + grid // 2, width - 1)
        self.y, self.x = np.meshgrid(y, x, indexing="ij")
        self._here = self._blocks(later, self.y, self.x)

    def difference(self, dx: Array, dy: Array) -> Array:
        """Of each cell's block from the one that lies so far from it in the frame before."""
        there = self._blocks(self._before, self.y + dy, self.x + dx)
        return np.asarray(np.abs(self._here - there).sum((-2, -1)))

    @staticmethod
    def _blocks(frame: Array, y: Array, x: Array) -> Array:
        """Around these places; beyond the borders there is what is at them."""
        height, width = frame.shape
        rows = np.clip(y[..., None, None] + BLOCK[:, None], 0, height - 1)
        columns = np.clip(x[..., None, None] + BLOCK, 0, width - 1)
        return frame[rows, columns]


def _refined(d: Array, before: Array, here: Array, after: Array) -> Array:
    wanted = np.trunc(16 * (before - after) / np.maximum(before + after - 2 * here, 1)).astype(np.int64)
    return np.clip(32 * d + np.clip(wanted, -16, 16), -32768, 32767)


def matched(later: Array, before: Array, grid: int, preset: float, starts: list[Array]) -> Array:
    """Vectors in steps of 1/32 pixel: (rows, columns, 2). ``starts``: such, too, besides none."""
    pair, reach = _Pair(later, before, grid), REACH[preset]
    best = np.full(pair.y.shape, np.iinfo(np.int64).max)
    at = np.zeros((2, *pair.y.shape), np.int64)
    for start in [np.zeros((*pair.y.shape, 2), np.int64), *starts]:
        whole = (start + 16) >> 5
        for j in range(-reach, reach + 1):
            for i in range(-reach, reach + 1):
                dx, dy = whole[..., 0] + i, whole[..., 1] + j
                found = pair.difference(dx, dy)
                better = found < best
                best = np.where(better, found, best)
                at = np.where(better, (dx, dy), at)
    dx, dy = at
    x = _refined(dx, pair.difference(dx - 1, dy), best, pair.difference(dx + 1, dy))
    y = _refined(dy, pair.difference(dx, dy - 1), best, pair.difference(dx, dy + 1))
    return np.stack([x, y], -1)


def flow(
    frames: Array, grid: int = 4, preset: float = 0.0, *, bgr: bool = False, temporal: bool = False,
    hints: Array | None = None, hint_grid: int = 4,
) -> Array:  # fmt: skip
    """As `fn.optical_flow` of one video on the software GPU."""
    grays = [gray(frame, bgr) for frame in frames]
    made: list[Array] = []
    for i in range(1, len(grays)):
        starts = [made[-1]] if temporal and made else []
        if hints is not None:
            steps = np.nan_to_num(hints[i - 1] * np.float32(32), nan=0.0, posinf=32767, neginf=-32768)
            steps = np.trunc(np.clip(steps, -32768, 32767) + np.copysign(0.5, steps)).astype(np.int64)
            pair = _Pair(grays[i], grays[i - 1], grid)
            starts.append(steps[pair.y // hint_grid, pair.x // hint_grid])
        made.append(matched(grays[i], grays[i - 1], grid, preset, starts))
    height, width = frames.shape[1:3]
    shape = (len(frames) - 1, cells(height, grid), cells(width, grid), 2)
    return np.float32(np.reshape(made, shape)) / np.float32(32)
