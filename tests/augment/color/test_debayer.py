"""fn.debayer, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.cases import Apart, Array, case, per_sample, pictures, random_array, samples


def colours(x: Array, blue_position: Any = (0, 0), algorithm: str = "bilinear_ocv") -> Array:
    """One HW picture."""
    n = 1 if algorithm == "gray_ocv" else 3
    if min(x.shape) < 3:
        return np.zeros((*x.shape, n), x.dtype)
    v = x.astype(np.int64)
    own, left, right = v[1:-1, 1:-1], v[1:-1, :-2], v[1:-1, 2:]
    up, down = v[:-2, 1:-1], v[2:, 1:-1]
    corners = v[:-2, :-2] + v[:-2, 2:] + v[2:, :-2] + v[2:, 2:]
    ys, xs = np.mgrid[: own.shape[0], : own.shape[1]]
    blue_y, blue_x = np.broadcast_to(np.ravel(blue_position), 2).tolist()
    blue_row, blue_column = ys % 2 == blue_y, xs % 2 == blue_x
    kinds = [blue_row & blue_column, blue_row & ~blue_column, ~blue_row & blue_column, ~blue_row & ~blue_column]
    if n == 1:
        red, green, blue = 4899, 9617, 1868
        cross = left + right + up + down
        sums = [corners * red + cross * green + own * 4 * blue,
                2 * ((left + right) * blue + (up + down) * red + own * 2 * green),
                2 * ((left + right) * red + (up + down) * blue + own * 2 * green),
                corners * blue + cross * green + own * 4 * red]  # fmt: skip
        inner = ((np.select(kinds, sums) + (1 << 15)) >> 16)[..., None]
    else:
        across, along, diagonal = (left + right + 1) >> 1, (up + down + 1) >> 1, (corners + 2) >> 2
        between = (left + right + up + down + 2) >> 2
        if algorithm == "edgeaware_ocv":
            between = np.where(np.abs(left - right) > np.abs(up - down), along, across)
        inner = np.stack([
            np.select(kinds, [diagonal, along, across, own]),
            np.select(kinds, [between, own, own, between]),
            np.select(kinds, [own, across, along, diagonal]),
        ], -1)  # fmt: skip
    return np.pad(inner, ((1, 1), (1, 1), (0, 0)), "edge").astype(x.dtype)


def mirrored(x: Array, blue_position: Any = (0, 0), algorithm: str = "vng_ocv") -> Array:
    """One HW picture, by the algorithms that look at two neighbours."""
    if algorithm == "vng_ocv" and min(x.shape) < 8:
        return colours(x, blue_position)
    pad = 4
    around = np.pad(x.astype(np.int64), pad, "reflect")
    ys, xs = np.mgrid[: around.shape[0], : around.shape[1]]
    blue_y, blue_x = np.broadcast_to(np.ravel(blue_position), 2).tolist()
    blue_row, blue_column = ys % 2 != blue_y, xs % 2 != blue_x
    found = (gradients if algorithm == "vng_ocv" else chroma)(around, blue_row, blue_column)
    return found[pad:-pad, pad:-pad].astype(x.dtype)


def chroma(v: Array, blue_row: Array, blue_column: Array) -> Array:
    def at(y: int, x: int) -> Array:
        return np.roll(v, (-y, -x), (0, 1))

    across, along = at(0, -1) + at(0, 1), at(-1, 0) + at(1, 0)
    diagonal = (at(-1, -1) + at(-1, 1) + at(1, -1) + at(1, 1)) // 4
    sideways, upright = abs(v - (at(0, -2) + at(0, 2)) // 2), abs(v - (at(-2, 0) + at(2, 0)) // 2)
    between = np.select([sideways < upright, sideways > upright], [across // 2, along // 2], (across + along) // 4)
    kinds = [blue_row & blue_column, blue_row & ~blue_column, ~blue_row & blue_column, ~blue_row & ~blue_column]
    return np.stack([
        np.select(kinds, [diagonal, along // 2, across // 2, v]),
        np.select(kinds, [between, v, v, between]),
        np.select(kinds, [v, across // 2, along // 2, diagonal]),
    ], -1)  # fmt: skip


def gradients(v: Array, blue_row: Array, blue_column: Array) -> Array:
    def at(y: int, x: int, of: Array = v) -> Array:
        return np.roll(of, (-y, -x), (0, 1))

    def apart(a: tuple[int, int], b: tuple[int, int]) -> Array:
        return abs(at(*a) - at(*b))

    green = blue_row != blue_column
    tall = sum(k * apart((-1, i), (1, i)) for i, k in ((-1, 1), (0, 2), (1, 1)))
    wide = sum(k * apart((i, -1), (i, 1)) for i, k in ((-1, 1), (0, 2), (1, 1)))
    corner = {1: 2 * apart((-1, 1), (1, -1)), -1: 2 * apart((-1, -1), (1, 1))}
    cross = {s: corner[s] + apart((-1, 0), (0, -s)) + apart((0, s), (1, 0)) for s in (1, -1)}
    greens = (at(-1, 0) + at(1, 0) + at(0, -1) + at(0, 1)) // 2
    found = []  # of each direction: its gradient, and twice the own colour and both others
    for y, x in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        gradient = at(y, x, tall) + tall if y else at(y, x, wide) + wide
        far = at(2 * y + x, 2 * x + y) + at(2 * y - x, 2 * x - y)
        near, twice = 2 * at(y, x), v + at(2 * y, 2 * x)
        others = (far, near) if y else (near, far)
        sides = at(y + x, x + y) + at(y - x, x - y)
        found.append((gradient, twice, *(np.where(green, a, b) for a, b in zip(others, (near, sides), strict=True))))
    for y, x in ((-1, 1), (1, -1), (-1, -1), (1, 1)):
        side = -y * x
        straight = at(y, x, cross[side]) + cross[side]
        around = sum(at(i, j, corner[side]) for i in (0, y) for j in (0, x))
        twice = np.where(green, 2 * at(y, x), v + at(2 * y, 2 * x))
        first = np.where(green, at(0, x) + at(2 * y, x), at(y, x, greens))
        second = np.where(green, at(y, 0) + at(y, 2 * x), 2 * at(y, x))
        found.append((np.where(green, around, straight), twice, first, second))
    each, twice, first, second = (np.stack(part) for part in zip(*found, strict=True))
    taken = each < each.min(0) + np.maximum(each.max(0) // 2, 1)
    scale = np.float32(0.5) / taken.sum(0).astype(np.float32)
    one, two = (
        (v + np.rint(((part - twice) * taken).sum(0).astype(np.float32) * scale)).clip(0, 255)
        for part in (first, second)
    )
    kinds = [blue_row & blue_column, blue_row & ~blue_column, ~blue_row & blue_column, ~blue_row & ~blue_column]
    return np.stack([
        np.select(kinds, [two, two, one, v]), np.select(kinds, [one, v, v, one]), np.select(kinds, [v, one, two, two])
    ], -1)  # fmt: skip


def debayered(x: Array, layout: str = "HW", **arguments: Any) -> Array:
    planes = x[..., 0] if layout[-1] == "C" else x
    one = mirrored if arguments.get("algorithm") in ("vng_ocv", "default_npp") else colours
    if layout[0] == "F":
        return np.stack([one(plane, **arguments) for plane in planes])
    return one(planes, **arguments)


def of(layout: str) -> Any:
    return partial(debayered, layout=layout)


SIZES = {"sizes": ((36, 50), (2, 30), (64, 4)), "channels": 1}
POSITIONS = ((0, 0), (0, 1), (1, 0), (1, 1))
EACH = per_sample([(1, 0), (0, 1), (1, 1)])
CASES = [
    case("debayer", pictures("HW", dtype, **SIZES), reference=debayered, blue_position=position, algorithm=algorithm)
    for dtype in (np.uint8, np.uint16)
    for algorithm in ("bilinear_ocv", "edgeaware_ocv", "gray_ocv")
    for position in POSITIONS
]
LARGER = {"sizes": ((36, 50), (8, 30), (64, 8)), "channels": 1}
ROUNDED = Apart(off_by=1, share=0.002, why="means of seven directions that are half-way, which OpenCV rounds by chance")
CASES += [
    *(
        case("debayer", pictures(layout, **SIZES), reference=of(layout), blue_position=EACH, algorithm="bilinear_ocv")
        for layout in ("HW", "HWC", "FHW", "FHWC")
    ),
    case("debayer", pictures("FHW", **SIZES), reference=of("FHW"), blue_position=1, algorithm="gray_ocv"),
    case("debayer", samples(list(pictures("HW", **SIZES).arrays)), reference=debayered, blue_position=(0, 1),
         algorithm="edgeaware_ocv"),
    *(
        case("debayer", pictures("HW", **LARGER), reference=debayered, blue_position=position, algorithm="vng_ocv",
             from_dali=ROUNDED)
        for position in POSITIONS
    ),
    case("debayer", pictures("FHW", **LARGER), reference=of("FHW"), blue_position=EACH, algorithm="vng_ocv",
         from_dali=ROUNDED),
    case("debayer", pictures("HW", sizes=((6, 50), (10, 2), (4, 4))), reference=debayered, blue_position=(0, 1),
         algorithm="vng_ocv"),
    *(
        case("debayer", pictures(layout, dtype, **LARGER), reference=of(layout), blue_position=position,
             algorithm="default_npp", differs="DALI has it on GPUs only, by NPP")
        for position in (*POSITIONS, EACH)
        for layout, dtype in (("HW", np.uint8), ("FHWC", np.uint16))
    ),
]  # fmt: skip


def test_defaults() -> None:
    """Without an algorithm it is the one that DALI has on that device."""
    x = random_array((12, 10))
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.debayer(constant(x, "HW"), blue_position=(0, 1)))
    assert (np.array(pipe.run()[0].at(0)) == debayered(x, blue_position=(0, 1))).all()


@pytest.mark.usefixtures("software_gpu")
def test_default_on_a_gpu() -> None:
    x = random_array((12, 10))
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=0)
    with pipe:
        pipe.set_outputs(fn.debayer(constant(x, "HW").gpu(), blue_position=(0, 1)))
    found = np.array(pipe.run()[0].as_cpu().at(0))
    assert (found == debayered(x, blue_position=(0, 1), algorithm="default_npp")).all()


@pytest.mark.parametrize("algorithm", ["vng_ocv", "default_npp"])
def test_pictures_without_pixels(algorithm: str) -> None:
    for shape in ((0, 4), (4, 0), (0, 0)):
        pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            x = constant(np.zeros(shape, np.uint8), "HW")
            pipe.set_outputs(fn.debayer(x, blue_position=(0, 1), algorithm=algorithm))
        assert np.array(pipe.run()[0].at(0)).shape == (*shape, 3)


@pytest.mark.parametrize(
    ("x", "layout", "arguments", "problem"),
    [
        (np.zeros((4, 6), np.int16), "HW", {}, "the input is INT16: expected UINT8 or UINT16"),
        (np.zeros((4, 6), np.uint16), "HW", {"algorithm": "vng_ocv"}, 'UINT16: algorithm="vng_ocv" is for UINT8 alone'),
        (np.zeros((4, 6, 3), np.uint8), "HWC", {}, r"expected pictures of one channel, got the shape \(4, 6, 3\)"),
        (np.zeros((1, 4, 6), np.uint8), "CHW", {}, "got the layout 'CHW'"),
        (np.zeros((4, 7), np.uint8), "HW", {}, "the height and the width must be even, got 4 and 7"),
        (np.zeros((4, 6), np.uint8), "HW", {"blue_position": (0, 2)}, r"blue_position is \(0, 2\)"),
        (np.zeros((4, 6), np.uint8), "HW", {"blue_position": (0, 1, 1)}, "blue_position has 3 values"),
    ],
)
def test_mistakes_are_named(x: Array, layout: str, arguments: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.experimental.debayer(constant(x, layout), **{"blue_position": (0, 0), **arguments}))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()


@pytest.mark.parametrize("arguments", [{}, {"blue_position": (0, 0), "algorithm": "best"}])
def test_wrong_constants(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match=r"blue_position|algorithm="):
        fn.debayer(random_array((4, 6)), **arguments)
