"""`tensor_resize` against plain NumPy; the sweep compares it with DALI too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, AxisError, LayoutError, OperatorError
from penstock.graph.constants import constant
from tests.augment.resample_reference import FROM_DALI, ON_GPU, extents, resampled, split
from tests.cases import Array, Case, case, per_sample, random_array, samples

_ROUNDINGS = {"round": lambda size: np.floor(size + 0.5), "truncate": np.floor, "ceil": np.ceil}
NAMES = "ABCDE"


def reference(
    x: Array,
    sizes: Any = None,
    scales: Any = None,
    axes: Any = None,
    axis_names: str = "",
    alignment: Any = None,
    size_rounding: str = "round",
    **arguments: Any,
) -> Array:
    """Axes that are not named are asked to keep their extent."""
    named = [NAMES.index(name) for name in axis_names] or [
        a % x.ndim for a in (range(x.ndim) if axes is None else axes)
    ]
    wanted = np.array(x.shape, float)
    wanted[named] = np.asarray(sizes) if scales is None else np.asarray(scales) * wanted[named]
    filters, geometry = split(arguments)
    for name in ("roi_start", "roi_end"):
        if name in geometry:
            end = np.ones(x.ndim) if geometry.get("roi_relative") else np.array(x.shape, float)
            whole = np.zeros(x.ndim) if name == "roi_start" else end
            whole[named] = geometry[name]
            geometry[name] = whole
    fractions = dict(geometry, subpixel_scale=False)
    _, lo, hi = extents(x.shape, size=wanted, **fractions)
    sizes_asked = exact(x.shape, wanted, **fractions)
    out = np.maximum(1, _ROUNDINGS[size_rounding](np.round(sizes_asked, 5))).astype(int)
    if geometry.get("subpixel_scale", True):
        share = np.full(x.ndim, 0.5 if alignment is None else 0.0)
        if alignment is not None:
            share[named] = alignment
        region = np.subtract(hi, lo)
        point, grown = lo + share * region, region * out / sizes_asked
        lo, hi = point - share * grown, point + (1 - share) * grown
    return resampled(x, range(x.ndim), out, lo, hi, **filters)


def exact(shape: Any, size: Any, **geometry: Any) -> Array:
    """Extents before they are rounded: those of an input that is a million times as large, by its millionth."""
    many = 10**6
    names = ("max_size",) if geometry.get("roi_relative") else ("roi_start", "roi_end", "max_size")
    scaled = {k: np.multiply(v, many) for k, v in geometry.items() if k in names}
    out, _, _ = extents(np.multiply(shape, many), size=np.multiply(size, many), **{**geometry, **scaled})
    return np.array(out) / many


def same(shape: tuple[int, ...], of: Any = np.float32, **arguments: Any) -> Case:
    arrays = [random_array(shape, of, seed) for seed in range(2)]
    if of is np.float32:
        arrays = [array / np.float32(256) for array in arrays]
    data = samples(arrays, NAMES[: len(shape)])
    how = {"off_by": 1, "tolerance": 1e-4, "on_gpu": ON_GPU, "from_dali": FROM_DALI}
    return case("tensor_resize", data, reference=reference, **how, **arguments)


CASES = [
    same((31,), sizes=[48]),
    same((31,), np.uint8, sizes=[48], interp_type=types.INTERP_CUBIC),
    same((24, 17), sizes=[36, 51]),
    same((24, 17), np.uint8, sizes=[12, 51]),
    same((24, 17, 3), np.uint8, sizes=[37, 53], axes=[0, 1]),
    same((24, 17, 3), np.uint8, sizes=[53, 37], axis_names="BA"),
    same((24, 17, 3), sizes=[9], axes=[-1]),
    same((24, 17, 3), sizes=[30], axes=[0]),
    same((5, 24, 17), sizes=[30], axes=[1]),
    same((5, 24, 17), np.int16, sizes=[7, 30, 9]),
    same((5, 24, 17), sizes=[7, 9], axes=[0, 2]),
    same((2, 5, 24, 17), np.uint16, sizes=[30, 9], axes=[1, 3]),
    same((2, 5, 12, 8, 3), sizes=[7, 9, 12], axes=[1, 2, 3]),
    same((24, 17), sizes=[-36, 51]),
    same((24, 17), sizes=[36, 0]),
    same((24, 17, 6), sizes=[36, 0], axes=[0, 1]),
    same((24, 17), sizes=[36, 0], mode="stretch"),
    same((24, 17), sizes=[36, 51], mode="not_larger"),
    same((24, 17), sizes=[36, 51], mode="not_smaller", max_size=[80, 44]),
    same((24, 17), scales=[1.5, 0.75]),
    same((24, 17), scales=[2]),
    same((24, 17, 3), np.uint8, scales=per_sample([(1.45, 0.7), (0.8, 2.1)]), axes=[0, 1]),
    same((24, 17), sizes=per_sample([(36.0, 51.0), (20.0, 40.0)])),
    *[same((24, 17), sizes=[30.3, 22.4], size_rounding=rounding) for rounding in _ROUNDINGS],
    *[same((24, 17), sizes=[30.3, 22.4], alignment=[share]) for share in (0.0, 0.25, 1.0)],
    same((24, 17), sizes=[30.3, 22.4], alignment=per_sample([(0.0, 1.0), (1.0, 0.3)])),
    same((24, 17), sizes=[30.3, 22.4], subpixel_scale=False),
    same((24, 17), sizes=[30, 22], roi_start=[3.5, 2], roi_end=[20, 11.5]),
    same((24, 17, 3), sizes=[30, 22], roi_start=[0.9, 0.1], roi_end=[0.2, 0.8], roi_relative=True, axes=[0, 1]),
    same((24, 17), np.uint8, sizes=[36, 9], dtype=types.FLOAT, antialias=False),
    same((24, 17), sizes=[24, 17]),
]


def run(x: Array, layout: str = "", **arguments: Any) -> Array:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.tensor_resize(constant(x, layout), **arguments))
    return np.array(pipe.run()[0].at(0))


def test_outer_axes_that_round_to_what_they_were_stay_as_in_dali() -> None:
    x = random_array((4, 6, 5), np.float32)
    assert np.array_equal(run(x, sizes=[3.6], axes=[0]), x)
    assert not np.array_equal(run(x[:, :, 0], sizes=[3.6], axes=[0]), x[:, :, 0])


def test_empty_axes_stay() -> None:
    assert run(np.zeros((0, 5), np.float32), sizes=[8, 9]).shape == (0, 9)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "give either sizes or scales"),
        ({"sizes": [4], "scales": [4]}, "give either sizes or scales"),
        ({"sizes": [4], "axes": [0], "axis_names": "A"}, "cannot be given together with axis_names"),
        ({"scales": [2], "mode": "not_larger"}, "cannot be given together with scales"),
        ({"sizes": [4], "roi_start": [0]}, "roi_start and roi_end must be given together"),
        ({"sizes": [4], "size_rounding": "up"}, "expected one of"),
    ],
)
def test_wrong_arguments_are_named(arguments: Any, problem: str) -> None:
    with pytest.raises(ArgumentError, match=problem):
        fn.tensor_resize(np.zeros((4, 5), np.float32), **arguments)


@pytest.mark.parametrize(
    ("shape", "arguments", "error", "problem"),
    [
        ((4, 5), {"sizes": [4, 5, 6]}, OperatorError, "sizes has 3 values: expected 1 or 2"),
        ((4, 5), {"sizes": [4], "axes": [2]}, AxisError, "2 is no axis"),
        ((4, 5), {"sizes": [4, 4], "axes": [1, -1]}, OperatorError, "named twice"),
        ((4, 5), {"sizes": [4], "axis_names": "A"}, LayoutError, "no axis 'A'"),
        ((4, 5), {"sizes": [4], "alignment": [0.1, 0.2, 0.3]}, OperatorError, "alignment has 3 values"),
        ((4, 5, 6, 7), {"sizes": [8, 5, 6, 3]}, ValueError, "the axes from 0 to 3"),
        ((), {"sizes": [4]}, OperatorError, "a number has no axis"),
        ((4, 5), {"sizes": [float("nan"), 4]}, Exception, "nan"),
    ],
)
def test_what_cannot_be_resized_is_said(shape: Any, arguments: Any, error: Any, problem: str) -> None:
    with pytest.raises(error, match=problem):
        run(np.zeros(shape, np.float32), **arguments)


def test_other_types_are_refused() -> None:
    with pytest.raises(OperatorError, match="expected UINT8, INT16, UINT16 or FLOAT, got INT32"):
        run(np.zeros((4, 5), np.int32), sizes=[4])
