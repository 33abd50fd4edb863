"""fn.reshape and fn.reinterpret: each way to say a shape, and that nothing is copied."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError, PenstockError
from penstock.graph.constants import constant
from tests.cases import Array, Samples, case, per_sample, pictures, random_array, samples


def reshaped(
    x: Array,
    wanted: Any = None,
    shape: Any = None,
    rel_shape: Any = None,
    src_dims: Any = None,
    layout: str | None = None,
) -> Array:
    if wanted is not None:
        shape = wanted
    if shape is None and rel_shape is not None:
        extents = [*x.shape, 1] if src_dims is None else [(x.shape[d] if d >= 0 else 1) for d in src_dims]
        shape = [-1 if r < 0 else math.floor(r * e + 0.5) for r, e in zip(rel_shape, extents, strict=False)]
    elif shape is None and src_dims is not None:
        shape = [x.shape[d] if d >= 0 else 1 for d in src_dims]
    return x if shape is None else x.reshape(np.array(shape, int))


def reinterpreted(x: Array, *wanted: Any, dtype: Any = None, **arguments: Any) -> Array:
    if dtype is None:
        return reshaped(x, *wanted, **arguments)
    new = np.dtype(types.to_numpy_type(dtype))
    if not wanted and arguments.keys() <= {"layout"}:
        return x.view(new)
    return reshaped(np.frombuffer(x.tobytes(), new), *wanted, **arguments)


EVEN = pictures(sizes=[(4, 6), (8, 2), (10, 12)])
BARE = Samples(EVEN.arrays)  # where the number of axes changes from sample to sample, DALI wants no layout
SHAPES = [(8, 9), (4, 12), (90, 4)]

CASES = [
    case("reshape", EVEN, reference=reshaped, shape=[-1]),
    case("reshape", EVEN, reference=reshaped, shape=[2, -1, 3]),
    case("reshape", EVEN, reference=reshaped, shape=[-1, 3], layout="XC"),
    case("reshape", BARE, reference=reshaped, shape=per_sample(SHAPES)),
    case("reshape", BARE, reference=reshaped, shape=per_sample([(-1, s[1]) for s in SHAPES])),
    case("reshape", BARE, per_sample(SHAPES), reference=reshaped),
    case("reshape", EVEN, samples(SHAPES, dtype=np.int64), reference=reshaped, layout="AB"),
    case("reshape", EVEN, reference=reshaped, rel_shape=[0.5, 2, 1]),
    case("reshape", EVEN, reference=reshaped, rel_shape=[0.5, -1]),
    case("reshape", BARE, reference=reshaped, rel_shape=per_sample([(0.5, -1), (2, -1), (0.25, -1)], np.float32)),
    case("reshape", EVEN, reference=reshaped, rel_shape=[0.5, -1, 1], src_dims=[1, 0, 2]),
    case("reshape", EVEN, reference=reshaped, rel_shape=[0.5, 1, 1, -1]),
    case("reshape", samples([5, 6]), reference=reshaped, rel_shape=[-1]),
    case("reinterpret", pictures("HW", sizes=[(4, 6)]), reference=reinterpreted, rel_shape=[1, 0.5, -1]),
    case("reshape", EVEN, reference=reshaped, src_dims=[1, 0, 2]),
    case("reshape", BARE, reference=reshaped, src_dims=[1, -1, 0, 2]),
    case(
        "reshape",
        EVEN,
        reference=reshaped,
        src_dims=per_sample([(1, 0, 2), (0, 1, 2), (2, 1, 0)]),
        differs="DALI overlooks src_dims as a node where nothing else is given",
    ),
    case("reshape", EVEN, reference=reshaped, layout="ABC"),
    case("reshape", EVEN, reference=reshaped, layout=""),
    case("reshape", samples([[5], [6]]), reference=reshaped, shape=[]),
    case("reshape", samples([np.zeros((0, 3)), np.zeros((0, 3))]), reference=lambda x, shape: x, shape=[-1, 3]),
    case("reinterpret", EVEN, reference=reinterpreted, dtype=types.INT8),
    case("reinterpret", EVEN, reference=reinterpreted, shape=[-1, 3]),
    case("reinterpret", EVEN, reference=reinterpreted, dtype=types.UINT16, shape=[-1]),
    case("reinterpret", EVEN, reference=reinterpreted, dtype=types.FLOAT, shape=[2, -1], layout="AB"),
    case("reinterpret", pictures("HW", sizes=[(3, 8), (5, 16), (2, 24)]), reference=reinterpreted, dtype=types.INT32),
    case("reinterpret", pictures("HW", np.int64), reference=reinterpreted, dtype=types.UINT8),
    case(
        "reinterpret",
        BARE,
        samples([(3, 12), (1, 24), (60, 3)], dtype=np.int32),
        reference=reinterpreted,
        dtype=types.UINT16,
    ),
]


PICTURE = random_array((4, 6, 3))


def run(make: Any, array: Array = PICTURE) -> Any:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*np.atleast_1d(make(types.Constant(array, layout="HWC"[: array.ndim]))))
    return pipe.run()


def test_nothing_is_copied() -> None:
    def chain(x: Any) -> Any:
        made = fn.transpose(x, perm=[0, 1, 2])
        return [made, fn.reshape(made, shape=[-1]), fn.reinterpret(fn.reshape(made, shape=[3, 24]), dtype=types.UINT16)]

    original, flat, words = run(chain)
    assert [t.data_ptr() for t in flat] == [t.data_ptr() for t in original] == [t.data_ptr() for t in words]
    assert np.array_equal(words.at(1), original.at(1).reshape(3, 24).view(np.uint16))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"shape": [5, 5]}, r"shape \(5, 5\) of UINT8 takes 25 bytes, but the input \(4, 6, 3\) of UINT8 has 72"),
        ({"shape": [5, -1]}, "takes 70 bytes"),
        ({"shape": [-1, -1]}, "at most one extent"),
        ({"shape": [6, 12], "layout": "HWC"}, r"layout='HWC' does not fit the shape \(6, 12\)"),
        ({"rel_shape": [1, 1, 1, 1]}, "rel_shape has 4 elements"),
        ({"rel_shape": [1, 1, -1, 1]}, "rel_shape has 4 elements"),
        ({"rel_shape": [1, 1, 1, 1, -1]}, "rel_shape has 5 elements"),
        ({"rel_shape": [1, math.nan]}, r"rel_shape\[1\] is -?nan; expected a finite number"),
        ({"rel_shape": [math.inf, -1]}, r"rel_shape\[0\] is inf; expected a finite number"),
        ({"rel_shape": [1, 1], "src_dims": [0, 1, 2]}, "rel_shape has 2 elements, but src_dims has 3"),
        ({"src_dims": [0, 1, 3]}, r"src_dims\[2\]=3"),
        ({"shape": [1] * 13}, "a shape of 13 axes"),
        ({"shape": [72], "rel_shape": [-1]}, "give the shape in one way"),
        ({}, "nothing is given"),
    ],
)
def test_mistakes_are_named(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(OperatorError, match=rf"reshape: .*{problem}"):
        run(lambda x: fn.reshape(x, **arguments))


def test_the_shape_input_must_be_integers() -> None:
    for wanted in (np.float32([72]), np.int32(72), np.int32([[72]])):
        with pytest.raises(OperatorError, match="reshape: the second input, a shape, is"):
            run(lambda x, wanted=wanted: fn.reshape(x, wanted))
    with pytest.raises(OperatorError, match="give the shape in one way"):
        run(lambda x: fn.reshape(x, np.int32([72]), shape=[72]))


def test_reinterpret_needs_whole_elements() -> None:
    with pytest.raises(OperatorError, match=r"reinterpret: the innermost axis of \(4, 6, 3\) holds 3 bytes"):
        run(lambda x: fn.reinterpret(x, dtype=types.INT16))
    with pytest.raises(OperatorError, match="reinterpret: the innermost axis"):
        run(lambda x: fn.reinterpret(x, dtype=types.INT16), np.array(3, np.int32))


def test_random_shapes_agree_with_numpy() -> None:
    """Whatever NumPy accepts is accepted, and what it refuses is refused."""
    random = np.random.default_rng(3)
    accepted = 0
    for _ in range(60):
        shape: Sequence[int] = random.choice([-1, 1, 2, 3, 4, 6, 9, 12, 36, 72], random.integers(1, 4)).tolist()
        try:
            expected = PICTURE.reshape(shape)
        except ValueError:
            with pytest.raises(PenstockError):
                run(lambda x, shape=shape: fn.reshape(x, shape=shape))
        else:
            accepted += 1
            assert np.array_equal(run(lambda x, shape=shape: fn.reshape(x, shape=shape))[0].at(0), expected)
    assert 5 < accepted < 55


def test_an_extent_beside_one_of_none_cannot_be_inferred() -> None:
    empty = np.zeros((320, 0), np.uint8)
    for arguments in ({"rel_shape": [-1, 1]}, {"rel_shape": [1, 1, -1]}, {"shape": [-1, 0]}):
        with pytest.raises(OperatorError, match="cannot be inferred"):
            run(lambda x, arguments=arguments: fn.reshape(x, **arguments), empty)
    assert run(lambda x: fn.reshape(x, rel_shape=[1, -1]), empty)[0].at(0).shape == (320, 0)


@pytest.mark.parametrize("dtype", [types.STRING, types.TENSOR_LAYOUT, types.DATA_TYPE, types.PYTHON_OBJECT])
def test_types_that_are_no_numbers(dtype: types.DALIDataType) -> None:
    for array in (PICTURE, np.uint8(3)):
        with pytest.raises(ArgumentError, match=rf"reinterpret: dtype={dtype!r}: expected "):
            run(lambda x: fn.reinterpret(x, dtype=dtype), np.asarray(array))


def test_numbers_by_themselves() -> None:
    assert run(lambda x: fn.reinterpret(x, dtype=types.INT8), np.array(200, np.uint8))[0].at(0) == -56
    assert run(lambda x: fn.reinterpret(x, dtype=types.UINT8, shape=[-1]), np.array(258, np.uint16))[0].at(
        0
    ).tolist() == [
        2,
        1,
    ]


def test_not_a_number_is_no_extent() -> None:
    for wrong in (math.nan, math.inf, 1e30):
        with pytest.raises(OperatorError, match=r"reshape: .*expected a whole number, got"):
            run(lambda x, wrong=wrong: fn.reshape(x, shape=constant(np.float64([wrong]))))
