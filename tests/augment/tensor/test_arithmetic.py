"""Element-wise functions: types and values, against NumPy and DALI."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from penstock import math, types
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.augment.arithmetic import (
    ARITHMETIC,
    BITS,
    COMPARISONS,
    REAL,
    TYPES,
    assert_same,
    dali_function,
    dali_run,
    run,
    value,
    values,
)


def compared_wrongly(name: str, a: str, b: str) -> bool:
    """To DALI, any negative integer is less than any float, and equal to none; here numbers are compared."""
    kinds = {np.dtype(a).kind, np.dtype(b).kind}
    return name in COMPARISONS and kinds == {"i", "f"}


@pytest.mark.parametrize("name", [*ARITHMETIC, *BITS, *COMPARISONS])
def test_all_pairs_of_types_are_dalis(name: str) -> None:
    both = [(a, b) for a in TYPES for b in TYPES if not compared_wrongly(name, a, b)]
    if name in BITS:
        both = [(a, b) for a, b in both if "f" not in a + b]
    elif name in ARITHMETIC and name != "mul":
        both.remove(("?", "?"))
    inputs = {t: (values(t), values(t, zeros=name not in ("div", "mod"))[::-1].copy()) for t in TYPES}
    if name in ("div", "mod"):  # DALI divides the smallest integer by -1, which stops the process
        inputs["i8"] = inputs["i8"][0], np.where(inputs["i8"][1] == -1, 2, inputs["i8"][1])
        both.remove(("u8", "i8"))
        both = [(a, b) for a, b in both if (a, b[0]) != ("u8", "i")]
    ours = run(lambda: [ {**ARITHMETIC, **BITS, **COMPARISONS}[name](constant(inputs[a][0]), constant(inputs[b][1]))
                         for a, b in both ])  # fmt: skip
    theirs = dali_run(lambda node: [dali_function(name)(node(inputs[a][0]), node(inputs[b][1])) for a, b in both])
    assert len(both) > 60
    for pair, found, wanted in zip(both, ours, theirs, strict=True):
        assert_same(found.at(0), wanted.at(0), (name, *pair))


@pytest.mark.parametrize("name", [*REAL, "abs", "minus", "bitnot", "plus"])
def test_functions_of_one_operand_are_dalis(name: str) -> None:
    ours: Any = {"minus": operator.neg, "bitnot": operator.invert, "plus": operator.pos}.get(name) or getattr(
        math, name
    )
    theirs = ours if ours.__module__ == "_operator" else dali_function(name)
    accepted = {"bitnot": [t for t in TYPES if "f" not in t], "plus": TYPES}.get(name, [t for t in TYPES if t != "?"])
    inputs = [values(t) for t in accepted]
    if name == "rsqrt":  # of 0 and of infinity, DALI's is not-a-number
        inputs = [a[(a != 0) & np.isfinite(a)] for a in inputs]
    found = run(lambda: [ours(constant(a)) for a in inputs])
    wanted = dali_run(lambda node: [theirs(node(a)) for a in inputs])
    for t, f, w in zip(accepted, found, wanted, strict=True):
        assert_same(f.at(0), w.at(0), (name, t))


@pytest.mark.parametrize("name", REAL)
def test_real_functions_are_numpys(name: str) -> None:
    names = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
             "atanh": "arctanh"}  # fmt: skip
    reference = (lambda x: 1 / np.sqrt(x)) if name == "rsqrt" else getattr(np, names.get(name, name))
    x = values("f8")
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(value(lambda: getattr(math, name)(constant(x))), reference(x), rtol=1e-14)


CLAMPS = [
    ([1, 5, 300], [2, 2, 2], [4, 4, 100], "i4"),
    ([1, 5, 300], [7, 7, 7], [4, 4, 4], "i4"),
    ([np.nan, 1, 1], [0, np.nan, 0], [1, 2, np.nan], "f4"),
]


@pytest.mark.parametrize(("x", "low", "high", "dtype"), CLAMPS)
def test_clamp_is_dalis(x: Any, low: Any, high: Any, dtype: str) -> None:
    operands = [np.array(o, dtype) for o in (x, low, high)]
    found = value(lambda: math.clamp(*[constant(o) for o in operands]))
    wanted = dali_run(lambda node: dali_function("clamp")(*[node(o) for o in operands]))[0].at(0)
    assert_same(found, wanted, "clamp")


def test_clamp_promotes_all_three() -> None:
    x = np.array([1, 5, 200], np.uint8)
    for limits, dtype, expected in (
        ((2.5, 100), np.float32, [2.5, 5, 100]),
        ((3, 7), np.int32, [3, 5, 7]),
        ((types.Constant(3).uint8(), types.Constant(7).uint16()), np.uint16, [3, 5, 7]),
    ):
        found = value(lambda limits=limits: math.clamp(constant(x), *limits))
        assert found.dtype == dtype
        assert found.tolist() == expected
    assert value(lambda: math.clamp(5, constant(x), 9)).tolist() == [5, 5, 9]


@pytest.mark.parametrize("name", list(COMPARISONS))
def test_comparisons_are_those_of_the_numbers(name: str) -> None:
    integers = [t for t in TYPES if "f" not in t]
    for a in integers:
        for b in integers:
            x, y = values(a)[:, None], values(b)
            wanted = COMPARISONS[name](x.astype(object), y.astype(object)).astype(bool)
            np.testing.assert_array_equal(value(lambda x=x, y=y: COMPARISONS[name](constant(x), constant(y))), wanted)
    x, y = np.array([-3, -1, 4], np.int16)[:, None], np.array([-100.5, -3, 3.5, np.nan], np.float32)
    np.testing.assert_array_equal(value(lambda: COMPARISONS[name](constant(x), constant(y))), COMPARISONS[name](x, y))


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"])
def test_integer_division_truncates(dtype: str) -> None:
    x, y = values(dtype), values(dtype, zeros=False)
    limits = np.iinfo(dtype)
    pairs = [[(p, q) for q in y.tolist()] for p in x.tolist()]
    quotients = [[abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1) for p, q in row] for row in pairs]
    wrapped = [[(q - limits.min) % (limits.max - limits.min + 1) + limits.min for q in row] for row in quotients]
    assert value(lambda: constant(x[:, None]) // constant(y)).tolist() == wrapped
    rests = [[int(np.sign(p)) * (abs(p) % abs(q)) for p, q in row] for row in pairs]
    assert value(lambda: constant(x[:, None]) % constant(y)).tolist() == rests


def test_random_integer_division_of_32_bits() -> None:
    random = np.random.default_rng(3)
    x = random.integers(-(2**31), 2**31, 50_000).astype(np.int32)
    y = (random.integers(1, 2**31, 50_000) >> random.integers(0, 31, 50_000)).astype(np.int32)
    y[y == 0] = 1
    wanted = np.sign(x) * (np.abs(x.astype(np.int64)) // y)
    np.testing.assert_array_equal(value(lambda: constant(x) // constant(y)), wanted)


@pytest.mark.parametrize("name", ["div", "mod"])
@pytest.mark.parametrize("dtype", ["u1", "i4", "u8"])
def test_integer_division_by_zero_is_an_error(name: str, dtype: str) -> None:
    x, y = np.ones((40, 50, 3), dtype), np.array([1, 0, 2], dtype)
    with pytest.raises(OperatorError, match=f"{name}: integer division by zero"):
        run(lambda: ARITHMETIC[name](constant(x), constant(y)))
    assert value(lambda: ARITHMETIC[name](constant(x.astype("f4")), constant(y)))[0, 0, 0] in (0, 1)


def test_integers_wrap_around() -> None:
    assert value(lambda: constant(np.array([250], np.uint8)) + types.Constant(10).uint8()).tolist() == [4]
    assert value(lambda: constant(np.array([65535], np.uint16)) * types.Constant(65535).uint16()).tolist() == [1]
    assert value(lambda: -constant(np.array([-128, 5], np.int8))).tolist() == [-128, -5]
    assert value(lambda: constant(np.array([2, 10, 3, -2, 0, 1], np.int32)) ** constant(np.array([31, 10, 0, 3, -1, -5])
                 .astype(np.int32))).tolist() == [-(2**31), 1410065408, 1, -8, 0, 0]  # fmt: skip


def test_halves_are_computed_as_floats_and_rounded_once() -> None:
    x, y = values("f2")[:, None], values("f4")[:20].astype("f2")
    with np.errstate(all="ignore"):
        wide = (x.astype("f4"), y.astype("f4"))
        for f in (operator.add, operator.mul, operator.truediv):
            assert_same(value(lambda f=f: f(constant(x), constant(y))), f(*wide).astype("f2"), f)
        assert_same(value(lambda: constant(x) + types.Constant(3).uint8()), (wide[0] + 3).astype("f2"), "u1")
        assert_same(value(lambda: constant(x) * 2.0), wide[0] * 2, "float")
        assert_same(value(lambda: math.exp(constant(x))), np.exp(wide[0]).astype("f2"), "exp")
        assert value(lambda: constant(x) < constant(y)).dtype == bool
