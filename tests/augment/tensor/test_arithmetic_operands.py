"""Operands of element-wise functions: numbers, arrays, shapes, layouts, errors, and fusion."""

from __future__ import annotations

import doctest
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock.math
from penstock import DataNode, Pipeline, fn, math, types
from penstock.errors import ArgumentRangeError, ArgumentTypeError, OperatorError
from penstock.graph.constants import constant
from tests.augment.arithmetic import (
    ARITHMETIC,
    BITS,
    COMPARISONS,
    TYPES,
    assert_same,
    dali_run,
    run,
    value,
    values,
)
from tests.cases import Array, pictures, samples
from tests.small import made

SCALARS: list[Callable[[Any], Any]] = [
    lambda t: True, lambda t: 2, lambda t: -3, lambda t: 2.5, lambda t: t.Constant(2).uint8(),
    lambda t: t.Constant(2).int64(), lambda t: t.Constant(2.5).float64(), lambda t: np.int64(2),
    lambda t: np.float32(2.5), lambda t: np.array([2], np.uint8), lambda t: np.array([2, 3], np.int64)[:1],
    lambda t: [2],
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(SCALARS)))
def test_numbers_as_operands_are_dalis(number: int) -> None:
    dali_types = pytest.importorskip("nvidia.dali.types", reason="compares with DALI: pip install penstock[dali]")
    scalar = SCALARS[number]
    x = {t: values(t)[:8] for t in TYPES if t != "?"}
    todo: list[Any] = [lambda x, s: x + s, lambda x, s: s - x, lambda x, s: x / s, lambda x, s: x * s]
    if isinstance(scalar(types), (np.ndarray, np.generic)):
        todo[1] = lambda x, s: x - s  # DALI leaves `array - node` to NumPy, which knows no nodes
    ours = run(lambda: [f(constant(a), scalar(types)) for a in x.values() for f in todo])
    theirs = dali_run(lambda node: [f(node(a), scalar(dali_types)) for a in x.values() for f in todo])
    for found, wanted in zip(ours, theirs, strict=True):
        assert_same(found.at(0), wanted.at(0), number)


@pytest.mark.parametrize("scalar_type", TYPES)
def test_scalars_of_numpy_on_either_side_are_dalis(scalar_type: str) -> None:
    """On the left, NumPy asks the node with Python's number instead, so the result has another type than on the right.

    Of comparisons the type of the result tells nothing, and DALI compares negative integers with floats wrongly, so
    they are compared with positive numbers. DALI takes no np.float64 on the right.
    """
    pytest.importorskip("nvidia.dali.types", reason="compares with DALI: pip install penstock[dali]")
    scalar = np.dtype(scalar_type).type(3)
    arrays = {t: np.array([1, 0, 5, 3], t) if t != "?" else np.array([True, False]) for t in TYPES}
    whole, right = scalar_type[0] != "f", scalar_type != "f8"

    def made(node: Callable[[Array], Any]) -> list[Any]:
        results = []
        for t, array in arrays.items():
            x = node(array)
            some = [operator.mul, *COMPARISONS.values()]
            if t != "?" or scalar_type != "?":
                some += [operator.add, operator.sub, operator.truediv]
            if whole and t[0] != "f":
                some += [operator.and_, operator.xor, operator.or_, operator.lshift]
            results += [f(scalar, x) for f in some] + [f(x, scalar) for f in some if right]
        return results

    for k, (found, wanted) in enumerate(zip(run(lambda: made(constant)), dali_run(made), strict=True)):
        found, wanted = np.array(found.at(0)), np.array(wanted.at(0))
        assert found.dtype == wanted.dtype, f"{k}"
        np.testing.assert_array_equal(found, wanted, err_msg=str(k))


def test_every_operator_of_a_node_takes_either_order() -> None:
    x = np.array([7, 2, 3], np.int32)
    arithmetic = [f for f in ARITHMETIC.values() if f.__module__ == "_operator"]
    for f in (*arithmetic, operator.pow, *BITS.values(), *COMPARISONS.values()):
        for other in (3, np.array([3, 1, 2], np.int32)):
            assert_same_numbers(value(lambda f=f, other=other: f(constant(x), other)), f(x, other), f)
            assert_same_numbers(value(lambda f=f, other=other: f(other, constant(x))), f(other, x), f)
    for g in (operator.neg, operator.pos, operator.invert, abs):
        np.testing.assert_array_equal(value(lambda g=g: g(constant(-x))), g(-x))


def assert_same_numbers(found: Array, wanted: Any, what: Any) -> None:
    np.testing.assert_allclose(found.astype(float), np.asarray(wanted).astype(float), rtol=1e-6, err_msg=str(what))


def test_constants_of_64_bits_keep_them() -> None:
    exact = value(lambda: constant(np.zeros(1)) + types.Constant(0.1, types.FLOAT64))
    assert exact[0] == 0.1  # DALI rounds constants to 32 bits
    large = value(lambda: constant(np.zeros(1, np.uint64)) + types.Constant(2**63 + 1, types.UINT64))
    assert large[0] == 2**63 + 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda b, x: b + b, "add: expected a number among the operands.*got BOOL, BOOL"),
        (lambda b, x: math.max(b, True), "max: expected a number"),
        (lambda b, x: -b, "minus: expected a number"),
        (lambda b, x: math.sqrt(b), "sqrt: expected a number"),
        (lambda b, x: math.clamp(b, b, b), "clamp: expected a number"),
        (lambda b, x: x & 1, "bitand: expected integers or booleans, got FLOAT, INT32"),
        (lambda b, x: 1 << x, "lshift: expected integers or booleans, got INT32, FLOAT"),
        (lambda b, x: ~x, "bitnot: expected integers or booleans, got FLOAT"),
    ],
)
def test_types_that_do_not_fit(make: Any, message: str) -> None:
    with pytest.raises(OperatorError, match=message):
        run(lambda: make(constant(np.array([True])), constant(np.ones(1, np.float32))))


@pytest.mark.parametrize("wrong", ["a", None, 1j, object(), np.array(["a"])])
def test_operands_that_are_no_numbers(wrong: Any) -> None:
    with (
        pytest.raises(ArgumentTypeError, match="add: an operand is a node, a number or an array"),
        Pipeline(1, 1, None),
    ):
        constant(np.ones(1)) + wrong


def test_numbers_that_do_not_fit_and_operands_without_nodes() -> None:
    with Pipeline(1, 1, None):
        x = constant(np.ones(1))
        with pytest.raises(ArgumentRangeError, match=r"add: 1099511627776 does not fit DALIDataType\.INT32"):
            x + 2**40
        with pytest.raises(OverflowError, match=r"-1 does not fit DALIDataType\.UINT8"):
            x * types.Constant(-1).uint8()
        with pytest.raises(ArgumentTypeError, match="max: all operands are numbers"):
            math.max(1, types.Constant(2))
        with pytest.raises(ArgumentTypeError, match=r"max: an operand is a node, a number or an array .*, not \[DataN"):
            math.max([x, x], 5)


def test_arrays_are_operands_without_a_node() -> None:
    clamped, angles = made(lambda: (math.clamp(np.array([1, 9]), 2, 3), math.acos([1.0, 1.0]))).run()
    assert clamped.at(3).tolist() == [2, 3]
    assert angles.at(3).tolist() == [0, 0]


SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((2, 3), (3,)), ((2, 3), (2, 1)), ((2, 3), ()), ((), ()), ((2, 1, 4), (3, 1)), ((1,), (2, 3)), ((0, 3), (3,)),
    ((0, 3), (1, 3)), ((0,), (1,)), ((2, 1, 2, 1, 2, 1), (1, 2, 1, 2, 1, 2)),
    ((2, 1, 2, 1, 2, 1, 2), (1, 2, 1, 2, 1, 2, 1)), ((2, 3, 1, 2, 3, 1, 2, 3), (4, 1, 1, 4, 1, 1)),
    ((70, 90, 3), (3,)), ((70, 90, 3), (70, 90, 1)), ((70, 90, 3), (70, 1, 1)), ((70, 90, 3), (90, 3)),
    ((70, 90, 3), (1, 90, 1)), ((70, 90, 3), (70, 1, 3)), ((5000, 2), (5000, 1)), ((40, 300), (300,)),
    ((3, 700, 5), (3, 1, 5)), ((90, 7), (90, 1)), ((1, 5000), (4, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), SHAPES, ids=str)
def test_shapes_are_broadcast_as_in_numpy(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x = np.arange(np.prod(a), dtype=np.int32).reshape(a)
    for dtype in (np.int32, np.uint8, np.float32):
        y = (np.arange(np.prod(b)) * 7 + 1).reshape(b).astype(dtype)
        for p, q in ((x, y), (y, x)):
            found = value(lambda p=p, q=q: constant(p) - constant(q))
            np.testing.assert_array_equal(found, p.astype(found.dtype) - q.astype(found.dtype))


def test_random_shapes_are_broadcast_as_in_numpy(random: np.random.Generator) -> None:
    for _ in range(150):
        full = random.integers(1, 7, random.integers(1, 7))
        shapes = [
            tuple(np.where(random.random(len(full)) < 0.4, 1, full)[random.integers(0, len(full)) :]) for _ in range(3)
        ]
        x, y, z = (random.integers(-50, 50, shape).astype(np.int16) for shape in shapes)
        found = value(lambda x=x, y=y, z=z: math.clamp(constant(x), constant(y), constant(z)))
        np.testing.assert_array_equal(found, np.minimum(np.maximum(x, y), z), err_msg=str(shapes))


@pytest.mark.parametrize(("a", "b"), [((2, 3), (2,)), ((0,), (3,)), ((4, 2, 3), (3, 3))])
def test_shapes_that_do_not_fit(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    with pytest.raises(OperatorError) as error:
        run(lambda: constant(np.ones(a)) * constant(np.ones(b)))
    assert f"mul: the operands' shapes {a} and {b} do not fit" in str(error.value)
    assert __file__ in str(error.value)


LAYOUTS = [
    ((2, 3, 4), "HWC", (2, 3, 4), None), ((2, 3, 4), "HWC", (2, 3, 4), "HWC"), ((2, 3, 4), "HWC", (2, 3, 4), "CHW"),
    ((2, 3, 4), "HWC", (4,), "C"), ((2, 3, 4), "HWC", (4,), "W"), ((2, 3, 4), "HWC", (3, 4), "WC"),
    ((2, 3, 4), "HWC", (3, 4), "HW"), ((4,), None, (2, 3, 4), "HWC"), ((4,), "C", (2, 3, 4), None),
    ((2, 3, 4), "HWC", (), None), ((1,), "A", (4,), "B"), ((2, 3, 4), "HWC", (1,), "X"),
]  # fmt: skip


@pytest.mark.parametrize(("a", "first", "b", "second"), LAYOUTS)
def test_layouts_are_dalis(a: Any, first: str | None, b: Any, second: str | None) -> None:
    x, y = np.zeros(a, np.float32), np.zeros(b, np.float32)
    try:
        wanted = dali_run(lambda node: node(x, first) + node(y, second))[0].layout()
    except RuntimeError:
        with pytest.raises(OperatorError, match=f"add: the operands' layouts '{first}' and '{second}' do not fit"):
            run(lambda: constant(x, first) + constant(y, second))
    else:
        assert run(lambda: constant(x, first) + constant(y, second))[0].layout() == wanted


def test_samples_of_different_shapes_with_numbers_per_sample() -> None:
    images, factors = pictures(), samples([2, -1, 7], dtype=np.int32)
    outputs = run(lambda: images.node() * factors.node() + 0.5, batch_size=3)[0]
    assert outputs.layout() == "HWC"
    for i, (image, factor) in enumerate(zip(images.arrays, factors.arrays, strict=True)):
        np.testing.assert_array_equal(
            outputs.at(i), (image.astype(np.int32) * factor).astype(np.float32) + np.float32(0.5)
        )


def test_the_same_node_twice() -> None:
    images = pictures()

    def make() -> DataNode:
        x = images.node()
        return x * x - x

    outputs = run(make, batch_size=3)[0]
    for i, image in enumerate(images.arrays):
        np.testing.assert_array_equal(outputs.at(i), image * image - image)


CHAINS: dict[str, Callable[[Any], Any]] = {
    "scalars": lambda x: 1.5 * ((255 - x) / 255) + 0.1,
    "channels": lambda x: (
        (x - np.array([123.7, 116.3, 103.5], np.float32)) / np.array([[[58.4, 57.1, 57.4]]], np.float32)
    ),
    "types": lambda x: math.clamp((x << types.Constant(1).uint8()) // 3, 20, 200) & 0xF0,
    "functions": lambda x: math.sqrt(x) + math.exp(-x / 64.0) * math.max(x, 100),
    "comparison": lambda x: (x > 100) * x,
}


@pytest.mark.parametrize("name", list(CHAINS))
def test_fused_with_a_decoder_equals_unfused(name: str, photographs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> DataNode:
        files, _ = fn.readers.file(file_root=str(photographs))
        result: DataNode = CHAINS[name](fn.decoders.image(files))
        return result

    fused = run(make, batch_size=4)[0]
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    unfused = run(make, batch_size=4)[0]
    assert fused.layout() == unfused.layout() == "HWC"
    for i in range(4):
        np.testing.assert_array_equal(fused.at(i), unfused.at(i))


def test_numbers_join_the_row_pipeline_of_a_picture(photographs: Path) -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        images = fn.decoders.image(fn.readers.file(file_root=str(photographs))[0])
        pipe.set_outputs((255 - images) * np.array([1.0, 2.0, 3.0], np.float32))
    pipe.build()
    assert "in one pass over rows: decoders.image → sub → mul" in pipe.explain()
    reference = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with reference:
        reference.set_outputs(fn.decoders.image(fn.readers.file(file_root=str(photographs))[0]))
    for found, image in zip(pipe.run()[0], reference.run()[0], strict=True):
        np.testing.assert_array_equal(found, (255 - np.asarray(image).astype(np.int32)) * np.float32([1, 2, 3]))


def test_examples_of_the_documentation() -> None:
    results = doctest.testmod(penstock.math)
    assert results.attempted > 3
    assert results.failed == 0
