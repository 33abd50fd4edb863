"""fn.grid_mask, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, case, per_sample, pictures, samples


def masked(
    x: Array, tile: int = 100, ratio: float = 0.5, angle: float = 0.0, shift_x: float = 0.0, shift_y: float = 0.0
) -> Array:
    f = np.float32
    ys, xs = (v.astype(f) for v in np.mgrid[: x.shape[0], : x.shape[1]])
    cosine, sine = (f(v(np.float64(f(angle)))) / f(tile) for v in (np.cos, np.sin))
    across = xs * cosine + (ys * -sine - f(shift_x) / f(tile))
    down = xs * sine + (ys * cosine - f(shift_y) / f(tile))
    shows = (across - np.floor(across) >= f(ratio)) | (down - np.floor(down) >= f(ratio))
    return np.where(shows.reshape(*shows.shape, *[1] * (x.ndim - 2)), x, x.dtype.type(0))


def frames_masked(x: Array, **arguments: float) -> Array:
    return np.stack([masked(frame, **arguments) for frame in x])  # type: ignore[arg-type]


TURNED = {"tile": 7, "ratio": 0.4, "angle": 0.3, "shift_x": 3.5, "shift_y": -2.25}
EACH = {
    "tile": per_sample([10, 3, 25]),
    "ratio": per_sample([0.3, 0.9, -1.0]),
    "angle": per_sample([0.0, 1.0, -4.0]),
    "shift_x": per_sample([0.0, 100.0, 0.5]),
    "shift_y": per_sample([1.0, -7.5, 0.0]),
}

CASES = [
    case("grid_mask", pictures(), reference=masked),
    case("grid_mask", pictures(), reference=masked, **TURNED),
    case("grid_mask", pictures(), reference=masked, **EACH),
    case("grid_mask", pictures(channels=1), reference=masked, **EACH),
    case("grid_mask", pictures(channels=4, dtype=np.int16), reference=masked, **EACH),
    case("grid_mask", pictures(dtype=np.float32), reference=masked, **TURNED),
    case("grid_mask", pictures(dtype=np.int32, channels=2), reference=masked, **TURNED),
    case("grid_mask", pictures("CHW"), reference=masked, **TURNED),
    case("grid_mask", pictures("FHWC"), reference=frames_masked, **TURNED, differs="DALI masks part of the frames"),
    case("grid_mask", pictures("HW"), reference=masked, **TURNED, differs="DALI crashes without a third axis"),
    case("grid_mask", pictures(dtype=np.uint16), reference=masked, **TURNED, differs="DALI does not have the type"),
    case("grid_mask", samples([np.ones((5, 6, 1), bool)]), reference=masked, **TURNED, differs="nor this one"),
]


@pytest.mark.parametrize(
    ("shape", "arguments", "problem"),
    [
        ((3, 4, 1), {"tile": 0}, "grid_mask: .*tile is 0: expected 1 or more"),
        ((3, 4, 1), {"tile": -5}, "tile is -5"),
        ((5, 2, 3, 3, 3, 1), {}, "expected pictures, volumes or frames"),
        ((5,), {}, r"expected height and width, got the shape \(5,?\)"),
    ],
)
def test_mistakes_are_named(shape: Any, arguments: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.grid_mask(constant(np.ones(shape, np.uint8)), **arguments))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()
