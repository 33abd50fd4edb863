"""fn.crop, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.arguments.border import OUT_OF_BOUNDS
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.cut_reference import crop_window, cut, truncated
from tests.cases import Array, case, per_sample, pictures, random_array, samples


def cropped(
    x: Array,
    layout: str = "HWC",
    dtype: Any = None,
    out_of_bounds_policy: str = "error",
    fill_values: Any = 0,
    **window: Any,
) -> Array:
    anchor, shape = crop_window(x.shape, layout, **window)
    fill_values = truncated(np.ravel(np.float64(fill_values)), dtype) if dtype is not None else fill_values
    part = cut(truncated(x, dtype), anchor, shape, layout, out_of_bounds_policy, fill_values)
    return part


def of(layout: str) -> Any:
    return partial(cropped, layout=layout)


CASES = [
    case("crop", pictures(), reference=cropped),
    case("crop", pictures(), reference=cropped, crop=[10, 20]),
    case("crop", pictures(), reference=cropped, crop=[10.7, 20.2], crop_pos_x=0.0, crop_pos_y=1.0),
    case("crop", pictures(), reference=cropped, crop=[0, 20]),
    case("crop", pictures(), reference=cropped, crop=[19, 0], crop_pos_x=0.7),
    case("crop", pictures(), reference=cropped, crop=[5, 10, 20]),
    case("crop", pictures(), reference=cropped, crop_w=11.0, crop_h=12.5, crop_pos_x=0.1, crop_pos_y=0.9),
    case("crop", pictures(), reference=cropped, crop=[10, 21], rounding="truncate"),
    case("crop", pictures(), reference=cropped, crop=[10, 20], crop_pos_x=0.7, rounding="truncate"),
    case(
        "crop",
        pictures(),
        reference=cropped,
        crop=per_sample([[3.0, 4.0], [8.0, 2.0], [19.0, 33.0]]),
        crop_pos_x=per_sample([0.0, 0.25, 1.0]),
        crop_pos_y=per_sample([0.3, 0.5, 0.7]),
    ),
    case("crop", pictures(), reference=cropped, crop_w=per_sample([3.0, 4.0, 5.0]), crop_h=per_sample([0.0, 7.0, 1.0])),
    case("crop", pictures("CHW"), reference=of("CHW"), crop=[10, 20], crop_pos_y=0.2),
    case("crop", pictures("FHWC"), reference=of("FHWC"), crop=[10, 20]),
    case("crop", pictures("FCHW"), reference=of("FCHW"), crop=[10, 20]),
    case("crop", pictures("FHWC"), reference=of("FHWC"), crop=[2, 10, 20], crop_pos_z=1.0),
    case("crop", pictures("CFHW"), reference=of("CFHW"), crop_d=1.5, crop_h=10, crop_w=20, rounding="truncate"),
    case(
        "crop",
        pictures("FCHW"),
        reference=of("FCHW"),
        crop_d=per_sample([2.0, 1.0, 5.9]),
        crop_h=10,
        crop_w=20,
        crop_pos_z=per_sample([0.5, 0.4, 0.1]),
        out_of_bounds_policy="pad",
        fill_values=7,
    ),
    case("crop", pictures("DHWC"), reference=of("DHWC"), crop=[2, 10, 20], crop_pos_z=1.0),
    case("crop", pictures("DHWC"), reference=of("DHWC"), crop=[10, 20]),
    case("crop", pictures("CDHW"), reference=of("CDHW"), crop_d=2.0, crop_h=5.0, crop_w=6.0, crop_pos_z=0.0),
    case("crop", samples(list(pictures().arrays)), reference=cropped, crop=[10, 20]),
    case("crop", pictures(), reference=cropped, crop=[10, 20], dtype=types.FLOAT),
    case("crop", pictures(), reference=cropped, crop=[10, 20], dtype=types.FLOAT16),
    case("crop", pictures(dtype=np.float32), reference=cropped, crop=[10, 20], dtype=types.UINT8),
    case("crop", pictures(dtype=np.float16), reference=cropped, crop=[10, 20], dtype=types.UINT8),
    case("crop", pictures(dtype=np.int32), reference=cropped, crop=[10, 20], dtype=types.FLOAT16),
    case("crop", pictures(dtype=np.int16), reference=cropped, crop=[10, 20], dtype=types.UINT8),
    case("crop", pictures(dtype=np.float64, channels=2), reference=cropped, crop=[10, 20]),
    case("crop", pictures(channels=1), reference=cropped, crop=[10, 20]),
]
LARGE = {"crop": [40, 95], "crop_pos_x": 0.3, "crop_pos_y": 0.8}
CASES += [
    case("crop", pictures(), reference=cropped, out_of_bounds_policy=policy, **LARGE)
    for policy in OUT_OF_BOUNDS
    if policy != "error"
]
CASES += [
    case("crop", pictures(), reference=cropped, out_of_bounds_policy="pad", fill_values=[1, 2, 3], **LARGE),
    case("crop", pictures(), reference=cropped, out_of_bounds_policy="pad", fill_values=7.9, **LARGE),
    case("crop", pictures("CHW"), reference=of("CHW"), out_of_bounds_policy="pad", fill_values=[1, 2, 3], **LARGE),
    case("crop", pictures("FHWC"), reference=of("FHWC"), out_of_bounds_policy="reflect_101", **LARGE),
    case("crop", pictures(), reference=cropped, out_of_bounds_policy="pad", fill_values=[0.5, 1, 2], dtype=types.FLOAT,
         **LARGE),
]  # fmt: skip


def run(x: Any, **arguments: Any) -> Array:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.crop(x, **arguments))
    (out,) = pipe.run()
    return np.array(out.at(0))


PICTURE = random_array((20, 30, 3))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"crop": [10, 10], "crop_w": 5.0}, "crop_w"),
        ({"crop": [10, 10], "crop_d": 5.0}, "crop_d"),
        ({"crop_w": 5.0}, "crop_h"),
        ({"crop_d": 5.0}, "crop_h"),
        ({"crop": [10]}, r"\(height, width\)"),
        ({"crop": 10}, r"\(height, width\)"),
        ({"rounding": "up"}, "truncate"),
        ({"out_of_bounds_policy": "ignore"}, "trim_to_shape"),
        ({"fill_values": []}, "at least one"),
        ({"dtype": types.FLOAT, "output_dtype": types.FLOAT}, "output_dtype"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_arguments_that_exclude_each_other(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        run(PICTURE, **arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"crop": [21, 10]}, r"axis 0 \(H\).* -1 to 20"),
        ({"crop": [20, 32]}, r"axis 1 \(W\).* -1 to 31"),
        ({"crop": [10, 10], "crop_pos_x": 1.5}, "crop_pos_x is 1.5"),
        ({"crop": [10, 10], "crop_pos_y": -0.1}, "crop_pos_y"),
        ({"crop": [10, 10], "crop_pos_x": float("nan")}, "crop_pos_x"),
        ({"crop": [31, 10], "out_of_bounds_policy": "pad", "fill_values": [1, 2]}, "2 values for 3 channels"),
    ],
)
def test_windows_that_do_not_fit_the_sample(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(OperatorError, match=words):
        run(PICTURE, **arguments)


def test_layouts_without_height_and_width() -> None:
    with pytest.raises(OperatorError, match="'ABC'"):
        run(constant(PICTURE, "ABC"), crop=[5, 5])
    with pytest.raises(OperatorError, match=r"\(7,\)"):
        run(np.zeros(7, np.uint8), crop=[5, 5])


def test_nothing_to_repeat() -> None:
    empty = np.zeros((0, 4, 3), np.uint8)
    assert run(empty, crop=[2, 2], out_of_bounds_policy="pad", fill_values=9).tolist() == [[[9] * 3] * 2] * 2
    with pytest.raises(OperatorError, match="no elements that could be repeated"):
        run(empty, crop=[2, 2], out_of_bounds_policy="edge")


def test_single_rows_are_reflected() -> None:
    column = random_array((3, 1, 3))
    for policy in ("reflect_101", "reflect", "wrap", "edge"):
        found = run(column, crop=[3, 5], out_of_bounds_policy=policy)
        np.testing.assert_array_equal(found, np.repeat(column, 5, axis=1))


def test_fill_values_saturate_where_dalis_overflow() -> None:
    found = run(PICTURE, crop=[22, 30], crop_pos_y=0.0, out_of_bounds_policy="pad", fill_values=[-3, 300.5, 254.9])
    assert found[20, 0].tolist() == [0, 255, 254]


def test_old_names_of_arguments() -> None:
    with pytest.warns(DeprecationWarning, match="use dtype"):
        found = run(PICTURE, crop=[4, 5], output_dtype=types.FLOAT)
    np.testing.assert_array_equal(found, PICTURE[8:12, 13:18].astype(np.float32))
    with pytest.warns(DeprecationWarning, match="image_type"):
        run(PICTURE, crop=[4, 5], image_type=types.RGB)


def test_windows_and_flips_are_one_row_pipeline(tmp_path: Any) -> None:
    """A chain of windows and flips is one row pipeline, and gives what the operators give one by one."""
    from PIL import Image

    Image.fromarray(PICTURE).save(tmp_path / "picture.png")
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        files, _ = fn.readers.file(files=[str(tmp_path / "picture.png")])
        x = fn.crop(fn.decoders.image(files), crop=[15, 20], crop_pos_x=0.2, crop_pos_y=0.6)
        x = fn.flip(x)
        x = fn.slice(x, start=[2, 3], shape=[11, 9], dtype=types.FLOAT)
        pipe.set_outputs(fn.crop(x, crop=[4, 5], crop_pos_x=0.0))
    (out,) = pipe.run()
    assert "decoders.image → crop → flip → slice → crop" in pipe.explain()
    expected = PICTURE[3:18, 2:22][:, ::-1][3:12, 2:13][3:7, 0:5].astype(np.float32)
    np.testing.assert_array_equal(out.at(0), expected)
