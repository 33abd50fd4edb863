"""fn.experimental.warp_perspective, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.sample_reference import by_planes, sampled
from tests.cases import SAME, Apart, Array, case, per_sample, pictures, samples


def warped(
    x: Array,
    as_input: Any = None,
    layout: str = "HWC",
    matrix: Any = (),
    inverse_map: bool = True,
    size: Any = (),
    fill_value: Any = (),
    interp_type: types.DALIInterpType = types.INTERP_LINEAR,
    border_mode: str = "constant",
    pixel_origin: str = "corner",
) -> Array:
    m = np.reshape(matrix if as_input is None else as_input, (3, 3)).astype(np.float32).astype(np.float64)
    m = m if inverse_map else np.linalg.inv(m)
    f = np.float32
    if pixel_origin == "corner":
        shift = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
        m = np.linalg.inv(shift) @ m @ shift
    m = m.astype(f)
    fill = np.float64(fill_value) if np.size(fill_value) else 0.0
    if x.dtype.kind != "f":
        fill = np.clip(np.rint(fill), np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)

    def picture(v: Array, _: int) -> Array:
        height, width = np.broadcast_to(np.ravel(size), 2).astype(int) if np.size(size) else v.shape[:2]
        ys, xs = (n.astype(f) for n in np.mgrid[:height, :width])
        w = m[2, 0] * xs + m[2, 1] * ys + m[2, 2]
        at = [(m[i, 0] * xs + m[i, 1] * ys + m[i, 2]) / w for i in range(2)]
        if x.dtype == np.int16:
            at = [np.rint(v * f(32)) / f(32) for v in at]
        return sampled(v, at[0], at[1], interp_type, border_mode, fill)

    return by_planes(x, layout, picture)


M = [0.9, 0.1, 2.0, -0.1, 1.1, -3.0, 1e-3, -5e-4, 1.0]
FAR = [1.3, 0.2, -10.0, 0.1, 1.5, -20.0, 1e-3, 1e-3, 1.0]
WHY = "positions are rounded in another order, which INTERP_NN shows where they are half-way"
NEAR = Apart(255, 0.005, 2e-3, why=WHY)
# Positions are float32: what is half-way between two numbers may go to either.
warp = partial(case, "experimental.warp_perspective", reference=warped, off_by=1, tolerance=2e-2, from_dali=NEAR)
NN, CUBIC = types.INTERP_NN, types.INTERP_CUBIC
MATRICES = [np.float32(m).reshape(3, 3) for m in (M, FAR, [1, 0, 0, 0, 1, 0, 0, 0, 1])]

CASES = [
    warp(pictures(), matrix=M),
    warp(pictures(), matrix=M, pixel_origin="center"),
    warp(pictures(), matrix=M, interp_type=CUBIC, off_by=2),
    warp(pictures(), matrix=[1, 0, 3, 0, 1, -2, 0, 0, 1], interp_type=NN),
    warp(pictures(), matrix=[2, 0, 0, 0, 2, 0, 0, 0, 1], interp_type=NN, pixel_origin="center", size=(10, 12)),
    warp(pictures(), matrix=M, inverse_map=False, fill_value=7.4),
    warp(pictures(), matrix=M, size=(20, 70), fill_value=[10.0, 300.0, -5.0]),
    warp(pictures(), matrix=M, size=30),
    warp(pictures(), matrix=per_sample(MATRICES), size=per_sample([(20.0, 30.0), (64.0, 33.0), (1.0, 1.0)])),
    warp(pictures(), samples(MATRICES)),
    warp(pictures(), samples(MATRICES), inverse_map=False),
    warp(pictures(channels=1), matrix=M),
    warp(pictures(channels=4), matrix=M),
    warp(pictures(dtype=np.uint16), matrix=M, from_dali=Apart(60, 1.0, why=WHY), off_by=60),
    warp(pictures(dtype=np.int16), matrix=M),
    warp(pictures(dtype=np.float32), matrix=M, from_dali=Apart(tolerance=2e-2, why=WHY), tolerance=5e-2),
    warp(pictures(channels=5), matrix=M, differs="DALI has at most four channels", from_dali=SAME),
    *(
        warp(pictures(layout), matrix=M, reference=partial(warped, layout=layout))
        for layout in ("HW", "CHW", "FHWC", "FCHW")
    ),
    warp(
        pictures("FHW"),
        matrix=M,
        reference=partial(warped, layout="FHW"),
        differs="DALI does not have the layout",
        from_dali=SAME,
    ),
    warp(samples(list(pictures("HW").arrays)), matrix=M, reference=partial(warped, layout="HW")),
]
CASES += [
    warp(pictures(), matrix=FAR, border_mode=border, interp_type=interp, off_by=2)
    for border in ("constant", "replicate", "reflect", "reflect_101", "wrap")
    for interp in (types.INTERP_LINEAR, CUBIC)
]

X = np.zeros((4, 5, 3), np.uint8)


@pytest.mark.parametrize(
    ("inputs", "layout", "arguments", "problem"),
    [
        ((X,), "HWC", {}, "matrix is required, unless it is the second input"),
        ((X,), "HWC", {"matrix": [1, 2]}, "matrix has 2 values: expected 9"),
        ((X, np.ones((2, 3), np.float32)), "HWC", {}, r"a matrix of FLOAT and of shape \(3, 3\), got FLOAT"),
        ((X, np.ones((3, 3), np.int32)), "HWC", {}, "got INT32"),
        ((X,), "HWC", {"matrix": M, "size": (0, 3)}, "size: the extent 0.0.* is not positive"),
        ((X,), "HWC", {"matrix": M, "size": (1, 2, 3)}, "size has 3 values"),
        ((X,), "HWC", {"matrix": M, "fill_value": [1, 2]}, "fill_value has 2 values for 3 channels"),
        ((X,), "DHW", {"matrix": M}, "got the layout 'DHW'"),
        ((X.astype(np.int32),), "HWC", {"matrix": M}, "the input is INT32: expected UINT8"),
    ],
)
def test_mistakes_are_named(inputs: Any, layout: str, arguments: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        image, *others = inputs
        warp = fn.experimental.warp_perspective
        pipe.set_outputs(warp(constant(image, layout), *map(constant, others), **arguments))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()


@pytest.mark.parametrize(
    "arguments", [{"interp_type": types.INTERP_LANCZOS3}, {"border_mode": "mirror"}, {"pixel_origin": "middle"}]
)
def test_wrong_constants(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match=f"warp_perspective: {next(iter(arguments))}="):
        fn.experimental.warp_perspective(X, matrix=M, **arguments)
