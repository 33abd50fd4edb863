"""fn.clahe, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, case, pictures, samples

# 8-bit L*a*b* in whole numbers.
_V = np.arange(256) / 255
_LINEAR = np.rint(2040 * np.where(_V <= 0.04045, _V / 12.92, ((_V + 0.055) / 1.055) ** 2.4)).astype(np.int64)
_W = np.arange(2041) / 2040
_ROOT = np.rint(32768 * np.where(_W < 216 / 24389, _W * (841 / 108) + 16 / 116, np.cbrt(_W))).astype(np.int64)
_ROOT[[49, 628]] = 9454, 22126
_G = np.arange(4096) / 4096
_GAMMA = np.rint(255 * np.where(_G <= 0.0031308, _G * 12.92, 1.055 * _G ** (1 / 2.4) - 0.055)).clip(0, 255)
_XYZ = np.array([[1777, 1541, 778], [871, 2929, 296], [73, 448, 3575]])
_RGB = np.array([[12615, -6296, -2223], [-3773, 7684, 185], [217, -836, 4715]])


def to_lab(x: Array) -> Array:
    fx, fy, fz = np.moveaxis(_ROOT[(_LINEAR[x] @ _XYZ.T + 2048) >> 12], -1, 0)
    scaled = np.stack([296 * fy - 1336934, 500 * (fx - fy) + (128 << 15), 200 * (fy - fz) + (128 << 15)], -1)
    return ((scaled + (1 << 14)) >> 15).clip(0, 255)


def from_lab(lab: Array) -> Array:
    light, a, b = np.moveaxis(lab, -1, 0)
    v = light * 100 / 255
    y = np.where(v <= 8, v * 27 / 24389, ((v + 16) / 116) ** 3)
    f = np.rint(16384 * np.where(v <= 8, y * 841 / 108 + 16 / 116, (v + 16) / 116)).astype(np.int64)
    fx, fz = f + ((5 * a * 53687 + 128) >> 13) - 4194, f - ((b * 41943 + 16) >> 9) + 10484
    x, z = (np.where(v <= 3390, np.trunc(v * 108 / 841) - 290, ((v * v) >> 14) * v >> 14) for v in (fx, fz))
    rgb = (np.stack([x, np.rint(16384 * y), z], -1).astype(np.int64) @ _RGB.T + 8192) >> 14
    return _GAMMA[rgb.clip(0, 4095)].astype(np.uint8)


def table(tile: Array, clip_limit: float) -> Array:
    counts = np.bincount(tile.ravel(), minlength=256)
    if clip_limit > 0:
        limit = max(int(min(clip_limit * tile.size / 256, 1e9)), 1)
        over = int(np.maximum(counts - limit, 0).sum())
        counts = np.minimum(counts, limit) + over // 256
        if rest := over % 256:
            counts[:: max(256 // rest, 1)][:rest] += 1
    return np.rint(np.cumsum(counts).astype(np.float32) * np.float32(np.float32(255) / np.float32(tile.size))).clip(
        0, 255
    )


def plane(x: Array, tiles_x: int, tiles_y: int, clip_limit: float) -> Array:
    (h, w), tiles = x.shape, (tiles_y, tiles_x)
    if h % tiles_y or w % tiles_x:
        x = np.pad(x, [(0, t - n % t) for n, t in zip((h, w), tiles, strict=True)], "reflect" if x.size > 1 else "edge")
    th, tw = x.shape[0] // tiles_y, x.shape[1] // tiles_x
    blocks = x.reshape(tiles_y, th, tiles_x, tw).transpose(0, 2, 1, 3)
    tables = np.stack([[table(b, clip_limit) for b in row] for row in blocks]).astype(np.float32)
    near = []
    for n, size, count in ((h, th, tiles_y), (w, tw, tiles_x)):
        at = np.arange(n).astype(np.float32) * (np.float32(1) / np.float32(size)) - np.float32(0.5)
        first = np.floor(at).astype(int)
        near.append((np.maximum(first, 0), np.minimum(first + 1, count - 1), at - first.astype(np.float32)))
    (y0, y1, py), (x0, x1, px) = near
    values = x[:h, :w]
    lower, upper = (tables[y[:, None], x0, values] * (1 - px) + tables[y[:, None], x1, values] * px for y in (y0, y1))
    return np.rint(lower * (1 - py[:, None]) + upper * py[:, None]).astype(np.uint8)


def evened(
    x: Array,
    tiles_x: int,
    tiles_y: int,
    clip_limit: float,
    luma_only: bool = True,
    bins: int = 256,
    layout: str = "HWC",
) -> Array:
    how = (tiles_x, tiles_y, clip_limit)
    if layout[0] == "F":
        return np.stack([evened(frame, *how, luma_only, layout=layout[1:]) for frame in x])
    if layout == "HW":
        return plane(x, *how)
    if x.shape[2] == 3 and luma_only:
        lab = to_lab(x)
        lab[..., 0] = plane(lab[..., 0].astype(np.uint8), *how)
        return from_lab(lab)
    return np.stack([plane(x[..., k], *how) for k in range(x.shape[2])], -1)


def dark(layout: str, **arguments: Any) -> Any:
    """Values that are not equally frequent."""
    made = pictures(layout, **arguments)
    return samples([(a.astype(np.int64) ** 2 // 600 + 20).astype(np.uint8) for a in made.arrays], layout)


TILES = {"tiles_x": 4, "tiles_y": 3}
CASES = [
    *(
        case("clahe", dark("HWC"), reference=evened, clip_limit=limit, luma_only=luma_only, **TILES)
        for limit in (-1.0, 0.0, 0.4, 2.0, 40.0)
        for luma_only in (True, False)
    ),
    case("clahe", dark("HWC", channels=1), reference=evened, clip_limit=3, tiles_x=8, tiles_y=8),
    case("clahe", dark("HWC", channels=1, sizes=((64, 96), (32, 50), (50, 32))), reference=evened, clip_limit=2,
         tiles_x=8, tiles_y=16, bins=64),
    case("clahe", pictures(sizes=((1, 1), (1, 2), (300, 200))), reference=evened, clip_limit=1.5, tiles_x=5, tiles_y=2),
    case("clahe", samples([np.full((5, 7), v, np.uint8) for v in (0, 77, 255)], "HW"),
         reference=partial(evened, layout="HW"), clip_limit=2, tiles_x=1, tiles_y=1,
         differs="DALI takes no other layout than HWC"),
    *(
        case("clahe", dark(layout), reference=partial(evened, layout=layout), clip_limit=2, luma_only=luma_only,
             differs="DALI takes no other layout than HWC", **TILES)
        for layout in ("FHW", "FHWC")
        for luma_only in (True, False)
    ),
    case("clahe", dark("HWC"), reference=evened, clip_limit=1e30, differs="DALI's limit overflows, and is 1", **TILES),
]  # fmt: skip


def run(x: Array, layout: str, **arguments: Any) -> Any:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.clahe(constant(x, layout), **{**TILES, "clip_limit": 2.0, **arguments}))
    return pipe.run()[0].at(0)


@pytest.mark.parametrize(
    ("x", "layout", "problem"),
    [
        (np.zeros((4, 5, 3), np.int16), "HWC", "clahe: .*the input is INT16: expected UINT8"),
        (np.zeros((4, 5, 2), np.uint8), "HWC", r"one channel or three, got the shape \(4, 5, 2\)"),
        (np.zeros((3, 4, 5), np.uint8), "CHW", "channels that come last .*'CHW'"),
        (np.zeros((3, 4, 5), np.uint8), "DHW", "got the layout 'DHW'"),
        (np.zeros(4, np.uint8), "", "expected pictures"),
    ],
)
def test_mistakes_are_named(x: Array, layout: str, problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        run(x, layout)


@pytest.mark.parametrize(
    "arguments", [{"tiles_x": 0}, {"tiles_y": -3}, {"tiles_x": 1 << 40}, {"tiles_x": 5000, "tiles_y": 5000},
                  {"clip_limit": float("nan")}, {"clip_limit": None}]
)  # fmt: skip
def test_wrong_constants(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match=r"clahe: .*(tiles_|clip_limit)"):
        run(np.zeros((4, 5, 3), np.uint8), "HWC", **arguments)


def test_pictures_without_pixels() -> None:
    for shape in ((0, 5, 3), (5, 0, 1), (0, 0, 3)):
        assert np.array(run(np.zeros(shape, np.uint8), "HWC")).shape == shape


def test_more_tiles_than_pixels() -> None:
    x = np.arange(12, dtype=np.uint8).reshape(3, 4, 1)
    many = np.array(run(x, "HWC", tiles_x=50, tiles_y=70))
    assert (many == evened(x, 50, 70, 2.0)).all()
