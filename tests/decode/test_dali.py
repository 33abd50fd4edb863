"""Parity with DALI itself on the CPU. Where it differs on purpose, the test says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn, types
from tests.decode.dalis import with_dali
from tests.decode.pictures import Array, chunk, decode, exif, jpeg, png, smooth

dali = pytest.importorskip("nvidia.dali", reason="needs DALI: pip install nvidia-dali-cuda130==2.4.0")

RANDOM = np.random.default_rng(5)
JPEGS = {
    "4:4:4": jpeg(smooth(RANDOM, 90, 61), subsampling="4:4:4"),
    "4:2:2": jpeg(smooth(RANDOM, 91, 60), subsampling="4:2:2"),
    "4:2:0": jpeg(smooth(RANDOM, 97, 63), subsampling="4:2:0", quality=95),
    "progressive": jpeg(smooth(RANDOM, 90, 61), progressive=True),
    "restarts": jpeg(smooth(RANDOM, 90, 61), restart_marker_blocks=3),
    "gray": jpeg(smooth(RANDOM, 90, 61, 1), "L"),
    "cmyk": jpeg(smooth(RANDOM, 90, 61, 4), "CMYK"),
    "turned": jpeg(smooth(RANDOM, 90, 61), orientation=6),
    "mirrored": jpeg(smooth(RANDOM, 90, 61), orientation=5),
}
PNGS = {
    f"png {kind} {bits} {'interlaced' * interlaced}": png(
        RANDOM.integers(0, 2**bits, (33, 41, n)),
        kind,
        bits,
        interlaced,
        [chunk(b"PLTE", RANDOM.integers(0, 256, 3 * 2**bits, np.uint8).tobytes())] if kind == 3 else [],
    )
    for kind, n, depths in [(0, 1, (1, 4, 8, 16)), (2, 3, (8, 16)), (3, 1, (2, 8)), (4, 2, (8, 16)), (6, 4, (8, 16))]
    for bits in depths
    for interlaced in (False, True)
}
PNGS["png turned"] = png(RANDOM.integers(0, 256, (20, 30, 3)), 2, 8, chunks=[chunk(b"eXIf", exif(8))])
FILES = {**JPEGS, **PNGS}


def alike(ours: Array, theirs: Array, equal: float = 0.995) -> None:
    """Integers at most 1 apart and 99.5 % equal; floats within 1e-6."""
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    if ours.dtype.kind == "f" or ours.dtype.itemsize == 4:  # 32-bit integers come from floats
        np.testing.assert_allclose(ours.astype(float), theirs.astype(float), rtol=1e-6)
    else:
        assert np.abs(ours.astype(int) - theirs).max() <= 1
        assert (ours == theirs).mean() >= equal


# DALI 2.4 crashes on ANY_DATA of a gray JPEG, and refuses it for CMYK and for gray with alpha; ours gives 1, 4 and 2
# channels, as peek_image_shape says in both.
DALI_FAILS = {"gray", "cmyk"} | {name for name in PNGS if name.startswith("png 4")}


@pytest.mark.parametrize("output_type", ["RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"])
@pytest.mark.parametrize("dtype", ["UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "FLOAT"])
def test_output_types(tmp_path: Path, output_type: str, dtype: str) -> None:
    files = [FILES[name] for name in FILES if output_type != "ANY_DATA" or name not in DALI_FAILS]
    theirs = with_dali(
        files, "decoders.image", output_type=getattr(dali.types, output_type), dtype=getattr(dali.types, dtype)
    )
    ours = decode(tmp_path, files, output_type=getattr(types, output_type), dtype=getattr(types, dtype))
    for a, b in zip(ours, theirs, strict=True):
        # One gray level in 14 has a 16-bit luma half-way between two numbers, to all digits of a float.
        alike(a, b, 0.98 if (output_type, dtype) == ("YCbCr", "INT16") else 0.995)
        if dtype == "UINT8" and output_type != "YCbCr":
            np.testing.assert_array_equal(a, b)


def test_photographs(tmp_path: Path, dali_extra: Path) -> None:
    """Decoded pictures are equal bit for bit, whatever DALI's CPU decoder is told about upsampling: it always
    interpolates chroma."""
    photographs = sorted((dali_extra / "db/single/jpeg").glob("*/*.jpg"))[::5]
    photographs += sorted((dali_extra / "db/imgcodec/jpeg/orientation").glob("*.jpg"))
    photographs += sorted((dali_extra / "db/single/png").glob("*/*.png"))[:6]
    files = [path.read_bytes() for path in photographs]
    for arguments in (dict(), dict(jpeg_fancy_upsampling=True), dict(adjust_orientation=False)):
        theirs, ours = with_dali(files, "decoders.image", **arguments), decode(tmp_path, files, **arguments)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


def test_fast_idct(tmp_path: Path) -> None:
    """Pictures that have to be turned are decoded as ever."""
    files = list(JPEGS.values())
    for arguments in (dict(), dict(adjust_orientation=False)):
        given = dict(use_fast_idct=True, **arguments)
        theirs, ours = with_dali(files, "decoders.image", **given), decode(tmp_path, files, **given)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "arguments",
    [
        dict(),
        dict(crop=(21, 20)),
        dict(crop=(2, 21, 20)),
        dict(crop=(0, 20)),
        dict(crop=(20.7, 19.5)),
        dict(crop_h=11, crop_w=12, crop_pos_x=0.3, crop_pos_y=0.7),
        dict(crop_h=11, crop_w=12, crop_pos_x=0.3, crop_pos_y=0.7, rounding="truncate"),
        dict(crop=(20, 21), crop_pos_x=0.0, crop_pos_y=1.0),
    ],
    ids=str,
)
def test_image_crop(tmp_path: Path, arguments: dict[str, Any]) -> None:
    files = list(JPEGS.values())
    theirs = with_dali(files, "decoders.image_crop", **arguments)
    for a, b in zip(decode(tmp_path, files, fn.decoders.image_crop, **arguments), theirs, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "arguments",
    [
        dict(start=(3, 4), end=(33, 44)),
        dict(start=(3, 4), shape=(30, 40), axes=(0, 1)),
        dict(start=4, shape=40, axis_names="H"),
        dict(start=5),
        dict(end=(30, 40)),
        dict(rel_start=(0.25, 0.5), rel_end=(0.77, 0.91)),
        dict(rel_start=(0.1, 0.2), rel_shape=(0.513, 0.257)),
        dict(rel_start=(0.1, 0.2), shape=(20, 10), axes=(-1, -2)),
        dict(start=(3, 4), rel_end=(0.9, 0.8)),
        dict(rel_shape=(0.5, 0.5)),
    ],
    ids=str,
)
def test_image_slice(tmp_path: Path, arguments: dict[str, Any]) -> None:
    files = list(JPEGS.values())
    theirs = with_dali(files, "decoders.image_slice", **arguments)
    for a, b in zip(decode(tmp_path, files, fn.decoders.image_slice, **arguments), theirs, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("anchor", "shape", "arguments"),
    [
        ((0.25, 0.5), (0.513, 0.257), dict()),
        ((0.25, 0.5), (0.513, 0.257), dict(axes=(0, 1))),
        ((3.5, 4.25), (30.5, 20.0), dict(normalized_anchor=False, normalized_shape=False)),
        ((0.1, 0.2), (20.0, 10.0), dict(normalized_shape=False)),
        ((3, 4), (30, 20), dict()),
    ],
    ids=str,
)
def test_image_slice_by_inputs(tmp_path: Path, anchor: Any, shape: Any, arguments: dict[str, Any]) -> None:
    files = list(JPEGS.values())
    kind = np.float32 if isinstance(anchor[0], float) else np.int32
    inputs = [np.array(anchor, kind), np.array(shape, kind)]
    theirs = with_dali(files, "decoders.image_slice", inputs, **arguments)

    def operator(encoded: Any, **others: Any) -> Any:
        return fn.decoders.image_slice(encoded, *inputs, **others)

    for a, b in zip(decode(tmp_path, files, operator, **arguments), theirs, strict=True):
        np.testing.assert_array_equal(a, b)


def test_image_random_crop(tmp_path: Path) -> None:
    """The numbers drawn are others; where one window is possible alone, it is the same."""
    files = list(JPEGS.values())
    for arguments in (
        dict(random_area=(1.0, 1.0), num_attempts=0),
        dict(random_area=(1.0, 1.0), random_aspect_ratio=(0.01, 100.0), num_attempts=0),
    ):
        theirs = with_dali(files, "decoders.image_random_crop", **arguments)
        for a, b in zip(decode(tmp_path, files, fn.decoders.image_random_crop, **arguments), theirs, strict=True):
            assert a.shape == b.shape
            if "random_aspect_ratio" in arguments:
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("image_type", ["RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"])
@pytest.mark.parametrize("upright", [True, False])
def test_peek_image_shape(tmp_path: Path, image_type: str, upright: bool) -> None:
    files = list(FILES.values())
    for dtype in ("UINT32", "INT32", "UINT64", "INT64", "FLOAT", "FLOAT64"):
        theirs, ours = (
            run(
                files,
                image_type=getattr(t, image_type),
                adjust_orientation=upright,
                dtype=getattr(t, dtype),
            )
            for run, t in (
                (lambda f, **a: with_dali(f, "peek_image_shape", **a), dali.types),
                (lambda f, **a: decode(tmp_path, f, fn.peek_image_shape, **a), types),
            )
        )
        for a, b in zip(ours, theirs, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
