"""fn._conditional.merge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import errors, fn, types
from tests.small import made


def test_samples_have_their_places_again() -> None:
    def define() -> Any:
        x = fn.external_source(lambda: [np.int32([k] * (k + 1)) for k in range(5)], layout="X")
        odd = (x & 1)[0] == 1
        yes, no = fn._conditional.split(x, predicate=odd)
        return fn._conditional.merge(yes * 10, no, predicate=odd)

    (merged,) = made(define, batch_size=5).run()
    assert [merged.at(i).tolist() for i in range(5)] == [[0], [10, 10], [2] * 3, [30] * 4, [4] * 5]
    assert (merged.layout(), merged.dtype) == ("X", types.INT32)


@pytest.mark.parametrize("other", [lambda no: fn.cast(no, dtype=types.FLOAT), lambda no: fn.stack(no, no)])
def test_branches_of_different_types(other: Callable[[Any], Any]) -> None:
    x = fn.external_source(lambda: np.int32([1, 2, 3, 4]))
    small = x < 3
    yes, no = fn._conditional.split(x, predicate=small)
    with pytest.raises(errors.InputError, match=r"merge: the samples differ: .*, sample 0 INT32 with 0 axes") as caught:
        made(lambda: fn._conditional.merge(yes, other(no), predicate=small)).run()
    assert caught.value.sample == 2


def test_branches_of_different_layouts() -> None:
    x = fn.external_source(lambda: np.zeros((4, 2, 3), np.uint8))
    p = fn.external_source(lambda: np.array([True, False] * 2))
    yes, no = fn._conditional.split(x, predicate=p)
    with pytest.raises(errors.LayoutError, match="the samples differ: this sample has the layout 'HW', sample 0 ''"):
        made(lambda: fn._conditional.merge(yes, fn.reshape(no, layout="HW"), predicate=p)).run()
