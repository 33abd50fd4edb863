"""fn.laplacian, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.pixels import rounded
from tests.cases import Apart, Array, case, per_sample, pictures, random_array, samples


def window(size: int, derives: bool) -> Array:
    v = np.ones(1)
    for i in range(1, size):
        v = np.convolve(v, [1.0, -1.0 if derives and i < 3 else 1.0])
    return v


def along(v: Array, axis: int, weights: Array) -> Array:
    reach = len(weights) // 2
    padded = np.pad(v, [(reach, reach) if i == axis else (0, 0) for i in range(v.ndim)], "reflect")
    return sum(w * np.take(padded, range(k, k + v.shape[axis]), axis) for k, w in enumerate(weights))  # type: ignore


def laplacian(
    x: Array,
    layout: str = "HWC",
    window_size: Any = 3,
    smoothing_size: Any = None,
    scale: Any = 1.0,
    normalized_kernel: bool = False,
    dtype: types.DALIDataType | None = None,
) -> Array:
    axes = [i for i in range(x.ndim) if not layout or layout[i] not in "FC"]
    windows, scales = (np.broadcast_to(np.ravel(v), len(axes)) for v in (window_size, scale))
    total = np.zeros(x.shape)
    for axis, size, factor in zip(axes, windows, scales, strict=True):
        others = np.broadcast_to(np.ravel(size if smoothing_size is None else smoothing_size), len(axes))
        sizes = [size if other == axis else n for other, n in zip(axes, others, strict=True)]
        part = x.astype(np.float64)
        for other, n in zip(axes, sizes, strict=True):
            part = along(part, other, window(int(n), other == axis))
        total += part * (2.0 ** (len(axes) + 2 - sum(sizes)) if normalized_kernel else np.float32(factor))
    return rounded(total, x.dtype if dtype is None else np.dtype(types.to_numpy_type(dtype)))


def of(layout: str) -> Any:
    return partial(laplacian, layout=layout)


edges = partial(case, "laplacian", off_by=1, tolerance=1e-5)
apart = partial(edges, tolerance=1e-4, from_dali=Apart(1, 0.005, 1e-4, why="sums are formed in another order"))
REAL = {"dtype": types.FLOAT}

CASES = [
    edges(pictures(), reference=laplacian),
    edges(pictures(), reference=laplacian, **REAL),
    edges(pictures(), reference=laplacian, window_size=5, **REAL),
    edges(pictures(), reference=laplacian, window_size=(3, 5), **REAL),
    edges(pictures(), reference=laplacian, window_size=(7, 3), smoothing_size=(1, 5), **REAL),
    edges(pictures(), reference=laplacian, smoothing_size=1, scale=0.5),
    edges(pictures(), reference=laplacian, window_size=7, normalized_kernel=True, **REAL),
    edges(pictures(), reference=laplacian, smoothing_size=1, scale=(0.5, -2.0)),
    edges(pictures(), reference=laplacian, scale=per_sample([0.3, 1.7, -0.1]), tolerance=1e-4, **REAL),
    apart(pictures(), reference=laplacian, window_size=per_sample([(3, 5), (9, 3), (5, 5)]), normalized_kernel=True),
    apart(
        pictures(), reference=laplacian, window_size=per_sample([3, 5, 7]), smoothing_size=per_sample([1, 3, 5]), **REAL
    ),
    apart(pictures(), reference=laplacian, window_size=23, normalized_kernel=True),
    edges(pictures(sizes=((5, 300), (300, 4), (1, 7))), reference=laplacian, window_size=9, normalized_kernel=True),
    edges(pictures("CHW"), reference=of("CHW"), **REAL),
    edges(pictures("FHWC"), reference=of("FHWC"), window_size=5, **REAL),
    edges(pictures("FCHW", np.int16), reference=of("FCHW"), smoothing_size=1),
    edges(pictures("CFHW"), reference=of("CFHW"), **REAL),
    edges(pictures("DHWC"), reference=of("DHWC"), window_size=(3, 5, 7), smoothing_size=(3, 1, 3), **REAL),
    edges(
        pictures("CDHW", np.float32),
        reference=of("CDHW"),
        scale=(0.1, 0.2, 0.3),
        tolerance=1e-3,
        from_dali=Apart(tolerance=1e-3, why="sums are formed in another order"),
    ),
    edges(pictures("FDHWC"), reference=of("FDHWC"), **REAL),
    edges(pictures("HW"), reference=of("HW"), window_size=3),
    edges(pictures("WHC"), reference=of("WHC"), scale=(0.5, 2.0)),
    edges(samples([random_array((50,)), random_array((7,))]), reference=of(""), window_size=5, **REAL),
]
CASES += [
    apart(pictures(dtype=dtype, channels=channels), reference=laplacian, normalized_kernel=True, dtype=to)
    for dtype, channels in ((np.int8, 1), (np.int8, 3), (np.uint16, 3), (np.int16, 2), (np.float32, 3))
    for to in (None, types.FLOAT)
]
CASES += [
    edges(
        pictures(dtype=np.float16),
        reference=laplacian,
        smoothing_size=1,
        scale=0.25,
        tolerance=2e-3,
        differs="DALI rounds to FLOAT16 between the axes",
    ),
]


def frames_of(argument: str, values: Any) -> list[Array]:
    """The frames of one sequence, each with its own value."""
    x = random_array((3, 20, 30, 3))
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        each = fn.per_frame(constant(np.array(values)))
        pipe.set_outputs(fn.laplacian(constant(x, "FHWC"), **{argument: each}, dtype=types.FLOAT))
    found = pipe.run()[0].at(0)
    for frame, value, wanted in zip(x, values, found, strict=True):
        np.testing.assert_allclose(
            wanted, laplacian(frame, **{argument: value}, dtype=types.FLOAT), rtol=1e-5, atol=1e-3
        )
    return list(found)


@pytest.mark.skipif(not hasattr(fn, "per_frame"), reason="fn.per_frame is not there yet")
@pytest.mark.parametrize(
    ("argument", "values"),
    [("window_size", [3, 5, 7]), ("smoothing_size", [(1, 3), (5, 1), (1, 1)]), ("scale", [0.5, 1.0, 2.0])],
)
def test_each_frame_may_have_its_own(argument: str, values: Any) -> None:
    frames_of(argument, values)


@pytest.mark.parametrize(
    ("layout", "arguments", "problem"),
    [
        ("HWC", {"window_size": 1}, r"window_size is 1 on axis 0 \(H\): expected an odd number from 3 to 31"),
        ("HWC", {"window_size": (3, 4)}, r"window_size is 4 on axis 1 \(W\)"),
        ("HWC", {"window_size": 33}, "window_size is 33"),
        ("HWC", {"window_size": (3, 5, 7)}, "window_size has 3 values for 2 axes"),
        ("HWC", {"smoothing_size": 0}, r"smoothing_size is 0 on axis 1 \(W\): expected an odd number from 1 to 31"),
        ("HWC", {"smoothing_size": 2}, "smoothing_size is 2"),
        ("HWC", {"scale": (1.0, 2.0, 3.0)}, "scale has 3 values for 2 axes"),
        ("HWC", {"dtype": types.INT16}, "dtype is INT16: expected FLOAT, or the input's UINT8"),
        ("HCW", {}, "'HCW': expected frames first, channels first or last"),
        ("FCF", {}, "'FCF' has no axis to derive along"),
    ],
)
def test_mistakes_are_named(layout: str, arguments: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.laplacian(constant(np.zeros((4, 5, 3), np.uint8), layout), **arguments))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()


def test_two_ways_to_scale() -> None:
    with pytest.raises(ArgumentError, match="normalized_kernel=True: cannot be given together with scale"):
        fn.laplacian(np.zeros((4, 5), np.uint8), normalized_kernel=True, scale=2.0)


def test_more_than_three_axes() -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.laplacian(constant(np.zeros((2, 3, 4, 5), np.uint8))))
    with pytest.raises(OperatorError, match="expected one to three axes, got 4"):
        pipe.run()
