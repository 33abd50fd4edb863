"""fn.coord_flip, against NumPy; the sweep compares it with DALI too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, Samples, case, per_sample, samples


def flipped(x: Array, layout: str = "", **given: Any) -> Array:
    result = x.copy()
    for k, axis in enumerate((layout or "xyz")[: x.shape[1]]):
        if given.get(f"flip_{axis}", int(axis == "x")):
            result[:, k] = np.float32(2) * np.float32(given.get(f"center_{axis}", 0.5)) - x[:, k]
    return result


def points(coordinates: int, *counts: int) -> Samples:
    random = np.random.default_rng(coordinates)
    return samples([random.normal(0, 9, (count, coordinates)).astype(np.float32) for count in counts])


MIXED = per_sample([1, 0, -2])
CENTERS = per_sample([0.0, 0.25, -3.5])
LINE, PLANE, SPACE = (points(n, 5, 1, 300) for n in (1, 2, 3))
CASES = [
    case("coord_flip", LINE, reference=flipped),
    case("coord_flip", PLANE, reference=flipped),
    case("coord_flip", PLANE, reference=flipped, flip_x=0, flip_y=MIXED, center_y=CENTERS),
    case("coord_flip", PLANE, reference=flipped, layout="yx", flip_x=MIXED),
    case("coord_flip", PLANE, reference=flipped, layout="xyz", flip_z=1),
    case("coord_flip", SPACE, reference=flipped, flip_x=MIXED, flip_y=1, flip_z=3, center_x=CENTERS, center_z=0.1),
    case("coord_flip", SPACE, reference=flipped, layout="zyx", flip_x=0, flip_z=MIXED, center_z=CENTERS),
    case("coord_flip", points(2, 0, 0, 0), reference=flipped),
]


def run(x: Array, **arguments: Any) -> Array:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.coord_flip(constant(x), **arguments))
    return np.array(pipe.run()[0].at(0))


@pytest.mark.parametrize(
    ("x", "arguments", "message"),
    [
        (np.zeros((2, 4), np.float32), {}, r"up to 3 coordinates, got the shape \(2, 4\)"),
        (np.zeros(2, np.float32), {}, r"got the shape \(2,\)"),
        (np.zeros((2, 2)), {}, "points of FLOAT, got FLOAT64"),
        (np.zeros((2, 2), np.float32), {"layout": "x"}, "layout='x' has no 'y', but points have 2 coordinates"),
        (np.zeros((2, 2), np.float32), {"layout": "yz"}, "layout='yz' has no 'x'"),
    ],
)
def test_what_is_refused(x: Array, arguments: Any, message: str) -> None:
    with pytest.raises(OperatorError, match=f"coord_flip: .*{message}"):
        run(x, **arguments)


@pytest.mark.parametrize("layout", ["ab", "xx", "xyw"])
def test_layouts_of_other_letters(layout: str) -> None:
    with pytest.raises(ArgumentError, match=f"coord_flip: layout='{layout}': expected the letters x, y and z"):
        run(np.zeros((1, 2), np.float32), layout=layout)


def test_points_move_as_pixels() -> None:
    picture = np.arange(12, dtype=np.uint8).reshape(3, 4, 1)
    x, y = run(np.float32([[(1 + 0.5) / 4, (2 + 0.5) / 3]]), flip_y=1)[0]
    assert picture[::-1, ::-1][int(y * 3), int(x * 4)] == picture[2, 1]


def test_what_is_no_number_stays_alone() -> None:
    found = run(np.float32([[np.nan, 1], [np.inf, 2]]), flip_y=1)
    assert np.isnan(found[0, 0])
    assert found[1, 0] == -np.inf
    assert found[:, 1].tolist() == [0, -1]
