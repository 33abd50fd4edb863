"""fn.normalize, against NumPy in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.types.convert import saturate
from tests.cases import SAME, Apart, Array, Samples, case, pictures, random_array, samples

LAYOUT = "HWC"


def normalized_batch(
    xs: list[Array], axes: Any = None, axis_names: str | None = None, mean: Any = None, stddev: Any = None,
    ddof: int = 0, epsilon: float = 0, scale: float = 1, shift: float = 0, dtype: Any = types.FLOAT, batch: bool = True,
) -> list[Array]:  # fmt: skip
    """All samples by the same mean and deviation, which are of all their elements."""
    assert batch
    ndim = xs[0].ndim
    arrays = [v for v in (mean, stddev) if v is not None and np.size(v) > 1]
    if axis_names is not None:
        reduced = [LAYOUT.index(name) for name in axis_names]
    elif axes is not None:
        reduced = [axis % ndim for axis in np.atleast_1d(axes)]
    else:
        reduced = [i for i in range(ndim) if not arrays or arrays[0].shape[i] == 1]
    kept = [i for i in range(ndim) if i not in reduced]
    shape = [1 if i in reduced else e for i, e in enumerate(xs[0].shape)]
    outputs = int(np.prod([xs[0].shape[i] for i in kept], dtype=int))
    rows = np.concatenate([x.astype(np.float64).transpose(*kept, *reduced).reshape(outputs, -1) for x in xs], 1)
    centre = np.mean(rows, 1).reshape(shape) if mean is None else np.asarray(mean, np.float64)
    if stddev is None:
        count = rows.shape[1] - ddof
        squares = np.sum((rows - centre.reshape(-1, 1)) ** 2, 1).reshape(shape)
        variance = (squares / count if count > 0 else 0 * squares) + epsilon
        factor = np.divide(scale, np.sqrt(variance), out=np.zeros(shape), where=variance != 0)
    else:
        factor = scale / (np.sqrt(np.square(stddev) + epsilon) if epsilon else np.asarray(stddev, np.float64))
    to = np.dtype(types.to_numpy_type(dtype))
    return [np.asarray(saturate((x - centre) * factor + shift, to)) for x in xs]


def normalized(x: Array, **arguments: Any) -> Array:
    return normalized_batch([x], **arguments)[0]


PICTURES, FLOATS = pictures(), pictures(dtype=np.float32)
OF_ONE_WIDTH = pictures(sizes=((37, 51), (12, 51), (1, 51)))
CHANNELS = np.float32([[[100, 130, 90]]])
OF_EACH = Samples(tuple(x.mean((0, 1), dtype=np.float32, keepdims=True) for x in PICTURES.arrays))
NEAR = Apart(off_by=1, share=0.01, tolerance=1e-5)
FROM_DALI = Apart(1, 0.005, 1e-5, why="sums are formed in another order")
_DALI_FLOATS = "DALI's mean is a float"

ARGUMENTS: list[dict[str, Any]] = [
    {},
    {"axes": 0},
    {"axes": [0, 1], "ddof": 1},
    {"axes": [2], "epsilon": 0.5},
    {"axes": 1, "scale": 3.0, "shift": -2.0},
    {"axis_names": "HC"},
    {"axis_names": "WH", "dtype": types.UINT8, "scale": 50.0, "shift": 128.0},
    {"dtype": types.INT16, "scale": 1000.0},
    {"mean": 100.0},
    {"mean": 100.0, "axes": [0, 1]},
    {"mean": CHANNELS},
    {"mean": 100.0, "stddev": 40.0},
    {"mean": 100.0, "stddev": -40.0, "epsilon": 2.0},
    {"mean": CHANNELS, "stddev": CHANNELS, "dtype": types.INT8, "scale": 10.0},
    {"mean": CHANNELS, "stddev": 40.0, "axes": [0, 1]},
    {"mean": OF_EACH},
    {"mean": OF_EACH, "stddev": OF_EACH},
]


def from_dali(arguments: dict[str, Any]) -> Apart:
    """Where mean and deviation are given, nothing is summed up."""
    return SAME if {"mean", "stddev"} <= arguments.keys() and "epsilon" not in arguments else FROM_DALI


CASES = [
    case("normalize", x, reference=normalized, off_by=1, on_gpu=NEAR, from_dali=from_dali(arguments), **arguments)
    for x in (PICTURES, FLOATS)
    for arguments in ARGUMENTS
]
CASES += [
    case("normalize", x, reference=normalized, on_gpu=NEAR, from_dali=FROM_DALI, tolerance=1e-4, **arguments)
    for x in (PICTURES, FLOATS)
    for arguments in ({"stddev": 40.0}, {"stddev": CHANNELS}, {"stddev": 40.0, "axes": [1], "epsilon": 1.0})
]
CASES += [
    case("normalize", pictures(layout, dtype), reference=normalized, axes=axes, on_gpu=NEAR, from_dali=FROM_DALI,
         tolerance=1e-4)
    for layout, dtype, axes in (
        ("CHW", np.int8, [1, 2]),
        ("FHWC", np.uint16, [0, 3]),
        ("FHWC", np.int16, [0, 2]),
        ("DHWC", np.int32, [1, 3]),
        ("HWC", np.uint32, [0]),
    )
]  # fmt: skip
CASES += [
    case("normalize", pictures(dtype=dtype), reference=normalized, axes=[0], on_gpu=NEAR, tolerance=1e-4, differs=why)
    for dtype in (np.bool_, np.int64, np.float16, np.float64)
    for why in [f"DALI does not take {np.dtype(dtype)}"]
]
CASES += [
    case("normalize", PICTURES, reference=normalized, dtype=types.FLOAT16, on_gpu=NEAR,
         differs="DALI has no such type"),
    case("normalize", samples([[3, 3, 3], [1, 2, 6]]), reference=normalized, shift=7.0, on_gpu=NEAR,
         differs="DALI does not take int64"),
    case("normalize", samples([[3, 3, 3], [1, 2, 6]], dtype=np.uint8), reference=normalized, shift=7.0, on_gpu=NEAR),
    case("normalize", samples([[3, 3, 4], [1, 2, 6]], dtype=np.uint8), reference=normalized, ddof=3, on_gpu=NEAR),
    case("normalize", samples([np.uint8(3), np.uint8(9)]), reference=normalized, mean=2.0, on_gpu=NEAR,
         stddev=0.5, differs="DALI reads the numbers from elsewhere"),
]  # fmt: skip
CASES += [
    case("normalize", x, reference=normalized_batch, whole_batch=True, batch=True, off_by=1, on_gpu=NEAR,
         from_dali=from_dali(arguments), **arguments)
    for x in (OF_ONE_WIDTH, pictures(dtype=np.float32, sizes=((37, 51), (12, 51), (1, 51))))
    for arguments in (
        {},
        {"axes": [0, 1]},
        {"axes": 0, "ddof": 2, "epsilon": 1.0},
        {"axis_names": "HC", "dtype": types.INT16, "scale": 100.0, "shift": 5.0},
        {"axes": [0, 1], "mean": 100.0},
        {"axes": [0], "stddev": 30.0},
        {"mean": 100.0, "stddev": 30.0},
    )
]  # fmt: skip


def run(make: Callable[[], Any], batch_size: int = 1, threads: int = 1) -> list[Array]:
    pipe = Pipeline(batch_size=batch_size, num_threads=threads, device_id=None)
    with pipe:
        pipe.set_outputs(make())
    (output,) = pipe.run()
    return [np.array(output.at(i)) for i in range(batch_size)]


def source(arrays: list[Array]) -> Any:
    return fn.external_source(source=lambda: arrays, layout=LAYOUT)


def test_small_deviations_from_a_large_mean() -> None:
    array = random_array((64, 100, 3), np.float32) / 100 + np.float32(10_000)
    for batch in (False, True):
        (found,) = run(lambda batch=batch: fn.normalize(array, axes=[0, 1], batch=batch))
        assert np.allclose(found, normalized(array, axes=[0, 1]), atol=2e-4)


def test_an_infinite_scale() -> None:
    """The mean, 10/3, is no float; what it loses as one is not multiplied."""
    (found,) = run(lambda: fn.normalize(source([np.int32([[[0], [4], [6]]])]), scale=float("inf")))
    np.testing.assert_array_equal(found.ravel(), np.float32([-np.inf, np.inf, np.inf]))


def test_a_batch_with_empty_samples() -> None:
    arrays = [random_array((rows, 7, 3)) for rows in (0, 5, 0, 9)]
    found = run(lambda: fn.normalize(source(arrays), axes=[0, 1], batch=True), len(arrays))
    for a, b in zip(found, normalized_batch(arrays, axes=[0, 1]), strict=True):
        assert a.shape == b.shape
        assert np.allclose(a, b, atol=1e-5)


def test_a_batch_after_other_operators_and_before() -> None:
    arrays = [random_array((rows, 7, 3)) for rows in (4, 5, 1, 9)]
    found = run(
        lambda: fn.flip(fn.normalize(fn.flip(source(arrays)), axis_names="HW", batch=True)), len(arrays), threads=3
    )
    for a, b in zip(found, normalized_batch(arrays, axes=[0, 1]), strict=True):
        assert np.allclose(a, b, atol=1e-5)


def test_samples_of_a_batch_must_fit_together() -> None:
    arrays = [random_array((5, 7, 3)), random_array((5, 8, 3))]
    with pytest.raises(OperatorError, match=r"batch=True: the shape \(5, 8, 3\) differs from that of the first sample"):
        run(lambda: fn.normalize(source(arrays), axes=[0], batch=True), 2)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"axes": [3]}, "axes: 3 is no axis of the shape"),
        ({"axes": [0, 0]}, r"axis 0 \(H\) is named twice"),
        ({"axis_names": "Z"}, "the layout 'HWC' has no axis 'Z'"),
        ({"mean": CHANNELS, "axes": [0]}, r"mean has the shape \(1, 1, 3\); expected \(1, 3, 3\), or one number"),
        ({"mean": CHANNELS, "stddev": CHANNELS[0]}, r"stddev has the shape \(1, 3\); expected \(1, 1, 3\)"),
        ({"stddev": CHANNELS[..., :2]}, r"stddev has the shape \(1, 1, 2\)"),
    ],
)
def test_what_does_not_fit_the_input(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(OperatorError, match=f"normalize: .*{problem}"):
        run(lambda: fn.normalize(types.Constant(np.zeros((2, 3, 3), np.uint8), layout=LAYOUT), **arguments))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"axes": 0, "axis_names": "H"}, "axes are given too"),
        ({"mean": 1.0, "stddev": 2.0, "axes": 0}, "nothing is computed over axes"),
        ({"mean": CHANNELS, "batch": True}, "expected one number with batch=True"),
        ({"mean": "one"}, "mean='one': expected a number, an array of numbers or a node"),
    ],
)
def test_what_cannot_be_right(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(ArgumentError, match=f"normalize: .*{problem}"):
        fn.normalize(np.zeros((2, 3, 3), np.uint8), **arguments)


def test_a_node_and_a_batch() -> None:
    with pytest.raises(ArgumentError, match="batch=True: expected one number for stddev, not a node"):
        fn.normalize(np.zeros((2, 3), np.uint8), stddev=types.Constant(np.ones((1, 3), np.float32)), batch=True)


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_a_first_sample_without_elements(device: str, request: pytest.FixtureRequest) -> None:
    """It is given no means, which says nothing of the others."""
    if device == "gpu":
        request.getfixturevalue("software_gpu")
    arrays = [np.zeros((2, 0), np.float32), np.float32([[1, 2, 3], [4, 6, 8]])]
    means = [np.zeros((1, 0), np.float32), np.float32([[0, 10, 100]])]
    pipe = Pipeline(batch_size=2, num_threads=2, device_id=0 if device == "gpu" else None)
    with pipe:
        x = fn.external_source(lambda: arrays)
        mean = fn.external_source(lambda: means)
        pipe.set_outputs(fn.normalize(x.gpu() if device == "gpu" else x, mean=mean, stddev=2.0, axes=[0]))
    (out,) = pipe.run()
    assert out.as_cpu().at(0).shape == (2, 0)
    np.testing.assert_array_equal(out.as_cpu().at(1), (arrays[1] - means[1]) / 2)
