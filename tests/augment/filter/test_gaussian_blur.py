"""fn.gaussian_blur, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.augment.pixels import rounded
from tests.cases import Apart, Array, case, per_sample, pictures, random_array, samples


def blurred(
    x: Array, layout: str = "HWC", sigma: Any = 0.0, window_size: Any = 0, dtype: types.DALIDataType | None = None
) -> Array:
    """Windows over a padded copy, in double precision."""
    axes = [i for i in range(x.ndim) if not layout or layout[i] not in "FC"]
    sigmas, sizes = (np.broadcast_to(np.ravel(v), len(axes)) for v in (sigma, window_size))
    v = x.astype(np.float64)
    for axis, s, size in zip(axes, sigmas.astype(np.float32), sizes, strict=True):
        radius = int(size) // 2 if size else int(np.ceil(3 * s))
        places = np.arange(-radius, radius + 1)
        weights = np.exp(-(places**2) / (2 * float(s or (radius - 1) * 0.3 + 0.8) ** 2))
        padding = [(radius, radius) if i == axis else (0, 0) for i in range(x.ndim)]
        padded = np.pad(v, padding, "reflect")
        n = x.shape[axis]
        v = sum(w * np.take(padded, range(k, k + n), axis) for k, w in enumerate(weights / weights.sum()))
    return rounded(v, x.dtype if dtype is None else np.dtype(types.to_numpy_type(dtype)))


def of(layout: str) -> Any:
    return partial(blurred, layout=layout)


# Sums in float32 and in double precision are apart by some millionths of the numbers, which are up to 2^31.
near = partial(case, "gaussian_blur", off_by=1, tolerance=1e-5)
apart = partial(near, from_dali=Apart(1, 0.005, 2e-5, why="sums are formed in another order"))
EACH = per_sample([(0.5, 1.0), (2.0, 0.7), (1.0, 3.0)])

CASES = [
    near(pictures(), reference=blurred, sigma=1.0),
    near(pictures(), reference=blurred, sigma=0.3),
    near(pictures(), reference=blurred, window_size=5),
    near(pictures(), reference=blurred, window_size=1),
    near(pictures(), reference=blurred, window_size=3, sigma=2.0),
    near(pictures(), reference=blurred, sigma=(0.5, 2.0)),
    near(pictures(), reference=blurred, sigma=(0.0, 2.0), window_size=(7, 0)),
    near(pictures(), reference=blurred, sigma=EACH),
    near(pictures(), reference=blurred, sigma=per_sample([0.5, 4.0, 1.0]), window_size=per_sample([3, 0, 9])),
    near(pictures(), reference=blurred, window_size=per_sample([(3, 5), (1, 7), (11, 3)])),
    apart(pictures(), reference=blurred, sigma=20.0),
    near(pictures(sizes=((5, 300), (300, 4), (1, 7))), reference=blurred, sigma=3.0),
    apart(pictures(), reference=blurred, sigma=1.5, dtype=types.FLOAT),
    apart(pictures(), reference=blurred, sigma=1.5, dtype=types.UINT8),
    near(pictures("CHW"), reference=of("CHW"), sigma=EACH),
    apart(pictures("FHWC"), reference=of("FHWC"), sigma=EACH),
    apart(pictures("FCHW"), reference=of("FCHW"), sigma=1.0),
    near(pictures("CFHW"), reference=of("CFHW"), sigma=1.0),
    apart(pictures("DHWC"), reference=of("DHWC"), sigma=(0.5, 1.0, 1.5)),
    apart(pictures("CDHW", np.float32), reference=of("CDHW"), sigma=0.8),
    near(pictures("FDHWC"), reference=of("FDHWC"), window_size=3),
    near(pictures("HW"), reference=of("HW"), sigma=1.0),
    near(pictures("WHC"), reference=of("WHC"), sigma=EACH),
    near(samples(list(pictures().arrays)), reference=of(""), sigma=(0.5, 1.0, 0.4)),
    apart(samples([random_array((50,), np.float32), random_array((7,), np.float32)]), reference=of(""), sigma=1.0),
]
CASES += [
    apart(pictures(dtype=dtype, channels=channels), reference=blurred, sigma=1.2, dtype=to)
    for dtype, channels in ((np.uint8, 1), (np.uint8, 4), (np.int8, 3), (np.uint16, 3), (np.int16, 2), (np.float32, 3))
    for to in (None, types.FLOAT)
    if dtype != np.int16 or to is None  # where sums are near 0, see below
]
CASES += [
    near(
        pictures(dtype=np.float16),
        reference=blurred,
        sigma=1.2,
        tolerance=2e-3,
        differs="DALI rounds to FLOAT16 between the axes",
    ),
    near(
        samples([random_array((6, 5, 4, 7)), random_array((3, 4, 5, 6))]),
        reference=of(""),
        sigma=0.7,
        differs="DALI blurs at most three axes",
    ),
]


FRAMES: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
    ({"sigma": np.float32([0.5, 2.0, 1.2])}, [{"sigma": v} for v in (0.5, 2.0, 1.2)]),
    (
        {"window_size": np.int32([[3, 5], [7, 1], [1, 9]]), "sigma": np.float32([0.0, 1.0, 3.0])},
        [
            {"window_size": size, "sigma": sigma}
            for size, sigma in zip([(3, 5), (7, 1), (1, 9)], (0.0, 1.0, 3.0), strict=True)
        ],
    ),
]


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize(("given", "wanted"), FRAMES)
@pytest.mark.parametrize("layout", ["FHWC", "FCHW"])
def test_each_frame_may_have_its_own(
    given: dict[str, Any], wanted: list[dict[str, Any]], layout: str, device: str, software_gpu: Any
) -> None:
    shape = {"F": 3, "H": 20, "W": 30, "C": 2}
    x = random_array([shape[axis] for axis in layout])
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=0 if device == "gpu" else None)
    with pipe:
        frames = {name: fn.per_frame(constant(v)) for name, v in given.items()}
        data = constant(x, layout)
        pipe.set_outputs(fn.gaussian_blur(data.gpu() if device == "gpu" else data, **frames))
    (found,) = pipe.run()
    blurs = [blurred(frame, layout[1:], **one) for frame, one in zip(x, wanted, strict=True)]
    made = np.array((found.as_cpu() if device == "gpu" else found).at(0)).astype(int)
    assert np.abs(made - np.stack(blurs).astype(int)).max() <= 1


def test_values_for_other_frames() -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        each = fn.per_frame(constant(np.float32([1, 2])))
        pipe.set_outputs(fn.gaussian_blur(constant(random_array((3, 4, 5, 3)), "FHWC"), sigma=each))
    with pytest.raises(OperatorError, match="sigma has values for 2 frames, but the input has 3"):
        pipe.run()


@pytest.mark.parametrize("dtype", [np.int16, np.int32])
def test_sums_near_0_are_as_exact_as_their_terms(dtype: Any) -> None:
    x = random_array((20, 30, 3), dtype)
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.gaussian_blur(constant(x, "HWC"), sigma=1.2, dtype=types.FLOAT))
    wanted = blurred(x, sigma=1.2, dtype=types.FLOAT)
    np.testing.assert_allclose(pipe.run()[0].at(0), wanted, rtol=0, atol=1e-6 * np.iinfo(dtype).max)


def test_64_bit_integers_are_blurred_too() -> None:
    x = random_array((20, 30, 3)).astype(np.int64)
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.gaussian_blur(constant(x, "HWC"), sigma=1.0))
    assert np.abs(pipe.run()[0].at(0) - blurred(x, sigma=1.0)).max() <= 1


@pytest.mark.parametrize("channels", [1, 2, 3, 5])
def test_rows_of_every_length(channels: int) -> None:
    rows = [random_array((3, width, channels), seed=width) for width in range(1, 75)]
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*(fn.gaussian_blur(constant(row, "HWC"), sigma=1.0, dtype=types.FLOAT) for row in rows))
    for found, row in zip(pipe.run(), rows, strict=True):
        np.testing.assert_allclose(found.at(0), blurred(row, sigma=1.0, dtype=types.FLOAT), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    ("layout", "arguments", "problem"),
    [
        ("HWC", {}, r"on axis 0 \(H\) neither sigma nor window_size is given"),
        ("HWC", {"sigma": (1.0, 0.0)}, r"on axis 1 \(W\) neither sigma nor window_size is given"),
        ("HWC", {"sigma": -1.0}, "sigma is -1.0.* on axis 0 .*expected 0 to"),
        ("HWC", {"sigma": float("nan")}, "sigma is nan"),
        ("HWC", {"sigma": 1e9}, "expected 0 to"),
        ("HWC", {"window_size": 4}, "window_size is 4 .*an odd number"),
        ("HWC", {"window_size": -3}, "window_size is -3"),
        ("HWC", {"window_size": (3, 5, 7)}, "window_size has 3 values for 2 axes"),
        ("HWC", {"sigma": 1.0, "dtype": types.INT16}, "dtype is INT16: expected FLOAT, or the input's UINT8"),
        ("HCW", {"sigma": 1.0}, "'HCW': expected frames first, channels first or last"),
        ("HWF", {"sigma": 1.0}, "'HWF': expected frames first"),
        ("CCH", {"sigma": 1.0}, "'CCH': expected .* either once"),
        ("CHC", {"sigma": 1.0}, "'CHC': expected .* either once"),
        ("FCF", {"sigma": 1.0}, "'FCF' has no axis to blur"),
    ],
)
def test_mistakes_are_named(layout: str, arguments: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.gaussian_blur(constant(np.zeros((4, 5, 3), np.uint8), layout), **arguments))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()
