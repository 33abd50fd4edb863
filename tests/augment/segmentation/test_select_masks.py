"""fn.segmentation.select_masks, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, Samples, case, samples


def selected(mask_ids: Array, polygons: Array, vertices: Array, reindex_masks: bool = False) -> tuple[Array, Array]:
    rows, parts, count = [], [vertices[:0]], 0
    for i, mask in enumerate(mask_ids):
        for _, first, end in polygons[polygons[:, 0] == mask]:
            rows.append((i if reindex_masks else mask, count, count + end - first))
            parts.append(vertices[first:end])
            count += end - first
    return np.array(rows, np.int32).reshape(-1, 3), np.concatenate(parts)


POLYGONS = samples(
    [[[0, 0, 3], [1, 3, 7], [2, 7, 10]], [[7, 2, 5]], [[3, 4, 4], [-1, 0, 9], [5, 1, 2], [6, 3, 8]]], dtype=np.int32
)
SEVERAL = samples([[[1, 0, 3], [0, 3, 5], [1, 5, 10]], [[2, 2, 5], [2, 0, 2]], [[3, 0, 1], [3, 1, 2]]], dtype=np.int32)


def vertices(dtype: Any, coordinates: int) -> Samples:
    return samples([np.arange(coordinates * n).reshape(n, coordinates) for n in (10, 5, 12)], dtype=dtype)


def ids(*lists: list[int]) -> Samples:
    return samples(lists, dtype=np.int32)


CASES = [
    case("segmentation.select_masks", chosen, polygons, points, reference=selected, differs=differs, **arguments)
    for chosen, polygons, points, differs, arguments in (
        (ids([1], [7], [5]), POLYGONS, vertices(np.float32, 2), None, {}),
        (ids([2, 0], [7], [6, 3, -1]), POLYGONS, vertices(np.float32, 2), None, {"reindex_masks": True}),
        (ids([2, 0], [7], [6, 3, -1]), POLYGONS, vertices(np.int16, 3), None, {"reindex_masks": False}),
        (ids([0, 1, 2], [], [5, 6]), POLYGONS, vertices(np.float64, 1), None, {}),
        (ids([1], [7], [5]), POLYGONS, vertices(np.uint8, 0), None, {}),
        (ids([1], [2], [3]), SEVERAL, vertices(np.float32, 2), "DALI keeps the last polygon of a mask only", {}),
    )
]


def run(mask_ids: Any, polygons: Any, points: Any) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*fn.segmentation.select_masks(constant(mask_ids), constant(polygons), constant(points)))
    pipe.run()


P, V = np.int32([[0, 0, 3], [1, 3, 7]]), np.zeros((7, 2), np.float32)


@pytest.mark.parametrize(
    ("mask_ids", "polygons", "points", "problem"),
    [
        (np.int32([5]), P, V, "mask 5 has no polygon"),
        (np.int32([1, 0, 1]), P, V, "mask_ids has mask 1 twice"),
        (np.int64([1]), P, V, r"mask_ids: expected a list of INT32, got INT64 of the shape \(1,\)"),
        (np.int32([[1]]), P, V, r"mask_ids: .* got INT32 of the shape \(1, 1\)"),
        (np.int32([1]), P.astype(np.float32), V, "polygons: expected INT32"),
        (np.int32([1]), P[:, :2], V, r"polygons: .* got INT32 of the shape \(2, 2\)"),
        (np.int32([1]), P, V[:, 0], "vertices: expected the shape"),
        (np.int32([1]), P, V[:5], "a polygon of mask 1 has vertices from 3 to 7, but there are 5"),
        (np.int32([0]), np.int32([[0, -1, 3]]), V, "vertices from -1 to 3"),
        (np.int32([0]), np.int32([[0, 3, 1]]), V, "vertices from 3 to 1"),
    ],
)
def test_what_is_refused(mask_ids: Array, polygons: Array, points: Array, problem: str) -> None:
    with pytest.raises(OperatorError, match=f"select_masks: .*{problem}"):
        run(mask_ids, polygons, points)


def test_other_polygons_are_not_looked_at() -> None:
    run(np.int32([0]), np.int32([[0, 0, 3], [1, 5, 99]]), V)
