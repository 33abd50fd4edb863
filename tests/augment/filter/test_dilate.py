"""fn.experimental.dilate and erode, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.filter.windows import ON_GPU, around
from tests.cases import Array, case, per_sample, pictures, samples

CHOOSE = {"experimental.dilate": np.nanmax, "experimental.erode": np.nanmin}


def changed(
    name: str,
    x: Array,
    layout: str = "HWC",
    mask_size: Any = 3,
    anchor: Any = -1,
    iterations: int = 1,
    border_mode: str = "constant",
) -> Array:
    for _ in range(iterations):
        x = around(x, layout, mask_size, anchor, border_mode, partial(CHOOSE[name], axis=-1))
    return x


BORDERS = ("constant", "replicate", "reflect", "reflect_101", "wrap")
CASES = []
for NAME in CHOOSE:
    the = partial(changed, NAME)
    operator = partial(case, NAME, differs=ON_GPU, reference=the)
    CASES += [
        operator(pictures()),
        operator(pictures(), mask_size=(5, 2)),
        operator(pictures(), mask_size=(1, 1), iterations=2),
        operator(pictures(), mask_size=(7, 4), anchor=(0, 3), iterations=3),
        operator(pictures(), iterations=0),
        operator(
            pictures(), mask_size=per_sample([(3, 3), (9, 1), (4, 6)]), anchor=per_sample([(2, 0), (-1, 0), (3, 5)])
        ),
        operator(pictures(channels=1, dtype=np.float32), mask_size=4),
        operator(pictures(dtype=np.uint16), mask_size=5, border_mode="reflect"),
        operator(pictures(dtype=np.int16), mask_size=5, border_mode="wrap"),
        *(operator(pictures(), mask_size=(6, 3), anchor=(1, 0), border_mode=border) for border in BORDERS),
        *(
            operator(pictures(layout), mask_size=(5, 2), reference=partial(the, layout=layout))
            for layout in ("HW", "CHW", "FHW", "FHWC", "FCHW")
        ),
        operator(samples(list(pictures("HW").arrays)), reference=partial(the, layout="HW")),
    ]


def test_a_mask_larger_than_the_picture() -> None:
    x = np.uint8([[1, 2, 3], [4, 5, 6]])
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(
            fn.experimental.dilate(constant(x), mask_size=(100, 50)),
            fn.experimental.erode(constant(x), mask_size=(100, 50), border_mode="reflect_101"),
        )
    assert [np.unique(found.at(0)).tolist() for found in pipe.run()] == [[6], [1]]


@pytest.mark.parametrize("name", ["dilate", "erode"])
@pytest.mark.parametrize(
    ("dtype", "layout", "arguments", "problem"),
    [
        ("i4", "HWC", {}, "the input is INT32: expected UINT8"),
        ("u1", "DHW", {}, "got the layout 'DHW'"),
        ("u1", "HWC", {"mask_size": 0}, "mask_size is 0: expected 1 to"),
        ("u1", "HWC", {"mask_size": (3, -1)}, "mask_size is -1"),
        ("u1", "HWC", {"mask_size": (3, 3, 3)}, "mask_size has 3 values: expected 1 or 2"),
        ("u1", "HWC", {"anchor": (3, 0)}, "anchor is 3: expected -1, or 0 to 2"),
        ("u1", "HWC", {"anchor": -2}, "anchor is -2"),
    ],
)
def test_mistakes_are_named(name: str, dtype: str, layout: str, arguments: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(getattr(fn.experimental, name)(constant(np.zeros((4, 5, 3), dtype), layout), **arguments))
    with pytest.raises(OperatorError, match=f"experimental.{name}: .*{problem}"):
        pipe.run()


@pytest.mark.parametrize("arguments", [{"border_mode": "mirror"}, {"iterations": -1}])
def test_wrong_constants(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match=r"dilate: (border_mode|iterations)="):
        fn.experimental.dilate(np.zeros((4, 5), np.uint8), **arguments)
