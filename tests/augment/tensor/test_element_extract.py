"""fn.element_extract, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from tests.cases import Array, Samples, case, random_array


def extracted(x: Array, element_map: Any) -> tuple[Array, ...]:
    return tuple(x[i] for i in np.ravel(element_map))


VIDEO = Samples(tuple(random_array((4 + i, 9, 7 + i, 3), seed=i) for i in range(3)), "FHWC")
BARE = Samples(tuple(random_array((5, 3 + i), np.float64, i) for i in range(3)))
NUMBERS = Samples(tuple(random_array((3 + i,), np.int16, i) for i in range(3)), "F")
EMPTY = Samples((random_array((2, 0, 4)),) * 3, "FHW")

CASES = [
    case("element_extract", VIDEO, reference=extracted, element_map=[2, 0]),
    case("element_extract", VIDEO, reference=extracted, element_map=3),
    case("element_extract", VIDEO, reference=extracted, element_map=[1, 1, 1, 3, 0]),
    case("element_extract", BARE, reference=extracted, element_map=[4]),
    case("element_extract", EMPTY, reference=extracted, element_map=[0, 1]),
    case("element_extract", NUMBERS, reference=extracted, element_map=[2, 1], differs="DALI wants two axes"),
]


def run(x: Array, layout: str | None = None, **arguments: Any) -> Any:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        made = fn.element_extract(types.Constant(x, layout=layout), **arguments)
        pipe.set_outputs(*(made if isinstance(made, list) else [made]))
    return pipe.run()


def test_one_number_gives_one_output() -> None:
    (only,) = run(VIDEO.arrays[0], "FHWC", element_map=1)
    np.testing.assert_array_equal(only.at(0), VIDEO.arrays[0][1])
    assert only.layout() == "HWC"


def test_errors() -> None:
    for wrong in ([], [-1], [0, -2]):
        with pytest.raises(ArgumentError, match=r"element_map=.*numbers from 0"):
            run(BARE.arrays[0], element_map=wrong)
    with pytest.raises(OperatorError, match=r"element_map has 5, but the input \(5, 3\) has elements 0 to 4"):
        run(BARE.arrays[0], element_map=[0, 5])
    with pytest.raises(OperatorError, match="layout is 'HW'; expected a sequence"):
        run(BARE.arrays[0], "HW", element_map=[0])
    with pytest.raises(OperatorError, match="single number"):
        run(np.array(3.0), element_map=[0])
