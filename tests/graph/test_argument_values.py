"""Values of arguments that are of another type than the argument: what counts as what, and what is refused."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, ArgumentTypeError, PenstockError
from penstock.op import Argument, Op, registry

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")
X = np.arange(24, dtype=np.uint8).reshape(4, 6)
PICTURE = np.frombuffer(b"P6\n2 1\n255\n" + bytes(range(6)), np.uint8)


def called(cls: type[Op], **arguments: Any) -> None:
    """The operator with these arguments, in a pipeline that is not built."""
    function: Any = fn
    for part in cls.name.split("."):
        function = getattr(function, part)
    with Pipeline(1, 1, None):
        function(*[fn.external_source() for _ in range(cls.num_inputs[0])], **arguments)


def arguments_of(*kinds: str) -> list[Any]:
    return [
        pytest.param(cls, argument, id=f"{name}-{argument.name}")
        for name, cls in registry.public().items()
        for argument in cls.arguments.values()
        if argument.kind in kinds
    ]


@pytest.mark.parametrize(("cls", "argument"), arguments_of("integer", "integers"))
def test_numbers_that_are_not_finite_are_no_whole_numbers(cls: type[Op], argument: Argument) -> None:
    for wrong in (math.nan, -math.inf, np.float32(math.nan), 2**70, 1e300):
        for value in (wrong, [wrong]) if argument.kind == "integers" else (wrong,):
            shown = re.escape(f"{cls.name}: {argument.name}={value!r}: expected a whole number")
            with pytest.raises(ArgumentTypeError, match=shown):
                called(cls, **{argument.name: value})


@pytest.mark.parametrize(("cls", "argument"), arguments_of("boolean", "integer", "integers", "number", "numbers"))
def test_strings_are_no_numbers(cls: type[Op], argument: Argument) -> None:
    """Where DALI takes them, too: there "False" and "no" are true."""
    for value in ("1", "yes", "", b"1"):
        with pytest.raises(ArgumentTypeError, match=re.escape(f"{cls.name}: {argument.name}={value!r}: expected ")):
            called(cls, **{argument.name: value})


@pytest.mark.parametrize(("cls", "argument"), arguments_of("string", "layout"))
def test_numbers_are_no_strings(cls: type[Op], argument: Argument) -> None:
    for value in (1, 1.5, True):
        with pytest.raises(ArgumentTypeError, match=re.escape(f"{cls.name}: {argument.name}={value!r}: expected ")):
            called(cls, **{argument.name: value})


def result(library: str, make: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """Type and elements of what the operator makes of X; ``make`` gets the library's `fn`."""
    package = importlib.import_module(library)
    pipe = package.Pipeline(batch_size=1, num_threads=1, device_id=None, seed=3)
    functions = importlib.import_module(f"{library}.fn")
    with pipe:
        pipe.set_outputs(make(functions, functions.external_source(source=lambda: [X])))
    pipe.build()
    (output,) = pipe.run()
    return np.array(output.at(0)).dtype, np.array(output.at(0)).tolist()


SAME: list[Callable[[Any, Any], Any]] = [
    lambda f, x: f.reductions.sum(x, keep_dims=0.5),
    lambda f, x: f.reductions.sum(x, keep_dims=0.0),
    lambda f, x: f.reductions.sum(x, keep_dims=2),
    lambda f, x: f.reductions.sum(x, keep_dims=np.array(1)),
    lambda f, x: f.reductions.sum(x, keep_dims=np.array([True])),
    lambda f, x: f.reductions.sum(x, keep_dims=np.float32(0.5)),
    lambda f, x: f.reductions.sum(x, keep_dims=math.nan),
    lambda f, x: f.reductions.sum(x, axes=1.5),
    lambda f, x: f.reductions.sum(x, axes=[0.5, 1.9]),
    lambda f, x: f.reductions.sum(x, axes=np.array(1)),
    lambda f, x: f.reductions.sum(x, axes=-1.9),
    lambda f, x: f.one_hot(x, num_classes=2.9),
    lambda f, x: f.one_hot(x, num_classes=np.float64(3.2)),
    lambda f, x: f.one_hot(x, num_classes=True),
    lambda f, x: f.one_hot(x, num_classes=np.array([2])),
    lambda f, x: f.stack(x, x, axis=1.5),
    lambda f, x: f.cat(x, x, axis=np.array(1)),
    lambda f, x: f.zeros(shape=2.7),
    lambda f, x: f.zeros(shape=[2.7, True]),
    lambda f, x: f.normalize(x, mean=1, stddev=2, scale=np.array([1.5])),
    lambda f, x: f.normalize(x, mean=1, stddev=2, shift=True),
    lambda f, x: f.random.choice(5, shape=[2], seed=1.5) * 0,
    lambda f, x: f.transpose(x, perm=[1.5, 0]),
    lambda f, x: f.transpose(x, transpose_layout=0.5),
    lambda f, x: f.decoders.image(f.external_source(source=lambda: [PICTURE]), preallocate_height_hint=1.5),
    lambda f, x: f.decoders.image(f.external_source(source=lambda: [PICTURE]), preallocate_width_hint=True),
]


@pytest.mark.parametrize("number", range(len(SAME)))
def test_numbers_of_other_types_are_dalis(number: int) -> None:
    pytest.importorskip("nvidia.dali", reason="compares with DALI: pip install penstock[dali]")
    assert result("penstock", SAME[number]) == result("nvidia.dali", SAME[number])


@pytest.mark.parametrize("value", [np.array([1, 2]), np.array([]), 1j, object(), {}, [1, 2]])
def test_several_values_are_not_one(value: Any) -> None:
    for make in (lambda: fn.one_hot(X, num_classes=value), lambda: fn.reductions.sum(X, keep_dims=value)):
        with pytest.raises(ArgumentTypeError, match="expected"):
            make()


def test_other_conversions_name_what_is_wrong() -> None:
    for make, shown in (
        (lambda: fn.external_source(source=lambda: [X], ndim=math.inf), "external_source: ndim=inf"),
        (lambda: fn.normalize(X, mean=10**400), "normalize: mean=1000"),
        (lambda: types.Constant([1, 2], dtype=types.STRING), r"Constant: dtype=DALIDataType\.STRING"),
        (lambda: types.Constant([1, 2], dtype=types.NO_TYPE), r"Constant: dtype=DALIDataType\.NO_TYPE"),
        (lambda: types.Constant(1, dtype=types.STRING), r"Constant: dtype=DALIDataType\.STRING"),
        (lambda: types.Constant(1, shape=[-1]), r"Constant: shape=\[-1\]"),
        (lambda: types.Constant([1, 2], shape=[3]), r"Constant: shape=\[3\]"),
        (lambda: types.Constant(["a"]), r"Constant: value=\['a'\]"),
        (lambda: types.Constant(math.nan, types.INT32), "Constant: value=nan"),
        (lambda: types.Constant(math.inf, types.INT32), "Constant: value=inf"),
    ):
        with pytest.raises(PenstockError, match=shown):
            make()
    with pytest.raises(ArgumentError, match="Constant: layout='HW'"):
        types.Constant([1, 2], layout="HW")


@pytest.mark.parametrize(("cls", "argument"), arguments_of("dtype"))
def test_no_type_counts_as_not_given(cls: type[Op], argument: Argument) -> None:
    """Where the operator has a type of its own for that, such as the input's."""
    if argument.required or argument.default is not None or argument.deprecated:
        return
    needed = {a.name: [1.0] * 6 if a.kind == "numbers" else 1 for a in cls.arguments.values() if a.required}
    needed |= {
        "constant": {"idata": [1]},
        "audio_resample": {"scale": 1.0},
        "resize": {"size": 4},
        "resize_crop_mirror": {"size": 4},
        "tensor_resize": {"sizes": 4},
    }.get(cls.name.removeprefix("fast_").removeprefix("experimental."), {})
    for value in (types.NO_TYPE, -1):
        called(cls, **needed, **{argument.name: value})


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda: types.Constant(np.zeros((1,) * 13, np.uint8)), "13 axes are too many: tensors have at most 12"),
        (lambda: fn.constant(idata=[1], shape=[1] * 13), "13 axes are too many: tensors have at most 12"),
        (lambda: types.Constant([1, 2], layout="é"), "a layout has one letter for each"),
        (lambda: fn.constant(idata=[1, 2], layout="HW"), "a layout has one letter for each"),
        (lambda: types.Constant([[1, 2], [3]]), r"Constant: value=\[\[1, 2\], \[3\]\]"),
        (lambda: types.Constant([1 << 40]), "does not fit int32"),
    ],
)
def test_constants_that_no_tensor_can_be(make: Callable[[], Any], shown: str) -> None:
    with pytest.raises(ArgumentError, match=shown), Pipeline(1, 1, None):
        make()
