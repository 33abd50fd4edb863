"""fn.bb_flip, against NumPy; the sweep compares it with DALI too."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.cases import Apart, Array, Samples, case, per_sample, samples


def flipped(x: Array, horizontal: int = 1, vertical: int = 0, ltrb: bool = False) -> Array:
    boxes = x.reshape(-1, 4).astype(float)
    if not ltrb:
        boxes[:, 2:] += boxes[:, :2]
    for axis, wanted in enumerate((horizontal, vertical)):
        if wanted:
            boxes[:, [axis, axis + 2]] = 1 - boxes[:, [axis + 2, axis]]
    if not ltrb:
        boxes[:, 2:] -= boxes[:, :2]
    return boxes.reshape(x.shape).astype(np.float32)


def boxes(*shapes: tuple[int, ...]) -> Samples:
    random = np.random.default_rng(7)
    return samples([random.random(shape).astype(np.float32) for shape in shapes])


MIXED = per_sample([1, 0, -2])
BOXES = boxes((5, 4), (1, 4), (300, 4))
near = partial(case, "bb_flip", from_dali=Apart(tolerance=1e-7))  # the last bit
CASES = [
    near(BOXES, reference=flipped),
    case("bb_flip", BOXES, reference=flipped, ltrb=True),
    near(BOXES, reference=flipped, horizontal=0, vertical=3),
    near(BOXES, reference=flipped, horizontal=MIXED, vertical=per_sample([0, 1, 1])),
    case("bb_flip", BOXES, reference=flipped, horizontal=MIXED, vertical=1, ltrb=True),
    near(boxes((4,), (4,), (8,)), reference=flipped),
    near(boxes((2, 3, 4), (1, 1, 4), (7, 2, 4)), reference=flipped, vertical=1),
]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((2, 3), np.float32), r"four numbers for each box, got the shape \(2, 3\)"),
        (np.zeros((2, 4)), "boxes of FLOAT, got FLOAT64"),
    ],
)
def test_what_is_no_box(x: Array, message: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.bb_flip(constant(x)))
    with pytest.raises(OperatorError, match=message):
        pipe.run()


def test_twice_is_not_at_all() -> None:
    def both(x: Any) -> Any:
        return fn.bb_flip(fn.bb_flip(x, vertical=1, ltrb=True), vertical=1, ltrb=True)

    x = np.float32([[0.25, 0.5, 0.75, 1]])
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(both(constant(x)))
    np.testing.assert_array_equal(pipe.run()[0].at(0), x)
