"""fn.color_twist, fn.hsv, fn.hue and fn.saturation, against NumPy and bit for bit against DALI."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, ArgumentTypeError, OperatorError
from penstock.graph.constants import constant
from tests.augment.pixels import rounded
from tests.cases import Apart, Array, case, per_sample, pictures, random_array, samples
from tests.runners import dalis, ours

YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])


def twisted(
    x: Array,
    hue: float = 0,
    saturation: float = 1,
    value: float = 1,
    brightness: float = 1,
    contrast: float = 1,
    dtype: types.DALIDataType | None = None,
    image_type: Any = None,
) -> Array:
    """In double precision, one step after the other."""
    y, i, q = np.moveaxis(x.astype(np.float64) @ YIQ.T, -1, 0)
    angle = np.deg2rad(float(hue))
    i, q = i * np.cos(angle) + q * np.sin(angle), q * np.cos(angle) - i * np.sin(angle)
    rgb = np.stack([y, saturation * i, saturation * q], -1) @ np.linalg.inv(YIQ).T * value
    middle = 0.5 if x.dtype.kind == "f" else 128
    to = x.dtype if dtype is None else np.dtype(types.to_numpy_type(dtype))
    return rounded(brightness * (middle + contrast * (rgb - middle)), to)


def hsv(x: Array, dtype: types.DALIDataType = types.UINT8, **arguments: Any) -> Array:
    return twisted(x, dtype=dtype, **arguments)


# Sums of terms up to some 500 in float32 may nearly cancel each other: 2e-4 is a few units of their last place.
near = partial(case, reference=twisted, off_by=1, tolerance=2e-4)
HALVES = Apart(tolerance=2.0**-10, why="the last bit of FLOAT16 is rounded otherwise")

HUE, SATURATION = per_sample([-30.0, 120.0, 400.0]), per_sample([0.0, 0.6, 2.5])
BRIGHTNESS, CONTRAST = per_sample([0.5, 1.3, 1.0]), per_sample([1.0, 0.4, 2.0])
CASES = [
    near("color_twist", pictures()),
    near("color_twist", pictures(), hue=20, saturation=1.4, brightness=0.9, contrast=1.2),
    near("color_twist", pictures(), hue=HUE, saturation=SATURATION, brightness=BRIGHTNESS, contrast=CONTRAST),
    near("color_twist", samples(list(pictures().arrays)), hue=HUE, image_type=types.BGR),
    near("color_twist", pictures(), contrast=CONTRAST, dtype=types.FLOAT),
    near("color_twist", pictures(), saturation=SATURATION, dtype=types.FLOAT16, from_dali=HALVES),
    near("color_twist", pictures(), brightness=BRIGHTNESS, hue=77, dtype=types.INT16),
    near("color_twist", pictures("FHWC"), hue=HUE, contrast=0.7),
    near("color_twist", pictures("DHWC", np.float32), hue=10, brightness=BRIGHTNESS, contrast=CONTRAST),
    near("color_twist", pictures(dtype=np.int16), hue=HUE, saturation=0.5, dtype=types.UINT8),
    near("color_twist", pictures(dtype=np.int16), contrast=CONTRAST),
    near("color_twist", pictures(dtype=np.float32), hue=HUE, contrast=CONTRAST, dtype=types.UINT8),
    near("color_twist", pictures(dtype=np.float16), hue=HUE, contrast=0.5, tolerance=1e-3, from_dali=HALVES),
    case("color_twist", pictures(dtype=np.int32), reference=twisted, off_by=1024, hue=20, brightness=0.5),
    case("hsv", pictures(), reference=hsv, off_by=1, hue=HUE, saturation=SATURATION, value=BRIGHTNESS),
    case("hsv", pictures(dtype=np.float32), reference=hsv, off_by=1, value=0.5, saturation=SATURATION),
    case("hsv", pictures("FHWC", np.int16), reference=hsv, off_by=1, hue=HUE),
    case("hsv", pictures(), reference=hsv, tolerance=2e-4, hue=HUE, value=1.5, dtype=types.FLOAT),
    near("hue", pictures(), hue=HUE),
    near("hue", pictures("DHWC"), hue=-90, dtype=types.FLOAT),
    near("saturation", pictures(), saturation=SATURATION),
    near("saturation", pictures("FHWC", np.float32), saturation=1.7),
]


_ARGUMENTS = {
    "color_twist": ("hue", "saturation", "brightness", "contrast"),
    "hsv": ("hue", "saturation", "value"),
    "hue": ("hue",),
    "saturation": ("saturation",),
}


@pytest.mark.parametrize("output", [types.UINT8, types.INT16, types.INT32, types.FLOAT])
@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "f2", "f4"])
def test_every_bit_is_dalis(dtype: str, output: types.DALIDataType) -> None:
    random = np.random.default_rng([int(output), ord(dtype[0])])
    ranges = {"hue": (-400, 400), "saturation": (-0.5, 3), "value": (0, 2), "brightness": (0, 2), "contrast": (0, 2)}
    drawn = {name: per_sample(random.uniform(*ends, 8).astype(np.float32)) for name, ends in ranges.items()}
    for op, names in _ARGUMENTS.items():
        given: dict[str, Any] = {name: drawn[name] for name in names}
        one = case(op, pictures(dtype=dtype, count=8), dtype=output, **given)
        (a,), (b,) = ours(one), dalis(one)
        for found, wanted in zip(a.arrays, b.arrays, strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("output", [types.UINT8, types.FLOAT16, types.FLOAT])
def test_rows_of_every_length(output: types.DALIDataType) -> None:
    """Ends of vectors: each pixel is as if it were alone in its row."""
    arguments: dict[str, Any] = {"hue": 33, "saturation": 1.3, "contrast": 1.1, "dtype": output}
    widths = [*range(1, 60), 127, 128, 129, 151, 152, 153, 280]
    row = random_array((1, max(widths), 3))
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        alone = constant(np.ascontiguousarray(row.transpose(1, 0, 2)), "HWC")
        rows = [constant(np.ascontiguousarray(row[:, -width:]), "HWC") for width in widths]
        pipe.set_outputs(*(fn.color_twist(x, **arguments) for x in (alone, *rows)))
    pixels, *results = (output.at(0) for output in pipe.run())
    for width, found in zip(widths, results, strict=True):
        np.testing.assert_array_equal(found[0], pixels[-width:, 0])


def test_nothing_changes_without_arguments() -> None:
    x = constant(random_array((20, 30, 3)), "HWC")
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(x, fn.color_twist(x), fn.hsv(x), fn.hue(x), fn.saturation(x))
    first, *others = (output.at(0) for output in pipe.run())
    for other in others:
        np.testing.assert_array_equal(other, first)


@pytest.mark.parametrize("op", ["color_twist", "hsv", "hue", "saturation"])
def test_wrong_types_channels_and_layouts(op: str) -> None:
    for dtype in (np.int8, np.uint16, np.uint32, np.uint64, np.int64, np.float64, np.bool_):
        with pytest.raises(OperatorError, match=rf"{op}.*expected UINT8, INT16, INT32, FLOAT16 or FLOAT"):
            _run(op, np.ones((2, 3, 3), dtype))
    for shape, layout in (((2, 3, 1), "HWC"), ((2, 3, 4), "HWC"), ((3, 2, 3), "CHW"), ((2, 3), "HW")):
        with pytest.raises(OperatorError, match=rf"{op}.*expected three channels as the last axis, got .*'{layout}'"):
            _run(op, np.ones(shape, np.uint8), layout)
    with pytest.raises(OperatorError, match="'XYC' has no height and width"):
        _run(op, np.ones((2, 3, 3), np.uint8), "XYC")
    with pytest.raises(ArgumentError, match=rf"{op}: dtype=.*expected one of"):
        _run(op, np.ones((2, 3, 3), np.uint8), dtype=types.UINT16)
    name = "saturation" if op == "saturation" else "hue"
    with pytest.raises(ArgumentTypeError, match=rf"{op}: {name}='red'"):
        _run(op, np.ones((2, 3, 3), np.uint8), **{name: "red"})


def _run(op: str, x: Array, layout: str = "HWC", **arguments: Any) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(getattr(fn, op)(constant(x, layout), **arguments))
    pipe.run()
