"""fn.sequence_rearrange, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from tests.cases import Array, Samples, case, per_sample, random_array, samples


def rearranged(x: Array, new_order: Any) -> Array:
    return x[np.ravel(new_order).astype(int)]


VIDEO = Samples(tuple(random_array((4 + i, 9, 7 + i, 3), seed=i) for i in range(3)), "FHWC")
BARE = Samples(tuple(random_array((5, 3 + i), np.float64, i) for i in range(3)))
NUMBERS = Samples(tuple(random_array((3 + i,), np.int16, i) for i in range(3)), "F")
EMPTY = Samples((random_array((2, 0, 4)),) * 3, "FHW")
ORDERS = samples([[3, 0], [1], [0, 5, 5, 2, 1, 0, 0]], dtype=np.int32)

CASES = [
    case("sequence_rearrange", VIDEO, reference=rearranged, new_order=[3, 2, 1, 0]),
    case("sequence_rearrange", VIDEO, reference=rearranged, new_order=ORDERS),
    case("sequence_rearrange", BARE, reference=rearranged, new_order=[4, 4, 4, 0, 1, 2, 3]),
    case("sequence_rearrange", BARE, reference=rearranged, new_order=2),
    case("sequence_rearrange", EMPTY, reference=rearranged, new_order=[1, 0, 1]),
    case("sequence_rearrange", NUMBERS, reference=rearranged, new_order=[2, 0], differs="DALI wants two axes"),
    case("sequence_rearrange", BARE, reference=rearranged, new_order=per_sample([[1], [2], [0]], np.int64),
         differs="DALI wants INT32"),
]  # fmt: skip


def run(x: Array, layout: str | None = None, **arguments: Any) -> Any:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.sequence_rearrange(types.Constant(x, layout=layout), **arguments))
    return pipe.run()


@pytest.mark.parametrize("order", [[], [-1], [0, -2]])
def test_constant_orders(order: list[int]) -> None:
    with pytest.raises(ArgumentError, match=r"sequence_rearrange: new_order=.*numbers from 0"):
        run(BARE.arrays[0], new_order=order)


@pytest.mark.parametrize(
    ("order", "problem"),
    [
        (np.zeros(0, np.int32), "new_order is empty"),
        (np.int32([0, -1]), "new_order has -1"),
        (np.int32([[0]]), r"new_order is of shape \(1, 1\); expected one axis"),
        (np.int32(0), r"new_order is of shape \(\); expected one axis"),
        (np.int32([5]), r"new_order has 5, but the input \(5, 3\) has elements 0 to 4"),
    ],
)
def test_orders_of_a_node(order: Array, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        order_node = fn.external_source(lambda: [order])
        pipe.set_outputs(fn.sequence_rearrange(types.Constant(BARE.arrays[0]), new_order=order_node))
    with pytest.raises(OperatorError, match=f"sequence_rearrange: .*{problem}"):
        pipe.run()


def test_errors() -> None:
    with pytest.raises(OperatorError, match=r"new_order has 5, but the input \(5, 3\) has elements 0 to 4"):
        run(BARE.arrays[0], new_order=[0, 5])
    with pytest.raises(OperatorError, match="layout is 'HW'; expected a sequence"):
        run(BARE.arrays[0], "HW", new_order=[0])
    with pytest.raises(OperatorError, match="single number"):
        run(np.array(3.0), new_order=[0])
    with pytest.raises(OperatorError, match="new_order has 0, but the input"):
        run(np.zeros((0, 3)), new_order=[0])
