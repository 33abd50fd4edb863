"""fn.debayer, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, case, per_sample, pictures, random_array, samples


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
        if algorithm != "bilinear_ocv":
            between = np.where(np.abs(left - right) > np.abs(up - down), along, across)
        inner = np.stack([
            np.select(kinds, [diagonal, along, across, own]),
            np.select(kinds, [between, own, own, between]),
            np.select(kinds, [own, across, along, diagonal]),
        ], -1)  # fmt: skip
    return np.pad(inner, ((1, 1), (1, 1), (0, 0)), "edge").astype(x.dtype)


def debayered(x: Array, layout: str = "HW", **arguments: Any) -> Array:
    planes = x[..., 0] if layout[-1] == "C" else x
    if layout[0] == "F":
        return np.stack([colours(plane, **arguments) for plane in planes])
    return colours(planes, **arguments)


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
CASES += [
    *(
        case("debayer", pictures(layout, **SIZES), reference=of(layout), blue_position=EACH)
        for layout in ("HW", "HWC", "FHW", "FHWC")
    ),
    case("debayer", pictures("FHW", **SIZES), reference=of("FHW"), blue_position=1, algorithm="gray_ocv"),
    case("debayer", samples(list(pictures("HW", **SIZES).arrays)), reference=debayered, blue_position=(0, 1)),
    case(
        "debayer",
        pictures("HW", **SIZES),
        reference=debayered,
        blue_position=(0, 1),
        algorithm="default_npp",
        differs="DALI has it on GPUs only, by NPP",
    ),
]


@pytest.mark.parametrize(
    ("x", "layout", "arguments", "problem"),
    [
        (np.zeros((4, 6), np.int16), "HW", {}, "the input is INT16: expected UINT8 or UINT16"),
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
