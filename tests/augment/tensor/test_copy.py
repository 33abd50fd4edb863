"""fn.copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import fn
from tests.augment.metadata import run
from tests.cases import Samples, case, pictures

NUMBERS = Samples(tuple(np.float32([1.5, 2.5, 3.5])))

CASES = [
    case("copy", pictures(), reference=lambda x: x),
    case("copy", pictures("FHW", np.float64), reference=lambda x: x),
    case("copy", NUMBERS, reference=lambda x: x),
]


def test_a_copy_has_memory_of_its_own() -> None:
    def make() -> Any:
        data = fn.random.uniform(shape=[1000], seed=3)
        return data, fn.copy(data), fn.copy(fn.copy(data))

    first, *copies = run(make)
    for copied in copies:
        assert copied.data_ptr() != first.data_ptr()
        np.testing.assert_array_equal(copied.as_array(), first.as_array())
    assert copies[0].data_ptr() != copies[1].data_ptr()
