"""fn.random_bbox_crop: which windows are drawn, and what becomes of the boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.drawing import assert_distributed
from tests.cases import Array, case, per_sample, samples

F = np.float32
BOXES = samples([[[0.1, 0.1, 0.4, 0.4], [0.5, 0.5, 0.9, 0.9]], [[0.3, 0.2, 0.8, 0.9]], np.zeros((0, 4))], dtype=F)
LABELS = samples([[3, 5], [1], []], dtype=np.int32)
COLUMNS = samples([[[3], [5]], [[1]], np.zeros((0, 1))], dtype=np.int32)
VOLUMES = samples([[[0.1, 0.1, 0.2, 0.4, 0.4, 0.5]], np.zeros((0, 6)), [[0.2, 0.2, 0.2, 0.8, 0.8, 0.8]]], dtype=F)
# Windows that have all boxes, so that all outputs are of the same shapes as DALI's.
WIDE: dict[str, Any] = {"thresholds": [1.0], "threshold_type": "overlap", "allow_no_crop": False, "scaling": [0.9, 1.0]}
CASES = [
    case("random_bbox_crop", BOXES),
    case("random_bbox_crop", BOXES, LABELS, **WIDE),
    case("random_bbox_crop", BOXES, COLUMNS, output_bbox_indices=True, **WIDE),
    case("random_bbox_crop", BOXES, output_bbox_indices=True, aspect_ratio=[0.9, 1.1], **WIDE),
    case("random_bbox_crop", BOXES, bbox_layout="yxYX", num_attempts=20, **WIDE),
    case("random_bbox_crop", VOLUMES, bbox_layout="xyzXYZ", aspect_ratio=[0.9, 1.1] * 3, **WIDE),
    case("random_bbox_crop", VOLUMES, crop_shape=[18, 9, 9], input_shape=[20, 10, 9], thresholds=[0.0],
         shape_layout="DHW", bbox_prune_threshold=0.0, total_num_attempts=500),
    case("random_bbox_crop", samples([[[0.4, 0.4, 0.5, 0.5]]] * 3, dtype=F), input_shape=[10, 10],
         crop_shape=per_sample([[8, 9], [10, 7], [9, 9]]), thresholds=[1.0], threshold_type="overlap"),
]  # fmt: skip


def crops(boxes: Any, *labels: Any, count: int = 500, **arguments: Any) -> list[list[Array]]:
    """For each output all samples."""
    pipe = Pipeline(batch_size=count, num_threads=2, device_id=None, seed=11)
    with pipe:
        inputs = [constant(np.asarray(boxes, F)), *[constant(np.asarray(x)) for x in labels]]
        pipe.set_outputs(*fn.random_bbox_crop(*inputs, **arguments))
    return [[np.array(output.at(i)) for i in range(count)] for output in pipe.run()]


GRID = [[x, y, x + 0.005, y + 0.005] for x in np.linspace(0.01, 0.98, 12) for y in np.linspace(0.01, 0.98, 12)]
NO_WHOLE = {"allow_no_crop": False}


def windows(boxes: Any = GRID, **arguments: Any) -> tuple[Array, Array]:
    anchors, shapes = crops(boxes, count=3000, **arguments)[:2]
    return np.array(anchors), np.array(shapes)


def test_a_single_ratio_leaves_the_larger_extent() -> None:
    """The larger of two numbers from the interval, so its square is what is drawn evenly."""
    for ratio in (1.0, 2.0, 0.25):
        _, shapes = windows(scaling=[0.3, 1], aspect_ratio=[ratio, ratio], **NO_WHOLE)
        np.testing.assert_allclose(shapes[:, 0] / shapes[:, 1], ratio, rtol=1e-5)
        assert_distributed(((shapes.max(axis=1) - 0.3) / 0.7) ** 2, lambda x: x)


def test_extents_and_places_are_drawn_evenly() -> None:
    anchors, shapes = windows(scaling=[0.3, 0.9], aspect_ratio=[0.01, 100], **NO_WHOLE)
    for k in range(2):
        assert_distributed((shapes[:, k] - 0.3) / 0.6, lambda x: x)
        assert_distributed(anchors[:, k] / (1 - shapes[:, k]), lambda x: x)
    assert abs(np.corrcoef(shapes.T)[0, 1]) < 0.06
    assert abs(np.corrcoef(anchors[:-1, 0], anchors[1:, 0])[0, 1]) < 0.06


def test_ratios_are_within_their_interval() -> None:
    _, shapes = windows(scaling=[0.2, 1], aspect_ratio=[0.5, 1.5], **NO_WHOLE)
    ratios = shapes[:, 0] / shapes[:, 1]
    assert 0.5 <= ratios.min() < 0.6
    assert 1.4 < ratios.max() <= 1.5
    _, shapes = windows(scaling=[0.2, 1], input_shape=[200, 100], **NO_WHOLE)
    np.testing.assert_allclose(shapes[:, 0] * 200, shapes[:, 1] * 100, rtol=1e-5)
    assert shapes.max() <= 1


def test_dali_draws_windows_of_the_same_kind() -> None:
    dali = pytest.importorskip("nvidia.dali")
    arguments = {"scaling": [0.3, 1.0], "aspect_ratio": [0.5, 2.0], "thresholds": [0.1, 0.6], "num_attempts": 3}
    boxes = np.array([[0.2, 0.3, 0.7, 0.6], [0.4, 0.1, 0.8, 0.9]], F)
    pipe = dali.Pipeline(batch_size=4000, num_threads=1, device_id=None, seed=5, prefetch_queue_depth=1)
    with pipe:
        given = dali.fn.external_source(lambda: [boxes] * 4000)
        pipe.set_outputs(*dali.fn.random_bbox_crop(given, **arguments))
    pipe.build()
    wanted = [output.as_array() for output in pipe.run()[:2]]
    found = [np.array(output) for output in crops(boxes, count=4000, **arguments)[:2]]
    for ours, theirs in zip(found, wanted, strict=True):
        for share in (0.1, 0.25, 0.5, 0.75, 0.9):
            np.testing.assert_allclose(np.quantile(ours, share, axis=0), np.quantile(theirs, share, axis=0), atol=0.04)
    assert abs(np.mean(found[1] == 1) - np.mean(wanted[1] == 1)) < 0.04


def overlaps(window: Array, boxes: Array, iou: bool) -> Array:
    low, high = np.maximum(window[:2], boxes[:, :2]), np.minimum(window[2:], boxes[:, 2:])
    both = np.prod(np.maximum(high - low, 0), axis=1)
    own = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    return both / (own + np.prod(window[2:] - window[:2]) - both if iou else own)


@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("kind", ["iou", "overlap"])
def test_windows_reach_the_threshold(kind: str, every: bool) -> None:
    boxes = np.array([[0.2, 0.3, 0.7, 0.6], [0.4, 0.1, 0.8, 0.9]], F)
    found = crops(
        boxes, scaling=[0.3, 1], aspect_ratio=[0.5, 2], thresholds=[0.4], threshold_type=kind,
        all_boxes_above_threshold=every, **NO_WHOLE,
    )  # fmt: skip
    least = []
    for anchor, shape in zip(*found[:2], strict=True):
        metric = overlaps(np.concatenate([anchor, anchor + shape]), boxes, kind == "iou")
        least.append(metric.min() if every else metric.max())
    assert 0.4 - 1e-5 <= min(least) < 0.5


@pytest.mark.parametrize("prune", [None, 0.0, 0.5])
def test_boxes_are_kept_and_cut_off(prune: float | None) -> None:
    boxes = np.random.default_rng(1).random((9, 2, 2)).astype(F)
    boxes.sort(axis=1)
    boxes = boxes.reshape(9, 4)
    found = crops(
        boxes, np.arange(9, dtype=np.int16) * 7, scaling=[0.2, 0.8], aspect_ratio=[0.5, 2], output_bbox_indices=True,
        bbox_prune_threshold=prune, **NO_WHOLE,
    )  # fmt: skip
    for anchor, shape, kept, labels, indices in zip(*found, strict=True):
        window = np.concatenate([anchor, anchor + shape])
        middles = (boxes[:, :2] + boxes[:, 2:]) / 2
        inside = ((middles >= window[:2]) & (middles <= window[2:])).all(axis=1)
        wanted = np.nonzero(inside if prune is None else overlaps(window, boxes, False) > prune)[0]
        assert len(wanted)
        np.testing.assert_array_equal(indices, wanted)
        np.testing.assert_array_equal(labels, wanted * 7)
        mapped = (boxes[wanted] - np.tile(anchor, 2)) / np.tile(shape, 2)
        np.testing.assert_allclose(kept, np.clip(mapped, 0, 1), atol=1e-5)


def test_layouts_of_boxes() -> None:
    boxes = np.array([[0.2, 0.3, 0.7, 0.6], [0.4, 0.1, 0.8, 0.9]], F)
    sizes = np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1)
    arguments = {"scaling": [0.5, 0.9], **NO_WHOLE}
    wanted = crops(boxes, **arguments)[2]
    turned = crops(boxes[:, [1, 0, 3, 2]], bbox_layout="yxYX", **arguments)[2]
    extents = crops(sizes, bbox_layout="xyWH", **arguments)[2]
    old = crops(sizes, ltrb=False, **arguments)[2]
    for a, b, c, d in zip(wanted, turned, extents, old, strict=True):
        np.testing.assert_array_equal(a, b[:, [1, 0, 3, 2]])
        np.testing.assert_allclose(a[:, 2:] - a[:, :2], c[:, 2:], atol=1e-5)
        np.testing.assert_array_equal(c, d)


def test_windows_of_a_given_size() -> None:
    found = crops(GRID, crop_shape=[3, 8], input_shape=[10, 20], shape_layout="HW", count=3000)
    places, counts = np.unique(np.array(found[0]), axis=0, return_counts=True)
    assert set(map(tuple, places.astype(int).tolist())) == {(x, y) for x in range(13) for y in range(8)}
    assert counts.min() > 8
    assert (np.array(found[1]) == [8, 3]).all()
    larger = np.array(crops([[0, 0, 1, 1]], crop_shape=[30, 4], input_shape=[10, 10], count=3000)[0])
    assert set(larger[:, 0]) <= set(range(-20, 1))


def test_no_crop() -> None:
    _, shapes = windows(scaling=[0.3, 0.5], thresholds=[0, 0, 0])
    assert abs((shapes == 1).all(axis=1).mean() - 0.25) < 0.04
    found = crops([[0.1, 0.2, 0.3, 0.4]])
    assert (np.array(found[2]) == F([[0.1, 0.2, 0.3, 0.4]])).all()


def test_the_best_of_some_windows() -> None:
    box = [[0.0, 0.0, 0.1, 0.1]]
    impossible = {"scaling": [0.5, 0.6], "thresholds": [1.0], **NO_WHOLE}
    with pytest.raises(OperatorError, match=r"random_bbox_crop: there is no window .* among 1048576"):
        crops(box, count=1, **impossible)
    one, many = (
        np.mean([overlaps(np.concatenate([a, a + s]), np.array(box, F), True) for a, s in zip(*found[:2], strict=True)])
        for found in (crops(box, total_num_attempts=n, **impossible) for n in (1, 50))
    )
    assert many > 2 * one
    shapes = crops(box, scaling=[0.9, 1], aspect_ratio=[2, 3], total_num_attempts=5, **NO_WHOLE)[1]
    assert (np.array(shapes) == 1).all()


def test_volumes() -> None:
    boxes = [[0.2, 0.3, 0.4, 0.7, 0.6, 0.5]]
    _, shapes = crops(boxes, scaling=[0.3, 1], **NO_WHOLE)[:2]
    np.testing.assert_allclose(np.ptp(np.array(shapes), axis=1), 0, atol=1e-5)
    _, shapes = crops(boxes, scaling=[0.2, 1], aspect_ratio=[0.5, 0.5, 0.2, 1, 0.1, 9], **NO_WHOLE)[:2]
    x, y, z = np.array(shapes).T
    np.testing.assert_allclose(x / y, 0.5, rtol=1e-4)
    assert ((x / z >= 0.2 - 1e-5) & (x / z <= 1 + 1e-5)).all()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"scaling": [0.5]}, "scaling="),
        ({"scaling": [0.6, 0.5]}, "scaling="),
        ({"scaling": [-0.6, 0.5]}, "scaling="),
        ({"aspect_ratio": [1]}, "aspect_ratio="),
        ({"aspect_ratio": [2, 1]}, "aspect_ratio="),
        ({"thresholds": []}, "thresholds="),
        ({"thresholds": [1.5]}, "thresholds="),
        ({"num_attempts": 0}, "num_attempts=0"),
        ({"total_num_attempts": -1}, "total_num_attempts=-1"),
        ({"bbox_prune_threshold": 2}, "bbox_prune_threshold=2"),
        ({"bbox_layout": "xyXH"}, "bbox_layout='xyXH'"),
        ({"bbox_layout": "xyXY", "ltrb": True}, "ltrb=True: cannot be given together with bbox_layout"),
        ({"shape_layout": "HWC", "input_shape": [9, 9]}, "shape_layout='HWC'"),
        ({"threshold_type": "other"}, "threshold_type='other'"),
        ({"crop_shape": [3, 3]}, "crop_shape=.*: needs input_shape"),
        ({"crop_shape": [3, 3], "input_shape": [9, 9], "scaling": [1, 1]}, "scaling=.*: cannot be given together"),
    ],
)
def test_wrong_constants(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(ArgumentError, match=f"random_bbox_crop: {problem}"):
        fn.random_bbox_crop(np.zeros((1, 4), F), **arguments)


@pytest.mark.parametrize(
    ("boxes", "arguments", "problem"),
    [
        (np.zeros((1, 5)), {}, r"expected boxes of the shape \(boxes, 4\) or \(boxes, 6\), got \(1, 5\)"),
        ([[-0.1, 0, 1, 1]], {}, "box 0 goes from -0.1.* to 1.0.* along x; expected 0 to 1"),
        ([[0, 0.5, 1, 0.6]], {"bbox_layout": "xyWH"}, "box 0 goes from 0.5.* to 1.1.* along y"),
        ([[np.nan, 0.5, 1, 0.6]], {}, "box 0 goes from nan"),
        (np.zeros((1, 4)), {"bbox_layout": "xyzXYZ"}, "bbox_layout='xyzXYZ' does not fit boxes of 4 numbers"),
        (np.zeros((1, 4)), {"crop_shape": [1], "input_shape": [9, 9]}, "crop_shape has 1 values"),
        (np.zeros((1, 4)), {"crop_shape": [1, -1], "input_shape": [9, 9]}, "crop_shape has the extent -1"),
        (np.zeros((1, 4)), {"crop_shape": [1, 1], "input_shape": [9, 0]}, "input_shape has the extent 0"),
    ],
)
def test_what_is_refused(boxes: Any, arguments: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=f"random_bbox_crop: .*{problem}"):
        crops(boxes, count=1, **arguments)


def test_other_inputs_are_refused() -> None:
    with pytest.raises(OperatorError, match=r"there are labels of the shape \(3,\) for 1 boxes"):
        crops(np.zeros((1, 4)), [1, 2, 3], count=1)
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*fn.random_bbox_crop(constant(np.zeros((1, 4)))))
    with pytest.raises(OperatorError, match="boxes of FLOAT, got FLOAT64"):
        pipe.run()
