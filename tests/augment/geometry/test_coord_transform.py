"""fn.coord_transform, against NumPy; the sweep compares it with DALI too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.warp_reference import rounded
from tests.cases import Array, Samples, case, per_sample, random_array, samples
from tests.runners import ours


def transformed(x: Array, dtype: Any = types.FLOAT, **given: Any) -> Array:
    n = x.shape[-1]
    m, t, both = (given.get(name) for name in ("M", "T", "MT"))
    if both is not None and np.size(both) > 1:
        rows = np.reshape(both, (-1, n + 1)).astype(float)
        matrix, offset = rows[:, :-1], rows[:, -1]
    else:
        single = both if m is None else m
        whole = single is not None and (np.size(single) > 1 or n == 1)
        matrix = np.reshape(single, (-1, n)) if whole else np.eye(n) * (1 if single is None else np.ravel(single)[0])
        offset = np.ravel(0 if t is None else t)
    return rounded(x.astype(float) @ matrix.T + offset, np.dtype(types.to_numpy_type(dtype)))


def points(*shape: int, dtype: Any = np.float32, layout: str = "") -> Samples:
    return samples([random_array((n, *shape), dtype, seed=n) for n in (5, 1, 33)], layout)


def of(x: Samples, **arguments: Any) -> Any:
    large = x.dtype.itemsize > 2 and x.dtype.kind == "i"
    return case(
        "coord_transform", x, reference=transformed, off_by=1 << 10 if large else 1, tolerance=1e-4, **arguments
    )


def normal(*shape: int) -> Samples:
    random = np.random.default_rng(shape)
    return samples([random.normal(0, 1, shape).astype(np.float32) for _ in range(3)])


CASES = [
    of(points(2)),
    of(points(2), M=[1, 2, 3, 4.5]),
    of(points(2), M=[1, 2, 3, 4, 5, 6], T=[1, 2, 3]),
    of(points(3), M=[0.5] * 9, T=7),
    of(points(3), M=[0.5, -1, 2], T=7),
    of(points(2), M=-2.5, T=[10, 20]),
    of(points(2), T=10),
    of(points(2), MT=[1, 2, 3, 4, 5, 6]),
    of(points(3), MT=[1, 2, 3, 4]),
    of(points(3), MT=3),
    of(points(1), M=3, T=1),
    of(points(1), MT=[3, 1]),
    of(points(5), M=normal(3, 5), T=normal(3)),
    of(points(2), MT=normal(2, 3)),
    of(points(2), M=per_sample([2.0, 3.0, -1.0])),
    of(points(2, 3, layout="ABC"), MT=normal(3, 4)),
    of(points(2, layout="NX"), MT=normal(2, 3)),
    *[of(points(2, dtype=t), MT=[1.5, 0, -4, 0.25, 100, -2]) for t in (np.uint8, np.uint16, np.int16)],
    *[
        of(points(2, dtype=t), MT=[0.5, 0, -4, 0.25, 0.1, -2], dtype=types.to_dali_type(np.dtype(t)))
        for t in (np.uint8, np.uint16, np.int16, np.int32)
    ],
    case(
        "coord_transform", samples([np.zeros((0, 3))] * 3), reference=lambda x, **_: np.zeros((0, 2), np.float32),
        differs="without points, DALI has no coordinates", M=[1, 2, 3, 4, 5, 6],
    ),
]  # fmt: skip


def test_maps_by_frame() -> None:
    x, maps = random_array((3, 4, 2), np.float32), np.random.default_rng(1).normal(0, 1, (3, 2, 3)).astype(np.float32)
    one = case("coord_transform", samples([x], "FNX"), MT=samples([maps], "FAB"))
    found = ours(one)[0].arrays[0]
    np.testing.assert_allclose(
        found, [transformed(p, MT=m) for p, m in zip(x, maps, strict=True)], rtol=1e-4, atol=1e-3
    )


def test_both_ways_at_once() -> None:
    with pytest.raises(ArgumentError, match=r"coord_transform: MT=.*cannot be given together with M or T"):
        fn.coord_transform(np.zeros((1, 2), np.float32), MT=[1, 2, 3], T=1)


@pytest.mark.parametrize(
    ("x", "arguments", "message"),
    [
        (np.zeros((3, 2), np.float32), {"M": [1, 2, 3]}, "M has 3 values: expected rows of 2, or one value"),
        (np.zeros((3, 2), np.float32), {"MT": [1, 2, 3, 4]}, "MT has 4 values: expected rows of 3"),
        (np.zeros((3, 2), np.float32), {"T": [1, 2, 3]}, "T has 3 values: expected 1 or 2"),
        (np.zeros((3, 2), np.uint8), {"dtype": types.INT16}, "dtype: expected FLOAT, or the input's type, UINT8"),
        (np.zeros((3, 2)), {}, "expected UINT8, UINT16, INT16, INT32 or FLOAT, got FLOAT64"),
        (np.zeros(2, np.float32), {}, "at least 2 axes"),
        (np.zeros((2, 5000), np.float32), {"T": [1]}, "expected 1 to 4096 coordinates"),
    ],
)
def test_what_does_not_fit(x: Array, arguments: dict[str, Any], message: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.coord_transform(constant(x), **arguments))
    with pytest.raises(OperatorError, match=message):
        pipe.run()
