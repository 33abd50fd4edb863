"""fn.bbox_paste, against NumPy; the sweep compares it with DALI too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.boxes.test_bb_flip import boxes
from tests.cases import Array, case, per_sample


def pasted(x: Array, ratio: float, ltrb: bool = False, paste_x: float = 0.5, paste_y: float = 0.5) -> Array:
    """Of a picture of one by one, where it is on a canvas of ``ratio`` by ``ratio``, which is then the unit.

    It is not moved beyond the canvas's far edges.
    """
    result = x.reshape(-1, 2, 2).astype(float)
    margin = np.minimum(np.array([paste_x, paste_y]) * (ratio - 1), ratio - 1)
    result[:, 0] += margin
    if ltrb:
        result[:, 1] += margin
    return (result / ratio).reshape(x.shape).astype(np.float32)


BOXES = boxes((5, 4), (1, 4), (300, 4))
RATIO = per_sample([1.0, 1.37, 2.123])
X, Y = per_sample([0.0, 0.33, 1.0]), per_sample([1.0, 0.77, 0.1])
CASES = [
    case("bbox_paste", BOXES, reference=pasted, ratio=2.0),
    case("bbox_paste", BOXES, reference=pasted, ratio=RATIO, paste_x=X, paste_y=Y),
    case("bbox_paste", BOXES, reference=pasted, ratio=RATIO, paste_x=X, paste_y=0, ltrb=True),
    case("bbox_paste", BOXES, reference=pasted, ratio=1.5, paste_x=-2, paste_y=3),
    case("bbox_paste", BOXES, reference=pasted, ratio=0.7),
    case("bbox_paste", boxes((4,), (4,), (8,)), reference=pasted, ratio=RATIO),
    case("bbox_paste", boxes((0, 4), (0, 4), (0, 4)), reference=pasted, ratio=RATIO),
]


def run(x: Array, **arguments: Any) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.bbox_paste(constant(x), **arguments))
    pipe.run()


def test_what_is_refused() -> None:
    with pytest.raises(OperatorError, match=r"bbox_paste: .*four numbers for each box, got the shape \(2, 3\)"):
        run(np.zeros((2, 3), np.float32), ratio=2)
    with pytest.raises(OperatorError, match=r"bbox_paste: .*boxes of FLOAT, got FLOAT64"):
        run(np.zeros((2, 4)), ratio=2)
    with pytest.raises(ArgumentError, match="'ratio' is required"):
        run(np.zeros((2, 4), np.float32))


def test_boxes_follow_their_picture() -> None:
    picture = np.zeros((8, 8, 1), np.uint8)
    picture[2:4, 1:5] = 9
    arguments = {"ratio": 2.0, "paste_x": 0.25, "paste_y": 1.0}
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        canvas = fn.paste(constant(picture, "HWC"), fill_value=0, n_channels=1, **arguments)
        pipe.set_outputs(canvas, fn.bbox_paste(constant(np.float32([1, 2, 5, 4]) / 8), ltrb=True, **arguments))
    found, box = (np.array(output.at(0)) for output in pipe.run())
    left, top, right, bottom = (box * 16).astype(int)
    assert (found[top:bottom, left:right] == 9).all()
    assert found.sum() == picture.sum()
