"""`fn.readers.numpy` with device="gpu": elements from files into the GPU's memory, by the software GPU's cuFile."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import Pipeline, fn
from penstock.errors import PenstockError, ReadError
from penstock.experimental import dynamic
from penstock.machine import native
from tests.read.cufile import BUFFER, READ, REGISTER, CuFile, arrays, large, on_gpu, reads, write
from tests.read.test_numpy import REGIONS, mutated, npy
from tests.small import made


@pytest.mark.parametrize("register_buffers", [True, False])
@pytest.mark.parametrize("use_o_direct", [True, False])
@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "u4", "i8", "f2", "f4", "f8"])
def test_types(cufile: CuFile, tmp_path: Path, dtype: str, register_buffers: bool, use_o_direct: bool) -> None:
    wanted = [large(dtype, 70_001 + i) for i in range(3)]
    options = dict(register_buffers=register_buffers, use_o_direct=use_o_direct)
    pipe = on_gpu(write(tmp_path, wanted), 3, ahead=False, **options)
    for found, array in zip(arrays(pipe), wanted, strict=True):
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)
    assert (reads(pipe).straight, reads(pipe).total) == (3, 3)
    pipe.close()


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (3, 1, 2, 4)], ids=str)
def test_small_arrays(cufile: CuFile, tmp_path: Path, shape: tuple[int, ...]) -> None:
    array = large("f4", *shape)
    pipe = on_gpu(write(tmp_path, [array]), 1, ahead=False)
    np.testing.assert_array_equal(arrays(pipe)[0], array)
    pipe.close()


@pytest.mark.parametrize("register_buffers", [True, False])
def test_arrays_larger_than_what_lands_at_a_time(cufile: CuFile, tmp_path: Path, register_buffers: bool) -> None:
    """With calls that read less than they are asked for, too."""
    wanted = [large("i4", n) for n in ((1 << 20) - 32, (1 << 20) - 31, 2_500_003)]
    pipe = on_gpu(write(tmp_path, wanted), 3, register_buffers=register_buffers)
    before = cufile.counts()
    for limit in (0, 1_000_001):
        cufile.limit(limit)
        for found, array in zip(arrays(pipe), wanted, strict=True):
            np.testing.assert_array_equal(found, array)
    assert reads(pipe).copied == {}
    whole_pages = cufile.counts().whole_pages - before.whole_pages
    assert whole_pages > 0 if register_buffers else whole_pages == 0
    pipe.close()


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_regions(cufile: CuFile, tmp_path: Path, region: dict[str, Any]) -> None:
    """As with device="cpu"."""
    names = write(tmp_path, [large("f4", 30, 31, 32 + i) for i in range(4)])
    pipe = on_gpu(names, **region)
    same = made(lambda: fn.readers.numpy(files=names, **region))
    for found, array in zip(arrays(pipe), same.run()[0], strict=True):
        np.testing.assert_array_equal(found, np.array(array))
    pipe.close()


@pytest.mark.parametrize(
    ("region", "straight"),
    [
        ({}, True),
        ({"roi_start": [3], "roi_end": [20], "roi_axes": [0]}, True),
        ({"roi_start": [3, 1], "roi_shape": [1, 20], "roi_axes": [0, 1]}, True),
        ({"roi_start": [3, 7, 2], "roi_shape": [1, 1, 9]}, True),
        ({"roi_start": [3, 1], "roi_shape": [2, 20], "roi_axes": [0, 1]}, False),
        ({"roi_start": [1], "roi_shape": [20], "roi_axes": [2]}, False),
        ({"roi_start": [3, 1, 4], "roi_shape": [1, 2, 9]}, False),
    ],
    ids=str,
)
def test_regions_in_one_piece_go_straight(
    cufile: CuFile, tmp_path: Path, region: dict[str, Any], straight: bool
) -> None:
    array = large("u2", 40, 50, 60)
    pipe = on_gpu(write(tmp_path, [array]), 1, ahead=False, **region)
    axes = region.get("roi_axes", [0, 1, 2])
    window = [slice(None)] * 3
    for i, start in enumerate(region.get("roi_start", [])):
        end = region["roi_end"][i] if "roi_end" in region else start + region["roi_shape"][i]
        window[axes[i]] = slice(start, end)
    np.testing.assert_array_equal(arrays(pipe)[0], array[tuple(window)])
    assert reads(pipe).straight == straight
    assert straight or list(reads(pipe).copied) == ["the region lies in several pieces in the file"]
    pipe.close()


def test_what_goes_through_the_host_and_why(cufile: CuFile, tmp_path: Path) -> None:
    wanted = [
        large("i4", 200, 200), large("i4", 200, 200, fortran=True), large(">i4", 200, 200), large("i4", 5, 5),
        large("i4", 300, 200),
    ]  # fmt: skip
    pipe = on_gpu(write(tmp_path, wanted), 5, ahead=False)
    for found, array in zip(arrays(pipe), wanted, strict=True):
        np.testing.assert_array_equal(found, array)
    assert reads(pipe).straight == 2
    assert reads(pipe).copied == {
        "the array is in Fortran order": 1,
        "the bytes of its numbers are the other way round": 1,
        "the file is small, and read with its header": 1,
    }
    said = pipe.explain()
    assert "elements: cuFile reads them into the GPU's memory (PENSTOCK_GDS=on, GPUDirect Storage)" in said
    assert "so far: 2 of 5 samples by cuFile; 1 through the host's memory (" in said
    assert "_to_gpu" not in said.split("outputs:")[0]
    with penstock.profile(pipe) as p:
        pipe.run()
    assert p.figures.reads["Reader"].straight == 2
    assert "files into the GPU's memory of 'Reader'" in str(p)
    pipe.close()


def test_files_of_other_storages(cufile: CuFile) -> None:
    array = large("f4", 300, 100)
    data = npy(array)
    assert native.quick().ps_memory_file(b"memory://gds/x.npy", data, len(data)) == 0
    pipe = on_gpu(["memory://gds/x.npy"], 1, ahead=False)
    np.testing.assert_array_equal(arrays(pipe)[0], array)
    assert reads(pipe).copied == {"it is not a local file": 1}
    pipe.close()


@pytest.mark.parametrize("register_buffers", [True, False])
@pytest.mark.parametrize(
    ("call", "code", "why"),
    [
        (REGISTER, 5008, "cuFile does not take the file: the file, or its file system, is not supported (5008)"),
        (REGISTER, 5099, "cuFile does not take the file: it failed (5099)"),
        (READ, 5036, "cuFile does not read the file: the GPU's memory cannot be pinned (5036)"),
        (READ, -errno.EIO, "cuFile cannot read the file: Input/output error"),
    ],
)
def test_what_cufile_refuses_goes_through_the_host(
    cufile: CuFile, tmp_path: Path, call: int, code: int, why: str, register_buffers: bool
) -> None:
    wanted = [large("f4", 200, 100 + i) for i in range(4)]
    cufile.fail(call, code)
    pipe = on_gpu(write(tmp_path, wanted), register_buffers=register_buffers, ahead=False)
    for found, array in zip(arrays(pipe), wanted, strict=True):
        np.testing.assert_array_equal(found, array)
    assert (reads(pipe).straight, reads(pipe).copied) == (0, {why: 4})
    pipe.close()


def test_a_file_system_that_cufile_refuses_is_not_tried_for_ever(cufile: CuFile, tmp_path: Path) -> None:
    wanted = [large("f4", 200, 100 + i) for i in range(5)]
    names = write(tmp_path, wanted)
    cufile.fail(REGISTER, 5099)
    pipe = on_gpu(names, 5, ahead=False)
    before = cufile.counts().asked
    for _ in range(100):
        for found, array in zip(arrays(pipe), wanted, strict=True):
            np.testing.assert_array_equal(found, array)
    assert reads(pipe).copied == {"cuFile does not take the file: it failed (5099)": 500}
    assert 8 <= cufile.counts().asked - before < 400  # by each thread that reads
    pipe.close()
    cufile.fail(REGISTER, 0)
    pipe = on_gpu(names, 5, ahead=False)
    arrays(pipe)
    assert reads(pipe).copied == {}
    pipe.close()


def test_memory_that_cannot_be_registered_still_takes_whole_pages(cufile: CuFile, tmp_path: Path) -> None:
    wanted = [large("f4", 200, 100 + i) for i in range(4)]
    cufile.fail(BUFFER, 5016)
    pipe = on_gpu(write(tmp_path, wanted))
    for found, array in zip(arrays(pipe), wanted, strict=True):
        np.testing.assert_array_equal(found, array)
    assert reads(pipe).copied == {}
    assert cufile.counts().buffers == 0
    pipe.close()


def test_epochs_shards_and_shuffles(cufile: CuFile, tmp_path: Path) -> None:
    names = write(tmp_path, [large("f4", 200, 100 + i) for i in range(11)])
    order = dict(num_shards=2, shard_id=1, random_shuffle=True, seed=3, pad_last_batch=True)
    pipe = on_gpu(names, 3, **order)
    same = made(lambda: fn.readers.numpy(files=names, **order), batch_size=3)
    for _ in range(8):
        for found, array in zip(arrays(pipe), same.run()[0], strict=True):
            np.testing.assert_array_equal(found, np.array(array))
    assert reads(pipe).copied == {}
    pipe.close()


def test_regions_of_each_sample(cufile: CuFile, tmp_path: Path) -> None:
    wanted = [large("i4", 100, 50, 8) for _ in range(2)]
    names = write(tmp_path, wanted)
    starts = [np.int64([5]), np.int64([70])]

    def define() -> Any:
        start = fn.external_source(lambda: [*starts])
        return fn.readers.numpy(device="gpu", files=names, roi_start=start, roi_shape=[9], roi_axes=[0])

    pipe = made(define, batch_size=2, device_id=0)
    for found, array, (start,) in zip(arrays(pipe), wanted, starts, strict=True):
        np.testing.assert_array_equal(found, array[start : start + 9])
    assert reads(pipe).copied == {}
    pipe.close()


def test_operators_behind_it(cufile: CuFile, tmp_path: Path) -> None:
    """On both devices; with another reader beside it."""
    wanted = [large("f4", 200, 100 + i) for i in range(4)]
    names = write(tmp_path, wanted)

    def define() -> Any:
        one = fn.readers.numpy(device="gpu", files=names)
        two = fn.readers.numpy(files=names)
        return one * 2 + two.gpu(), one.cpu() + two, one.shape(), fn.cat(one, one, axis=1)

    pipe = made(define, device_id=0)
    for _ in range(3):
        doubled, back, shapes, joined = pipe.run()
        for i, array in enumerate(wanted):
            np.testing.assert_array_equal(np.array(doubled.as_cpu().at(i)), array * 3)
            np.testing.assert_array_equal(np.array(back.at(i)), array * 2)
            np.testing.assert_array_equal(np.array(shapes.as_cpu().at(i)), array.shape)
            np.testing.assert_array_equal(np.array(joined.as_cpu().at(i)), np.concatenate([array, array], axis=1))
    assert reads(pipe).straight >= 12
    pipe.close()


def test_a_copy_that_was_asked_for_is_spared_as_well(cufile: CuFile, tmp_path: Path) -> None:
    """So serialized pipelines have it: there a reader and a copy behind it is what device="gpu" means."""
    wanted = [large("f4", 200, 100 + i) for i in range(4)]
    names = write(tmp_path, wanted)
    pipes = [made(lambda: fn.readers.numpy(files=names).gpu(), device_id=0)]
    pipes.append(Pipeline.deserialize(on_gpu(names).serialize(), batch_size=4, num_threads=2, device_id=0))
    for pipe in pipes:
        for found, array in zip(arrays(pipe), wanted, strict=True):
            np.testing.assert_array_equal(found, array)
        assert reads(pipe).copied == {}
        assert "elements: cuFile reads them" in pipe.explain()
        pipe.close()


def test_what_is_wanted_on_the_cpu_too_is_copied(cufile: CuFile, tmp_path: Path) -> None:
    array = large("f4", 200, 100)
    names = write(tmp_path, [array])

    def define() -> Any:
        one = fn.readers.numpy(files=names)
        return one, one.gpu()

    pipe = made(define, batch_size=1, device_id=0)
    one, two = pipe.run()
    np.testing.assert_array_equal(np.array(one.at(0)), array)
    np.testing.assert_array_equal(np.array(two.as_cpu().at(0)), array)
    assert pipe._built().executor.reads() == {}
    pipe.close()


def test_debug_mode_and_the_page_of_explain(cufile: CuFile, tmp_path: Path) -> None:
    wanted = [large("f4", 200, 100 + i) for i in range(4)]
    names = write(tmp_path, wanted)

    @penstock.pipeline_def(batch_size=4, num_threads=2, device_id=0)
    def pipeline() -> Any:
        return fn.readers.numpy(device="gpu", files=names) * 2

    for debug in (True, False):
        pipe = pipeline(debug=debug)
        for found, array in zip(arrays(pipe), wanted, strict=True):
            np.testing.assert_array_equal(found, array * 2)
        if not debug:
            pipe.explain(html=tmp_path / "plan.html")
            assert "readers.numpy" in (tmp_path / "plan.html").read_text()
        pipe.close()


def test_in_a_branch(cufile: CuFile, tmp_path: Path) -> None:
    """Where only some samples take it, what they take is copied."""
    wanted = [large("f4", 200, 100) for _ in range(4)]
    names = write(tmp_path, wanted)

    @penstock.pipeline_def(batch_size=4, num_threads=2, device_id=0, enable_conditionals=True)
    def pipeline() -> Any:
        which = fn.external_source(lambda: [np.bool_(i % 2) for i in range(4)])
        if which:
            out = fn.readers.numpy(device="gpu", files=names)
        else:
            out = fn.readers.numpy(device="gpu", files=names)
            out = out * 2
        return out

    pipe = pipeline()
    for i, found in enumerate(arrays(pipe)):
        np.testing.assert_array_equal(found, wanted[i] * (1 if i % 2 else 2))
    pipe.close()


def test_without_a_pipeline(cufile: CuFile, tmp_path: Path) -> None:
    wanted = [large("f4", 200, 100 + i) for i in range(4)]
    names = write(tmp_path, wanted)
    reader = dynamic.readers.Numpy(files=[str(name) for name in names], device="gpu")
    found = [np.array(array.cpu()) for (array,) in reader.next_epoch()]
    for one, array in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, array)


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_mutated_files(cufile: CuFile, tmp_path: Path, on_error: str) -> None:
    """Errors are those of device="cpu"."""
    rng = np.random.default_rng(5)
    names = write(tmp_path, [mutated(npy(large("i2", 100, 330 + i % 7)), rng) for i in range(150)])
    pipes = [on_gpu(names, 1, on_error=on_error)]
    pipes.append(made(lambda: fn.readers.numpy(files=names, on_error=on_error), batch_size=1))
    for _ in range(150 if on_error == "raise" else 60):
        found: list[Any] = []
        for pipe in pipes:
            try:
                (batch,) = pipe.run()
                found.append(np.array(batch.as_cpu().at(0)))
            except PenstockError as error:
                found.append((type(error), str(error).split("operator made at")[0]))
        if isinstance(found[0], tuple):
            assert found[0] == found[1]
        else:
            np.testing.assert_array_equal(*found)
    for pipe in pipes:
        pipe.close()


def test_a_file_that_becomes_shorter(cufile: CuFile, tmp_path: Path) -> None:
    """Its header was seen, so it is the elements that are missing."""
    names = write(tmp_path, [large("f4", 200, 100)])
    pipe = on_gpu(names, 1, cache_header_information=True)
    assert len(arrays(pipe)) == 1
    names[0].write_bytes(names[0].read_bytes()[:60_000])
    for _ in range(8):  # some were read before
        try:
            pipe.run()
        except ReadError as error:
            assert "became shorter while it was read" in str(error)  # noqa: PT017
            break
    else:
        pytest.fail("no error")
    assert any("became shorter" in why for why in reads(pipe).copied)
    pipe.close()


def test_a_file_that_is_replaced_is_read_as_one(cufile: CuFile, tmp_path: Path) -> None:
    """Whichever it is: the elements are those of the file whose header was read."""
    wanted = [np.full((200, 100), i, np.int32) for i in range(30)]
    (name,) = write(tmp_path, wanted[:1])
    pipe = on_gpu([name], 1)
    for array in wanted:
        new = tmp_path / "new"
        new.write_bytes(npy(np.full(array.shape[0] + array[0, 0], array[0, 0]).repeat(100).astype(np.int32)))
        new.replace(name)
        (found,) = arrays(pipe)
        assert (found == found[0]).all()
        assert len(found) in {20_000, *(100 * (200 + i) for i in range(30))} or found.shape == (200, 100)
    pipe.close()


@pytest.mark.parametrize("size", [1, 500, 4095, 4096, 4097, 70_000, (1 << 20) + 17])
@pytest.mark.parametrize("region", [{}, {"roi_start": [100], "roi_end": [400], "out_of_bounds_policy": "pad"}], ids=str)
def test_past_the_cache_on_the_cpu(tmp_path: Path, size: int, region: dict[str, Any]) -> None:
    """Whole blocks are read, wherever elements begin and end; where a file system has no O_DIRECT, as without it."""
    for dtype in ("u1", ">f8"):
        names = write(tmp_path, [large(dtype, size)])
        one, two = (read_past_cache(names, direct, region) for direct in (True, False))
        np.testing.assert_array_equal(one, two)


def read_past_cache(names: list[Path], direct: bool, region: dict[str, Any]) -> Any:
    pipe = made(lambda: fn.readers.numpy(files=names, use_o_direct=direct, **region), batch_size=1)
    return np.array(pipe.run()[0].at(0))
