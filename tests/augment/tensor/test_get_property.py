"""fn.get_property, and what nodes say of themselves: shape(), property() and source_info()."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn, types
from penstock.errors import ArgumentError
from tests.augment.metadata import run
from tests.cases import Array, Samples, case, pictures

BARE = Samples(pictures().arrays)


def letters(text: str) -> Callable[..., Array]:
    return lambda x, key: np.frombuffer(text.encode(), np.uint8)


CASES = [
    case("get_property", pictures(), reference=letters("HWC"), key="layout"),
    case("get_property", BARE, reference=letters(""), key="layout"),
]


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


def test_errors() -> None:
    data = types.Constant(np.zeros(3))
    with pytest.raises(ArgumentError, match=r"key='size': expected one of 'source_info', 'layout'"):
        data.property("size")
    with pytest.raises(ArgumentError, match="key"):
        fn.get_property(data, key="size")
