"""Arithmetic, conversions and filled tensors on the GPU: what the CPU gives, wherever the operands are."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import DataNode, Pipeline, fn, math, types
from penstock.graph.constants import constant
from tests.augment.arithmetic import ARITHMETIC, BITS, COMPARISONS, REAL, values
from tests.augment.tensor.test_arithmetic_operands import CHAINS, SHAPES
from tests.augment.tensor.test_cast import edges
from tests.cases import Array, pictures, random_array, samples
from tests.runners import differences

pytestmark = pytest.mark.usefixtures("software_gpu")

# The others are the same to the last bit.
ROUNDED = {"cbrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"}
ROUNDED |= {"asinh", "acosh", "atanh", "pow", "fpow", "atan2"}

On = Callable[[DataNode], DataNode]


def gpu(node: DataNode) -> DataNode:
    return node.gpu()


def cpu(node: DataNode) -> DataNode:
    return node


def run(make: Callable[[], Any], batch_size: int = 1) -> list[list[Array]]:
    """By output, the samples of one batch."""
    pipe = Pipeline(batch_size=batch_size, num_threads=2, device_id=0, seed=1)
    with pipe:
        made = make()
        pipe.set_outputs(*(made if isinstance(made, (tuple, list)) else [made]))
    return [[np.array(a) for a in output.as_cpu()] for output in pipe.run()]


def assert_bits(found: Array, wanted: Array, what: Any = "") -> None:
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), what
    assert np.array_equal(found, wanted, equal_nan=found.dtype.kind == "f"), f"{what}: {differences(found, wanted)}"


def assert_near(found: Array, wanted: Array, what: Any) -> None:
    """Floats a few units in the last place apart."""
    assert found.dtype == wanted.dtype, what
    np.testing.assert_allclose(found, wanted, rtol=8 * np.finfo(wanted.dtype).eps, atol=0, err_msg=str(what))


def check(name: str, make: Callable[[On], list[DataNode]]) -> None:
    """The GPU's results against the CPU's."""
    results = [run(lambda on=on: make(on)) for on in (gpu, cpu)]
    for (found,), (wanted,) in zip(*results, strict=True):
        if name in ROUNDED and wanted.dtype.kind == "f":
            assert_near(found, wanted, name)
        else:
            assert_bits(found, wanted, name)


# Each pair has operands that are converted, and together they have all ways to compute.
def _pairs(name: str) -> list[str]:
    if name in BITS:
        return ["u1 i1", "i8 u4"]
    return ["u8 i8", "i1 f4"] if name in COMPARISONS else ["u1 i4", "u8 i8", "f2 f2", "f8 i2"]


@pytest.mark.parametrize("name", [*ARITHMETIC, *BITS, *COMPARISONS])
def test_functions_of_two_operands(name: str) -> None:
    function = {**ARITHMETIC, **BITS, **COMPARISONS}[name]

    divides = name in ("div", "mod")  # of integers, by what is not 0

    def make(on: On) -> list[DataNode]:
        pairs = [p.split() for p in _pairs(name)]
        return [
            function(on(constant(values(a)[:, None])), on(constant(values(b, zeros=not divides)))) for a, b in pairs
        ]

    check(name, make)


@pytest.mark.parametrize("name", [*REAL, "abs", "minus", "bitnot"])
def test_functions_of_one_operand(name: str) -> None:
    others: dict[str, Any] = {"minus": lambda x: -x, "bitnot": lambda x: ~x}
    function = others.get(name) or getattr(math, name)
    dtypes = ["u1", "i8"] if name == "bitnot" else ["i2", "f4"]
    check(name, lambda on: [function(on(constant(values(t)))) for t in dtypes])


def test_integer_division_by_zero_is_zero() -> None:
    x = np.array([7, -7, 0], np.int32)
    quotient, remainder, small = run(
        lambda: [constant(x).gpu() // 0, constant(x).gpu() % 0, constant(x.astype(np.int8)).gpu() // np.int8([0])]
    )
    assert quotient[0].tolist() == small[0].tolist() == [0, 0, 0]
    assert remainder[0].tolist() == x.tolist()


@pytest.mark.parametrize("where", [(gpu, gpu), (gpu, cpu), (cpu, gpu)], ids=["both", "first", "second"])
def test_shapes_are_broadcast_as_in_numpy(where: tuple[On, On]) -> None:
    operands: list[tuple[Array, Array]] = []
    for a, b in SHAPES:
        x, y = np.arange(np.prod(a), dtype=np.int32).reshape(a), (np.arange(np.prod(b)) * 7 + 1).reshape(b)
        operands += [(x, y.astype(np.uint8)), (y.astype(np.uint8), x)]
    found = run(lambda: [where[0](constant(x)) - where[1](constant(y)) for x, y in operands])
    for (result,), (x, y) in zip(found, operands, strict=True):
        assert_bits(result, x.astype(np.int32) - y.astype(np.int32), (x.shape, y.shape))


def test_operands_on_the_cpu_that_differ_from_sample_to_sample() -> None:
    images = pictures()
    numbers = samples([2, -1, 7], dtype=np.int32)
    channels = samples([[1, 2, 3], [4, 5, 6], [7, 8, 9]], dtype=np.int16)
    mixed = samples([[5], [1, 2, 3], [4]], dtype=np.int16)  # one number, or one per channel
    masks = samples([random_array((*a.shape[:2], 1), np.uint8, seed=3) for a in images.arrays])
    others = (numbers, channels, mixed, masks)

    def make() -> list[DataNode]:
        x = images.node().gpu()
        return [x * o.node() for o in others] + [o.node() - x for o in others]

    found = run(make, batch_size=3)
    for k, other in enumerate(others):
        for i, image in enumerate(images.arrays):
            y = other.arrays[i]
            assert_bits(found[k][i], (image * y).astype(found[k][i].dtype), k)
            assert_bits(found[4 + k][i], (y - image.astype(np.int32)).astype(found[4 + k][i].dtype), k)


def test_pictures_of_other_layouts_and_samples_without_elements() -> None:
    planes, videos = pictures("CHW"), pictures("FHWC")
    empty = samples([np.zeros((0, 5, 3), np.uint8), random_array((4, 5, 3)), np.zeros((2, 0, 3), np.uint8)], "HWC")
    factor = np.array([2, 3, 4], np.uint8)
    per_plane = factor.reshape(3, 1, 1)
    found = run(
        lambda: [
            planes.node().gpu() * per_plane + 1,
            videos.node().gpu() * factor + 1,
            empty.node().gpu() * factor + 1,
        ],
        batch_size=3,
    )
    for result, given, f in zip(found, (planes, videos, empty), (per_plane, factor, factor), strict=True):
        for a, x in zip(result, given.arrays, strict=True):
            assert_bits(a, (x * f).astype(np.int32) + 1)


@pytest.mark.parametrize("name", list(CHAINS))
def test_chains_are_the_cpus_fused_and_unfused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    images = pictures()

    def make(on: On) -> DataNode:
        result: DataNode = CHAINS[name](fn.flip(on(images.node())))
        return fn.cast(result, dtype=types.FLOAT16)

    fused = run(lambda: make(gpu), batch_size=3)[0]
    wanted = run(lambda: make(cpu), batch_size=3)[0]
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    unfused = run(lambda: make(gpu), batch_size=3)[0]
    for a, b, c in zip(fused, unfused, wanted, strict=True):
        assert_bits(a, b)
        if name == "functions":
            assert_near(a, c, name)
        else:
            assert_bits(a, c)


def test_numbers_arrays_and_gpu_operands_join_the_kernel_of_a_picture() -> None:
    images = pictures()
    masks = samples([random_array((*a.shape[:2], 1), np.uint8, seed=3) for a in images.arrays])
    weight = samples([0.25, 0.5, 0.75], dtype=np.float32)
    pipe = Pipeline(batch_size=3, num_threads=1, device_id=0)
    with pipe:
        x, mask = images.node().gpu(), masks.node().gpu()
        mixed = fn.flip(x) * weight.node() + mask
        pipe.set_outputs(fn.cast(mixed - np.array([1, 2, 3], np.float32), dtype=types.UINT8))
    pipe.build()
    assert "in one kernel: flip → mul → add → sub → cast" in pipe.explain()
    for i, a in enumerate(pipe.run()[0].as_cpu()):
        sums = images.arrays[i][:, ::-1].astype(np.float32) * weight.arrays[i] + masks.arrays[i].astype(np.float32)
        rounded = np.floor(np.clip(sums - np.float32([1, 2, 3]), 0, 255) + np.float32(0.5))
        assert_bits(np.array(a), rounded.astype(np.uint8))
    assert [kernel.count("    ps::device::ElementwiseStage<") for kernel in pipe._built().executor.kernels()] == [4]


def test_what_was_computed_on_the_cpu_after_the_gpu_is_an_operand_beside_it() -> None:
    x = np.arange(6, dtype=np.int32)

    def make() -> list[DataNode]:
        there = constant(x).gpu() * 2
        here = there.cpu()
        return [there + here, there + (here + 1), (there + 1) - fn.cast(here, dtype=types.INT32)[2]]

    a, b, c = run(make)
    assert_bits(a[0], x * 4)
    assert_bits(b[0], x * 4 + 1)
    assert_bits(c[0], x * 2 + 1 - 4)


def test_where_an_expression_is_computed() -> None:
    here, there = constant(np.zeros(3)), constant(np.zeros(3), device="gpu")
    assert (here + 1).device == "cpu"
    assert (here + there).device == (1 - there).device == math.clamp(0, here, there).device == "gpu"


@pytest.mark.parametrize("dtype", ["u8", "i8", "f2", "f4", "f8", "?"])
def test_conversions_are_the_cpus(dtype: str) -> None:
    x = edges(np.dtype(dtype))
    wanted = [types.UINT8, types.INT32, types.UINT64, types.FLOAT16, types.FLOAT, types.BOOL]
    results = [run(lambda on=on: [fn.cast(on(constant(x)), dtype=t) for t in wanted]) for on in (gpu, cpu)]
    for (found,), (expected,), t in zip(*results, wanted, strict=True):
        assert_bits(found, expected, t)


def test_cast_like_takes_the_type_from_either_device() -> None:
    x = np.float32([0.4, 2.5, 300])
    for on in (gpu, cpu):
        found = run(lambda on=on: fn.cast_like(constant(x).gpu(), on(constant(np.uint8([0])))))[0][0]
        assert_bits(found, np.uint8([0, 3, 255]))


def test_filled_tensors() -> None:
    row = np.int16([[1, 2, 3]])

    def make() -> list[DataNode]:
        shapes = samples([[2, 3], [4, 1], [0, 5]], dtype=np.int32).node()
        like = pictures().node().gpu()
        return [
            fn.ones(device="gpu", shape=shapes, dtype=types.FLOAT16),
            fn.zeros_like(like, dtype=types.FLOAT),
            fn.full_like(like, constant(np.float32([1.4, 300, -1]), device="gpu")),
            fn.full(constant(row, device="gpu"), shape=[5, 3]),
        ]

    ones, zeros, full_like, full = run(make, batch_size=3)
    for i, (shape, image) in enumerate(zip([(2, 3), (4, 1), (0, 5)], pictures().arrays, strict=True)):
        assert_bits(ones[i], np.ones(shape, np.float16))
        assert_bits(zeros[i], np.zeros(image.shape, np.float32))
        assert_bits(full_like[i], np.broadcast_to(np.uint8([1, 255, 0]), image.shape))
        assert_bits(full[i], np.broadcast_to(row, (5, 3)))


def test_constants_on_the_gpu() -> None:
    made = run(
        lambda: [
            fn.constant(idata=[1, 2, 3, 4], shape=[2, 2], device="gpu"),
            types.Constant([1.5, 2.5], device="gpu"),
            types.Constant(7, shape=[3], dtype=types.UINT8, device="gpu", layout="X"),
        ],
        batch_size=2,
    )
    expected = [np.int32([[1, 2], [3, 4]]), np.float32([1.5, 2.5]), np.uint8([7, 7, 7])]
    for found, wanted in zip(made, expected, strict=True):
        for array, again in itertools.pairwise(found):
            assert_bits(array, wanted)
            assert_bits(again, wanted)
