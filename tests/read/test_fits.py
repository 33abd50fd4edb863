"""`fn.experimental.readers.fits`: images beside astropy's. (DALI's reader needs a GPU, on either device.)"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.io import fits

from penstock import fn, types
from penstock.errors import ArgumentError, OperatorError, PenstockError, ReadError
from tests.read.data_sets import case, read
from tests.small import made

_RNG = np.random.default_rng(0)
_NO_DALI = "DALI's reader needs a GPU"


def file_of(*units: Any) -> bytes:
    """A file of these HDUs, the first of which is primary."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits.HDUList(list(units)).writeto(file)
    return file.getvalue()


def image_file(array: Any) -> bytes:
    return file_of(fits.PrimaryHDU(), fits.ImageHDU(array))


IMAGES = [(_RNG.random((3, 4 + i)) * 1000).astype(np.int16) for i in range(6)]
CUBES = [_RNG.random((2, 3, 4 + i)).astype(np.float32) for i in range(6)]
_FILES = {
    f"{i}.fits": file_of(fits.PrimaryHDU(), fits.ImageHDU(image), fits.ImageHDU(cube))
    for i, (image, cube) in enumerate(zip(IMAGES, CUBES, strict=True))
}
CASES = [
    case("experimental.readers.fits", _FILES, [(a,) for a in IMAGES], lambda root: {"file_root": root},
         in_memory=False, differs=_NO_DALI, title="a folder"),
    case("experimental.readers.fits", _FILES, [(b, a) for a, b in zip(IMAGES, CUBES, strict=True)],
         lambda root: {"file_root": root, "files": list(_FILES), "hdu_indices": [3, 2]},
         broken=("3.fits", _FILES["3.fits"][:-2880], 3), differs=_NO_DALI, title="two images"),
    case("experimental.readers.fits", _FILES, [(a.astype(np.float32), b.astype(np.uint8)) for a, b in zip(
         IMAGES, [np.round(cube) for cube in CUBES], strict=True)],
         lambda root: {"file_root": root, "files": list(_FILES), "hdu_indices": [2, 3],
                       "dtypes": [types.FLOAT, types.UINT8]},
         broken=("2.fits", b"", 2), differs=_NO_DALI, title="other types"),
]  # fmt: skip


def images(folder: Path, contents: bytes, **arguments: Any) -> list[Any]:
    (folder / "x.fits").write_bytes(contents)
    outputs = made(lambda: fn.experimental.readers.fits(files=[folder / "x.fits"], **arguments), batch_size=1)
    return list(read(outputs, 1)[0])


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("shape", [(5,), (4, 3), (2, 3, 4), (0, 3), (300, 200)])
def test_types(dtype: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    array = (_RNG.random(shape) * 120).astype(dtype)
    (found,) = images(tmp_path, image_file(array))
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "i8", "f4", "f8"])
def test_scales(dtype: str, tmp_path: Path) -> None:
    array = (_RNG.random((4, 5)) * 120).astype(dtype)
    unit = fits.ImageHDU(array)
    data = bytearray(file_of(fits.PrimaryHDU(), unit))
    at = data.index(b"END", 2880)
    data[at : at + 240] = (
        b"BSCALE  =                2.5D0".ljust(80) + b"BZERO   = -3.25 / why".ljust(80) + b"END".ljust(80)
    )
    (found,) = images(tmp_path, bytes(data))
    assert found.dtype == (np.float32 if dtype in ("u1", "i2", "f4") else np.float64)
    np.testing.assert_array_equal(found, (array.astype(np.float64) * 2.5 - 3.25).astype(found.dtype))


@pytest.mark.parametrize("algorithm", ["RICE_1", "GZIP_1", "GZIP_2", "NOCOMPRESS"])
@pytest.mark.parametrize("dtype", ["u1", "i2", "u2", "i4", "f4", "f8"])
@pytest.mark.parametrize("tile", [None, (7, 16)])
def test_compressed_images(algorithm: str, dtype: str, tile: Any, tmp_path: Path) -> None:
    smooth = np.add.outer(np.arange(30), np.arange(41)) + _RNG.normal(0, 3, (30, 41))
    array = np.clip(smooth, 0, 200).astype(dtype)
    array[3:7] = 5
    for options in [{"quantize_method": method} for method in (-1, 1, 2)] if dtype[0] == "f" else [{}]:
        unit = fits.CompImageHDU(array, compression_type=algorithm, tile_shape=tile, quantize_level=8, **options)
        try:
            data = file_of(fits.PrimaryHDU(), unit)
        except Exception:
            pytest.skip("astropy does not write this")
        with fits.open(io.BytesIO(data)) as file:
            wanted = np.array(file[1].data)
        (found,) = images(tmp_path, data)
        assert found.dtype == array.dtype
        if dtype[0] == "f":
            np.testing.assert_allclose(found, wanted, rtol=1e-6)
        else:
            np.testing.assert_array_equal(found, wanted)


def test_floats_without_loss(tmp_path: Path) -> None:
    array = _RNG.random((20, 30)).astype(np.float32)
    array[2, 3] = np.nan
    for algorithm in ("GZIP_1", "GZIP_2"):
        unit = fits.CompImageHDU(array, compression_type=algorithm, quantize_level=0)
        np.testing.assert_array_equal(images(tmp_path, file_of(fits.PrimaryHDU(), unit))[0], array)
    for method in (-1, 1, 2):
        array[:, 5] = 0
        unit = fits.CompImageHDU(array, compression_type="RICE_1", quantize_level=16, quantize_method=method)
        data = file_of(fits.PrimaryHDU(), unit)
        with fits.open(io.BytesIO(data)) as file:
            np.testing.assert_allclose(images(tmp_path, data)[0], file[1].data, rtol=1e-6)


def test_primary_images(tmp_path: Path) -> None:
    (found,) = images(tmp_path, file_of(fits.PrimaryHDU(IMAGES[0])), hdu_indices=[1])
    np.testing.assert_array_equal(found, IMAGES[0])


@pytest.mark.usefixtures("software_gpu")
def test_on_a_gpu(tmp_path: Path) -> None:
    (tmp_path / "x.fits").write_bytes(_FILES["0.fits"])
    define: Any = lambda: fn.experimental.readers.fits(device="gpu", file_root=tmp_path, hdu_indices=[2, 3])  # noqa: E731
    outputs = made(define, batch_size=1, device_id=0).run()
    for found, wanted in zip(outputs, (IMAGES[0], CUBES[0]), strict=True):
        np.testing.assert_array_equal(np.array(found.as_cpu().at(0)), wanted)


_TABLE = fits.BinTableHDU.from_columns([fits.Column(name="a", format="J", array=[1, 2])])
_RICE = file_of(fits.PrimaryHDU(), fits.CompImageHDU(IMAGES[0], compression_type="RICE_1"))


@pytest.mark.parametrize(
    ("data", "kind", "problem"),
    [
        (b"", ReadError, "it is no FITS file"),
        (b"x" * 3000, ReadError, "it is no FITS file"),
        (file_of(fits.PrimaryHDU()), ReadError, "has 1 units, and none of the number 2"),
        (file_of(fits.PrimaryHDU(), fits.ImageHDU()), ReadError, "has no pixels"),
        (file_of(fits.PrimaryHDU(), _TABLE), ReadError, "is no image but 'BINTABLE'"),
        (image_file(IMAGES[0])[:-2880], ReadError, "but only 0 follow its header"),
        (image_file(IMAGES[0]).replace(b"BITPIX  =                   16", b"BITPIX  =                   17"),
         ReadError, "BITPIX=17"),
        (file_of(fits.PrimaryHDU(), fits.CompImageHDU(IMAGES[0], compression_type="PLIO_1")), OperatorError,
         "compressed by 'PLIO_1'"),
        (_RICE.replace(b"ZTILE1  =                    4", b"ZTILE1  =                    3"), PenstockError,
         "it has 6 tiles, and its table 3 rows"),
    ],
)  # fmt: skip
def test_what_is_refused(data: bytes, kind: type[PenstockError], problem: str, tmp_path: Path) -> None:
    with pytest.raises(kind, match=problem) as caught:
        images(tmp_path, data)
    assert caught.value.file == str(tmp_path / "x.fits")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"hdu_indices": [0]}, "expected numbers from 1 on"),
        ({"hdu_indices": []}, "expected numbers from 1 on"),
        ({"dtypes": [types.FLOAT, types.FLOAT]}, "there are 1 outputs"),
        ({"dtypes": [types.BOOL]}, "expected types of integers"),
    ],
)
def test_arguments(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(ArgumentError, match=problem):
        fn.experimental.readers.fits(files=["x"], **arguments)


def test_mutated_files(tmp_path: Path) -> None:
    """Each gives images or an error that names it."""
    rng = np.random.default_rng(5)
    smooth = np.add.outer(np.arange(8), np.arange(9))
    good = [
        _FILES["0.fits"],
        *(
            file_of(fits.PrimaryHDU(), fits.CompImageHDU(smooth.astype(dtype), compression_type=how))
            for how in ("RICE_1", "GZIP_1", "GZIP_2")
            for dtype in ("i2", "f4")
        ),
    ]
    for i in range(2100):
        data = bytearray(good[i % len(good)])
        for _ in range(int(rng.integers(1, 6))):  # where there is something: all else is spaces
            place = int(rng.integers(len(data)))
            while data[place] == 32 and rng.random() < 0.97:
                place = int(rng.integers(len(data)))
            data[place] ^= 1 << int(rng.integers(8))
        if rng.random() < 0.2:
            del data[int(rng.integers(len(data))) :]
        (tmp_path / f"{i:04}.fits").write_bytes(data)
    pipe = made(lambda: fn.experimental.readers.fits(file_root=tmp_path), batch_size=1)
    fine = 0
    for _ in range(2100):
        try:
            pipe.run()
            fine += 1
        except PenstockError as error:
            assert str(tmp_path) in str(error)  # noqa: PT017
    assert 300 < fine < 2000
