"""`fn.dl_tensor_python_function`: DLPack capsules in and out, beside DALI itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import errors, fn, ops
from penstock.python_function_plugin import ArrayToDLTensor, DLTensorToArray, current_dali_stream
from penstock.tensors import TensorGPU
from tests.cuda.gpu_streams import Gpu, back, tensor
from tests.custom.beside_dali import compare, pictures, ragged
from tests.small import made

pytest.importorskip("nvidia.dali")


def plus_one(capsule: Any) -> Any:
    return ArrayToDLTensor(DLTensorToArray(capsule) + 1)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda a, b: a[::-1], {}),
        (lambda a, b: (b, a), {"num_outputs": 2, "output_layouts": ["", "AB"]}),
        (lambda a, b: [plus_one(x) for x in a], {"output_layouts": "XY"}),
        (lambda a, b: plus_one(a), {"batch_processing": False}),
        (lambda a, b: (a, plus_one(b)), {"batch_processing": False, "num_outputs": 2}),
    ],
)
def test_as_dali_does(function: Any, arguments: dict[str, Any]) -> None:
    def define(fn: Any, theirs: bool) -> Any:
        inputs = [fn.external_source(source=source, batch=True) for source in (ragged, pictures)]
        return fn.dl_tensor_python_function(*inputs, function=function, **arguments)

    compare(define)


def test_arrays_with_dlpack_may_be_returned() -> None:
    """Which DALI does not take; and in `ops`."""
    zeros = ops.DLTensorPythonFunction(function=lambda batch: [np.zeros(3, np.int8) for _ in batch])
    (output,) = made(lambda: zeros(fn.external_source(ragged))).run()
    assert output.as_array().tolist() == [[0, 0, 0]] * 4


def test_failures() -> None:
    def one(capsules: Any) -> Any:
        raise LookupError("no")

    for function, text in [
        (one, "dl_tensor_python_function: the function raised LookupError: no"),
        (lambda x: x[:2], "returned 2 samples, but was given 4"),
        (lambda x: None, "num_outputs=1, but the function returned None"),
        (lambda x: (x, x), "num_outputs=1, but the function returned 2"),
        (lambda x: [DLTensorToArray(k) and k for k in x[:1]], "ValueError"),
    ]:
        with pytest.raises(errors.FunctionError, match=text):
            made(lambda f=function: fn.dl_tensor_python_function(fn.external_source(ragged), function=f)).run()


@pytest.mark.usefixtures("software_gpu")
@pytest.mark.parametrize("synchronize", [True, False])
def test_on_a_gpu(synchronize: bool) -> None:
    streams: list[int | None] = []
    gpu = Gpu()

    def function(capsules: Any) -> Any:
        streams.append(current_dali_stream())
        if not synchronize:  # what it does here is not in that stream
            gpu.synchronize(streams[-1] or 0)
        return [tensor(back(TensorGPU(capsule)) * 2).__dlpack__() for capsule in capsules]

    def define() -> Any:
        x = fn.external_source(ragged).gpu() + 1
        return fn.dl_tensor_python_function(x, function=function, synchronize_stream=synchronize) + 1

    pipe = made(define, device_id=0)
    for i in range(3):
        (output,) = pipe.run()
        for k, wanted in enumerate(ragged(i)):
            np.testing.assert_array_equal(back(output[k]), (wanted + 1) * 2 + 1)
    assert set(streams) == {pipe._built().executor.stream()}
    assert current_dali_stream() is None
    pipe.close()
