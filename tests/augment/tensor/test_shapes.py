"""fn.shapes, and node.shape()."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, DeviceError
from tests.augment.metadata import run
from tests.cases import Array, Samples, case, pictures, random_array

NUMBERS = Samples(tuple(np.float32([1.5, 2.5, 3.5])))
DEEP = Samples(tuple(random_array((i, 1, 0, 2, 3), np.int64) for i in range(3)))
TYPES = [types.INT32, types.UINT32, types.INT64, types.UINT64, types.FLOAT, types.FLOAT64]


def shape_of(x: Array, dtype: Any = types.INT64) -> Array:
    return np.array(x.shape, types.to_numpy_type(dtype))


CASES = [
    case("shapes", pictures(), reference=shape_of),
    case("shapes", NUMBERS, reference=shape_of),
    *[case("shapes", DEEP, reference=shape_of, dtype=t) for t in TYPES],
]


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
    with pytest.raises(DeviceError, match="device='tpu'"):
        data.shape(device="tpu")
