"""Objects of `ops`, and what all operators have in common: their inputs, signatures and `seed`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import DataNode, fn, ops, types
from penstock.errors import ArgumentError, ArgumentTypeError
from tests.small import made

PICTURE = np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3)


def picture() -> DataNode:
    return types.Constant(PICTURE, layout="HWC", device="cpu")  # type: ignore[no-any-return]


def shape_of(make: Callable[[], Any]) -> tuple[int, ...]:
    return made(make).run()[0].shape()[0]


def test_none_in_the_call_keeps_what_the_constructor_was_given() -> None:
    assert shape_of(lambda: ops.Resize(resize_x=5, resize_y=7)(picture(), resize_x=None)) == (7, 5, 3)
    warp = {"size": (24, 32), "matrix": (1, 0, 0, 0, 1, 0)}
    assert shape_of(lambda: ops.WarpAffine(**warp)(picture(), size=None)) == (24, 32, 3)
    assert shape_of(lambda: ops.WarpAffine(**warp)(picture(), size=(5, 4))) == (5, 4, 3)


def test_the_device_of_an_object_is_dalis() -> None:
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    for library in (ops, dali.ops):
        assert library.Rotate(angle=1.0).device == "cpu"
        assert library.Rotate(angle=1.0, device="gpu").device == "gpu"
        assert library.decoders.Image(device="mixed").device == "mixed"
        assert library.decoders.Image().device == "cpu"
        assert library.readers.File(files=["a"]).device == "cpu"
        assert [library.Flip().preserve, library.Flip(preserve=True).preserve] == [False, True]


def test_a_list_of_one_node_is_that_node() -> None:
    def define() -> DataNode:
        node = picture()
        for single in (fn.flip([node]), ops.Flip()([node]), fn.cat([node], [node]), fn.cat([node], node)):
            assert isinstance(single, DataNode)
        assert [type(n) for n in fn.flip([node, node])] == [DataNode, DataNode]
        return fn.flip([node])

    assert np.array_equal(made(define).run()[0].at(0), PICTURE[:, ::-1])


@pytest.mark.parametrize("seed", [42, -1, [1, 2]])
def test_any_operator_takes_a_seed(seed: Any) -> None:
    with pytest.warns(DeprecationWarning, match="seed is deprecated"):
        pipe = made(lambda: fn.reshape(picture(), shape=[-1], seed=seed))
    assert pipe.run()[0].at(0).tolist() == PICTURE.ravel().tolist()
    with pytest.warns(DeprecationWarning, match="seed is deprecated"):
        flip = ops.Flip(seed=seed)
    assert np.array_equal(made(lambda: flip(picture())).run()[0].at(0), PICTURE[:, ::-1])


@pytest.mark.filterwarnings("error")
def test_a_seed_of_random_numbers_counts() -> None:
    def numbers(**seed: Any) -> list[float]:
        return made(lambda: fn.random.uniform(**seed), seed=5).run()[0].as_array().tolist()  # type: ignore[no-any-return]

    assert numbers(seed=1) == numbers(seed=1) != numbers(seed=2)
    assert numbers(seed=None) == numbers()
    assert shape_of(lambda: fn.flip(picture(), seed=None)) == (6, 8, 3)


def test_signatures_tell_the_arguments() -> None:
    function = inspect.signature(fn.resize)
    assert next(iter(function.parameters.values())).kind is inspect.Parameter.POSITIONAL_ONLY
    assert {"size", "interp_type", "device", "name"} <= set(function.parameters)
    assert function.parameters["antialias"].default is True
    function.bind(picture(), size=3)
    with pytest.raises(TypeError):
        function.bind(picture(), no_such=3)
    assert inspect.signature(fn.cast).parameters["dtype"].default is inspect.Parameter.empty
    constructor, call = inspect.signature(ops.Resize), inspect.signature(ops.Resize(size=3))
    assert "size" in constructor.parameters
    constructor.bind(size=3)
    call.bind(picture())
    assert inspect.signature(ops.Cast).parameters["dtype"].default is None  # the call may bring it
    assert next(iter(inspect.signature(fn.cat).parameters.values())).kind is inspect.Parameter.VAR_POSITIONAL
    assert list(inspect.signature(fn.external_source).parameters)[:2] == ["source", "num_outputs"]


def test_signatures_have_dalis_arguments() -> None:
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    for name in ("resize", "flip", "crop_mirror_normalize", "rotate", "brightness", "pad"):
        theirs, own = (inspect.signature(getattr(library, name)).parameters for library in (dali.fn, fn))
        assert set(theirs) <= set(own), name


def test_functions_of_groups_say_where_they_are() -> None:
    assert (fn.readers.file.__module__, fn.resize.__module__) == ("penstock.fn.readers", "penstock.fn")


def test_constants_as_inputs_are_dalis() -> None:
    """64 bits become 32, and lists of numbers are tensors."""
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    values: list[Any] = [
        np.array([1.5]), np.array([7]), np.array([7], np.uint64), np.float64(1.5), np.int64(3), np.uint64(3),
        np.float32(2), np.array([True]), 1, 1.5, True, [1, 2], (1, 2), [1, 2.5], [True, False], [], [np.float64(1), 2],
        np.zeros((2, 3), np.int16),
    ]  # fmt: skip
    theirs = dali.Pipeline(4, 1, None)
    with theirs:
        theirs.set_outputs(*(dali.fn.copy(v) for v in values), dali.fn.stack(np.array([1.0]), np.array([2.0])))
    theirs.build()
    own = made(lambda: [*(fn.copy(v) for v in values), fn.stack(np.array([1.0]), np.array([2.0]))]).run()
    for a, b in zip(own, theirs.run(), strict=True):
        assert (int(a.dtype), a.at(0).tolist()) == (int(b.dtype), np.array(b.at(0)).tolist())
    with pytest.raises(ArgumentTypeError, match="copy: input 0"):
        made(lambda: fn.copy(np.array([1 << 40])))
    assert made(lambda: fn.copy(types.Constant(7, types.INT64))).run()[0].dtype is types.INT64


@pytest.mark.parametrize("value", [300, -5, 1e10, 1 << 40, -(1 << 63)])
@pytest.mark.parametrize("name", ["UINT8", "INT8", "INT32", "UINT64"])
def test_a_scalar_that_does_not_fit_its_type_is_the_nearest_one(value: float, name: str) -> None:
    """As an input and an output; as an operand it is an error, in DALI, too."""
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    theirs = dali.Pipeline(1, 1, None)
    with theirs:
        constant = dali.types.Constant(value, dtype=getattr(dali.types, name))
        theirs.set_outputs(dali.fn.copy(constant), constant)
    theirs.build()
    constant = types.Constant(value, dtype=types.DALIDataType[name])
    for a, b in zip(made(lambda: [fn.copy(constant), constant], batch_size=1).run(), theirs.run(), strict=True):
        assert (int(a.dtype), a.at(0).tolist()) == (int(b.dtype), np.array(b.at(0)).tolist())


def test_constants_have_names() -> None:
    def define() -> Any:
        large, one = types.Constant(5.5, shape=(2, 2), name="large"), types.Constant(3, name="one")
        assert (large.name, one.name) == ("large", "one")
        return large, one

    large, one = made(define).run()
    assert large.at(0).tolist() == [[5.5, 5.5], [5.5, 5.5]]
    assert (one.dtype, one.at(0).item()) == (types.INT32, 3)


def test_composed_operators_are_called_in_turn() -> None:
    data = np.arange(12, dtype=np.uint8).reshape(3, 4)
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")

    def outputs(library: Any) -> list[Any]:
        o = library.ops
        inner = o.Compose([o.Cast(dtype=library.types.FLOAT), o.reductions.Sum(axes=[0], keep_dims=True)])
        both = o.Compose([o.Copy(), inner, o.Transpose(perm=[1, 0])])
        pipe = library.Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(both(library.types.Constant(data, device="cpu")))
        pipe.build()
        return np.asarray(pipe.run()[0].at(0)).tolist()

    assert outputs(penstock) == outputs(dali) == data.sum(0, keepdims=True).T.tolist()


def test_composing_nothing_and_one() -> None:
    one = ops.Flip()
    assert ops.Compose([one]) is one
    with pytest.raises(ArgumentError, match=r"ops\.Compose: op_list=\[\]: expected at least one"):
        ops.Compose([])


def test_composed_operators_copy_to_the_gpu(software_gpu: dict[str, str]) -> None:
    composed = ops.Compose([ops.Copy(), ops.Flip(device="gpu", horizontal=1), ops.Copy()])
    pipe = made(lambda: composed(picture()), device_id=0)
    assert np.array_equal(np.asarray(pipe.run()[0][0].as_cpu()), PICTURE[:, ::-1])
