"""Functions on the GPU as most are written: with CuPy, whose arrays they are then shown, in the pipeline's stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from tests.cuda.gpu_streams import back
from tests.small import made
from tests.software_gpu.libraries import has_real_gpu

pytestmark = pytest.mark.gpu


@pytest.fixture
def cupy() -> Any:
    if not has_real_gpu():
        pytest.skip("needs an NVIDIA GPU")
    return pytest.importorskip("cupy", reason="needs CuPy")


def pipeline(function: Any, **arguments: Any) -> Pipeline:
    def define() -> Any:
        x = fn.external_source(lambda i: [np.full((k + 1, 300), i + k, np.int32) for k in range(4)]).gpu()
        return x, fn.cast(fn.python_function(x + 1, function=function, **arguments), dtype=types.INT64)

    return made(define, device_id=0)


def check(pipe: Pipeline, expected: Any) -> None:
    for i in range(6):
        before, after = pipe.run()
        for k in range(4):
            assert (back(before[k]) == i + k).all()
            np.testing.assert_array_equal(back(after[k]), expected(back(before[k]) + 1))


def test_samples(cupy: Any) -> None:
    pipe: Pipeline

    def function(x: Any) -> Any:
        assert isinstance(x, cupy.ndarray)
        assert cupy.cuda.get_current_stream().ptr == pipe._built().executor.stream()
        return cupy.cumsum(x, axis=1)

    pipe = pipeline(function)
    check(pipe, lambda x: np.cumsum(x, axis=1))


def test_batches(cupy: Any) -> None:
    check(pipeline(lambda batch: [x[::-1, ::2] * 3 for x in batch], batch_processing=True), lambda x: x[::-1, ::2] * 3)


def test_slow_work_is_waited_for_by_what_follows(cupy: Any) -> None:
    """Nothing of it is done when the function returns."""
    spin = cupy.RawKernel(
        r"""extern "C" __global__ void spin(const int* from, int* to, int n) {
        for (long long until = clock64() + 20000000; clock64() < until;) {}
        for (int i = 0; i < n; i++) to[i] = from[i] * 7; }""",
        "spin",
    )

    def function(x: Any) -> Any:
        to = cupy.zeros_like(x)
        spin((1,), (1,), (x, to, x.size))
        return to

    check(pipeline(function), lambda x: x * 7)


def test_arrays_may_be_kept(cupy: Any) -> None:
    kept: list[Any] = []
    pipe = pipeline(lambda x: kept.append(x) or x)
    for _ in range(6):
        pipe.run()
    pipe.close()
    for n, one in enumerate(kept[:24]):
        assert (cupy.asnumpy(one) == n // 4 + n % 4 + 1).all()
