"""fn.segmentation.random_object_bbox: which objects are drawn, and how often."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, case, per_sample, random_array, samples

MAPS = samples([random_array(shape, np.uint8, i) % 5 for i, shape in enumerate([(9, 8), (20, 3), (5, 31)])], "HW")
CASES = [
    case("segmentation.random_object_bbox", MAPS, **arguments)
    for arguments in (
        {},
        {"format": "start_end", "output_class": True},
        {"format": "box", "ignore_class": True, "k_largest": 2},
        {"format": "box", "classes": [1, 2], "class_weights": per_sample([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])},
        {"threshold": per_sample([[2, 1], [1, 1], [3, 3]]), "background": per_sample([1, 2, 0]), "cache_objects": True},
        {"foreground_prob": per_sample([0.0, 0.5, 1.0]), "threshold": 1, "output_class": True},
    )
]
Drawn = Counter[tuple[tuple[int, ...], int]]


def drawn(labels: Any, count: int = 1000, **arguments: Any) -> Drawn:
    """How often each box was drawn, with its label."""
    pipe = Pipeline(batch_size=100, num_threads=2, device_id=None, seed=4)
    with pipe:
        made = fn.segmentation.random_object_bbox(
            constant(np.asarray(labels)), format="box", output_class="ignore_class" not in arguments, **arguments
        )
        pipe.set_outputs(*(made if isinstance(made, list) else [made, np.int32(-9)]))
    found: Drawn = Counter()
    for _ in range(count // 100):
        boxes, classes = (output.as_array() for output in pipe.run())
        found.update((tuple(box), int(label)) for box, label in zip(boxes.tolist(), classes, strict=True))
    return found


def assert_shares(found: Drawn, wanted: dict[tuple[tuple[int, ...], int], float]) -> None:
    assert set(found) == set(wanted)
    count = sum(found.values())
    for key, share in wanted.items():
        assert abs(found[key] - share * count) < 4 * (count * share * (1 - share)) ** 0.5 + 1


LABELS = np.array([[1, 1, 0, 2, 0], [0, 1, 0, 0, 3], [2, 0, 1, 0, 3]], np.uint8)
ALL = (0, 0, 3, 5)
ONE, ONES, TWO, TWOS, THREE = (0, 0, 2, 2), (2, 2, 3, 3), (0, 3, 1, 4), (2, 0, 3, 1), (1, 4, 3, 5)


def test_a_class_and_then_one_of_its_objects() -> None:
    sixth, third = 1 / 6, 1 / 3
    wanted = {(ONE, 1): sixth, (ONES, 1): sixth, (TWO, 2): sixth, (TWOS, 2): sixth, (THREE, 3): third}
    for dtype in (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32):
        assert_shares(drawn(LABELS.astype(dtype)), wanted)


def test_any_object() -> None:
    assert_shares(drawn(LABELS, ignore_class=True), {(box, -9): 0.2 for box in (ONE, ONES, TWO, TWOS, THREE)})
    assert_shares(drawn(LABELS, ignore_class=True, k_largest=2), {(ONE, -9): 0.5, (THREE, -9): 0.5})


def test_classes_and_weights() -> None:
    assert_shares(drawn(LABELS, classes=[3, 9]), {(THREE, 3): 1.0})
    assert_shares(drawn(LABELS, classes=[9]), {(ALL, 0): 1.0})
    weighted = {(ONE, 1): 0.05, (ONES, 1): 0.05, (THREE, 3): 0.9}
    assert_shares(drawn(LABELS, classes=[3, 1], class_weights=[9, 1]), weighted)
    assert_shares(drawn(LABELS, class_weights=[1, 0, 9]), weighted)
    assert_shares(drawn(LABELS, classes=[3], class_weights=[0]), {(ALL, 0): 1.0})
    assert_shares(drawn(LABELS, class_weights=[0, 1], background=1), {(TWO, 2): 0.5, (TWOS, 2): 0.5})


def test_large_ones() -> None:
    assert_shares(drawn(LABELS, threshold=2), {(ONE, 1): 1.0})
    assert_shares(drawn(LABELS, threshold=[2, 1]), {(ONE, 1): 0.5, (THREE, 3): 0.5})
    assert_shares(drawn(LABELS, threshold=9), {(ALL, 0): 1.0})
    assert_shares(drawn(LABELS, classes=[1], k_largest=1), {(ONE, 1): 1.0})


def test_background() -> None:
    assert_shares(drawn(LABELS, foreground_prob=0.25, classes=[3]), {(ALL, 0): 0.75, (THREE, 3): 0.25})
    assert_shares(drawn(np.zeros((3, 5), np.uint8)), {(ALL, 0): 1.0})
    for classes, background in (([1, 2], 0), ([0, 5], -1), ([-1, 0], -2), ([0, -(2**31)], 2**31 - 1)):
        assert_shares(drawn(LABELS, classes=classes, foreground_prob=0), {(ALL, background): 1.0})
    assert_shares(drawn(LABELS == 3, background=1, ignore_class=True), {((0, 0, 3, 5), -9): 1.0})


def components(labels: Array) -> set[tuple[tuple[int, ...], int]]:
    """By filling from pixel to pixel."""
    found, left = set(), set(map(tuple, np.argwhere(labels).tolist()))
    while left:
        waiting = [left.pop()]
        blob = list(waiting)
        while waiting:
            at = waiting.pop()
            for axis in range(len(at)):
                for step in (-1, 1):
                    near = (*at[:axis], at[axis] + step, *at[axis + 1 :])
                    if near in left and labels[near] == labels[at]:
                        left.remove(near)
                        waiting.append(near)
                        blob.append(near)
        found.add(((*np.min(blob, axis=0).tolist(), *(np.max(blob, axis=0) + 1).tolist()), int(labels[blob[0]])))
    return found


@pytest.mark.parametrize("shape", [(40,), (9, 11), (4, 5, 6), (3, 2, 4, 3)])
def test_blobs(shape: tuple[int, ...]) -> None:
    labels = np.random.default_rng(len(shape)).choice([0, 1, 1, 1, 2], shape).astype(np.uint8)
    wanted = components(labels)
    boxes = Counter(box for box, _ in wanted)
    found = drawn(labels, 5000, ignore_class=True)
    assert {box for box, _ in found} == set(boxes)
    assert set(drawn(labels, 5000)) <= wanted


def test_formats() -> None:
    labels = np.zeros((6, 8), np.int32)
    labels[1:3, 2:5] = 4
    for format, wanted in (
        ("anchor_shape", [[1, 2], [2, 3]]),
        ("start_end", [[1, 2], [3, 5]]),
        ("box", [[1, 2, 3, 5]]),
    ):
        pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(*fn.segmentation.random_object_bbox(constant(labels), format=format, output_class=True))
        assert [output.at(0).tolist() for output in pipe.run()] == [*wanted, 4]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"k_largest": 0}, "k_largest=0: expected 1 or more"),
        ({"format": "other"}, "format='other': expected one of"),
        ({"ignore_class": True, "classes": [1]}, "ignore_class=True: cannot be given together"),
        ({"ignore_class": True, "output_class": True}, "ignore_class=True: cannot be given together"),
    ],
)
def test_wrong_constants(arguments: Any, problem: str) -> None:
    with pytest.raises(ArgumentError, match=f"random_object_bbox: {problem}"):
        fn.segmentation.random_object_bbox(LABELS, **arguments)


@pytest.mark.parametrize(
    ("labels", "arguments", "problem"),
    [
        (LABELS.astype(np.float32), {}, "expected labels of BOOL or of integers up to 32 bits, got FLOAT"),
        (LABELS.astype(np.int64), {}, "got INT64"),
        (np.uint8(3), {}, "single number"),
        (LABELS, {"threshold": [1, 2, 3]}, "threshold has 3 values for 2 axes"),
        (LABELS, {"classes": [1, 2], "class_weights": [1]}, "class_weights has 1 values for 2 classes"),
        (LABELS, {"classes": [1, 2], "background": 2}, "background is 2, which is one of the classes"),
    ],
)
def test_what_is_refused(labels: Any, arguments: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=f"random_object_bbox: .*{problem}"):
        drawn(labels, **arguments)


def test_no_pixels() -> None:
    assert_shares(drawn(np.zeros((0, 3), np.uint8)), {((0, 0, 0, 3), 0): 1.0})
