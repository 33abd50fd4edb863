"""``dtype=types.NO_TYPE``, or its number -1, says, as in DALI, that no type is given: the output's is the input's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError
from tests.cases import random_array

PICTURE = random_array((12, 17, 3))
CALLS: dict[str, dict[str, Any]] = {
    "brightness": {"brightness": 0.7},
    "brightness_contrast": {"contrast": 0.7},
    "contrast": {"contrast": 0.7},
    "color_twist": {"hue": 20.0},
    "hue": {"hue": 20.0},
    "saturation": {"saturation": 0.3},
    "rotate": {"angle": 20.0},
    "warp_affine": {"matrix": [1, 0.2, 0, 0, 1, 3]},
    "resize": {"size": 5},
    "crop": {"crop": (3, 4)},
    "slice": {"start": 1, "end": 3},
    "gaussian_blur": {"sigma": 1.0},
    "reductions.sum": {},
}


def test_hsv_has_another_default() -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        x = types.Constant(PICTURE.astype(np.float32), layout="HWC")
        pipe.set_outputs(fn.hsv(x), fn.hsv(x, dtype=-1), fn.hsv(x, dtype=types.FLOAT))
    by_default, found, wanted = run(*pipe.run())
    assert by_default.dtype == np.uint8
    np.testing.assert_array_equal(found, wanted)
    assert found.dtype == np.float32


def run(*outputs: Any) -> list[Any]:
    return [np.array(output.at(0)) for output in outputs]


@pytest.mark.parametrize("operator", CALLS)
@pytest.mark.parametrize("untyped", [types.NO_TYPE, -1])
def test_no_type_is_none_given(operator: str, untyped: int) -> None:
    function: Any = fn
    for part in operator.split("."):
        function = getattr(function, part)
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        x = types.Constant(PICTURE, layout="HWC")
        pipe.set_outputs(function(x, **CALLS[operator]), function(x, dtype=untyped, **CALLS[operator]))
    wanted, found = run(*pipe.run())
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_nor_by_its_old_name() -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        x = types.Constant(PICTURE, layout="HWC")
        pipe.set_outputs(fn.rotate(x, angle=20), fn.rotate(x, angle=20, output_dtype=types.NO_TYPE))
    wanted, found = run(*pipe.run())
    np.testing.assert_array_equal(found, wanted)


def test_a_type_that_must_be_given_must_be_one() -> None:
    with pytest.raises(ArgumentError, match=r"crop_mirror_normalize: dtype=.*expected one of"):
        fn.crop_mirror_normalize(PICTURE, dtype=types.NO_TYPE)
