"""`fn.readers.numpy`: arrays and regions of them beside NumPy's and DALI's."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn
from penstock.errors import ArgumentError, OperatorError, PenstockError, ReadError
from tests.read.data_sets import case, read
from tests.small import made

_RNG = np.random.default_rng(0)


def npy(array: Any, version: tuple[int, int] | None = None) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), version=version)
    return file.getvalue()


ARRAYS = [_RNG.integers(0, 999, (3 + i, 4, 5)).astype(np.int16) for i in range(7)]
ARRAYS[2:4] = [np.asfortranarray(a) for a in ARRAYS[2:4]]
_NAMES = ["a.npy", "b.npy", "c/0.npy", "c/1.npy", "d/.x.npy", "d/y.npy", "e.npy"]
_FILES = {name: npy(array) for name, array in zip(_NAMES, ARRAYS, strict=True)}
_LISTED = [ARRAYS[i] for i in (0, 1, 6, 2, 3, 4, 5)]  # files of the folder itself come first
CASES = [
    case("readers.numpy", {**_FILES, "other.txt": b"x"}, [(a,) for a in _LISTED], lambda root: {"file_root": root},
         in_memory=False, title="a folder"),
    case("readers.numpy", _FILES, [(a,) for a in ARRAYS], lambda root: {"file_root": root, "files": _NAMES},
         broken=("c/1.npy", b"\x93NUMPY", 3), title="files"),
    case("readers.numpy", _FILES, [(a,) for a in ARRAYS],
         lambda root: {"file_root": root, "files": _NAMES, "cache_header_information": True},
         broken=("c/1.npy", _FILES["c/1.npy"][:-1], 3), title="files, with headers kept"),
    case("readers.numpy", {**_FILES, "list.txt": "\n".join(_NAMES).encode()}, [(a,) for a in ARRAYS],
         lambda root: {"file_list": f"{root}/list.txt"}, in_memory=False, title="a list"),
    case("readers.numpy", _FILES, [(a[1:3, :, 2:5],) for a in ARRAYS],
         lambda root: {"file_root": root, "files": _NAMES, "roi_start": [2, 1], "roi_end": [5, 3], "roi_axes": [2, 0]},
         title="regions"),
]  # fmt: skip


def arrays(folder: Path, contents: bytes, count: int = 1, **arguments: Any) -> Any:
    (folder / "x.npy").write_bytes(contents)
    pipe = made(lambda: fn.readers.numpy(files=[folder / "x.npy"], **arguments), batch_size=1)
    return read(pipe, count)[0][0]


@pytest.mark.parametrize("dtype", ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("fortran", [False, True])
def test_types(dtype: str, order: str, fortran: bool, tmp_path: Path) -> None:
    for shape in ((), (0, 3), (5,), (4, 5), (3, 1, 2, 4)):
        array = (_RNG.random(shape) * 100).astype(order + dtype)
        found = arrays(tmp_path, npy(np.asfortranarray(array) if fortran else array))
        assert found.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions(version: tuple[int, int], tmp_path: Path) -> None:
    np.testing.assert_array_equal(arrays(tmp_path, npy(ARRAYS[0], version)), ARRAYS[0])


def test_regions_of_large_files(tmp_path: Path) -> None:
    """In every kind of order, with what lies outside."""
    big = _RNG.integers(0, 2**15, (70, 81, 92)).astype(np.int32)
    kinds = [big, np.asfortranarray(big), big.astype(">i4"), np.asfortranarray(big.astype(">i4"))]
    for i, array in enumerate(kinds):
        (tmp_path / f"{i}.npy").write_bytes(npy(array))
    padded = np.pad(big, 100, constant_values=-3)
    for _ in range(20):
        start, shape = _RNG.integers(-10, 75, 3), _RNG.integers(0, 90, 3)
        wanted = padded[tuple(slice(100 + s, 100 + s + n) for s, n in zip(start, shape, strict=True))]
        region = {"roi_start": start, "roi_shape": shape, "out_of_bounds_policy": "pad", "fill_value": -3.4}
        pipe = made(lambda region=region: fn.readers.numpy(file_root=tmp_path, **region))
        for (found,) in read(pipe, 4):
            np.testing.assert_array_equal(found, wanted)


def test_no_more_is_read_than_the_region_needs(tmp_path: Path) -> None:
    """The rest of the file is a hole, and of 40 GB."""
    header = npy(np.zeros((1, 5), np.int64))
    header = header.replace(b"(1, 5), }         ", b"(1000000000, 5), }")
    with open(tmp_path / "x.npy", "wb") as file:
        file.write(header[:128])
        file.truncate(128 + 40 * 10**9)
        file.seek(128 + 40 * 999_999_999)
        file.write(np.arange(5, dtype=np.int64).tobytes())
    region = {"roi_start": [999_999_998, 1], "roi_end": [10**9, 4]}
    pipe = made(lambda: fn.readers.numpy(file_root=tmp_path, **region), batch_size=1)
    assert read(pipe, 1)[0][0].tolist() == [[0, 0, 0], [1, 2, 3]]


REGIONS: list[dict[str, Any]] = [
    {"roi_start": [1, 1, 0], "roi_end": [3, 4, 2]},
    {"roi_start": [1], "roi_shape": [2], "roi_axes": [-2]},
    {"rel_roi_start": [0.3], "rel_roi_end": [0.8]},
    {"rel_roi_start": [0.3, 0.1, 0.5], "rel_roi_shape": [0.5]},
    {"rel_roi_start": [0.3], "roi_shape": [2, 2, 1]},
    {"roi_start": [1, 1, 1], "rel_roi_shape": [0.5]},
    {"roi_start": [1, 1, 1], "rel_roi_end": [0.9]},
    {"roi_end": 3},
    {"roi_start": [-1, -2, 1], "roi_end": [9, 3, 3], "out_of_bounds_policy": "pad", "fill_value": 7.5},
    {"roi_start": [-1, -2, 1], "roi_end": [9, 3, 3], "out_of_bounds_policy": "trim_to_shape"},
    {"roi_start": [-5, 1, 1], "roi_end": [-2, 3, 3], "out_of_bounds_policy": "pad", "fill_value": -7.5},
    {"roi_start": [-5, 1, 1], "roi_end": [-2, 3, 3], "out_of_bounds_policy": "trim_to_shape"},
    {"roi_start": [3, 1, 1], "roi_end": [3, 3, 3]},
]


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_regions_beside_dali(region: dict[str, Any], tmp_path: Path) -> None:
    theirs_fn = pytest.importorskip("nvidia.dali.fn", reason="needs DALI to compare with")
    from nvidia.dali import Pipeline as DaliPipeline

    for name in ("a.npy", "b.npy", "e.npy"):
        (tmp_path / name).write_bytes(_FILES[name])
    arguments = {"file_root": str(tmp_path), **region}
    theirs = DaliPipeline(batch_size=3, num_threads=1, device_id=None)
    with theirs:
        theirs.set_outputs(theirs_fn.readers.numpy(**arguments))
    theirs.build()
    (its,) = theirs.run()
    for i, (found,) in enumerate(read(made(lambda: fn.readers.numpy(**arguments), batch_size=3), 3)):
        np.testing.assert_array_equal(found, np.array(its.at(i)))


def test_regions_of_each_sample(tmp_path: Path) -> None:
    for name in ("a.npy", "b.npy"):
        (tmp_path / name).write_bytes(_FILES[name])
    starts = [np.int64([0, 1, 2]), np.int64([2, 0, 1])]
    pipe = made(
        lambda: fn.readers.numpy(
            file_root=tmp_path, roi_shape=[1, 2, 2], roi_start=fn.external_source(lambda: [*starts])
        ),
        batch_size=2,
    )
    for i, (found,) in enumerate(read(pipe, 2)):
        z, y, x = starts[i]
        np.testing.assert_array_equal(found, ARRAYS[i][z : z + 1, y : y + 2, x : x + 2])


@pytest.mark.usefixtures("software_gpu")
def test_on_a_gpu(tmp_path: Path) -> None:
    for name in ("a.npy", "b.npy"):
        (tmp_path / name).write_bytes(_FILES[name])
    pipe = made(lambda: fn.readers.numpy(device="gpu", file_root=tmp_path, name="Reader"), batch_size=2, device_id=0)
    (found,) = pipe.run()
    assert pipe.epoch_size("Reader") == 2
    for i in range(2):
        np.testing.assert_array_equal(np.array(found.as_cpu().at(i)), ARRAYS[i])


@pytest.mark.parametrize(
    ("array", "problem"),
    [
        (np.zeros(3, "c8"), "of the type '<c8'"),
        (np.zeros(3, "S3"), "of the type '|S3'"),
        (np.zeros(3, [("a", "i4")]), "of records"),
        (np.zeros(3, "M8[s]"), "of which no tensor is"),
    ],
    ids=["complex", "texts", "records", "times"],
)
def test_other_arrays(array: Any, problem: str, tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match=problem.replace("|", r"\|")) as caught:
        arrays(tmp_path, npy(array))
    assert caught.value.file == str(tmp_path / "x.npy")  # type: ignore[attr-defined]


def test_one_batch_has_one_type(tmp_path: Path) -> None:
    for i, array in enumerate([np.zeros((2, 2)), np.zeros((2, 2), np.float32)]):
        np.save(tmp_path / f"{i}.npy", array)
    with pytest.raises(OperatorError, match="the samples differ: this sample is FLOAT with 2 axes, sample 0 FLOAT64"):
        made(lambda: fn.readers.numpy(file_root=tmp_path), batch_size=2).run()
    assert len(read(made(lambda: fn.readers.numpy(file_root=tmp_path), batch_size=1), 2)) == 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"roi_start": [1], "rel_roi_start": [1]}, "cannot be given together with rel_roi_start"),
        ({"roi_end": [1], "roi_shape": [1]}, "cannot be given together with roi_shape"),
        ({"files": []}, "names no file"),
        ({"file_list": "x"}, "exclude each other"),
        ({"files": None}, "file_root is missing"),
        ({"out_of_bounds_policy": "edge"}, "expected one of 'error'"),
    ],
)
def test_arguments_that_do_not_go_together(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(ArgumentError, match=problem):
        made(lambda: fn.readers.numpy(**{"files": ["x"], **arguments})).build()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"roi_start": [1, 1], "roi_end": [2, 2]}, "roi_start has 2 values for 3 axes"),
        ({"rel_roi_shape": [0.1, 0.1]}, "rel_roi_shape has 2 values for 3 axes"),
        ({"roi_end": [9, 1, 1]}, "on axis 0 the window goes from 0 to 9"),
        ({"roi_start": [2, 1, 1], "roi_end": [1, 3, 3]}, "on axis 0 the slice starts at 2 and ends at 1"),
        ({"roi_start": [1, 1], "roi_axes": [0, -3]}, "axis 0 is named twice"),
        ({"roi_start": [1], "roi_axes": [7]}, "7 is no axis"),
    ],
)
def test_regions_that_do_not_fit(arguments: dict[str, Any], problem: str, tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match=problem):
        arrays(tmp_path, _FILES["a.npy"], **arguments)


def test_lists_and_folders_that_have_nothing(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"it has no file whose name matches '\*\.npy'"):
        fn.readers.numpy(file_root=tmp_path)
    with pytest.raises(ReadError, match="cannot list"):
        fn.readers.numpy(file_root=tmp_path / "gone")
    with pytest.raises(ReadError, match="cannot read it"):
        fn.readers.numpy(file_list=tmp_path / "gone")
    (tmp_path / "list").write_bytes(b" \n\n")
    with pytest.raises(ArgumentError, match="names no file"):
        fn.readers.numpy(file_list=tmp_path / "list")


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """With some bits flipped, or the end cut off."""
    found = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        found[int(rng.integers(min(len(found), 200)))] ^= 1 << int(rng.integers(8))
    if rng.random() < 0.3:
        del found[int(rng.integers(len(found))) :]
    return bytes(found)


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_mutated_files(on_error: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    for i in range(2000):
        (tmp_path / f"{i:04}.npy").write_bytes(mutated(npy(ARRAYS[i % len(ARRAYS)], [(1, 0), (2, 0)][i % 2]), rng))
    pipe = made(lambda: fn.readers.numpy(file_root=tmp_path, on_error=on_error), batch_size=1)
    good = bad = 0
    for _ in range(2000 if on_error == "raise" else 100):
        try:
            pipe.run()
            good += 1
        except PenstockError as error:
            assert os.fspath(tmp_path) in str(error)  # noqa: PT017
            bad += 1
    if on_error == "raise":
        assert good > 100
        assert bad > 500
