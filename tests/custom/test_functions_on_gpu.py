"""Functions on the GPU: what they are shown, what they may return, and in which order that is done."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, errors, fn, ops, types
from penstock.tensors import TensorGPU, TensorListGPU
from tests.cuda.gpu_streams import Gpu, back, tensor
from tests.small import made

pytestmark = pytest.mark.usefixtures("software_gpu", "without_cupy")


@pytest.fixture
def without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions get other arrays where it is installed: see test_functions_with_cupy.py."""
    monkeypatch.setitem(sys.modules, "cupy", None)


class Foreign:
    """An array of another library's, which the host need not wait for: ``__cuda_array_interface__`` alone."""

    def __init__(self, array: Any):
        self.kept = tensor(array)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.kept.__cuda_array_interface__


def doubled(x: Any) -> Any:
    assert isinstance(x, TensorGPU)
    return tensor(back(x) * 2)


def gpu_pipeline(function: Any, **arguments: Any) -> Pipeline:
    def define() -> Any:
        x = fn.external_source(lambda i: [np.full((k + 1, 3), i + k, np.int32) for k in range(4)]).gpu()
        outputs = fn.python_function(x + 1, function=function, **arguments)
        return x, (fn.cast(outputs, dtype=types.INT64) if not isinstance(outputs, list) else outputs[0])

    return made(define, device_id=0)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (doubled, {}),
        (lambda x: Foreign(back(x) * 2), {}),
        (lambda x: [doubled(sample) for sample in x], {"batch_processing": True}),
        (lambda x: np.asarray(back(x)) * 2, {}),  # from the host: uploaded
    ],
)
def test_outputs_of_many_kinds(function: Any, arguments: dict[str, Any]) -> None:
    pipe = gpu_pipeline(function, **arguments)
    for i in range(4):
        before, after = pipe.run()
        assert isinstance(after, TensorListGPU)
        for k in range(4):
            np.testing.assert_array_equal(back(after[k]), (back(before[k]) + 1) * 2)
            assert back(before[k])[0, 0] == i + k


def test_what_it_returns_goes_to_the_consumer() -> None:
    """Without an operator of the GPU behind it, or at all: then there is no stream of the pipeline's either."""

    def define() -> Any:
        x = fn.external_source(lambda i: tensor(np.full((4, 2), i, np.float32)), device="gpu")
        return fn.python_function(x, function=lambda a: a, device="gpu"), fn.python_function(
            function=lambda: tensor(np.int8([1, 2])), device="gpu"
        )

    pipe = made(define, device_id=0)
    for i in range(3):
        same, new = pipe.run()
        np.testing.assert_array_equal(back(same), np.full((4, 2), i))
        assert back(new).tolist() == [[1, 2]] * 4


def test_from_gpu_to_cpu_and_back() -> None:
    """A function on the CPU waits for what the GPU has copied to it."""

    def define() -> Any:
        x = fn.external_source(lambda i: np.full((4, 5), i, np.int32)).gpu() + 3
        y = fn.python_function(x.cpu(), function=lambda a: a * 10)
        return fn.python_function(y.gpu() + 1, function=doubled)

    pipe = made(define, device_id=0)
    assert [back(pipe.run()[0])[0, 0] for _ in range(4)] == [2 * (10 * (i + 3) + 1) for i in range(4)]


def test_inputs_may_be_kept() -> None:
    kept: list[Any] = []
    pipe = gpu_pipeline(lambda x: kept.append(x) or x)
    for _ in range(6):
        pipe.run()
    pipe.close()
    for n, one in enumerate(kept[:24]):
        assert (back(one) == n // 4 + n % 4 + 1).all()


def test_several_outputs_and_layouts() -> None:
    pipe = gpu_pipeline(lambda x: (x, doubled(x)), num_outputs=2, output_layouts=["HW"])
    x, same = pipe.run()
    assert same.layout() == "HW"
    np.testing.assert_array_equal(back(same[2]), back(x[2]) + 1)


def test_inputs_on_the_wrong_device() -> None:
    with pytest.raises(errors.DeviceError, match=r"python_function: input 0 .* is on the CPU"):
        fn.python_function(fn.random.uniform(shape=[2]), function=doubled, device="gpu")


def test_failures() -> None:
    def wrong(x: Any) -> Any:
        raise OSError("no")

    with pytest.raises(errors.FunctionError, match="the function raised OSError: no"):
        gpu_pipeline(wrong).run()
    with pytest.raises(errors.FunctionError, match="what the function returned makes no batch"):
        gpu_pipeline(lambda x: object()).run()


def test_in_a_branch() -> None:
    def define() -> Any:
        x = fn.external_source(lambda i: np.arange(4 * i, 4 * i + 4, dtype=np.int32))
        odd = x % 2 == 1
        yes, no = fn._conditional.split(x.gpu(), predicate=odd)
        return fn._conditional.merge(fn.python_function(yes, function=doubled), no, predicate=odd)

    pipe = made(define, device_id=0)
    assert back(pipe.run()[0]).tolist() == [0, 2, 2, 6]
    assert back(pipe.run()[0]).tolist() == [4, 10, 6, 14]


def test_its_stream_is_there_when_the_pipeline_is_closed() -> None:
    """As long as it is being called."""
    gpu = Gpu()
    called, closed, done = threading.Event(), threading.Event(), threading.Event()
    wrong: list[BaseException] = []

    def function(x: Any) -> Any:
        called.set()
        assert closed.wait(60)
        try:
            gpu.synchronize(stream)
        except AssertionError as e:
            wrong.append(e)
        done.set()
        return x

    pipe = gpu_pipeline(function, batch_processing=True)
    pipe.build()
    stream = pipe._built().executor.stream()
    pipe.schedule_run()
    assert called.wait(60)
    with pytest.warns(RuntimeWarning, match="has not returned within 1 s of closing"):
        pipe.close()
    closed.set()
    assert done.wait(60)
    assert not wrong


class CuPyArray(Foreign):
    """As much of CuPy's as the library looks at."""

    __module__ = "cupy"

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.kept.data_ptr())

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.kept.shape())

    @property
    def dtype(self) -> Any:
        return np.dtype(self.__cuda_array_interface__["typestr"])

    flags = SimpleNamespace(c_contiguous=True)
    device = SimpleNamespace(id=0)


def test_with_cupy_it_works_in_the_pipelines_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that stands for CuPy, which is not needed here, notes what it is asked for."""
    streams: list[tuple[int, int]] = []
    current = [0]

    @contextmanager
    def external_stream(handle: int, device: int) -> Iterator[None]:
        streams.append((handle, device))
        current[0] = handle
        yield
        current[0] = 0

    @contextmanager
    def use_device(number: int) -> Iterator[None]:
        assert number == 0
        yield

    cupy = ModuleType("cupy")
    cupy.__spec__ = ModuleSpec("cupy", None)
    cupy.from_dlpack = lambda x: CuPyArray(back(x))  # type: ignore[attr-defined]
    cupy.ascontiguousarray = lambda x: x  # type: ignore[attr-defined]
    cupy.cuda = SimpleNamespace(  # type: ignore[attr-defined]
        Device=use_device, ExternalStream=external_stream, get_current_stream=lambda: SimpleNamespace(ptr=current[0])
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)

    def function(x: Any) -> Any:
        assert isinstance(x, CuPyArray)
        assert current[0]
        return CuPyArray(back(x.kept) * 2)

    pipe = gpu_pipeline(function)
    for _ in range(2):
        before, after = pipe.run()
        np.testing.assert_array_equal(back(after[3]), (back(before[3]) + 1) * 2)
    assert set(streams) == {(pipe._built().executor.stream(), 0)}
    pipe.close()


def test_the_class_tells_the_current_stream() -> None:
    streams: list[int] = []

    def noting(x: Any) -> Any:
        streams.append(ops.PythonFunction.current_stream().ptr)
        return x

    pipe = gpu_pipeline(noting)
    pipe.run()
    assert set(streams[:4]) == {pipe._built().executor.stream()}
