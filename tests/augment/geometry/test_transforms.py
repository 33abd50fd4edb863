"""fn.transforms, against NumPy; the sweep compares it with DALI too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, Samples, case, per_sample, samples
from tests.runners import ours


def square(matrix: Array) -> Array:
    return np.vstack([matrix, [0] * (matrix.shape[1] - 1) + [1]]).astype(float)


def kept(linear: Array, center: Any) -> Array:
    """The matrix that leaves the centre where it is."""
    n = len(linear)
    at = np.zeros(n) if center is None else np.broadcast_to(np.asarray(center, float), n)
    return np.column_stack([linear, at - linear @ at])


def added(make: Callable[..., Array]) -> Callable[..., Array]:
    def reference(*inputs: Array, reverse_order: bool = False, **arguments: Any) -> Array:
        own = make(axes=len(inputs[0]) if inputs else None, **arguments)
        if not inputs:
            return own.astype(np.float32)
        order = [own, inputs[0]] if not reverse_order else [inputs[0], own]
        return (square(order[0]) @ square(order[1]))[:-1].astype(np.float32)

    return reference


@added
def translation(offset: Any, axes: int | None) -> Array:
    return np.column_stack([np.eye(np.size(offset)), np.ravel(offset)])


@added
def scale(scale: Any, axes: int | None, center: Any = None, ndim: int | None = None) -> Array:
    n = np.size(scale) if np.size(scale) > 1 else axes or max(ndim or 1, 1)
    return kept(np.diag(np.broadcast_to(np.ravel(scale), n).astype(float)), center)


@added
def rotation(angle: float, axes: int | None, axis: Any = None, center: Any = None) -> Array:
    a = np.deg2rad(angle)
    if axis is None:
        return kept(np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]), center)
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return kept(np.eye(3) + np.sin(a) * cross + (1 - np.cos(a)) * cross @ cross, center)


@added
def shear(axes: int | None, shear: Any = None, angles: Any = None, center: Any = None) -> Array:
    values = np.ravel(shear) if shear is not None else np.tan(np.deg2rad(np.ravel(angles)))
    n = {2: 2, 6: 3}[len(values)]
    linear = np.eye(n)
    linear[~np.eye(n, dtype=bool)] = values
    return kept(linear, center)


@added
def crop(
    axes: int | None, from_start: Any = 0, from_end: Any = 1, to_start: Any = 0, to_end: Any = 1, absolute: bool = False
) -> Array:
    n = max(np.size(v) for v in (from_start, from_end, to_start, to_end))
    boxes = np.array([np.broadcast_to(np.ravel(v), n) for v in (from_start, from_end, to_start, to_end)], float)
    if absolute:
        boxes = np.concatenate([np.sort(boxes[:2], axis=0), np.sort(boxes[2:], axis=0)])
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = (boxes[3] - boxes[2]) / (boxes[1] - boxes[0])
        return np.column_stack([np.diag(factors), boxes[2] - factors * boxes[0]])


def combine(*inputs: Array, reverse_order: bool = False) -> Array:
    total = np.eye(inputs[0].shape[1])
    for matrix in inputs if not reverse_order else inputs[::-1]:
        total = square(matrix) @ total
    return total[:-1].astype(np.float32)


def matrices(axes: int, seed: int = 0) -> Samples:
    random = np.random.default_rng(seed)
    return samples([random.normal(0, 2, (axes, axes + 1)).astype(np.float32) for _ in range(3)])


TWO, THREE = matrices(2), matrices(3)
POINTS = per_sample([(1.5, -2.0), (3.0, 0.0), (-7.0, 1.0)])


def of(name: str, reference: Any, *inputs: Samples, **arguments: Any) -> Any:
    return case(f"transforms.{name}", *inputs, reference=reference, **arguments)


CASES = [
    *[of("translation", translation, offset=list(range(1, n + 1))) for n in range(1, 7)],
    of("translation", translation, offset=POINTS),
    of("translation", translation, TWO, offset=POINTS),
    of("translation", translation, TWO, offset=[3, 4], reverse_order=True),
    of("translation", translation, THREE, offset=[3, 4, 5]),
    of("scale", scale, scale=2),
    of("scale", scale, scale=[2, -3]),
    of("scale", scale, scale=2, ndim=3, center=[1, 2, 3]),
    of("scale", scale, scale=[2, 3], ndim=3),
    of("scale", scale, scale=2, ndim=0),
    of("scale", scale, scale=2, ndim=-1),
    of("scale", scale, scale=[2, 3], ndim=-1),
    of("scale", scale, scale=POINTS, center=POINTS),
    of("scale", scale, TWO, scale=POINTS, center=7, reverse_order=True),
    of("scale", scale, THREE, scale=1.5),
    of("scale", scale, THREE, scale=[2, 3, 0], center=[1, 2, 3]),
    of("rotation", rotation, angle=33),
    of("rotation", rotation, angle=per_sample([10.0, 90.0, -300.0]), center=POINTS),
    of("rotation", rotation, TWO, angle=33, center=3, reverse_order=True),
    of("rotation", rotation, angle=33, axis=[1, 2, 3]),
    of("rotation", rotation, THREE, angle=-70, axis=per_sample([(0.0, 0.0, 2.0), (1.0, 1.0, 1.0), (0.0, -1.0, 3.0)])),
    of("rotation", rotation, THREE, angle=-70, axis=[0, 1, 0], center=[1, 2, 3], reverse_order=True),
    of("shear", shear, shear=[2, 3]),
    of("shear", shear, shear=POINTS, center=POINTS),
    of("shear", shear, angles=[10, -20]),
    of("shear", shear, TWO, angles=per_sample([(1.0, 45.0), (3.0, -80.0), (0.0, 0.0)]), center=[1, 2]),
    of("shear", shear, angles=[10, 20, 30, -40, 50, 60], center=[3, 2, 1]),
    of("shear", shear, THREE, shear=[1, 2, 3, 4, 5, 6], reverse_order=True),
    of("crop", crop),
    of("crop", crop, from_start=[1, 2], from_end=[3, 5], to_start=[0, 10], to_end=[20, 30]),
    of("crop", crop, from_start=[3, 2], from_end=[1, 5], to_start=[0, 40], to_end=[20, 30], absolute=True),
    of("crop", crop, from_start=[3, 2], from_end=[1, 5], to_start=[0, 40], to_end=[20, 30]),
    of("crop", crop, TWO, from_start=POINTS, from_end=9, to_end=[3, 4], reverse_order=True),
    of("crop", crop, from_end=POINTS, to_start=per_sample([(0.5, 3.0), (-2.0, 4.0), (1.0, 1.0)]), to_end=POINTS),
    of("crop", crop, THREE, from_end=[2, 3, 4]),
    of("crop", crop, from_start=1.0),
    of("crop", crop, from_start=[0, 1], from_end=[1, 1], to_start=[0.2, 0.3], to_end=[0.8, 0.5]),
    of("crop", crop, from_start=[0, 1], from_end=[0, 2], to_end=[0, 3]),
    of("combine", combine, TWO, matrices(2, 1)),
    of("combine", combine, TWO, matrices(2, 1), matrices(2, 2), reverse_order=True),
    of("combine", combine, THREE, matrices(3, 1), matrices(3, 2), THREE),
    of("combine", combine, matrices(1), matrices(1, 1)),
]


def test_an_angle_of_0_turns_nothing() -> None:
    """By no last bit, as in DALI: half-way between two pixels one would decide."""
    axes = np.random.default_rng(1).random((50, 3), np.float32)
    (found,) = ours(of("rotation", None, angle=0, axis=samples(list(axes))))
    for matrix in found.arrays:
        np.testing.assert_array_equal(matrix, np.eye(3, 4))


def test_centers_of_scaling_are_rounded_once() -> None:
    """As DALI's are; so an infinite one stays infinite."""
    points = [np.float32(p) for p in np.random.default_rng(2).uniform(-99, 99, (20, 2))]
    (found,) = ours(of("scale", None, scale=[1.7, -0.3], center=samples([*points, np.float32([np.inf, 1])])))
    for matrix, point in zip(found.arrays, [*points, np.float32([np.inf, 1])], strict=True):
        np.testing.assert_array_equal(matrix[:, 2], point * (1 - np.float32([1.7, -0.3])))


def test_values_by_frame() -> None:
    angles = samples([np.float32([10, 20, 30])], "F")
    (found,) = ours(of("rotation", None, angle=angles, center=[1, 2]))
    assert found.layout == "F**"
    wanted = [rotation(angle=a, center=[1, 2]) for a in (10, 20, 30)]
    np.testing.assert_allclose(found.arrays[0], wanted, atol=1e-5)
    first = samples([TWO.arrays[0]])
    (found,) = ours(of("combine", None, first, samples([np.stack(TWO.arrays)], "F**")))
    np.testing.assert_allclose(found.arrays[0], [combine(TWO.arrays[0], m) for m in TWO.arrays], atol=1e-4)


def test_numbers_of_frames_that_differ() -> None:
    two, three = (samples([np.zeros((n, 2), np.float32)], "FX") for n in (2, 3))
    with pytest.raises(OperatorError, match=r"transforms.scale.*center has 3 frames, but another 2"):
        ours(of("scale", None, scale=two, center=three))


def run(name: str, *inputs: Array, **arguments: Any) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(getattr(fn.transforms, name)(*[constant(i) for i in inputs], **arguments))
    pipe.run()


M2, M3 = TWO.arrays[0], THREE.arrays[0]


@pytest.mark.parametrize(
    ("name", "inputs", "arguments", "message"),
    [
        ("translation", [M2], {"offset": [1, 2, 3]}, "different numbers of axes: 2 and 3"),
        ("translation", [], {"offset": [1] * 7}, "expected 1 to 6 axes, got 7"),
        ("translation", [np.eye(3, dtype=np.float32)], {"offset": [1, 2, 3]}, "n rows and n . 1 columns"),
        ("translation", [M2.astype(np.float64)], {"offset": [1, 2]}, "matrices of FLOAT"),
        ("scale", [], {"scale": [1, 2, 3], "center": [1, 2]}, "center has 2 values: expected 1 or 3"),
        ("rotation", [M3], {"angle": 30}, "different numbers of axes: 3 and 2"),
        ("rotation", [], {"angle": 30, "axis": [0, 0, 0]}, "axis is no direction"),
        ("shear", [], {"shear": [1, 2, 3]}, "shear has 3 values: expected 2, or 6 in space"),
        ("shear", [], {"angles": [0, 91]}, "angles: 91.0* is not between"),
        ("crop", [], {"from_start": [1, 2, 0], "to_end": [3, 4]}, "to_end has 2 values: expected 1 or 3"),
        ("combine", [M2, M3], {}, "different numbers of axes: 2 and 3"),
    ],
)
def test_what_does_not_fit(name: str, inputs: list[Array], arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(OperatorError, match=rf"transforms\.{name}[\s\S]*{message}"):
        run(name, *inputs, **arguments)


@pytest.mark.parametrize("arguments", [{}, {"shear": [1, 2], "angles": [3, 4]}])
def test_one_kind_of_shear(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="give either shear or angles"):
        fn.transforms.shear(**arguments)


def test_the_number_of_axes() -> None:
    with pytest.raises(ArgumentError, match=r"transforms\.scale: ndim=7: expected 1 to 6"):
        fn.transforms.scale(scale=2, ndim=7)


def test_not_a_number_stays_where_it_is() -> None:
    """In the elements that are computed from it: DALI spreads it over the row."""
    matrix = np.float32([[1, 2, 3], [4, 5, 6]])
    (found,) = ours(of("translation", None, samples([matrix]), offset=[np.nan, 1]))
    np.testing.assert_array_equal(found.arrays[0], np.float32([[1, 2, np.nan], [4, 5, 7]]))
