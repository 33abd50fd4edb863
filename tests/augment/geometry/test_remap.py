"""fn.experimental.remap, against NumPy. DALI has it on GPUs only."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.sample_reference import by_planes, sampled
from tests.cases import Array, Samples, case, pictures, samples


def remapped(
    x: Array,
    mapx: Array,
    mapy: Array,
    layout: str = "HWC",
    interp: types.DALIInterpType = types.INTERP_LINEAR,
    pixel_origin: str = "corner",
) -> Array:
    origin = np.float32(0.5 if pixel_origin == "corner" else 0)

    def picture(v: Array, frame: int) -> Array:
        xs, ys = (m[frame] if layout[0] == "F" and m.ndim == 3 else m.reshape(m.shape[:2]) for m in (mapx, mapy))
        return sampled(v, xs - origin, ys - origin, interp)

    return by_planes(x, layout, picture)


def maps(shape: Any, seed: int, layout: str = "HW", extent: float = 60.0) -> Samples:
    """Positions in steps of 1/8, some of them beyond the picture."""
    random = np.random.default_rng(seed)
    return samples([np.float32(random.integers(-40, int(extent * 8), shape) / 8) for _ in range(3)], layout)


remap = partial(
    case, "experimental.remap", reference=remapped, differs="DALI has it on GPUs only", off_by=1, tolerance=1e-4
)
BOTH = maps((30, 40), 1), maps((30, 40), 2)

CASES = [
    remap(pictures(), *BOTH),
    remap(pictures(), *BOTH, pixel_origin="center"),
    remap(pictures(), *BOTH, interp=types.INTERP_NN),
    remap(pictures(), *BOTH, interp=types.INTERP_CUBIC),
    *(remap(pictures(dtype=dtype), *BOTH, interp=types.INTERP_LANCZOS3) for dtype in (np.uint8, np.int16, np.float32)),
    remap(pictures(channels=1), maps((5, 7, 1), 3, "HWC"), maps((5, 7, 1), 4, "HWC")),
    *(remap(pictures(dtype=dtype), *BOTH) for dtype in (np.uint16, np.int16, np.float32)),
    *(remap(pictures(layout), *BOTH, reference=partial(remapped, layout=layout)) for layout in ("HW", "CHW", "FHWC")),
    remap(
        samples([a[:2] for a in pictures("FHWC").arrays], "FHWC"),
        maps((2, 9, 8), 5, "FHW"),
        maps((9, 8), 6),
        reference=partial(remapped, layout="FHWC"),
    ),
]

X = np.zeros((4, 5, 3), np.uint8)
XS = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(
    ("inputs", "layouts", "problem"),
    [
        ((X, XS.astype(np.float64), XS), ("HWC", "", ""), "mapx is FLOAT64: expected FLOAT"),
        ((X, XS, XS[:1]), ("HWC", "", ""), r"mapx and mapy differ in their extents: \(2, 3\) and \(1, 3\)"),
        ((X, XS, XS[0]), ("HWC", "", ""), r"mapy has the shape \(3,?\): expected height and width"),
        ((X, XS[None], XS), ("HWC", "FHW", ""), "mapx is given for 1 frames, but the input has no frames"),
        ((X, XS, XS), ("DHW", "", ""), "got the layout 'DHW'"),
    ],
)
def test_mistakes_are_named(inputs: Any, layouts: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.experimental.remap(*map(constant, inputs, layouts)))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()


def test_wrong_constants() -> None:
    with pytest.raises(ArgumentError, match="remap: interp="):
        fn.experimental.remap(X, XS, XS, interp=types.INTERP_TRIANGULAR)
