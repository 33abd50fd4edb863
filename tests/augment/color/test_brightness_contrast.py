"""fn.brightness_contrast, fn.brightness and fn.contrast, against NumPy and bit for bit against DALI."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, ArgumentTypeError, OperatorError
from penstock.graph.constants import constant
from tests.augment.pixels import rounded
from tests.cases import Array, Case, case, per_sample, pictures, random_array, samples
from tests.runners import dalis, ours

MIDDLE = {"u1": 128, "i2": 1 << 14, "i4": 1 << 30, "f2": 0.5, "f4": 0.5}
RANGE = {"u1": 255, "i2": 2**15 - 1, "i4": 2**31 - 1, "f2": 1, "f4": 1}


def changed(
    x: Array,
    brightness: float = 1,
    brightness_shift: float = 0,
    contrast: float = 1,
    contrast_center: float | None = None,
    dtype: types.DALIDataType | None = None,
) -> Array:
    """In double precision."""
    to = x.dtype if dtype is None else np.dtype(types.to_numpy_type(dtype))
    center = MIDDLE[x.dtype.str[1:]] if contrast_center is None else float(contrast_center)
    v = center + float(contrast) * (x.astype(np.float64) - center)
    return rounded(float(brightness_shift) * RANGE[to.str[1:]] + float(brightness) * v, to)


# One number away where float32 rounds the other way; more where it has no digits left for units.
near = partial(case, reference=changed, off_by=1)

BRIGHTNESS, CONTRAST = per_sample([0.0, 1.5, -0.5]), per_sample([2.0, 0.25, -1.0])
SHIFT, CENTER = per_sample([-0.25, 0.125, 0.5]), per_sample([100.0, 0.5, -20.0])
CASES = [
    near("brightness_contrast", pictures()),
    near("brightness_contrast", pictures(), brightness=0.5, contrast=3),
    near("brightness_contrast", pictures(), brightness=BRIGHTNESS, contrast=CONTRAST, contrast_center=128),
    near("brightness_contrast", pictures(), brightness_shift=SHIFT, contrast=0.7, contrast_center=CENTER),
    near("brightness_contrast", samples(list(pictures().arrays)), brightness=1.25),
    near("brightness_contrast", pictures(channels=1), contrast=0.5, brightness_shift=0.1),
    near("brightness_contrast", pictures(channels=2), contrast=0.5, dtype=types.FLOAT),
    near("brightness_contrast", pictures("FHWC"), brightness=BRIGHTNESS, contrast=1.5),
    near("brightness_contrast", pictures("DHWC", np.int16), brightness=BRIGHTNESS, contrast=1.5, dtype=types.UINT8),
    near("brightness_contrast", pictures(), contrast=CONTRAST, dtype=types.FLOAT),
    near("brightness_contrast", pictures(), contrast=CONTRAST, dtype=types.INT16),
    near("brightness_contrast", pictures(dtype=np.int16), brightness=0.75, brightness_shift=0.1),
    near("brightness_contrast", pictures(dtype=np.int16), contrast=0.01, dtype=types.UINT8, contrast_center=9000),
    near("brightness_contrast", pictures(dtype=np.float32), contrast=CONTRAST, brightness=2),
    near("brightness_contrast", pictures(dtype=np.float32), brightness_shift=SHIFT, dtype=types.INT16),
    near("brightness_contrast", pictures(dtype=np.float32), brightness_shift=SHIFT, contrast=2, dtype=types.UINT8),
    near("brightness", pictures(), brightness=BRIGHTNESS, brightness_shift=0.25),
    near("brightness", pictures(), brightness=1.5, brightness_shift=SHIFT),
    near("brightness", pictures("FHWC", np.float32), brightness=1.1, brightness_shift=SHIFT),
    near("brightness", pictures("DHWC"), brightness=0.3, dtype=types.FLOAT),
    near("contrast", pictures(), contrast=CONTRAST),
    near("contrast", pictures(), contrast=CONTRAST, contrast_center=CENTER),
    near("contrast", pictures("FHWC", np.int16), contrast=0.5, contrast_center=1000),
    case("contrast", pictures(dtype=np.int32), reference=changed, off_by=256, contrast=0.5),
    case("brightness", pictures(), reference=changed, off_by=256, brightness_shift=0.1, dtype=types.INT32),
]
_EXTENDED = "DALI takes no other layouts than HWC, FHWC and DHWC, and no FLOAT16"
CASES += [
    near("brightness_contrast", pictures("CHW"), brightness=BRIGHTNESS, contrast=0.5, differs=_EXTENDED),
    near("brightness_contrast", pictures("HW"), brightness=BRIGHTNESS, contrast=0.5, differs=_EXTENDED),
    near("brightness_contrast", pictures("FCHW", np.int16), contrast=CONTRAST, differs=_EXTENDED),
    near("brightness_contrast", pictures("WHC"), contrast=CONTRAST, dtype=types.FLOAT, differs=_EXTENDED),
    near("brightness_contrast", pictures(dtype=np.float16), contrast=2, differs=_EXTENDED, tolerance=1e-3),
    near("brightness_contrast", pictures(), contrast=2, dtype=types.FLOAT16, differs=_EXTENDED, tolerance=1e-3),
]


@pytest.mark.parametrize("output", [types.UINT8, types.INT16, types.INT32, types.FLOAT])
@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "f4"])
def test_every_bit_is_dalis(dtype: str, output: types.DALIDataType) -> None:
    random = np.random.default_rng([int(output), ord(dtype[0])])
    arguments: dict[str, Any] = {
        name: per_sample(random.uniform(low, high, 8).astype(np.float32))
        for name, low, high in (("brightness", -0.5, 2), ("contrast", -1, 3), ("brightness_shift", -1, 1))
    }
    for center in ({}, {"contrast_center": per_sample(random.uniform(-1, 200, 8).astype(np.float32))}):
        one = case("brightness_contrast", pictures(dtype=dtype, count=8), dtype=output, **arguments, **center)
        assert_same_bits(one)


def assert_same_bits(one: Case) -> None:
    (a,), (b,) = ours(one), dalis(one)
    for found, wanted in zip(a.arrays, b.arrays, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("output", [types.UINT8, types.INT16, types.FLOAT16, types.FLOAT])
def test_rows_of_every_length(output: types.DALIDataType) -> None:
    """Ends of vectors: all bytes of a row are as they are one by one, in floats of 32 bits."""
    rows = [random_array((2, width, 1), seed=width) for width in range(1, 80)]
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*(fn.brightness(constant(row, "HWC"), brightness=1.7, dtype=output) for row in rows))
    for found, row in zip(pipe.run(), rows, strict=True):
        wanted = rounded(row.astype(np.float32) * np.float32(1.7), np.dtype(types.to_numpy_type(output)))
        np.testing.assert_array_equal(found.at(0), wanted)


def test_values_that_are_no_numbers() -> None:
    x = np.float32([[[np.nan], [np.inf], [-np.inf], [1e30]]])
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.brightness(constant(x, "HWC"), dtype=types.UINT8), fn.brightness(constant(x, "HWC")))
    as_bytes, as_floats = pipe.run()
    assert as_bytes.at(0).ravel().tolist() == [0, 255, 0, 255]
    np.testing.assert_array_equal(as_floats.at(0), x)


@pytest.mark.parametrize("op", ["brightness_contrast", "brightness", "contrast"])
def test_wrong_types_and_layouts(op: str) -> None:
    operator = getattr(fn, op)
    for dtype in (np.int8, np.uint16, np.uint32, np.uint64, np.int64, np.float64, np.bool_):
        with pytest.raises(OperatorError, match=rf"{op}.*expected UINT8, INT16, INT32, FLOAT16 or FLOAT"):
            _run(operator, np.ones((2, 3, 3), dtype))
    for shape in ((5,), (2, 1, 2, 1, 2, 1)):
        with pytest.raises(OperatorError, match=rf"{op}.*expected pictures, volumes or frames"):
            _run(operator, np.ones(shape, np.uint8), layout=None)
    with pytest.raises(OperatorError, match="'XYZ' has no height and width"):
        _run(operator, np.ones((2, 3, 3), np.uint8), layout="XYZ")
    with pytest.raises(ArgumentError, match=rf"{op}: dtype=.*expected one of"):
        _run(operator, np.ones((2, 3, 3), np.uint8), dtype=types.FLOAT64)
    name = "contrast" if op == "contrast" else "brightness"
    with pytest.raises(ArgumentTypeError, match=rf"{op}: {name}='much'"):
        _run(operator, np.ones((2, 3, 3), np.uint8), **{name: "much"})


def _run(operator: Any, x: Array, layout: str | None = "HWC", **arguments: Any) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(operator(constant(x, layout) if layout else x, **arguments))
    pipe.run()


def test_a_center_that_is_given_is_no_default() -> None:
    """0.5 of an integer's picture is 0.5, and not the middle."""
    x = constant(np.full((1, 1, 1), 100, np.uint8), "HWC")
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.contrast(x, contrast=0.5), fn.contrast(x, contrast=0.5, contrast_center=0.5))
    assert [output.at(0).item() for output in pipe.run()] == [114, 50]


@pytest.mark.parametrize("operator", ["brightness_contrast", "color_twist"])
@pytest.mark.parametrize(
    ("values", "layout", "problem"),
    [
        ([1, 2, 3], "FHWC", "contrast has values for 3 frames, but the input has 2"),
        ([1, 2], "DHWC", "contrast has values for 2 frames, but the input has no frames"),
        ([[1, 2], [3, 4]], "FHWC", "contrast has 2 values: expected 1"),
    ],
)
def test_values_that_frames_cannot_have(operator: str, values: Any, layout: str, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        each = fn.per_frame(constant(np.float32(values)))
        pipe.set_outputs(getattr(fn, operator)(constant(np.zeros((2, 4, 5, 3), np.uint8), layout), contrast=each))
    with pytest.raises(OperatorError, match=f"{operator}: {problem}"):
        pipe.run()


@pytest.mark.parametrize("operator", ["brightness_contrast", "color_twist", "flip", "noise.gaussian"])
def test_several_values_for_one_argument(operator: str) -> None:
    """The first one would not do: DALI refuses it, too."""
    name, dtype = {"flip": ("horizontal", np.int32), "noise.gaussian": ("stddev", np.float32)}.get(
        operator, ("brightness", np.float32)
    )
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        x = constant(np.zeros((4, 5, 3), np.uint8), "HWC")
        value = fn.external_source(lambda: [np.array([1, 0], dtype)])
        pipe.set_outputs(attrgetter(operator)(fn)(x, **{name: value}))
    with pytest.raises(OperatorError, match=f"{operator}: {name} has 2 values: expected 1"):
        pipe.run()
