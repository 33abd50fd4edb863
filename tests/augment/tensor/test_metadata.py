"""fn.shapes, fn.get_property and fn.copy, and what nodes say of themselves: shape(), property() and source_info()."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, DeviceError
from tests.cases import Array, Samples, case, pictures, random_array

NUMBERS = Samples(tuple(np.float32([1.5, 2.5, 3.5])))
DEEP = Samples(tuple(random_array((i, 1, 0, 2, 3), np.int64) for i in range(3)))
BARE = Samples(pictures().arrays)
TYPES = [types.INT32, types.UINT32, types.INT64, types.UINT64, types.FLOAT, types.FLOAT64]


def shape_of(x: Array, dtype: Any = types.INT64) -> Array:
    return np.array(x.shape, types.to_numpy_type(dtype))


def letters(text: str) -> Callable[..., Array]:
    return lambda x, key: np.frombuffer(text.encode(), np.uint8)


CASES = [
    case("shapes", pictures(), reference=shape_of),
    case("shapes", NUMBERS, reference=shape_of),
    *[case("shapes", DEEP, reference=shape_of, dtype=t) for t in TYPES],
    case("get_property", pictures(), reference=letters("HWC"), key="layout"),
    case("get_property", BARE, reference=letters(""), key="layout"),
    case("copy", pictures(), reference=lambda x: x),
    case("copy", pictures("FHW", np.float64), reference=lambda x: x),
    case("copy", NUMBERS, reference=lambda x: x),
]


def run(make: Callable[[], Any], device_id: int | None = None, batch_size: int = 3) -> tuple[Any, ...]:
    pipe = Pipeline(batch_size=batch_size, num_threads=2, device_id=device_id)
    with pipe:
        pipe.set_outputs(*make())
    return tuple(o.as_cpu() for o in pipe.run())


def text(output: Any, i: int = 0) -> str:
    assert output.dtype == types.UINT8
    return bytes(output.at(i)).decode()


def test_nodes_tell_shapes_and_properties(photographs: Path) -> None:
    def make() -> Any:
        files, _ = fn.readers.file(file_root=str(photographs))
        images = fn.decoders.image(files)
        small = fn.resize(images, size=[30, 40])
        return (
            files, images.shape(), small.shape(dtype=types.INT32), files.shape(), images.property("layout"),
            small.source_info(), fn.get_property(files, key="source_info"), (images[0] + 1).property("source_info"),
            files.property("layout"), types.Constant(np.zeros(2)).source_info(),
        )  # fmt: skip

    files, shapes, small, sizes, layout, *names, none, nowhere = run(make)
    assert shapes.as_array().tolist() == [[375, 500, 3]] * 3
    assert shapes.dtype == types.INT64
    assert small.as_array().tolist() == [[30, 40, 3]] * 3
    assert small.dtype == types.INT32
    assert [sizes.at(i).tolist() for i in range(3)] == [[len(files.at(i))] for i in range(3)]
    assert text(layout) == "HWC"
    assert text(none) == text(nowhere) == ""
    for i in range(3):
        wanted = files[i].source_info()
        assert Path(wanted).read_bytes() == bytes(files.at(i))
        assert [text(n, i) for n in names] == [wanted] * 3


def test_properties_are_dalis(photographs: Path) -> None:
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")

    def make(library: Any) -> Any:
        files, _ = library.readers.file(file_root=str(photographs))
        images = library.decoders.image(files)
        return (
            images.source_info(),
            library.cat(images, images).source_info(),
            images.property("layout"),
            images.shape(),
        )

    import nvidia.dali.fn as dali_fn

    pipe = dali.Pipeline(batch_size=3, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*make(dali_fn))
    pipe.build()
    for k, (ours, theirs) in enumerate(zip(run(lambda: make(fn)), pipe.run(), strict=True)):
        for i in range(3):
            found, wanted = ours.at(i), np.array(theirs.at(i))
            if k < 2:  # DALI's names are relative to the reader's folder
                wanted = np.frombuffer(str(photographs / bytes(wanted).decode()).encode(), np.uint8)
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)


def test_a_shape_does_not_keep_its_picture_from_being_fused(photographs: Path) -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        images = fn.decoders.image(fn.readers.file(file_root=str(photographs))[0])
        pipe.set_outputs(fn.crop(images, crop_h=images.shape()[0] // 2, crop_w=100), images.shape())
    pipe.build()
    assert "decoders.image → crop" in pipe.explain().replace("->", "→")
    crops, shapes = pipe.run()
    assert crops.at(0).shape == (187, 100, 3)
    assert shapes.at(1).tolist() == [375, 500, 3]


def test_a_copy_has_memory_of_its_own() -> None:
    def make() -> Any:
        data = fn.random.uniform(shape=[1000], seed=3)
        return data, fn.copy(data), fn.copy(fn.copy(data))

    first, *copies = run(make)
    for copied in copies:
        assert copied.data_ptr() != first.data_ptr()
        np.testing.assert_array_equal(copied.as_array(), first.as_array())
    assert copies[0].data_ptr() != copies[1].data_ptr()


@pytest.mark.usefixtures("software_gpu")
def test_shapes_and_properties_of_data_on_the_gpu(photographs: Path) -> None:
    def make() -> Any:
        files, _ = fn.readers.file(file_root=str(photographs))
        images = fn.decoders.image(files, device="mixed")
        small = fn.resize(images, size=[30, 40])
        shapes = (images.shape(), images.shape(device="gpu"), fn.shapes(images), fn.shapes(images, device="cpu"))
        assert [s.device for s in shapes] == ["cpu", "gpu", "gpu", "cpu"]
        return (
            *shapes,
            images.property("layout", device="gpu"),
            small.source_info(),
            files.source_info(device="gpu"),
            small,
        )

    *shapes, layout, name, same, small = run(make, device_id=0)
    for s in shapes:
        assert s.as_array().tolist() == [[375, 500, 3]] * 3
    assert text(layout) == "HWC"
    assert text(name, 2) == text(same, 2) == small[2].source_info()
    assert Path(text(name)).is_file()


@pytest.mark.usefixtures("software_gpu")
def test_shapes_of_pictures_on_the_gpu_are_arguments(photographs: Path) -> None:
    def make() -> Any:
        images = fn.decoders.image(fn.readers.file(file_root=str(photographs))[0], device="mixed")
        turned = fn.flip(images)  # no memory of its own: it is part of the next one's kernel
        extents = turned.shape()
        crops = fn.crop(turned, crop_h=150, crop_w=100)
        rows = fn.crop(images, crop_h=extents[0] // 3, crop_w=extents[1] - 1)
        return crops, extents, turned.shape(device="gpu", dtype=types.FLOAT), rows

    crops, shapes, also, rows = run(make, device_id=0)
    assert crops.shape() == [(150, 100, 3)] * 3
    assert shapes.as_array().tolist() == also.as_array().tolist() == [[375, 500, 3]] * 3
    assert rows.shape() == [(125, 499, 3)] * 3


def test_type_is_the_old_name_of_dtype() -> None:
    with pytest.warns(DeprecationWarning, match="shapes: type is deprecated: use dtype"):
        (output,) = run(lambda: [fn.shapes(types.Constant(np.zeros((4, 5))), type=types.FLOAT)])
    assert output.dtype == types.FLOAT
    assert output.as_array().tolist() == [[4, 5]] * 3


def test_errors() -> None:
    data = types.Constant(np.zeros(3))
    with pytest.raises(ArgumentError, match=r"dtype=.*UINT8.*expected one of .*INT32"):
        data.shape(dtype=types.UINT8)
    with pytest.raises(ArgumentError, match=r"shapes: type=.*FLOAT16"), pytest.warns(DeprecationWarning, match="dtype"):
        fn.shapes(data, type=types.FLOAT16)
    with pytest.raises(ArgumentError, match="together"), pytest.warns(DeprecationWarning, match="dtype"):
        fn.shapes(data, type=types.FLOAT, dtype=types.FLOAT)
    with pytest.raises(ArgumentError, match=r"key='size': expected one of 'source_info', 'layout'"):
        data.property("size")
    with pytest.raises(ArgumentError, match="key"):
        fn.get_property(data, key="size")
    with pytest.raises(DeviceError, match="device='tpu'"):
        data.shape(device="tpu")
