"""fn.reductions, against NumPy's in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.cases import SAME, Apart, Array, Samples, case, pictures, random_array, samples

LAYOUT = "HWC"
NEAR = Apart(tolerance=1e-6)  # sums of doubles in another order, as floats


def axes_of(x: Array, axes: Any = None, axis_names: str | None = None) -> tuple[int, ...]:
    if axis_names is not None:
        return tuple(LAYOUT.index(name) for name in axis_names)
    return tuple(range(x.ndim)) if axes is None else tuple(np.atleast_1d(np.array(axes, int)))


def reference(of: Callable[..., Any]) -> Callable[..., Array]:
    def reduced(x: Array, *mean: Array, keep_dims: bool = False, dtype: Any = None, **which: Any) -> Array:
        axis = axes_of(x, which.pop("axes", None), which.pop("axis_names", None))
        result = of(x, *mean, axis=axis, keepdims=keep_dims, **which)
        return np.asarray(result).astype(np.float32 if dtype is None else types.to_numpy_type(dtype))

    return reduced


def summed(x: Array, dtype: Any = None, **arguments: Any) -> Array:
    if dtype is None:
        dtype = {"u": types.UINT64, "b": types.UINT64, "i": types.INT64}.get(x.dtype.kind, types.FLOAT)
    wide = np.float64 if x.dtype.kind == "f" else None
    return reference(lambda x, **k: np.sum(x, dtype=wide, **k))(x, dtype=dtype, **arguments)


def squares(x: Array, **k: Any) -> Any:
    return np.mean(x.astype(np.float64) ** 2, **k)


def roots(x: Array, **k: Any) -> Any:
    return np.sqrt(squares(x, **k))


def deviations(x: Array, mean: Array, axis: tuple[int, ...], keepdims: bool, ddof: int = 0) -> Any:
    """The mean with all axes, for NumPy to broadcast it."""
    kept = [1 if i in axis else e for i, e in enumerate(x.shape)]
    centre = mean.reshape(kept if mean.size > 1 else ())
    count = np.prod([x.shape[i] for i in axis], dtype=np.int64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sum((x.astype(np.float64) - centre) ** 2, axis=axis, keepdims=keepdims) / float(count - ddof)


def same_type(of: Any) -> Callable[..., Array]:
    return lambda x, **k: reference(of)(x, dtype=types.to_dali_type(x.dtype), **k)


MEAN = reference(lambda x, **k: np.mean(x.astype(np.float64), **k))
SQUARE, ROOT = reference(squares), reference(roots)
VARIANCE = reference(deviations)


def _deviation(x: Array, mean: Array, **k: Any) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sqrt(VARIANCE(x, mean, **k)))


PICTURES = pictures()
AXES: list[dict[str, Any]] = [
    {},
    {"axes": 0},
    {"axes": [0, 1]},
    {"axes": [2, 0], "keep_dims": True},
    {"axes": -1},
    {"axes": []},
    {"axis_names": "HC"},
    {"axis_names": "", "keep_dims": True},
    {"keep_dims": True},
]
NAMES: dict[str, Callable[..., Array]] = {
    "sum": summed,
    "mean": MEAN,
    "mean_square": SQUARE,
    "rms": ROOT,
    "min": same_type(np.min),
    "max": same_type(np.max),
}
MEANS_OF = ("mean", "mean_square", "rms")
LAST_BIT = Apart(tolerance=3e-7)
LARGE = Apart(tolerance=2e-5, why="DALI adds up large integers as floats")


def from_dali(name: str, axes: Any) -> Apart:
    """Means of one element are that element."""
    return LAST_BIT if name in MEANS_OF and axes not in ([], "") else SAME


CASES = [
    case(f"reductions.{name}", PICTURES, reference=of,
         from_dali=from_dali(name, axes.get("axes", axes.get("axis_names"))), **axes)
    for name, of in NAMES.items()
    for axes in AXES
]  # fmt: skip
CASES += [
    case(f"reductions.{name}", Samples(tuple(a[..., 0] for a in pictures(dtype=dtype).arrays)), reference=of, axes=[1],
         tolerance=1e-4 if dtype == np.float32 else 1e-6, on_gpu=NEAR if dtype == np.float32 else Apart(),
         from_dali=SAME if overflows else LARGE if name == "mean" and dtype == np.int32 else from_dali(name, [1]),
         differs="DALI's squares overflow" if overflows else None)
    for dtype in (np.int8, np.int16, np.uint16, np.int32, np.uint32, np.float32)
    for name, of in NAMES.items()
    for overflows in [of in (SQUARE, ROOT) and dtype in (np.uint16, np.uint32)]
]  # fmt: skip
WIDE = [np.bool_, np.float16, np.float64]
CASES += [
    case(f"reductions.{name}", Samples(tuple(a[..., 0] for a in pictures(dtype=dtype).arrays)), reference=of,
         axes=[1], tolerance=1e-6, on_gpu=NEAR, differs=f"DALI does not take {np.dtype(dtype)}")
    for dtype in WIDE
    for name, of in {"sum": summed, "mean_square": SQUARE, "min": same_type(np.min), "max": same_type(np.max)}.items()
    if not (dtype == np.float64 and name in ("sum", "mean_square"))  # these are float64 then
]  # fmt: skip

# As integers: fractions are cut off, and sums wrap round.
SMALL = samples([[1, 2, 2], [200, 100, 30], [7, 7, 6]], dtype=np.uint8)
SIGNED = samples([[-1, -2, -2], [1, 2, -7], [-7, -7, -6]], dtype=np.int8)
CASES += [
    case("reductions.sum", SMALL, reference=summed, dtype=types.UINT8),
    case("reductions.sum", SIGNED, reference=summed, dtype=types.FLOAT),
    case("reductions.mean", SIGNED, reference=MEAN, dtype=types.INT8),
    case("reductions.mean", SMALL, reference=MEAN, dtype=types.UINT8, differs="DALI's sum of the second sample wraps"),
    case("reductions.rms", SIGNED, reference=ROOT, dtype=types.INT8, differs="DALI's squares overflow"),
    case("reductions.mean_square", SIGNED, reference=SQUARE, dtype=types.INT64),
    case("reductions.mean", SMALL, reference=MEAN, dtype=types.FLOAT64, differs="DALI has no such type here"),
]

# Elements by themselves stay what they are, be it no number.
CASES += [
    case(f"reductions.{name}", samples([[np.nan, 1.5], [-np.inf, np.nan]], dtype=np.float32),
         reference=lambda x, axes: x, axes=[])
    for name in ("min", "max")
]  # fmt: skip

MEANS = Samples(tuple(a.mean(dtype=np.float32) for a in PICTURES.arrays))
CHANNELS = Samples(tuple(a.mean((0, 1), dtype=np.float32) for a in PICTURES.arrays))
KEPT = Samples(tuple(a.mean((0, 1), dtype=np.float32, keepdims=True) for a in PICTURES.arrays))
FLOATS = pictures(dtype=np.float32)
CENTRES = samples([2, 110, 7], dtype=np.float32)
for deviation, of in (("variance", VARIANCE), ("std_dev", _deviation)):
    CASES += [
        case(f"reductions.{deviation}", x, mean, reference=of, on_gpu=NEAR, differs=differs,
             from_dali=LAST_BIT if mean in (CHANNELS, KEPT) else SAME, **arguments)
        for x, mean, arguments, differs in (
            (PICTURES, MEANS, {}, None),
            (PICTURES, CHANNELS, {"axes": [0, 1]}, None),
            (PICTURES, KEPT, {"axis_names": "HW", "keep_dims": True, "ddof": 1}, None),
            (PICTURES, MEANS, {"axes": 1}, "DALI reads beyond the one mean"),
            (FLOATS, MEANS, {"axes": [0, 2]}, "DALI reads beyond the one mean"),
            (SMALL, CENTRES, {"ddof": 3}, None),
            (SMALL, CENTRES, {"ddof": -1, "axes": []}, "DALI reads beyond the one mean"),
        )
    ]  # fmt: skip


def run(make: Callable[[], Any]) -> Array:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(make())
    return np.array(pipe.run()[0].at(0))


INTEGERS = (np.bool_, np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64)


@pytest.mark.parametrize("shape", [(130,), (3, 70), (70, 3), (1, 7, 1, 5000), (2, 3, 4, 5, 6), (40_000, 3), (100, 65)])
def test_sums_of_integers_are_exact(shape: tuple[int, ...]) -> None:
    for dtype in INTEGERS:
        array = random_array(shape, dtype)
        for axes in ([0], [len(shape) - 1], list(range(len(shape))), list(range(0, len(shape), 2))):
            found = run(lambda a=array, axes=axes: fn.reductions.sum(constant(a), axes=axes))
            assert np.array_equal(found, np.sum(array, axis=tuple(axes))), (dtype, axes)


def test_more_rows_than_small_partial_sums_can_take() -> None:
    for dtype, value in ((np.uint8, 255), (np.int8, -128), (np.uint16, 65535), (np.int16, -32768)):
        array = np.full((100_000, 65), value, dtype)
        for axes in ([0], [0, 1]):
            found = run(lambda a=array, axes=axes: fn.reductions.sum(constant(a), axes=axes))
            assert np.array_equal(found, array.sum(axis=tuple(axes))), (dtype, axes)
            mean = run(lambda a=array, axes=axes: fn.reductions.mean_square(constant(a), axes=axes))
            assert np.all(mean == np.float32(float(value) ** 2)), (dtype, axes)


def test_sums_of_floats_do_not_lose_small_numbers() -> None:
    array = np.float32([1e8, 1, 1, 1, -1e8])
    assert run(lambda: fn.reductions.sum(constant(array))) == 3
    assert run(lambda: fn.reductions.mean(constant(np.full((3000, 1000), 0.1, np.float32)))) == np.float32(0.1)


def test_min_and_max_pass_over_not_a_number() -> None:
    array = np.float32([[np.nan, 2, -np.inf], [np.nan, np.nan, np.nan]])
    for dtype in (np.float16, np.float32, np.float64):
        data = array.astype(dtype)
        least, most = (
            run(lambda a=data, of=of: of(constant(a), axes=1)) for of in (fn.reductions.min, fn.reductions.max)
        )
        assert least.tolist() == [-np.inf, np.inf]
        assert most.tolist() == [2, -np.inf]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_min_and_max_of_elements_by_themselves_are_these(dtype: Any) -> None:
    array = np.array([[np.nan, 2, -np.inf, np.inf]], dtype)
    for of in (fn.reductions.min, fn.reductions.max):
        for axes in ([], [0]):
            found = run(lambda of=of, axes=axes: of(constant(array), axes=axes))
            np.testing.assert_array_equal(found, array if axes == [] else array[0], strict=True)
        assert np.isnan(run(lambda of=of: of(constant(np.array(np.nan, dtype)))))


def test_min_and_max_of_infinities_are_infinite() -> None:
    assert run(lambda: fn.reductions.max(constant(np.float32([-np.inf, -np.inf])))) == -np.inf
    assert run(lambda: fn.reductions.min(constant(np.float32([np.inf, np.inf])))) == np.inf


def test_means_and_squares_do_not_wrap_round() -> None:
    large = np.uint32([2**32 - 1, 2**32 - 1, 5])
    assert run(lambda: fn.reductions.mean(constant(large), dtype=types.UINT32)) == large.astype(np.uint64).sum() // 3
    assert run(lambda: fn.reductions.rms(constant(np.uint8([94])), dtype=types.UINT8)) == 94
    assert run(lambda: fn.reductions.mean_square(constant(np.uint16([60000])))) == np.float32(60000.0**2)


def test_ddof_is_a_whole_number() -> None:
    x = np.float32([1, 2, 6])
    for ddof in (1, 1.5, np.float32(1.9), True):
        found = run(lambda ddof=ddof: fn.reductions.variance(constant(x), constant(np.float32(3)), ddof=ddof))
        assert found == np.float32(14 / 2)


def test_of_no_elements() -> None:
    empty = np.zeros((0, 2), np.uint8)
    results = {name: run(lambda name=name: getattr(fn.reductions, name)(constant(empty), axes=0)) for name in NAMES}
    assert results["sum"].tolist() == [0, 0]
    assert results["min"].tolist() == [255, 255]
    assert results["max"].tolist() == [0, 0]
    assert np.isnan([results["mean"], results["mean_square"], results["rms"]]).all()
    assert run(lambda: fn.reductions.mean(constant(empty), dtype=types.UINT8)) == 0


def test_layouts_lose_the_reduced_axes() -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        picture = types.Constant(np.zeros((2, 3, 4), np.uint8), layout=LAYOUT)
        kept = fn.reductions.max(picture, axes=1, keep_dims=True)
        pipe.set_outputs(fn.reductions.max(picture, axes=1), kept, fn.reductions.max(picture))
    assert [o.layout() for o in pipe.run()] == ["HC", "HWC", ""]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"axes": 3}, r"axes: 3 is no axis of the shape \(2, 3, 4\)"),
        ({"axes": -4}, "axes: -4 is no axis of the shape"),
        ({"axes": [0, -3]}, r"axis 0 \(H\) is named twice"),
        ({"axis_names": "HH"}, r"axis 0 \(H\) is named twice"),
        ({"axis_names": "Z"}, "the layout 'HWC' has no axis 'Z'"),
    ],
)
def test_wrong_axes(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(OperatorError, match=f"reductions.sum: .*{problem}"):
        run(lambda: fn.reductions.sum(types.Constant(np.zeros((2, 3, 4), np.uint8), layout=LAYOUT), **arguments))


def test_axes_are_given_in_one_way() -> None:
    with pytest.raises(ArgumentError, match=r"reductions.mean: axis_names='H': axes are given too"):
        fn.reductions.mean(np.zeros((2, 2), np.uint8), axes=0, axis_names="H")


def test_the_mean_must_fit() -> None:
    picture = np.zeros((2, 3, 4), np.uint8)
    problem = r"the mean's shape is \(4,\); expected one number, \(3, 4\) or \(1, 3, 4\)"
    with pytest.raises(OperatorError, match=f"reductions.variance: .*{problem}"):
        run(lambda: fn.reductions.variance(picture, np.zeros(4, np.float32), axes=0))
