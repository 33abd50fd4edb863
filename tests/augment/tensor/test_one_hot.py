"""fn.one_hot, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.fills import cast_like_c
from tests.cases import Array, case, random_array, samples


def encoded(
    x: Array,
    num_classes: int = 0,
    axis: int | None = None,
    axis_name: str = "",
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: types.DALIDataType = types.FLOAT,
) -> Array:
    if x.size == 1 and axis is None:
        x = x.reshape(())
    place = x.ndim if axis in (None, -1) else axis
    hot = np.expand_dims(np.trunc(x), place) == np.arange(num_classes).reshape((-1,) + (1,) * (x.ndim - place))
    on, off = cast_like_c([on_value, off_value], np.dtype(types.to_numpy_type(dtype)))
    return np.where(hot, on, off)


def classes(*shapes: Any, dtype: Any = np.int32, layout: str = "") -> Any:
    return samples([random_array(s, np.uint8, seed=i) % 7 for i, s in enumerate(shapes)], layout, dtype)


TABLE = classes((4, 5), (1, 3), (6, 2))
CASES = [
    case("one_hot", classes((), (), ()), reference=encoded, num_classes=7),
    case("one_hot", classes((1,), (1,)), reference=encoded, num_classes=5, axis_name="C"),
    case("one_hot", classes((1, 1), (1, 1)), reference=encoded, num_classes=7),
    case("one_hot", classes((1, 1), (1, 1)), reference=encoded, num_classes=7, axis=0),
    case("one_hot", classes((1, 1), (1, 1)), reference=encoded, num_classes=7, axis=-1),
    case("one_hot", TABLE, reference=encoded, num_classes=6),
    case("one_hot", TABLE, reference=encoded, num_classes=7, axis=0, on_value=3, off_value=-2, dtype=types.INT8),
    case("one_hot", TABLE, reference=encoded, num_classes=7, axis=1, dtype=types.UINT8),
    case("one_hot", TABLE, reference=encoded, num_classes=7, axis=2),
    case("one_hot", TABLE, reference=encoded),
    case("one_hot", classes((4, 5), (2, 3), layout="HW"), reference=encoded, num_classes=7, axis_name="C"),
    case("one_hot", classes((4, 5), (2, 3), layout="HW"), reference=encoded, num_classes=7, axis=0, axis_name="C"),
    case("one_hot", classes((4, 5), (2, 3), layout="HW"), reference=encoded, num_classes=7, axis=1),
    case("one_hot", samples([[-1, 0, 3, 2], [1, 2]], dtype=np.int16), reference=encoded, num_classes=3),
    case("one_hot", samples([[0.9, 1.5, -0.5], [2.5, -1.0]], dtype=np.float32), reference=encoded, num_classes=3),
]
CASES += [
    case("one_hot", classes((4, 5), (2, 3), dtype=dtype), reference=encoded, num_classes=7)
    for dtype in ("u1", "u2", "u4", "u8", "i1", "i2", "i8", "f8")
]
CASES += [
    case("one_hot", TABLE, reference=encoded, num_classes=4, on_value=2.5, off_value=-1.5, dtype=dtype)
    for dtype in (types.UINT8, types.UINT16, types.UINT32, types.UINT64, types.INT16, types.INT64, types.FLOAT64)
]
_EXTENDED = "DALI takes no such type"
CASES += [
    case("one_hot", TABLE, reference=encoded, num_classes=4, dtype=types.FLOAT16, differs=_EXTENDED),
    case("one_hot", TABLE, reference=encoded, num_classes=4, dtype=types.BOOL, differs=_EXTENDED),
    case("one_hot", classes((4, 5), dtype=np.float16), reference=encoded, num_classes=4, differs=_EXTENDED),
    case("one_hot", samples([[True, False]]), reference=encoded, num_classes=2, differs=_EXTENDED),
]


def run(x: Array, layout: str = "", **arguments: Any) -> Array:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.one_hot(constant(x, layout), **arguments))
    return np.array(pipe.run()[0].at(0))


def test_numbers_that_are_no_class() -> None:
    for values in (np.float32([np.nan, np.inf, -np.inf, 1e30, 1]), np.float64([np.nan, 1e300, -1e300, -1, 1])):
        assert run(values, num_classes=2)[:, 1].tolist() == [0, 0, 0, 0, 1]
    assert run(np.uint64([2**64 - 1, 1]), num_classes=2).tolist() == [[0, 0], [0, 1]]


def test_single_elements_among_others_are_no_numbers() -> None:
    """All samples of the batch decide."""
    both = samples([[2], [0, 1]], dtype=np.int32)
    for batch, shapes in ((1, [(3,), (2, 3)]), (2, [(1, 3), (2, 3)])):
        pipe = Pipeline(batch_size=batch, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(fn.one_hot(both.node(), num_classes=3))
        found = [output.at(i).shape for output in (pipe.run()[0] for _ in range(2 // batch)) for i in range(batch)]
        assert found == shapes


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"axis": 3}, "axis is 3: expected -1 to 2"),
        ({"axis_name": "C"}, "axis_name is given, but the input has no layout"),
    ],
)
def test_axes_that_do_not_fit_are_named(arguments: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        run(np.int32([[1, 2]]), num_classes=3, **arguments)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"num_classes": -1}, "num_classes=-1: expected at least 0"),
        ({"num_classes": 3, "axis": -2}, "axis=-2: expected at least -1"),
        ({"num_classes": 3, "axis_name": "CD"}, "axis_name='CD': expected one letter"),
    ],
)
def test_wrong_arguments_are_named(arguments: Any, problem: str) -> None:
    with pytest.raises(ArgumentError, match=problem):
        fn.one_hot(np.int32([[1, 2]]), **arguments)
