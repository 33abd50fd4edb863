"""fn.flip, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, case, per_sample, pictures, random_array, samples


def flipped(x: Array, layout: str = "HWC", horizontal: int = 1, vertical: int = 0, depthwise: int = 0) -> Array:
    for name, wanted in (("W", horizontal), ("H", vertical), ("D", depthwise)):
        if wanted and name in layout:
            x = np.flip(x, layout.index(name))
    return x


def of(layout: str) -> Any:
    return partial(flipped, layout=layout)


MIXED = per_sample([1, 0, -2])
CASES = [
    case("flip", pictures(), reference=flipped),
    case("flip", pictures(), reference=flipped, horizontal=0),
    case("flip", pictures(), reference=flipped, horizontal=0, vertical=1),
    case("flip", pictures(), reference=flipped, horizontal=2, vertical=1, depthwise=1),
    case("flip", pictures(), reference=flipped, horizontal=MIXED),
    case("flip", pictures(), reference=flipped, horizontal=MIXED, vertical=per_sample([0, 1, 1])),
    case("flip", samples(list(pictures().arrays)), reference=flipped),
    case("flip", pictures("CHW"), reference=of("CHW"), vertical=MIXED),
    case("flip", pictures("FHWC"), reference=of("FHWC"), horizontal=MIXED, vertical=1, depthwise=1),
    case("flip", pictures("FCHW"), reference=of("FCHW"), vertical=MIXED),
    case("flip", pictures("DHWC"), reference=of("DHWC"), horizontal=0, depthwise=1),
    case("flip", pictures("DHWC"), reference=of("DHWC"), horizontal=1, vertical=1, depthwise=MIXED),
    case("flip", pictures("CDHW"), reference=of("CDHW"), vertical=1, depthwise=1),
    case("flip", pictures("FDHWC"), reference=of("FDHWC"), depthwise=MIXED),
    case("flip", pictures("FCDHW"), reference=of("FCDHW"), horizontal=0, depthwise=MIXED),
]
CASES += [
    case("flip", pictures(dtype=dtype, channels=channels), reference=flipped, vertical=MIXED)
    for dtype, channels in (
        (np.uint8, 1), (np.uint8, 2), (np.uint8, 4), (np.int16, 1), (np.uint16, 3), (np.float32, 1), (np.float32, 3),
        (np.float32, 4), (np.int64, 1), (np.float64, 3), (np.uint8, 7), (np.int32, 5),
    )
]  # fmt: skip


@pytest.mark.parametrize("bytes_per_pixel", range(1, 18))
def test_rows_of_every_length(bytes_per_pixel: int) -> None:
    pictures = [random_array((2, width, bytes_per_pixel), seed=width) for width in range(1, 70)]
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*(fn.flip(constant(p, "HWC")) for p in pictures))
    for found, picture in zip(pipe.run(), pictures, strict=True):
        np.testing.assert_array_equal(found.at(0), picture[:, ::-1])


def test_other_orders_of_axes() -> None:
    array = random_array((4, 5, 3, 2))
    for layout in ("WHC", "WDHC", "WHCD", "HWCF", "HW", "WH"):
        x = array[tuple(slice(None) if i < len(layout) else 0 for i in range(4))]
        pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(fn.flip(constant(np.ascontiguousarray(x), layout), vertical=1, depthwise=1))
        (out,) = pipe.run()
        np.testing.assert_array_equal(out.at(0), flipped(x, layout, 1, 1, 1))


def test_layouts_without_height_and_width() -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.flip(constant(np.zeros((2, 3, 4), np.uint8), "XYZ")))
    with pytest.raises(OperatorError, match="'XYZ' has no height and width"):
        pipe.run()
