"""fn.bbox_rotate, against NumPy; the sweep compares it with DALI too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, Samples, case, per_sample, samples


def canvas(width: float, height: float, degrees: float) -> tuple[int, int]:
    """As `fn.rotate` makes it: odd extents stay odd, and those that change places take that along."""
    sine, cosine = abs(np.sin(np.radians(degrees))), abs(np.cos(np.radians(degrees)))
    turned = np.ceil([cosine * width + sine * height - 0.01, sine * width + cosine * height - 0.01]).astype(int)
    own = np.array([width, height], int)[:: -1 if sine > cosine else 1]
    return tuple(turned + (turned ^ own) % 2)


def rotated(
    x: Array,
    labels: Array | None = None,
    *,
    angle: float,
    input_shape: Any,
    shape_layout: str = "HW",
    bbox_layout: str = "xyXY",
    bbox_normalized: bool = True,
    keep_size: bool = False,
    size: Any = (),
    mode: str = "expand",
    remove_threshold: float = 0.1,
) -> Any:
    width, height = (int(input_shape[shape_layout.index(axis)]) for axis in "WH")
    out = (width, height) if keep_size else tuple(size)[::-1] if len(size) else canvas(width, height, angle)
    unit = np.array([width, height] if bbox_normalized else [1, 1], float)
    sine, cosine = np.sin(np.radians(float(angle))), np.cos(np.radians(float(angle)))
    found, kept = [], []
    for i, box in enumerate(x.astype(float)):
        start, end = box[:2], box[2:] + (box[:2] if bbox_layout == "xyWH" else 0)
        corners = np.array([(a, b) for a in (start[0], end[0]) for b in (start[1], end[1])]) * unit
        corners -= [width / 2, height / 2]
        turned = corners @ np.array([[cosine, -sine], [sine, cosine]]) + np.array(out) / 2
        middle, extent = turned.mean(axis=0), np.ptp(turned, axis=0)
        own = (end - start) * unit
        if abs(sine) > abs(cosine):
            own = own[::-1]
        extent = {"expand": extent, "fixed": own, "halfway": (extent + own) / 2}[mode]
        low, high = (np.clip(middle + sign * extent / 2, 0, out) for sign in (-1, 1))
        if np.prod(high - low) / np.prod(extent) < remove_threshold:
            continue
        kept.append(i)
        found.append(np.concatenate([low, high - low if bbox_layout == "xyWH" else high]))
    result = np.array(found).reshape(-1, 4) / (np.tile(out, 2) if bbox_normalized else 1)
    boxes = result.astype(np.float32)
    return boxes if labels is None else (boxes, labels[kept])


def boxes(*counts: int, scale: float = 1, seed: int = 3) -> Samples:
    random = np.random.default_rng(seed)
    corners = [np.sort(random.random((n, 2, 2)), axis=1).reshape(n, 4) * scale for n in counts]
    return samples(corners, dtype=np.float32)


def with_sizes(given: Samples) -> Samples:
    return samples([np.concatenate([b[:, :2], b[:, 2:] - b[:, :2]], axis=1) for b in given.arrays])


BOXES, PIXELS = boxes(5, 1, 40), boxes(5, 1, 40, scale=99)
LABELS = samples([np.arange(n) for n in (5, 1, 40)], dtype=np.int32)
COLUMNS = samples([np.arange(n)[:, None] for n in (5, 1, 40)], dtype=np.int32)
ANGLES = per_sample([30.0, -100.0, 217.5])
SHAPES = per_sample([[100, 200], [99, 98], [121, 300]])
CASES = [
    case("bbox_rotate", *inputs, reference=rotated, tolerance=1e-4, **arguments)
    for inputs, arguments in (
        ((BOXES,), {"angle": ANGLES, "input_shape": SHAPES}),
        ((BOXES, LABELS), {"angle": ANGLES, "input_shape": [120, 90, 3], "keep_size": True}),
        ((BOXES, COLUMNS), {"angle": 77, "input_shape": SHAPES, "keep_size": True, "remove_threshold": 0.6}),
        ((BOXES,), {"angle": ANGLES, "input_shape": SHAPES, "mode": "fixed"}),
        ((with_sizes(BOXES),), {"angle": ANGLES, "input_shape": SHAPES, "mode": "halfway", "bbox_layout": "xyWH"}),
        ((PIXELS,), {"angle": ANGLES, "input_shape": [130, 100], "shape_layout": "WH", "bbox_normalized": False}),
        ((with_sizes(PIXELS),), {"angle": -12, "input_shape": [3, 130, 100], "shape_layout": "CHW", "mode": "fixed",
                                 "bbox_layout": "xyWH", "bbox_normalized": False, "remove_threshold": 0}),
        ((BOXES, LABELS), {"angle": ANGLES, "input_shape": [150, 150], "size": [90, 170], "remove_threshold": 0.5}),
        ((BOXES,), {"angle": 90, "input_shape": SHAPES, "size": per_sample([[50.0, 60.0], [99.0, 9.0], [99.0, 99.0]])}),
        ((boxes(0, 0, 0), samples([[], [], []], dtype=np.int32)), {"angle": 5, "input_shape": [10, 20]}),
    )
]  # fmt: skip


def run(*inputs: Array, **arguments: Any) -> list[Array]:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        made = fn.bbox_rotate(*map(constant, inputs), **{"angle": 10.0, "input_shape": [10, 20], **arguments})
        pipe.set_outputs(*(made if isinstance(made, list) else [made]))
    return [np.array(output.at(0)) for output in pipe.run()]


BOX = np.float32([[0.1, 0.1, 0.5, 0.5]])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"remove_threshold": 1}, "remove_threshold=1.0: expected 0 to less than 1"),
        ({"remove_threshold": -0.1}, "remove_threshold=-0.1"),
        ({"mode": "other"}, "mode='other': expected one of 'expand', 'halfway', 'fixed'"),
        ({"bbox_layout": "xyYX"}, "bbox_layout='xyYX': expected one of"),
        ({"shape_layout": "HC"}, "shape_layout='HC': expected H and W"),
        ({"size": [3, 4], "keep_size": True}, "size=.*: cannot be given together with keep_size"),
    ],
)
def test_wrong_constants(arguments: Any, problem: str) -> None:
    with pytest.raises(ArgumentError, match=f"bbox_rotate: {problem}"):
        run(BOX, **arguments)


@pytest.mark.parametrize(
    ("inputs", "arguments", "problem"),
    [
        ((BOX[0],), {}, r"boxes of the shape \(boxes, 4\), got \(4,\)"),
        ((BOX.astype(float),), {}, "boxes of FLOAT, got FLOAT64"),
        ((BOX, np.int64([1])), {}, "labels of INT32, got INT64"),
        ((BOX, np.int32([[1, 2]])), {}, r"labels of the shape \(boxes,\) or \(boxes, 1\), got \(1, 2\)"),
        ((BOX, np.int32([1, 2])), {}, "there are 2 labels for 1 boxes"),
        ((BOX,), {"input_shape": [10]}, "input_shape has 1 values, fewer than shape_layout"),
        ((BOX,), {"input_shape": [10, -1]}, "input_shape has the negative extent -1"),
        ((BOX,), {"size": [10]}, "size has 1 values; expected height and width"),
        ((BOX,), {"angle": float("nan")}, "angle is nan"),
    ],
)
def test_what_is_refused(inputs: Any, arguments: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=f"bbox_rotate: .*{problem}"):
        run(*inputs, **arguments)


def test_boxes_without_an_area_or_numbers_are_dropped() -> None:
    odd = np.float32([[0.3, 0.3, 0.3, 0.3], [np.nan, 0, 1, 1], [0.1, 0.1, 0.5, 0.5], [2, 2, 3, 3]])
    found, labels = run(odd, np.int32([0, 1, 2, 3]), keep_size=True)
    assert found.shape == (1, 4)
    assert labels.tolist() == [2]


def test_boxes_follow_their_picture() -> None:
    picture = np.zeros((40, 60, 1), np.uint8)
    picture[10:20, 30:50] = 255
    for angle in (25.0, 90.0, -130.0):
        pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            turned = fn.rotate(constant(picture, "HWC"), angle=angle, fill_value=0)
            box = constant(np.float32([[30, 10, 50, 20]]))
            pipe.set_outputs(turned, fn.bbox_rotate(box, angle=angle, input_shape=picture.shape, bbox_normalized=False))
        found, where = (np.array(output.at(0)) for output in pipe.run())
        ys, xs, _ = np.nonzero(found > 127)
        np.testing.assert_allclose(where[0], [xs.min(), ys.min(), xs.max() + 1, ys.max() + 1], atol=1.1)
