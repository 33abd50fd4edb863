"""fn.ssd_random_crop: windows as fn.random_bbox_crop draws them, and their pixels."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.boxes.test_random_bbox_crop import BOXES, LABELS, overlaps
from tests.cases import Array, case, pictures

F = np.float32
CASES = [
    case("ssd_random_crop", pictures(), BOXES, LABELS, num_attempts=9, differs="windows are of random sizes"),
]
PLACES = np.stack([*np.mgrid[0:100, 0:200], np.zeros((100, 200))], axis=2).astype(np.uint8)
BOX = np.array([[0.3, 0.3, 0.7, 0.7]], F)


def crops(
    picture: Any, boxes: Any, labels: Any, count: int = 1500, layout: str = "HWC", **given: Any
) -> list[list[Array]]:
    pipe = Pipeline(batch_size=count, num_threads=2, device_id=None, seed=11)
    with pipe:
        inputs = constant(picture, layout), constant(np.asarray(boxes)), constant(np.asarray(labels))
        pipe.set_outputs(*fn.ssd_random_crop(*inputs, **given))
    return [[np.array(output.at(i)) for i in range(count)] for output in pipe.run()]


def test_pixels_and_boxes_are_of_the_same_window() -> None:
    lengths = []
    for picture, boxes, labels in zip(*crops(PLACES, BOX, np.int32([7])), strict=True):
        (top, left, _), (height, width) = picture[0, 0].astype(int), picture.shape[:2]
        np.testing.assert_array_equal(picture, PLACES[top : top + height, left : left + width])
        assert labels.tolist() == [7]
        wanted = (BOX[0] * [200, 100, 200, 100] - [left, top, left, top]) / [width, height, width, height]
        np.testing.assert_allclose(boxes[0], np.clip(wanted, 0, 1), atol=0.04)
        window = np.array([left / 200, top / 100, (left + width) / 200, (top + height) / 100])
        lengths.append((width / 200, height / 100, overlaps(window, BOX, True)[0]))
    width, height, iou = np.array(lengths).T
    assert min(width.min(), height.min()) >= 0.295
    assert 0.48 < (width / height).min() < (width / height).max() < 2.1
    assert iou.min() > 0.05


def test_as_many_whole_pictures_as_dali() -> None:
    dali = pytest.importorskip("nvidia.dali")
    for attempts in (1, 50):
        pipe = dali.Pipeline(batch_size=1500, num_threads=1, device_id=None, seed=5, prefetch_queue_depth=1)
        with pipe:
            given = [
                dali.fn.external_source(itertools.repeat([x] * 1500), layout=layout)
                for x, layout in ((PLACES, "HWC"), (BOX, None), (np.int32([7]), None))
            ]
            pipe.set_outputs(*dali.fn.ssd_random_crop(*given, num_attempts=attempts))
        pipe.build()
        theirs = pipe.run()[0]
        ours = crops(PLACES, BOX, np.int32([7]), num_attempts=attempts)[0]
        share = np.mean([x.shape == PLACES.shape for x in ours])
        assert abs(share - np.mean([theirs.at(i).shape == PLACES.shape for i in range(1500)])) < 0.05


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ((PLACES[0], BOX, np.int32([1])), r"pictures of layout HWC, got '' and the shape \(200, 3\)"),
        ((PLACES, BOX.astype(float), np.int32([1])), "boxes of FLOAT, got FLOAT64"),
        ((PLACES, np.zeros((1, 6), F), np.int32([1])), r"boxes of the shape \(boxes, 4\), got \(1, 6\)"),
        ((PLACES, BOX, np.int32([1, 2])), r"labels of the shape \(2,\) for 1 boxes"),
        ((PLACES, -BOX, np.int32([1])), "box 0 goes from -0.3"),
    ],
)
def test_what_is_refused(inputs: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=f"ssd_random_crop: .*{problem}"):
        crops(*inputs, count=1, layout="HWC" if inputs[0].ndim == 3 else "")


def test_no_attempts() -> None:
    with pytest.raises(ArgumentError, match="ssd_random_crop: num_attempts=0: expected 1 or more"):
        fn.ssd_random_crop(PLACES, BOX, np.int32([1]), num_attempts=0)
