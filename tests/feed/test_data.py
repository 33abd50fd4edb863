"""fn.external_source: what data it takes, as DALI does and beyond, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from penstock import types
from penstock.errors import (
    TensorError,
)
from penstock.tensors import TensorCPU, TensorListCPU
from tests.feed.sources import OURS, Array, assert_same, named, of, pipeline, step
from tests.small import values


def tensor_list(lib: Any, layout: str = "HW") -> Any:
    return lib.tensors.TensorListCPU(np.arange(12, dtype=np.uint8).reshape(2, 2, 3), layout=layout)


def tensors(lib: Any, *layouts: str) -> Any:
    return [lib.tensors.TensorCPU(np.arange(6, dtype=np.int8).reshape(2, 3), layout=layout) for layout in layouts]


DATA: dict[str, tuple[Callable[[Any], Any], dict[str, Any]]] = {
    "array": (lambda lib: np.arange(12.0).reshape(3, 4), {}),
    "smaller batch": (lambda lib: np.arange(8, dtype=np.float16).reshape(2, 4), {}),
    "scalars": (lambda lib: np.arange(3), {}),
    "list of shapes": (lambda lib: [np.zeros((2, 3), np.uint16), np.ones((1, 0), np.uint16)], {}),
    "tuple": (lambda lib: (np.zeros(2, bool), np.ones(3, bool)), {}),
    "list of scalars": (lambda lib: [np.array(3), np.array(4)], {}),
    "tensor list": (tensor_list, {}),
    "tensors": (lambda lib: tensors(lib, "HW", "HW"), {}),
    "a tensor": (lambda lib: tensors(lib, "HW")[0], {}),
    "layout": (lambda lib: np.zeros((2, 3, 4)), {"layout": "HW"}),
    "layout over its own": (tensor_list, {"layout": "AB"}),
    "empty layout": (lambda lib: np.zeros((2, 3, 4)), {"layout": ""}),
    "ndim": (lambda lib: np.zeros((2, 3, 4)), {"ndim": 2}),
    "dtype": (lambda lib: np.zeros((2, 3, 4), np.uint8), {"dtype": 0}),
    "no type": (lambda lib: np.zeros((2, 3, 4), np.uint8), {"dtype": -1}),
    "no_copy": (lambda lib: np.arange(12.0).reshape(3, 4), {"no_copy": True}),
    "per sample": (lambda lib: np.float32(5), {"batch": False}),
}


@pytest.mark.parametrize("name", DATA)
def test_data_as_dali_takes_it(name: str, dali: Any) -> None:
    make, arguments = DATA[name]

    def trace(lib: Any) -> list[Any]:
        given = {k: lib.types.DALIDataType(v) if k == "dtype" else v for k, v in arguments.items()}
        return [step(pipeline(lambda _: lib.fn.external_source(lambda: make(lib), **given), lib))]

    ours = trace(OURS)
    assert not isinstance(ours[0], Exception), ours[0]
    assert_same(ours, trace(dali))


A, B = np.zeros((2, 2), np.uint8), np.ones((2, 3), np.uint8)
SEVERAL: dict[str, tuple[Any, dict[str, Any]]] = {
    "tuple": ((A, B), {}),
    "list": ([A, B], {}),
    "array": (np.zeros((2, 3, 1), np.int64), {}),
    "more than needed": ((A, B, A), {}),
    "one": ((A,), {"num_outputs": 1}),
    "per sample": ((A, B), {"batch": False}),
    "layouts": ((A, B), {"layout": ["A", "B"]}),
    "layout for all": ((A, B), {"layout": "A"}),
    "fewer layouts": ((A, B), {"layout": ["A"]}),
    "not all layouts": ((A, B), {"layout": [None, "A"]}),
    "axes": ((A, np.zeros((2, 3, 1))), {"ndim": [1, 2]}),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_several_outputs_as_in_dali(name: str, dali: Any) -> None:
    item, arguments = SEVERAL[name]

    def trace(lib: Any) -> list[Any]:
        def define(_: Any) -> Any:
            made = lib.fn.external_source(lambda: item, **{"num_outputs": 2, **arguments})
            assert isinstance(made, list)
            return made

        return [step(pipeline(define, lib))]

    ours = trace(OURS)
    assert not isinstance(ours[0], Exception), ours[0]
    assert_same(ours, trace(dali))


PICTURE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (torch.from_numpy(PICTURE), PICTURE),
        ([torch.from_numpy(PICTURE), torch.ones(1, 2, 3)], [PICTURE, np.ones((1, 2, 3), np.float32)]),
        (torch.from_numpy(PICTURE)[:, :, ::2], PICTURE[:, :, ::2]),
        (PICTURE.transpose(0, 2, 1), PICTURE.transpose(0, 2, 1)),
        ([PICTURE[:, ::2], PICTURE.T], [PICTURE[:, ::2], PICTURE.T]),
        (memoryview(PICTURE), PICTURE),
        ([b"abc", bytearray(b"x")], [np.frombuffer(b"abc", np.uint8), np.frombuffer(b"x", np.uint8)]),
        ([[1, 2], [3, 4]], np.array([[1, 2], [3, 4]])),
    ],
    ids=["torch", "list of torch", "strided torch", "strided", "list of strided", "buffer", "bytes", "numbers"],
)
def test_data_beyond_dalis(data: Any, expected: Any) -> None:
    asked, fed = pipeline(lambda lib: lib.fn.external_source(lambda: data)), pipeline(named)
    for (out,) in (asked.run(), fed.run(mine=data)):
        assert len(out) == len(expected)
        for i, array in enumerate(expected):
            np.testing.assert_array_equal(out.at(i), array)
            assert out.at(i).dtype == array.dtype


def test_dlpack_capsules() -> None:
    pipe = pipeline(named)
    pipe.feed_input("mine", torch.arange(6).reshape(2, 3).__dlpack__())
    assert values(pipe.run()[0]) == [0, 1, 2, 3, 4, 5]


def test_output_of_a_pipeline_feeds_another() -> None:
    first = pipeline(lambda lib: lib.fn.external_source(lambda i: of(i)), prefetch_queue_depth=3)
    second = pipeline(lambda lib: lib.fn.external_source(lambda: first.run()[0]) + 1)
    assert [values(second.run()[0])[0] for _ in range(4)] == [1, 2, 3, 4]


def test_pictures_go_through_operators_and_arguments() -> None:
    random = np.random.default_rng(5)
    pictures = [random.integers(0, 256, (20 + i, 30, 3), np.uint8) for i in range(3)]
    scale = np.array([0.5, 1.0, 2.0], np.float32)

    def define(lib: Any) -> Any:
        images = lib.fn.external_source(lambda: pictures, layout="HWC")
        scales = lib.fn.external_source(lambda: scale)
        return lib.fn.brightness_contrast(images, brightness=scales), lib.fn.flip(images), scales

    bright, flipped, shown = pipeline(define).run()
    for i, picture in enumerate(pictures):
        np.testing.assert_array_equal(flipped.at(i), picture[:, ::-1])
        exact = np.clip(picture.astype(np.float64) * scale[i], 0, 255)
        assert np.abs(bright.at(i) - exact).max() <= 0.5
    assert values(shown) == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("data", "arguments", "problem"),
    [
        (np.zeros((4, 1)), {}, "a batch of 4 samples, but the pipeline's batch_size is 3"),
        ([np.zeros(2), np.zeros((2, 2))], {}, r"sample 1 has the shape \(2, 2\), but sample 0 \(2,\)"),
        ([np.zeros(2), np.zeros(2, np.int8)], {}, "sample 1 is DALIDataType.INT8"),
        (5, {}, "at least one axis"),
        ("abc", {}, "no type that a tensor can have"),
        (None, {}, "no type that a tensor can have"),
        (np.zeros((2, 2), complex), {}, "no type that a tensor can have"),
        (np.zeros((2, 2), ">i4"), {}, "no type that a tensor can have"),
        (torch.zeros(2, 2, dtype=torch.bfloat16), {}, "cannot be shared"),
        (np.zeros((2, 3)), {"layout": "HW"}, "the layout 'HW' names 2 axes, but the data has 1"),
        (np.zeros((2, 3)), {"ndim": 2}, "ndim=2, but the data has 1"),
        (np.zeros((2, 3)), {"dtype": types.FLOAT}, "dtype=DALIDataType.FLOAT, but the data has DALIDataType.FLOAT64"),
        (np.zeros((3, 4))[:, ::2], {"no_copy": True}, "not dense"),
        ((A,), {"num_outputs": 2}, r"num_outputs=2, but the source gave tuple without a \[1\]"),
        ((A, np.zeros((3, 1))), {"num_outputs": 2}, r"different numbers of samples: \[2, 3\]"),
    ],
)
def test_data_that_fits_nothing_is_refused(data: Any, arguments: dict[str, Any], problem: str) -> None:
    wrong = [data]
    good = (A, A) if "num_outputs" in arguments else np.zeros((2, 3, 1), np.float32) if "ndim" in arguments else None

    def source(i: int) -> Any:
        if wrong:
            return wrong.pop()
        layout = arguments.get("layout") or ("HW" if arguments.get("ndim") else "")
        return good if good is not None else np.full((2,) + (1,) * max(len(layout), 1), i, np.float32)

    pipe = pipeline(lambda lib: lib.fn.external_source(source, **arguments))
    with pytest.raises(TensorError, match=problem) as failure:
        pipe.run()
    assert isinstance(failure.value, RuntimeError)  # as DALI's
    assert "operator made at" in str(failure.value)
    assert "test_data.py" in str(failure.value)
    following = pipe.run()[0]
    assert len(following) == 2
    if good is None:
        assert np.all(following.at(0) == 1)


@pytest.mark.parametrize("change", [np.zeros((2, 2, 2), np.uint8), np.zeros((2, 2), np.int8)])
def test_type_and_axes_stay_the_same(change: Array, dali: Any) -> None:
    def trace(lib: Any) -> list[Any]:
        batches = iter([A, change])
        pipe = pipeline(lambda lib: lib.fn.external_source(lambda: next(batches)), lib, prefetch_queue_depth=1)
        return [step(pipe), step(pipe)]

    ours = trace(OURS)
    assert "in earlier iterations" in str(ours[1])
    assert_same(ours, trace(dali))


def test_tensors_are_those_that_were_given() -> None:
    """Layouts and names of TensorCPU and TensorListCPU go with the data."""
    pipe = pipeline(named)
    pipe.feed_input("mine", TensorListCPU(PICTURE, layout="HW"))
    pipe.feed_input("mine", [TensorCPU(p, layout="HW") for p in PICTURE])
    for _ in range(2):
        (output,) = pipe.run()
        assert output.layout() == "HW"
        np.testing.assert_array_equal(output.as_array(), PICTURE)
