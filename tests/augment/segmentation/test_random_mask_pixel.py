"""fn.segmentation.random_mask_pixel: which pixels are drawn, and how often."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.drawing import draw
from tests.cases import Array, case, per_sample, pictures, samples

CASES = [
    case("segmentation.random_mask_pixel", pictures("HW")),
    case("segmentation.random_mask_pixel", pictures("HW", np.float32), foreground=1, threshold=50.0),
    case("segmentation.random_mask_pixel", pictures("DHW", np.int32), foreground=per_sample([1, 0, 1])),
    case("segmentation.random_mask_pixel", pictures("HWC", np.uint16), foreground=1, value=per_sample([7, 8, 9])),
    case("segmentation.random_mask_pixel", samples([[1, 0], [5], [0, 0, 7]], dtype=np.int64), foreground=1),
]


def places(mask: Any, count: int = 3000, **arguments: Any) -> set[tuple[int, ...]]:
    drawn = draw(
        lambda: fn.segmentation.random_mask_pixel(constant(np.asarray(mask)), **arguments),
        batch_size=100,
        batches=count // 100,
    )
    found, counts = np.unique(drawn, axis=0, return_counts=True)
    assert counts.min() > 0.5 * counts.mean()  # each as often as the others, or nearly so
    return set(map(tuple, found.tolist()))


def where(chosen: Array) -> set[tuple[int, ...]]:
    return set(map(tuple, np.argwhere(chosen).tolist()))


MASK = np.array([[0, 1, 7, 0], [7, 0, 3, 7]], np.int32)


def test_all_pixels() -> None:
    assert places(MASK) == where(MASK >= 0)
    assert places(MASK, foreground=0, value=7) == where(MASK >= 0)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.uint64, np.float16, np.float32, np.float64])
def test_foreground(dtype: Any) -> None:
    mask = MASK.astype(dtype)
    assert places(mask, foreground=1) == where(MASK > 0)
    assert places(mask, foreground=-2, threshold=2.5) == where(MASK > 2.5)
    assert places(mask, foreground=1, value=7) == where(MASK == 7)


def test_masks_of_booleans_and_below_0() -> None:
    assert places(MASK == 7, foreground=1) == where(MASK == 7)
    assert places(-MASK, foreground=1, threshold=-3.5) == where(-MASK > -3.5)
    assert places(-MASK, foreground=1, value=-7) == where(MASK == 7)


@pytest.mark.parametrize("arguments", [{"threshold": 7}, {"value": 9}, {"value": 263}])
def test_without_a_foreground_any_pixel(arguments: Any) -> None:
    assert places(MASK.astype(np.uint8), foreground=1, **arguments) == where(MASK >= 0)


def test_large_numbers_are_told_apart() -> None:
    mask = np.array([2**62, 2**62 + 1], np.uint64)
    assert places(mask, foreground=1, value=2**62 + 1) == {(1,)}


def test_errors() -> None:
    with pytest.raises(ArgumentError, match="random_mask_pixel: value=3: cannot be given together with threshold"):
        fn.segmentation.random_mask_pixel(MASK, value=3, threshold=1)
    with pytest.raises(OperatorError, match=r"random_mask_pixel: .*no pixels: its shape is \(0, 3\)"):
        draw(lambda: fn.segmentation.random_mask_pixel(np.zeros((0, 3), np.uint8)))
