"""fn.sphere, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.displace_reference import moved
from tests.cases import Array, case, per_sample, pictures


def on_a_sphere(
    x: Array, mask: int = 1, interp_type: types.DALIInterpType = types.INTERP_NN, fill_value: float = 0.0
) -> Array:
    if not mask:
        return x
    f = np.float32
    height, width = x.shape[:2]
    dy, dx = (v.astype(f) + f(0.5) - f(n) / 2 for v, n in zip(np.mgrid[:height, :width], (height, width), strict=True))
    with np.errstate(invalid="ignore", divide="ignore"):
        times = np.sqrt(dx * dx + dy * dy) / f(max(height // 2, width // 2))
    return moved(x, f(width) / 2 + times * dx, f(height) / 2 + times * dy, interp_type, fill_value)


sphere = partial(case, "sphere", reference=on_a_sphere)
LINEAR = types.INTERP_LINEAR

CASES = [
    sphere(pictures()),
    sphere(pictures(), fill_value=300.75),
    sphere(pictures(), fill_value=-3.5, interp_type=LINEAR, off_by=1),
    sphere(pictures(), mask=per_sample([0, 1, 2]), fill_value=9.0),
    sphere(pictures(), mask=0, differs="DALI overlooks the mask where it is the same for all samples"),
    sphere(pictures(channels=1), interp_type=LINEAR, off_by=1),
    sphere(pictures(channels=5), interp_type=LINEAR, fill_value=100.0, off_by=1),
    sphere(pictures(channels=4), fill_value=100.0),
    sphere(pictures(dtype=np.float32), fill_value=2.5),
    sphere(pictures(dtype=np.float32), interp_type=LINEAR, tolerance=1e-3),
    sphere(pictures(sizes=((1, 1), (1, 9), (2, 1)))),
    sphere(pictures(sizes=((40, 30), (64, 64), (31, 8))), interp_type=LINEAR, off_by=1),
    sphere(pictures(dtype=np.int16), differs="DALI has UINT8 and FLOAT only", interp_type=LINEAR, off_by=1),
    sphere(pictures(dtype=np.int32), differs="DALI has UINT8 and FLOAT only"),
]


@pytest.mark.parametrize(
    ("layout", "dtype", "problem"),
    [
        ("CHW", "u1", r"expected pictures \(HWC\), got the layout 'CHW'"),
        ("", "u1", r"expected pictures \(HWC\), got no layout and the shape \(4, 5\)"),
        ("HWC", "f8", "the input is FLOAT64: expected UINT8"),
    ],
)
def test_mistakes_are_named(layout: str, dtype: str, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.sphere(constant(np.zeros((4, 5, 3) if layout else (4, 5), dtype), layout)))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()


@pytest.mark.parametrize("name", ["sphere", "water", "jitter"])
def test_interpolations(name: str) -> None:
    image: Any = np.zeros((4, 5, 3), np.uint8)
    with pytest.raises(ArgumentError, match=f"{name}: interp_type=.*INTERP_CUBIC"):
        getattr(fn, name)(image, interp_type=types.INTERP_CUBIC)
