"""fn.roi_random_crop: where windows start."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from tests.augment.drawing import draw
from tests.cases import case, per_sample, pictures

ROI = {"roi_start": [3, 4], "roi_shape": [2, 3]}
CASES = [
    case("roi_random_crop", crop_shape=[5, 5], roi_start=[3, 4], roi_end=[8, 9]),
    case("roi_random_crop", crop_shape=[5, 5], **ROI, in_shape=[20, 20]),
    case("roi_random_crop", crop_shape=5, roi_start=3, roi_shape=2),
    case("roi_random_crop", crop_shape=[4, 5, 6], roi_start=3, roi_shape=[2, 9, 1]),
    case("roi_random_crop", pictures(), crop_shape=[5, 5], **ROI),
    case("roi_random_crop", pictures("DHW", np.float32), crop_shape=[2, 5, 5], roi_start=[0, 4, 4], roi_shape=2),
    case(
        "roi_random_crop",
        pictures(),
        crop_shape=per_sample([[5, 6], [7, 8], [9, 1]]),
        roi_start=per_sample([[0, 0], [1, 2], [9, 9]]),
        roi_end=per_sample([[19, 5], [1, 2], [9, 10]]),
    ),
    case("roi_random_crop", crop_shape=[], roi_start=[], roi_shape=[]),
]


def starts(count: int = 2000, **arguments: Any) -> set[tuple[int, ...]]:
    drawn = draw(lambda: fn.roi_random_crop(**arguments), batch_size=100, batches=count // 100)
    found, counts = np.unique(drawn, axis=0, return_counts=True)
    assert counts.min() > 0.5 * counts.mean()  # all as often as each other, or nearly so
    return set(map(tuple, found.tolist()))


@pytest.mark.parametrize(
    ("arguments", "first", "last"),
    [
        ({"crop_shape": [5], "roi_start": [3], "roi_end": [8]}, 3, 3),
        ({"crop_shape": [5], "roi_start": [3], "roi_end": [5]}, 0, 3),
        ({"crop_shape": [7], "roi_start": [3], "roi_end": [5]}, -2, 3),
        ({"crop_shape": [7], "roi_start": [3], "roi_end": [5], "in_shape": [20]}, 0, 3),
        ({"crop_shape": [7], "roi_start": [15], "roi_end": [18], "in_shape": [20]}, 11, 13),
        ({"crop_shape": [2], "roi_start": [3], "roi_shape": [9]}, 3, 10),
        ({"crop_shape": [0], "roi_start": [3], "roi_shape": [2]}, 3, 5),
        ({"crop_shape": [20], "roi_start": [3], "roi_shape": [2], "in_shape": [20]}, 0, 0),
    ],
)
def test_all_places_are_as_likely(arguments: Any, first: int, last: int) -> None:
    assert starts(**arguments) == {(i,) for i in range(first, last + 1)}


def test_axes_and_samples_are_independent() -> None:
    arguments = {"crop_shape": [4, 4], "roi_start": [2, 2], "roi_shape": [2, 2]}
    assert len(starts(**arguments)) == 9
    drawn = draw(lambda: fn.roi_random_crop(**arguments), batch_size=2000)
    pairs = np.concatenate([drawn[:-1], drawn[1:]], axis=1)
    assert len(np.unique(pairs, axis=0)) == 81


def test_dali_takes_the_same_places() -> None:
    dali = pytest.importorskip("nvidia.dali")
    arguments = {"crop_shape": [7, 3], "roi_start": [3, 4], "roi_shape": [2, 5], "in_shape": [20, 9]}
    pipe = dali.Pipeline(batch_size=500, num_threads=1, device_id=None, seed=1)
    with pipe:
        pipe.set_outputs(dali.fn.roi_random_crop(**arguments))
    pipe.build()
    assert set(map(tuple, pipe.run()[0].as_array().tolist())) == starts(**arguments)


@pytest.mark.parametrize(
    "arguments", [{"crop_shape": 2, "roi_start": 0}, {"crop_shape": 2, "roi_start": 0, "roi_end": 1, "roi_shape": 1}]
)
def test_just_one_of_end_and_shape(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match=r"roi_random_crop: roi_end=.*: expected just one of roi_end and roi_shape"):
        fn.roi_random_crop(**arguments)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"crop_shape": [5, 5], "in_shape": [4, 9]}, "crop_shape is 5 on axis 0, but there the input has only 4"),
        ({"crop_shape": [5, 5], "in_shape": [9, 6]}, r"from 4 to 7 on axis 1 is not within the input's 0 to 6"),
        ({"crop_shape": [5, 5], "roi_start": [-1, 4], "in_shape": [9, 9]}, "from -1 to 1 on axis 0 is not within"),
        ({"crop_shape": [5, -5]}, "crop_shape is -5 on axis 1; expected 0 or more"),
        (
            {"crop_shape": [5, 5], "roi_shape": [1, -1]},
            "region of interest ends before it starts on axis 1: from 4 to 3",
        ),
        ({"crop_shape": [5, 5], "roi_start": [1, 2, 3]}, "roi_start has 3 values, but crop_shape has 2"),
        ({"crop_shape": [5, 5], "in_shape": [9, 9, 3]}, "in_shape has 3 values, but crop_shape has 2"),
        ({"crop_shape": [5, 2**60]}, r"crop_shape has a value of more than 2\^48"),
        ({"crop_shape": [1] * 40}, "crop_shape has 40 values"),
    ],
)
def test_mistakes_are_named(arguments: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=f"roi_random_crop: .*{problem}"):
        draw(lambda: fn.roi_random_crop(**{**ROI, **arguments}))


def test_the_input_is_too_small_or_superfluous() -> None:
    for problem, arguments in (
        (r"crop_shape has 2 values, but the input's shape is \(9,\)", {}),
        ("the shape is given twice: by the input and by in_shape", {"in_shape": [9, 9]}),
    ):
        pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(fn.roi_random_crop(np.zeros(9, np.uint8), crop_shape=[1, 1], **ROI, **arguments))
        with pytest.raises((OperatorError, ArgumentError), match=problem):
            pipe.run()
