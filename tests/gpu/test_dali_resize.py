"""Resampling on the GPU beside DALI's GPU operators, on more than the sweep's cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import types
from tests.cases import Case, case, pictures
from tests.runners import assert_as_dali_on_gpu

pytestmark = pytest.mark.gpu

SIZES = ((375, 500), (131, 220), (90, 151))
FILTERS = [types.DALIInterpType(i) for i in range(6)]


def resized(layout: str = "HWC", of: Any = np.uint8, **arguments: Any) -> Case:
    return case("resize", pictures(layout, of, sizes=SIZES), **arguments)


CASES = [
    *[resized(size=(101, 77), interp_type=kind) for kind in FILTERS],
    *[resized(size=(101, 77), interp_type=kind, antialias=False) for kind in FILTERS],
    *[resized(size=(411, 533), interp_type=kind, dtype=types.FLOAT) for kind in FILTERS[1:]],
    *[resized(layout, size=(101, 233)) for layout in ("CHW", "FHWC", "FCHW")],
    *[resized(of=dtype, size=(101, 77)) for dtype in (np.int16, np.uint16, np.float32)],
    resized("DHWC", size=(5, 101, 77)),
    resized(resize_shorter=101.3, subpixel_scale=False),
    resized(size=(-101, -77), roi_start=(3.3, 5.7), roi_end=(61.9, 80.2)),
    resized(size=(67, 83), roi_start=(0.9, -0.1), roi_end=(0.2, 1.1), roi_relative=True),
    case("resize_crop_mirror", pictures(sizes=SIZES), resize_shorter=90, crop=(64, 80), mirror=3),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_parity_with_dali(case: Case) -> None:
    assert_as_dali_on_gpu(case)
