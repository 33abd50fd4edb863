"""fn.crop_mirror_normalize, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.cut_reference import crop_window, cut
from tests.cases import Array, case, per_sample, pictures, random_array, samples

MEAN, STD = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]


def normalized(
    x: Array,
    layout: str = "HWC",
    output_layout: str = "CHW",
    dtype: Any = types.FLOAT,
    mirror: int = 0,
    mean: Any = 0.0,
    std: Any = 1.0,
    scale: float = 1.0,
    shift: float = 0.0,
    pad_output: bool = False,
    out_of_bounds_policy: str = "error",
    fill_values: Any = 0.0,
    **window: Any,
) -> Array:
    anchor, shape = crop_window(x.shape, layout, **window)
    mean, std = (np.ravel(np.asarray(v, np.float64)) for v in (mean, std))
    per_channel = (-1,) + (1,) * (x.ndim - 1 - layout.index("C"))
    channels = x.shape[layout.index("C")]
    given = max(mean.size, std.size)
    mean, std = (v if v.size == 1 else np.resize(v, channels) for v in (mean, std))
    values = scale * (x.astype(np.float64) - mean.reshape(per_channel)) / std.reshape(per_channel) + shift
    if given > 1:
        np.moveaxis(values, layout.index("C"), 0)[given:] = 0
    fills = np.ravel(fill_values if out_of_bounds_policy in ("pad", "constant") else 0.0)
    padded = 1 << (channels - 1).bit_length() if pad_output else channels
    fills = np.pad(fills, (0, padded - fills.size)) if fills.size > 1 else np.broadcast_to(fills, padded)
    values = cut(values, anchor, shape, layout, out_of_bounds_policy, fills[:channels])
    values = np.moveaxis(values, layout.index("C"), -1)
    extra = np.broadcast_to(fills[channels:], (*values.shape[:-1], padded - channels))
    values = np.moveaxis(np.concatenate([values, extra], -1), -1, layout.index("C"))
    if mirror:
        values = np.flip(values, layout.index("W"))
    values = values.transpose([layout.index(a) for a in output_layout or layout])
    target = np.dtype(types.to_numpy_type(dtype))
    if target.kind in "iu":
        limits = np.iinfo(target)
        values = np.clip(np.trunc(values + np.copysign(0.5, values)), limits.min, limits.max)
    return values.astype(target)


def of(layout: str) -> Any:
    return partial(normalized, layout=layout)


NAME = "crop_mirror_normalize"
NORM = {"mean": MEAN, "std": STD}
MIXED = per_sample([1, 0, 5])
CASES = [
    case(NAME, pictures(), reference=normalized),
    case(NAME, pictures(), reference=normalized, crop=[10, 20], **NORM),
    case(NAME, pictures(), reference=normalized, crop=[10, 21], mirror=MIXED, **NORM),
    case(NAME, pictures(), reference=normalized, crop=[10, 3], mirror=1, **NORM),
    case(NAME, pictures(), reference=normalized, crop_h=10.0, crop_w=17.0, crop_pos_x=0.0, crop_pos_y=1.0, mirror=1),
    case(NAME, pictures(), reference=normalized, crop=[10, 21], rounding="truncate", mean=3.0, std=STD),
    case(NAME, pictures(), reference=normalized, scale=0.7, shift=0.3, **NORM),
    case(
        NAME,
        pictures(),
        reference=normalized,
        mean=per_sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
        std=per_sample([[2.0], [3.0], [4.0]]),
        crop_pos_x=per_sample([0.0, 0.5, 1.0]),
        crop_pos_y=per_sample([0.1, 0.6, 0.9]),
        crop=per_sample([[5.0, 6.0], [7.0, 18.0], [9.0, 33.0]]),
    ),
    case(NAME, samples(list(pictures().arrays)), reference=normalized, crop=[10, 20]),
]
CASES += [
    case(NAME, pictures(channels=channels), reference=normalized, output_layout=layout, dtype=dtype, mirror=MIXED,
         crop=[11, 23], mean=3.0, std=2.1)
    for channels in (1, 3, 4)
    for layout in ("CHW", "HWC", "WHC", "")
    for dtype in (types.FLOAT, types.FLOAT16)
]  # fmt: skip
CASES += [
    case(NAME, pictures(dtype=source), reference=normalized, output_layout=layout, mirror=MIXED, **NORM)
    for source in (np.int16, np.uint16, np.int32, np.float16, np.float32)
    for layout in ("CHW", "HWC")
]
CASES += [
    case(NAME, pictures(dtype=source), reference=normalized, off_by=1, output_layout=layout, dtype=dtype, mirror=MIXED,
         mean=MEAN, std=0.83, shift=shift)
    for source in (np.uint8, np.float32)
    for layout in ("CHW", "HWC")
    for dtype, shift in ((types.UINT8, 128.0), (types.INT8, 0.0))
]  # fmt: skip
CASES += [
    case(NAME, pictures("CHW"), reference=of("CHW"), crop=[10, 20], mirror=MIXED, **NORM),
    case(NAME, pictures("CHW"), reference=of("CHW"), crop=[10, 20], mirror=MIXED, output_layout="HWC", **NORM),
    case(NAME, pictures("FHWC"), reference=of("FHWC"), crop=[10, 20], mirror=MIXED, output_layout="FCHW", **NORM),
    case(NAME, pictures("FHWC"), reference=of("FHWC"), crop=[10, 20], mirror=MIXED, output_layout="FHWC", **NORM),
    case(NAME, pictures("FHWC"), reference=of("FHWC"), output_layout="CFHW", pad_output=True, **NORM),
    case(NAME, pictures("FCHW"), reference=of("FCHW"), crop=[10, 20], mirror=MIXED, output_layout="FHWC", **NORM),
    case(NAME, pictures("DHWC"), reference=of("DHWC"), crop=[2, 10, 20], crop_pos_z=1.0, output_layout="CDHW", **NORM),
    case(NAME, pictures("DHWC"), reference=of("DHWC"), crop_d=2.0, crop_h=9.0, crop_w=9.0, output_layout="DCHW"),
    case(NAME, pictures("CDHW"), reference=of("CDHW"), crop=[2, 10, 20], output_layout="DHWC", mirror=1, **NORM),
    case(NAME, pictures("FDHWC"), reference=of("FDHWC"), crop=[2, 10, 20], output_layout="FCDHW", **NORM),
    case(NAME, pictures("FHWC"), reference=of("FHWC"), crop=[2, 10, 20], crop_pos_z=1.0, output_layout="FCHW", **NORM),
    case(NAME, pictures("CFHW"), reference=of("CFHW"), crop_d=1, crop_h=9, crop_w=9, crop_pos_z=0.9, mirror=MIXED,
         output_layout="FHWC", **NORM),
]  # fmt: skip
PAD = {"out_of_bounds_policy": "pad", "crop": [40, 95], "crop_pos_x": 0.3, "crop_pos_y": 0.8}
CASES += [
    case(NAME, pictures(), reference=normalized, mirror=MIXED, fill_values=fill, output_layout=layout, **PAD, **NORM)
    for fill in (0.0, 7.5, [1.0, 2.0, 3.0])
    for layout in ("CHW", "HWC")
]
CASES += [
    case(NAME, pictures(), reference=normalized, out_of_bounds_policy="constant", crop=[70, 95], dtype=types.UINT8),
    case(NAME, pictures(), reference=normalized, out_of_bounds_policy="trim_to_shape", crop=[40, 60], mirror=1, **NORM),
    case(NAME, pictures("CHW"), reference=of("CHW"), fill_values=[1.0, 2.0, 3.0], **PAD, **NORM),
    case(NAME, pictures("FHWC"), reference=of("FHWC"), output_layout="FCHW", fill_values=7.0, **PAD, **NORM),
]
CASES += [
    case(NAME, pictures(channels=channels), reference=normalized, pad_output=True, output_layout=layout, dtype=dtype,
         out_of_bounds_policy=policy, fill_values=4.0, mirror=MIXED, mean=2.0)
    for channels in (1, 3, 5)
    for layout in ("CHW", "HWC")
    for dtype, policy in ((types.FLOAT16, "error"), (types.FLOAT, "pad"), (types.UINT8, "pad"))
]  # fmt: skip
CASES += [
    case(NAME, pictures(), reference=normalized, pad_output=True, fill_values=[1.0, 2.0, 3.0, 4.0], **PAD),
    case(NAME, pictures(), reference=normalized, pad_output=True, fill_values=[118, 176, 3], **PAD, **NORM),
    case(NAME, pictures(), reference=normalized, pad_output=True, fill_values=[5, 6], output_layout="HWC", **PAD,
         **NORM),
    case(NAME, pictures(channels=4), reference=normalized, pad_output=True, mirror=MIXED, crop=[10, 20], **NORM),
    case(NAME, pictures(channels=4), reference=normalized, pad_output=True, mirror=MIXED, output_layout="HWC",
         dtype=types.FLOAT16, **NORM),
    case(NAME, pictures(channels=5), reference=normalized, pad_output=True, mean=[1, 2, 3], output_layout="HWC"),
    case(NAME, pictures("CHW", channels=4), reference=of("CHW"), pad_output=True, std=[1, 2, 4], fill_values=[9, 8, 7],
         **PAD),
    case(NAME, pictures(channels=3), reference=normalized, pad_output=True, mean=[1, 2, 3, 4], std=[1, 2, 4, 8]),
    case(NAME, pictures(), reference=normalized, scale=0.0, shift=2.5, differs="DALI gives not-a-number for scale=0"),
]  # fmt: skip


def run(x: Any, **arguments: Any) -> Array:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.crop_mirror_normalize(x, **arguments))
    (out,) = pipe.run()
    return np.array(out.at(0))


@pytest.mark.parametrize("dtype", [types.FLOAT, types.FLOAT16, types.UINT8, types.INT8])
@pytest.mark.parametrize("mirror", [0, 1])
def test_rows_of_every_width(dtype: types.DALIDataType, mirror: int) -> None:
    """SIMD code for the middle of a row and scalar code for narrow ones must give the same bits; so must planes and
    interleaved pixels."""
    picture = random_array((3, 70, 3))
    args = {"dtype": dtype, "mirror": mirror, "mean": MEAN, "std": [1.7, 0.93, 2.0], "shift": 3.0}
    whole = run(picture, **args, output_layout="HWC")
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        parts = [constant(np.ascontiguousarray(picture[:, :n]), "HWC") for n in range(1, 71)]
        pipe.set_outputs(*(fn.crop_mirror_normalize(p, **args) for p in parts))
    for n, found in enumerate(pipe.run(), 1):
        wanted = whole[:, 70 - n :] if mirror else whole[:, :n]
        assert found.at(0).tobytes() == np.ascontiguousarray(wanted.transpose(2, 0, 1)).tobytes(), n


def test_halves_are_rounded_away_from_zero() -> None:
    values = np.float32([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 254.5, 300, np.nan, np.inf, -np.inf])
    found = run(values.reshape(1, 12, 1), dtype=types.UINT8)
    assert found.ravel().tolist() == [1, 2, 3, 0, 0, 0, 0, 255, 255, 0, 255, 0]
    found = run(values.reshape(1, 12, 1), dtype=types.INT8)
    assert found.ravel().tolist() == [1, 2, 3, -1, -2, -3, 0, 127, 127, 0, 127, -128]


def test_not_a_number_and_infinities_of_std_0() -> None:
    picture = np.full((2, 40, 3), 7, np.uint8)
    picture[:, 1] = 9
    found = run(picture, mean=7.0, std=0.0)
    assert np.isnan(found[:, :, 0]).all()
    assert np.isposinf(found[:, :, 1]).all()
    assert run(picture, mean=7.0, std=0.0, dtype=types.UINT8)[0, 0, :3].tolist() == [0, 255, 0]
    assert run(picture, mean=7.0, std=0.0, dtype=types.INT8)[0, 0, :3].tolist() == [0, 127, 0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"output_layout": "HW"}, "'HW', which is not a permutation"),
        ({"output_layout": "FCHW"}, "not a permutation of the input's layout 'HWC'"),
        ({"mean": [1, 2]}, "mean has 2 values for 3 channels"),
        ({"std": [1, 2, 3, 4]}, "std has 4 values for 3 channels"),
        ({"mean": [1, 2, 3, 4, 5], "pad_output": True}, "mean has 5 values for 3 channels"),
        ({"mean": [], "pad_output": True}, "mean has 0 values for 3 channels"),
        ({"mean": [1, 2], "std": [1, 2, 3], "pad_output": True}, "mean has 2 values, and std 3"),
        ({"out_of_bounds_policy": "pad", "fill_values": [1, 2]}, "fill_values has 2 values for 3 channels"),
        ({"crop": [21, 5]}, r"axis 0 \(H\)"),
    ],
)
def test_what_does_not_fit_the_sample(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(OperatorError, match=words):
        run(random_array((20, 30, 3)), **arguments)


def test_types_and_layouts_that_are_refused() -> None:
    with pytest.raises(OperatorError, match="FLOAT64: expected UINT8"):
        run(constant(np.zeros((2, 3, 3)), "HWC"))
    with pytest.raises(OperatorError, match="'HW' has no channels"):
        run(constant(np.zeros((2, 3), np.uint8), "HW"), output_layout="HW")
    with pytest.raises(ArgumentError, match="dtype"):
        run(np.zeros((2, 3, 3), np.uint8), dtype=types.INT32)
    with pytest.raises(ArgumentError, match="output_dtype"), pytest.warns(DeprecationWarning, match="dtype"):
        run(np.zeros((2, 3, 3), np.uint8), output_dtype=types.INT32)
    with pytest.raises(ArgumentError, match="out_of_bounds_policy"):
        run(np.zeros((2, 3, 3), np.uint8), out_of_bounds_policy="edge")


def test_the_old_name_of_dtype() -> None:
    with pytest.warns(DeprecationWarning, match="use dtype"):
        assert run(np.ones((2, 3, 3), np.uint8), output_dtype=types.FLOAT16).dtype == np.float16


def test_a_chain_from_decoder_to_planes_is_one_row_pipeline(tmp_path: Any) -> None:
    from PIL import Image

    picture = random_array((40, 50, 3))
    Image.fromarray(picture).save(tmp_path / "picture.png")
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        files, _ = fn.readers.file(files=[str(tmp_path / "picture.png")])
        x = fn.flip(fn.crop(fn.decoders.image(files), crop=[30, 40]))
        pipe.set_outputs(fn.crop_mirror_normalize(x, crop=[20, 33], mirror=1, mean=MEAN, std=STD))
    (out,) = pipe.run()
    assert "crop → flip → crop_mirror_normalize" in pipe.explain()
    part = picture[5:35, 5:45][:, ::-1]
    wanted = normalized(part, crop=[20, 33], mirror=1, mean=MEAN, std=STD)
    np.testing.assert_allclose(out.at(0), wanted, rtol=1e-5, atol=1e-6)
