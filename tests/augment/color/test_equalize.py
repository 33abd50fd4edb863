"""fn.equalize, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, case, pictures, samples


def plane(x: Array) -> Array:
    counts = np.bincount(x.ravel(), minlength=256)
    lowest = counts[counts > 0][:1].sum()
    if lowest == x.size:
        return x
    scale = np.float32(255) / np.float32(x.size - lowest)
    table = np.rint(np.float32(np.maximum(np.cumsum(counts) - lowest, 0)) * scale)
    return np.clip(table, 0, 255).astype(np.uint8)[x]


def equalized(x: Array, layout: str = "HWC") -> Array:
    axes = [layout.index(axis) for axis in "HW"]
    planes = np.moveaxis(x, axes, [-2, -1])
    flat = planes.reshape(-1, *planes.shape[-2:])
    done = np.stack([plane(p) for p in flat]).reshape(planes.shape)
    return np.ascontiguousarray(np.moveaxis(done, [-2, -1], axes))


def dark(layout: str, **arguments: Any) -> Any:
    """Values that are not equally frequent."""
    made = pictures(layout, **arguments)
    return samples([(a.astype(np.int64) ** 2 // 700 + 20).astype(np.uint8) for a in made.arrays], layout)


def of(layout: str) -> Any:
    return partial(equalized, layout=layout)


CASES = [
    *(case("equalize", dark(layout), reference=of(layout)) for layout in ("HW", "HWC", "CHW", "FHW", "FHWC", "FCHW")),
    case("equalize", dark("HWC", channels=1), reference=equalized),
    case("equalize", dark("HWC", channels=5), reference=equalized),
    case("equalize", pictures(sizes=((1, 1), (1, 2), (300, 200))), reference=equalized),
    case("equalize", samples([np.full((5, 7), v, np.uint8) for v in (0, 77, 255)], "HW"), reference=of("HW")),
    case("equalize", samples(list(dark("FHWC").arrays)), reference=of("FHWC")),
    case("equalize", samples(list(dark("HW").arrays)), reference=of("HW")),
]


@pytest.mark.parametrize(
    ("layout", "dtype", "problem"),
    [
        ("HWC", "i2", "equalize: .*the input is INT16: expected UINT8"),
        ("DHW", "u1", "expected pictures or frames of them .*, got the layout 'DHW'"),
        ("CWH", "u1", "got the layout 'CWH'"),
    ],
)
def test_mistakes_are_named(layout: str, dtype: str, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.experimental.equalize(constant(np.zeros((4, 5, 3), dtype), layout)))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()
