"""`decoders.image_crop` and `image_slice` give what `decoders.image` and NumPy give; arguments per sample too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn, pipeline_def, types
from penstock.errors import ArgumentError
from tests.decode.pictures import decode, jpeg, pillow, png, smooth, write

RANDOM = np.random.default_rng(3)
FILES = [
    jpeg(smooth(RANDOM, 80, 60), subsampling="4:2:0"),
    jpeg(smooth(RANDOM, 51, 97), subsampling="4:4:4"),
    jpeg(smooth(RANDOM, 64, 50), orientation=6),
    png(RANDOM.integers(0, 256, (45, 50, 3)), 2, 8),
]
WHOLE = [pillow(file) for file in FILES]


@pytest.mark.parametrize(
    ("arguments", "window"),  # of a picture of width w and height h: x, y, width, height
    [
        (dict(crop=(40, 30)), lambda w, h: (np.floor((w - 30) / 2 + 0.5), np.floor((h - 40) / 2 + 0.5), 30, 40)),
        (dict(crop=(3, 40, 30), crop_pos_x=0.0), lambda w, h: (0, np.floor((h - 40) / 2 + 0.5), 30, 40)),
        (dict(crop_h=40.9, crop_w=30.9, crop_pos_x=1.0, crop_pos_y=0.0), lambda w, h: (w - 30, 0, 30, 40)),
        (dict(crop=(0, 20), crop_pos_x=0.3), lambda w, h: (np.floor((w - 20) * 0.3 + 0.5), 0, 20, h)),
        (
            dict(crop=(21, 20), crop_pos_x=0.3, crop_pos_y=0.6, rounding="truncate"),
            lambda w, h: (np.floor((w - 20) * 0.3), np.floor((h - 21) * 0.6), 20, 21),
        ),
        (dict(), lambda w, h: (0, 0, w, h)),
    ],
    ids=str,
)
def test_crop(tmp_path: Path, arguments: dict[str, Any], window: Any) -> None:
    for ours, whole in zip(decode(tmp_path, FILES, fn.decoders.image_crop, **arguments), WHOLE, strict=True):
        x, y, w, h = map(int, window(whole.shape[1], whole.shape[0]))
        np.testing.assert_array_equal(ours, whole[y : y + h, x : x + w])


def test_crop_larger_than_the_picture(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"-10.*0 to 80|-10\.\.90"):
        decode(tmp_path, FILES[:1], fn.decoders.image_crop, crop=(40, 100))


def test_crop_arguments_that_exclude_each_other() -> None:
    for arguments, name in [
        (dict(crop=(4, 4), crop_h=4), "crop"),
        (dict(crop_h=4), "crop_h"),
        (dict(crop=(4,)), "crop"),
        (dict(crop=(4, 4), rounding="up"), "rounding"),
    ]:
        with pytest.raises(ArgumentError, match=f"decoders.image_crop: {name}="):
            fn.decoders.image_crop(np.zeros(4, np.uint8), **arguments)


def test_crop_position_per_sample(tmp_path: Path) -> None:
    names = write(tmp_path, FILES)

    @pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=3)
    def pipeline() -> Any:
        encoded, _ = fn.readers.file(files=names)
        x, y = fn.random.uniform(range=(0.0, 1.0)), fn.random.uniform(range=(0.0, 1.0))
        return fn.decoders.image_crop(encoded, crop=(20, 30), crop_pos_x=x, crop_pos_y=y), x, y

    images, across, down = pipeline().run()
    for i, whole in enumerate(WHOLE):
        room = np.array(whole.shape[:2]) - (20, 30)
        position = np.array([down.at(i).item(), across.at(i).item()])
        y, x = np.floor(position * room + 0.5).astype(int)
        np.testing.assert_array_equal(np.array(images.at(i)), whole[y : y + 20, x : x + 30])


@pytest.mark.parametrize(
    ("arguments", "corners"),  # x0, y0, x1, y1
    [
        (dict(start=(3, 4), end=(33, 44)), lambda w, h: (3, 4, 33, 44)),
        (dict(start=(3, 4), shape=(30, 40)), lambda w, h: (3, 4, 33, 44)),
        (dict(start=(4, 3), shape=(40, 30), axes=(0, 1)), lambda w, h: (3, 4, 33, 44)),
        (dict(start=4, shape=40, axis_names="H"), lambda w, h: (0, 4, w, 44)),
        (dict(start=5), lambda w, h: (5, 5, w, h)),
        (dict(end=(30, 40)), lambda w, h: (0, 0, 30, 40)),
        (dict(rel_start=(0.25, 0.5), rel_end=(0.75, 1.0)), lambda w, h: (w * 0.25, h * 0.5, w * 0.75, h)),
        (dict(rel_start=(0.1, 0.2), rel_shape=(0.5, 0.25)), lambda w, h: (w * 0.1, h * 0.2, w * 0.6, h * 0.45)),
        (
            dict(rel_start=(0.1, 0.2), shape=(20, 10), axes=(-1, -2)),
            lambda w, h: (w * 0.1, h * 0.2, w * 0.1 + 20, h * 0.2 + 10),
        ),
        (dict(start=(3, 4), rel_end=(0.9, 0.8)), lambda w, h: (3, 4, w * 0.9, h * 0.8)),
    ],
    ids=str,
)
def test_slice(tmp_path: Path, arguments: dict[str, Any], corners: Any) -> None:
    for ours, whole in zip(decode(tmp_path, FILES, fn.decoders.image_slice, **arguments), WHOLE, strict=True):
        x0, y0, x1, y1 = (int(np.floor(v + 0.5)) for v in corners(whole.shape[1], whole.shape[0]))
        np.testing.assert_array_equal(ours, whole[y0:y1, x0:x1])


@pytest.mark.parametrize(
    ("anchor", "shape", "arguments", "corners"),
    [
        ((0.25, 0.5), (0.5, 0.25), dict(), lambda w, h: (w * 0.25, h * 0.5, w * 0.75, h * 0.75)),
        ((3.0, 4.0), (30.0, 20.0), dict(normalized_anchor=False, normalized_shape=False), lambda w, h: (3, 4, 33, 24)),
        (
            (0.1, 0.2),
            (20.0, 10.0),
            dict(normalized_shape=False),
            lambda w, h: (w * 0.1, h * 0.2, w * 0.1 + 20, h * 0.2 + 10),
        ),
        ((3, 4), (30, 20), dict(), lambda w, h: (3, 4, 33, 24)),
        ((4, 3), (20, 30), dict(axis_names="HW"), lambda w, h: (3, 4, 33, 24)),
    ],
    ids=str,
)
def test_slice_by_inputs(tmp_path: Path, anchor: Any, shape: Any, arguments: dict[str, Any], corners: Any) -> None:
    kind = np.float32 if isinstance(anchor[0], float) else np.int32

    def operator(encoded: Any, **others: Any) -> Any:
        return fn.decoders.image_slice(encoded, np.array(anchor, kind), np.array(shape, kind), **others)

    for ours, whole in zip(decode(tmp_path, FILES, operator, **arguments), WHOLE, strict=True):
        x0, y0, x1, y1 = (int(np.floor(v + 0.5)) for v in corners(whole.shape[1], whole.shape[0]))
        np.testing.assert_array_equal(ours, whole[y0:y1, x0:x1])


def test_peek_image_shape(tmp_path: Path) -> None:
    files = [*FILES, jpeg(smooth(RANDOM, 9, 7, 1), "L"), jpeg(smooth(RANDOM, 9, 7, 4), "CMYK")]
    files += [png(RANDOM.integers(0, 256, (5, 6, n)), kind, 8) for kind, n in ((0, 1), (4, 2), (6, 4))]
    for image_type in (types.RGB, types.BGR, types.GRAY, types.YCbCr, types.ANY_DATA):
        for upright in (True, False):
            pictures = decode(tmp_path, files, output_type=image_type, adjust_orientation=upright)
            arguments = dict(image_type=image_type, adjust_orientation=upright)
            shapes = decode(tmp_path, files, fn.peek_image_shape, **arguments)
            assert [tuple(shape) for shape in shapes] == [picture.shape for picture in pictures]
    for dtype in (types.UINT32, types.INT32, types.UINT64, types.INT64, types.FLOAT, types.FLOAT64):
        (shape,) = decode(tmp_path, FILES[:1], fn.peek_image_shape, dtype=dtype)
        assert shape.dtype == np.dtype(types.to_numpy_type(dtype))
        assert shape.tolist() == [60, 80, 3]


def test_crop_after_the_decoder_is_equal_fused_and_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crop that is pushed up into the decoder changes nothing."""

    def operator(encoded: Any) -> Any:
        return fn.crop(fn.decoders.image(encoded), crop=(33, 31), crop_pos_x=0.2, crop_pos_y=0.9)

    fused = decode(tmp_path, FILES, operator)
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    apart = decode(tmp_path, FILES, operator)
    by_decoder = decode(tmp_path, FILES, fn.decoders.image_crop, crop=(33, 31), crop_pos_x=0.2, crop_pos_y=0.9)
    for a, b, c in zip(fused, apart, by_decoder, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


def test_legacy_names() -> None:
    for old, new in [
        (fn.image_decoder, fn.decoders.image),
        (fn.image_decoder_crop, fn.decoders.image_crop),
        (fn.image_decoder_slice, fn.decoders.image_slice),
        (fn.image_decoder_random_crop, fn.decoders.image_random_crop),
        (fn.experimental.decoders.image, fn.decoders.image),
        (fn.experimental.decoders.image_crop, fn.decoders.image_crop),
        (fn.experimental.decoders.image_slice, fn.decoders.image_slice),
        (fn.experimental.decoders.image_random_crop, fn.decoders.image_random_crop),
        (fn.experimental.peek_image_shape, fn.peek_image_shape),
    ]:
        assert old.schema is new.schema
