"""Parity of all picture formats with DALI's decoder on the CPU: all pictures of DALI_extra, and each kind of file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn, types
from tests.decode.dalis import with_dali
from tests.decode.parity import FORMATS, OUTPUT_TYPES, most_apart
from tests.decode.pictures import Array, decode
from tests.decode.test_formats import FILES
from tests.runners import differences

dali = pytest.importorskip("nvidia.dali", reason="needs DALI: pip install nvidia-dali-cuda130==2.4.0")


def both(folder: Path, files: list[bytes], output_type: str, dtype: str) -> list[tuple[Array, Array]]:
    """The same pictures decoded by Penstock and by DALI."""
    kinds = [dict(output_type=getattr(t, output_type), dtype=getattr(t, dtype)) for t in (types, dali.types)]
    ours: list[Array] = decode(folder, files, **kinds[0])
    return list(zip(ours, with_dali(files, "decoders.image", **kinds[1]), strict=True))


def assert_alike(ours: Array, theirs: Array, output_type: str, name: str) -> None:
    """Within what tests/decode/parity.py says."""
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    dtype = "FLOAT" if ours.dtype == np.float32 else ours.dtype.name.upper()
    if not np.array_equal(ours, theirs):
        apart = np.abs(np.subtract(ours, theirs, dtype=float))
        assert apart.max() <= most_apart(dtype, output_type), f"{name}: {differences(ours, theirs)}"


@pytest.mark.parametrize("dtype", ["UINT8", "UINT16", "FLOAT"])
@pytest.mark.parametrize("format", FORMATS)
def test_all_pictures(tmp_path: Path, dali_extra: Path, format: str, dtype: str) -> None:
    folder = dali_extra / "db/single" / format
    paths = sorted(p for p in folder.rglob("*.*") if p.suffix != ".txt")
    output_types = OUTPUT_TYPES
    if format == "jpeg_lossless":  # DALI decodes gray alone on the CPU, of 8 bits alone
        paths, output_types = [p for p in paths if "8bit" in p.name], ["GRAY", "ANY_DATA"]
    assert len(paths) >= FORMATS[format]
    if format == "jpeg":  # test_dali.py has more of them
        paths = paths[::8]
    files = [path.read_bytes() for path in paths]
    for output_type in output_types:
        for path, (ours, theirs) in zip(paths, both(tmp_path, files, output_type, dtype), strict=True):
            assert_alike(ours, theirs, output_type, f"{path} {output_type}")


def test_lossless_jpeg_of_all_depths(tmp_path: Path, dali_extra: Path) -> None:
    """The same picture with 8, 12 and 16 bits, which DALI decodes on GPUs alone."""
    folder = dali_extra / "db/single/jpeg_lossless/0"
    files = [(folder / f"cat-3449999_640_grayscale_{bits}bit.jpg").read_bytes() for bits in (8, 12, 16)]
    eight, *deeper = decode(tmp_path, files, output_type=types.GRAY)
    assert eight.shape == (426, 640, 1)
    for picture in deeper:
        np.testing.assert_allclose(picture.astype(int), eight, rtol=0, atol=1)


# Where DALI 2.4 is wrong, and what it does there; test_formats.py compares these with what was put into the files.
DALI_FAILS = {
    "bmp 32 rgba": "takes the bit masks for the usual ones",
    "bmp 555": "an error", "bmp rle4": "an error", "pbm text without spaces": "an error",
    "pgm text": "an error", "pgm text 1023": "an error", "ppm text": "an error",
    "pgm 1023": "reads bytes where there are words",
    "tiff planar 16": "mixes the channels up", "tiff planar tiles": "an error", "tiff 6 channels planar": "an error",
    "tiff gray alpha": "takes alpha for colours",
    "tiff white is 0, 16": "does not invert it", "tiff 1, white is 0": "an error",
    "tiff 1": "an error", "tiff 2": "an error", "tiff 4": "an error",
    "j2k": "an error", "jp2 gray alpha": "an error",
    **{name: "an error" for name in FILES if name.startswith("lossless")},
}  # fmt: skip
# DALI refuses ANY_DATA of these.
NO_ANY_DATA = {name for name in FILES if name.startswith("bmp 32")}


@pytest.mark.parametrize("name", [name for name in FILES if name not in DALI_FAILS])
@pytest.mark.parametrize("dtype", ["UINT8", "UINT16"])
def test_each_kind(tmp_path: Path, name: str, dtype: str) -> None:
    for output_type in ("RGB", "ANY_DATA"):
        if output_type == "ANY_DATA" and name in NO_ANY_DATA:
            continue
        ((ours, theirs),) = both(tmp_path, [FILES[name][0]], output_type, dtype)
        assert_alike(ours, theirs, output_type, name)


@pytest.mark.parametrize("image_type", OUTPUT_TYPES)
def test_peek(tmp_path: Path, dali_extra: Path, image_type: str) -> None:
    """Of all formats, without a library's help where DALI needs none."""
    files = [file for name, (file, _) in FILES.items() if name not in DALI_FAILS]
    for format in FORMATS:
        paths = sorted(p for p in (dali_extra / "db/single" / format).rglob("*.*") if p.suffix != ".txt")
        files += [path.read_bytes() for path in paths[:6]]
    kinds: list[dict[str, Any]] = [dict(image_type=getattr(t, image_type)) for t in (types, dali.types)]
    ours = decode(tmp_path, files, fn.peek_image_shape, **kinds[0])
    for a, b in zip(ours, with_dali(files, "peek_image_shape", **kinds[1]), strict=True):
        np.testing.assert_array_equal(a, b)
