"""fn.paste, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, case, per_sample, pictures, random_array, samples


def pasted(
    x: Array,
    ratio: float,
    fill_value: Any,
    n_channels: int = 3,
    paste_x: float = 0.5,
    paste_y: float = 0.5,
    min_canvas_size: float = 0.0,
) -> Array:
    f = np.float32
    (h, w, c) = x.shape
    height, width = (int(max(f(ratio) * f(extent), f(min_canvas_size))) for extent in (h, w))
    colour = np.broadcast_to(np.ravel(fill_value).astype(np.int64).astype(np.uint8), c)
    canvas = np.tile(colour, (height, width, 1))
    y0, x0 = int(f(paste_y) * f(height - h)), int(f(paste_x) * f(width - w))
    canvas[y0 : y0 + h, x0 : x0 + w] = x
    return canvas


RATIO = per_sample([1.0, 1.37, 2.123])
X, Y = per_sample([0.0, 0.33, 1.0]), per_sample([1.0, 0.77, 0.1])

CASES = [
    case("paste", pictures(), reference=pasted, ratio=1.5, fill_value=(1, 2, 3)),
    case("paste", pictures(), reference=pasted, ratio=1.0, fill_value=(1, 2, 3)),
    case("paste", pictures(), reference=pasted, ratio=RATIO, fill_value=7),
    case("paste", pictures(), reference=pasted, ratio=RATIO, fill_value=(7, 300, -1), paste_x=X, paste_y=Y),
    case("paste", pictures(), reference=pasted, ratio=1.2, fill_value=9, min_canvas_size=60.7, paste_x=X),
    case("paste", pictures(), reference=pasted, ratio=1.1, fill_value=9, min_canvas_size=per_sample([0.0, 50.0, 99.5])),
    case("paste", pictures(), reference=pasted, ratio=1.1, fill_value=9, min_canvas_size=-0.9),
    case("paste", pictures(channels=1), reference=pasted, ratio=RATIO, fill_value=5, n_channels=1, paste_y=0),
    case(
        "paste", pictures(channels=4), reference=pasted, ratio=RATIO, fill_value=(1, 2, 3, 4), n_channels=4, paste_x=1
    ),
    case("paste", samples(list(pictures().arrays)), reference=pasted, ratio=1.3, fill_value=(1, 2, 3)),
    case("paste", pictures(channels=1), reference=pasted, ratio=1.3, fill_value=144, n_channels=0,
         differs="DALI fills with anything where n_channels is not the picture's"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("x", "arguments", "problem"),
    [
        (random_array((4, 5, 3)), {"ratio": 0.5, "fill_value": 0}, "ratio is 0.5.*: expected at least 1"),
        (random_array((4, 5, 3)), {"ratio": 1e12, "fill_value": 0}, "a canvas that large cannot be"),
        (random_array((4, 5, 3)), {"ratio": 2, "fill_value": 0, "paste_x": 1.5}, "paste_x is 1.5.*: expected 0 to 1"),
        (random_array((4, 5, 3)), {"ratio": 2, "fill_value": 0, "paste_y": -0.5}, "paste_y is -0.5"),
        (random_array((4, 5, 3)), {"ratio": 2, "fill_value": 0, "min_canvas_size": -1}, "min_canvas_size is -1.0"),
        (random_array((4, 5, 2)), {"ratio": 2, "fill_value": (1, 2, 3)}, "fill_value has 3 values for 2 channels"),
        (random_array((4, 5, 3), np.int16), {"ratio": 2, "fill_value": 0}, "the input is INT16: expected UINT8"),
    ],
)
def test_mistakes_are_named(x: Array, arguments: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.paste(constant(x, "HWC"), **arguments))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()


@pytest.mark.parametrize("arguments", [{"fill_value": (1, 2)}, {"fill_value": (1, 2, 3), "n_channels": 4}])
def test_colours_have_the_channels_that_are_given(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match=r"paste: fill_value=.*: expected one number, or one for each of"):
        fn.paste(random_array((4, 5, 3)), ratio=2, **arguments)


def test_extents_that_no_float_has() -> None:
    wide = np.arange(2**24 + 1, dtype=np.uint32).astype(np.uint8).reshape(1, -1, 1)
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(
            fn.paste(fn.external_source(lambda: [wide], layout="HWC"), ratio=1, fill_value=0, n_channels=1)
        )
    (out,) = pipe.run()
    assert out.at(0).shape == wide.shape
    assert np.array_equal(out.at(0), wide)
