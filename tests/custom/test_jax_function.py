"""`plugin.jax.fn.jax_function`: functions on JAX's arrays, beside DALI itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import DataNode, errors, fn
from penstock.pipeline import pipeline_def
from tests.custom.beside_dali import compare, pictures, ragged
from tests.small import made
from tests.software_gpu.libraries import has_real_gpu

jax = pytest.importorskip("jax")
pytest.importorskip("nvidia.dali")


def function_of(theirs: bool) -> Any:
    if theirs:
        from nvidia.dali.plugin.jax.fn import jax_function
    else:
        from penstock.plugin.jax.fn import jax_function
    return jax_function


@jax.jit
@jax.vmap
def mirrored(image: Any) -> Any:
    return image[:, ::-1]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda a, b: a + 1, {}),
        (lambda a, b: mirrored(a), {}),
        (lambda a, b: (b, a[:, 0]), {"num_outputs": 2}),
        (lambda a, b: (b, a[:, 0]), {"num_outputs": 2, "output_layouts": ["ABC", "DE"]}),
        (lambda a, b: a.astype("float32").mean((1, 2)), {}),
        (lambda a, b: a, {"device": "cpu", "preserve": False}),
    ],
)
def test_as_dali_does(function: Any, arguments: dict[str, Any]) -> None:
    def define(fn: Any, theirs: bool) -> Any:
        inputs = [fn.external_source(source=pictures, batch=True, layout=layout) for layout in ("HWC", "")]
        return function_of(theirs)(function, **arguments)(*inputs)

    compare(define)


def test_a_decorator_with_arguments_in_a_branch() -> None:
    calls: list[int] = []

    @function_of(False)(num_outputs=0)
    def seen(x: Any) -> None:
        calls.append(len(x))

    @function_of(False)(device="cpu")
    def doubled(x: Any) -> Any:
        """Twice as much."""
        return x * 2

    assert doubled.__name__ == "doubled"
    assert doubled.__doc__ == "Twice as much."

    @pipeline_def(batch_size=4, num_threads=2, device_id=None, enable_conditionals=True)
    def pipeline() -> Any:
        x = fn.external_source(lambda i: np.arange(8, dtype=np.int32).reshape(4, 2))
        assert seen(x) == []
        if x[0] > 2:
            y = doubled(x)
        else:
            y = x
        return y

    (output,) = pipeline().run()
    assert output.as_array().tolist() == [[0, 1], [2, 3], [8, 10], [12, 14]]
    assert calls
    assert set(calls) == {4}


def test_it_is_not_called_where_nobody_needs_it() -> None:
    calls: list[int] = []

    def note(x: Any) -> Any:
        calls.append(1)
        return x

    def define() -> DataNode:
        x = fn.external_source(pictures)
        function_of(False)(note, preserve=False)(x)
        return x

    made(define).run()
    assert not calls


def test_one_global_array() -> None:
    device = jax.devices("cpu")[0]
    sharding = jax.sharding.NamedSharding(
        jax.sharding.Mesh(np.array([device]), ("x",)), jax.sharding.PartitionSpec("x")
    )

    def function(x: Any) -> Any:
        assert x.sharding == sharding
        return x + 1

    pipe = made(lambda: function_of(False)(function, sharding=sharding)(fn.external_source(pictures)))
    np.testing.assert_array_equal(pipe.run()[0].as_array(), np.stack(pictures(0)) + 1)
    with pytest.raises(errors.ArgumentTypeError, match=r"jax_function: sharding=7: expected a jax\.sharding\.Sharding"):
        made(lambda: function_of(False)(lambda x: x, sharding=7)(fn.external_source(pictures)))


def test_failures() -> None:
    def wrong(x: Any) -> Any:
        raise KeyError("no")

    for function, source, text in [
        (wrong, pictures, r"jax_function: the function raised KeyError: 'no'\n.*operator made at .*test_jax_function"),
        (lambda x: x, ragged, "jax_function: input 0: JAX's arrays have samples of one shape: .* different shapes"),
        (lambda x: x[:2], pictures, "output 0 of the function has the shape .*expected 4 samples along axis 0"),
        (lambda x: (x, x), pictures, "num_outputs=1, but the function returned 2"),
        (lambda x: np.asarray(x), pictures, "output 0 of the function is no jax.Array: ndarray"),
        (lambda x: x.astype("bfloat16"), pictures, "output 0 of the function makes no batch: .*bfloat16"),
        (lambda x: None, pictures, "the function returned None"),
    ]:
        with pytest.raises(errors.FunctionError, match=text) as caught:
            made(lambda f=function, s=source: function_of(False)(f)(fn.external_source(s))).run()
        assert function is not wrong or isinstance(caught.value.__cause__, KeyError)


@pytest.mark.gpu
def test_on_a_gpu() -> None:
    if not has_real_gpu():
        pytest.skip("needs an NVIDIA GPU")
    if not any(device.platform == "gpu" for device in jax.devices()):
        pytest.skip("needs JAX for CUDA")
    pipe = made(lambda: function_of(False)(mirrored)(fn.external_source(pictures).gpu()), device_id=0)
    for i in range(3):
        (output,) = pipe.run()
        np.testing.assert_array_equal(output.as_cpu().as_array(), np.stack(pictures(i))[:, :, ::-1])
