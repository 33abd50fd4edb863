"""fn.experimental.median_blur, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.augment.filter.windows import ON_GPU, around
from tests.cases import Array, case, per_sample, pictures, samples


def median(x: Array, layout: str = "HWC", window_size: Any = 3) -> Array:
    return around(x, layout, window_size, -1, "replicate", partial(np.median, axis=-1))


blur = partial(case, "experimental.median_blur", differs=ON_GPU, reference=median)

CASES = [
    blur(pictures()),
    blur(pictures(), window_size=(5, 3)),
    blur(pictures(), window_size=1),
    blur(pictures(), window_size=per_sample([(3, 3), (1, 7), (9, 5)])),
    blur(pictures(channels=1)),
    blur(pictures(channels=4), window_size=7),
    *(blur(pictures(dtype=dtype)) for dtype in (np.uint16, np.int16, np.int32, np.float32)),
    *(blur(pictures(dtype=dtype), window_size=(3, 5)) for dtype in (np.uint16, np.int16, np.int32, np.float32)),
    blur(pictures(sizes=((1, 1), (1, 8), (5, 1)))),
    blur(pictures(sizes=((1, 1), (1, 8), (5, 1))), window_size=11),
    *(
        blur(pictures(layout), window_size=size, reference=partial(median, layout=layout))
        for layout in ("HW", "CHW", "FHW", "FHWC", "FCHW")
        for size in (3, (5, 1))
    ),
    blur(samples(list(pictures("HW").arrays)), reference=partial(median, layout="HW")),
]


@pytest.mark.parametrize(
    ("dtype", "layout", "arguments", "problem"),
    [
        ("i1", "HWC", {}, "the input is INT8: expected UINT8"),
        ("u1", "DHW", {}, "got the layout 'DHW'"),
        ("u1", "HWC", {"window_size": 4}, "window_size is 4: expected an odd number up to"),
        ("u1", "HWC", {"window_size": (3, -1)}, "window_size is -1"),
        ("u1", "HWC", {"window_size": (3, 3, 3)}, "window_size has 3 values: expected 1 or 2"),
    ],
)
def test_mistakes_are_named(dtype: str, layout: str, arguments: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.experimental.median_blur(constant(np.zeros((4, 5, 3), dtype), layout), **arguments))
    with pytest.raises(OperatorError, match=f"median_blur: .*{problem}"):
        pipe.run()
