"""fn.box_encoder, against NumPy; the sweep compares it with DALI too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.cases import Apart, Array, Samples, case, samples

F = np.float32


def iou(a: Array, b: Array) -> Any:
    width, height = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    if width <= 0 or height <= 0:
        return F(0)
    both = width * height
    return both / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - both)


def middles(boxes: Array) -> Array:
    return np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / F(2), boxes[:, 2:] - boxes[:, :2]], axis=1)


def encoded(
    boxes: Array,
    labels: Array,
    anchors: Any,
    criteria: float = 0.5,
    offset: bool = False,
    scale: float = 1,
    means: Any = (0, 0, 0, 0),
    stds: Any = (1, 1, 1, 1),
) -> tuple[Array, Array]:
    all_anchors = np.reshape(anchors, (-1, 4)).astype(F)
    table = np.array([[iou(b, a) for a in all_anchors] for b in boxes], F).reshape(len(boxes), len(all_anchors))
    for row in table:
        row[len(row) - 1 - np.argmax(row[::-1])] = 2  # the best one, whatever it is
    wanted = middles(all_anchors)
    result, found = np.zeros_like(wanted) if offset else wanted.copy(), np.zeros(len(wanted), np.int32)
    for k, column in enumerate(table.T):
        if not len(column) or column.max() <= criteria:
            continue
        best = len(column) - 1 - np.argmax(column[::-1])
        found[k] = labels.ravel()[best]
        result[k] = middles(boxes)[best]
        if offset:
            result[k, :2] = (result[k, :2] - wanted[k, :2]) / wanted[k, 2:]
            result[k, 2:] = np.log(result[k, 2:] / wanted[k, 2:])
            result[k] = (result[k] - np.array(means, F)) / np.array(stds, F)
    return result, found


def boxes(*counts: int, grid: int = 0, seed: int = 0) -> Samples:
    random = np.random.default_rng(seed)
    found = [np.sort(random.random((n, 2, 2)), axis=1).reshape(n, 4) for n in counts]
    return samples([np.round(b * grid) / grid if grid else b for b in found], dtype=F)


def anchors(n: int, grid: int = 0) -> list[float]:
    return [float(v) for v in boxes(n, grid=grid, seed=9).arrays[0].ravel()]


BOXES, TIES, NONE = boxes(5, 1, 12), boxes(5, 1, 12, grid=4), boxes(0, 0, 0)
LABELS = samples([np.arange(n) + 3 for n in (5, 1, 12)], dtype=np.int32)
COLUMNS = samples([np.arange(n)[:, None] + 3 for n in (5, 1, 12)], dtype=np.int32)
SCALED: dict[str, Any] = {"offset": True, "scale": 300.0, "means": [0.1, 0.2, 0.3, 0.4], "stds": [0.1, 0.1, 0.2, 0.2]}
LOGS = Apart(tolerance=1e-6)  # of logarithms
CASES = [
    case("box_encoder", BOXES, LABELS, reference=encoded, anchors=anchors(40)),
    case("box_encoder", BOXES, COLUMNS, reference=encoded, anchors=anchors(40), criteria=0.2),
    case("box_encoder", BOXES, LABELS, reference=encoded, anchors=anchors(300), offset=True, on_gpu=LOGS),
    case("box_encoder", BOXES, LABELS, reference=encoded, tolerance=2e-5, anchors=anchors(99), **SCALED, on_gpu=LOGS),
    case("box_encoder", BOXES, LABELS, reference=encoded, anchors=anchors(1), criteria=1),
    case("box_encoder", TIES, LABELS, reference=encoded, anchors=anchors(40, grid=4), criteria=0),
    case("box_encoder", NONE, samples([[], [], []], dtype=np.int32), reference=encoded, anchors=anchors(3)),
    case(
        "box_encoder", NONE, samples([[], [], []], dtype=np.int32), reference=encoded, anchors=anchors(3), offset=True
    ),
]


def run(x: Array, labels: Array, **arguments: Any) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*fn.box_encoder(constant(x), constant(labels), **{"anchors": [0, 0, 1, 1], **arguments}))
    pipe.run()


@pytest.mark.parametrize(
    "arguments",
    [
        {"anchors": [0, 0, 1]},
        {"anchors": []},
        {"criteria": 1.5},
        {"criteria": -0.5},
        {"means": [0]},
        {"stds": [1, 2]},
        {"stds": [1, 0, 1, 1]},
    ],
)
def test_wrong_constants(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=f"box_encoder: {next(iter(arguments))}=.*: expected"):
        run(np.zeros((1, 4), F), np.int32([1]), **arguments)


@pytest.mark.parametrize(
    ("x", "labels", "problem"),
    [
        (np.zeros((1, 4)), np.int32([1]), "boxes of FLOAT, got FLOAT64"),
        (np.zeros((1, 3), F), np.int32([1]), r"boxes of the shape \(boxes, 4\), got \(1, 3\)"),
        (np.zeros(4, F), np.int32([1]), r"got \(4,\)"),
        (np.zeros((1, 4), F), np.int64([1]), "labels of INT32, got INT64"),
        (np.zeros((2, 4), F), np.int32([1]), r"labels of the shape \(1,\) for 2 boxes"),
    ],
)
def test_what_is_refused(x: Array, labels: Array, problem: str) -> None:
    with pytest.raises(OperatorError, match=f"box_encoder: .*{problem}"):
        run(x, labels)
