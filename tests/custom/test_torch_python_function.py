"""`plugin.pytorch.fn.torch_python_function`: results equal those of DALI's functions of NumPy."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import errors, fn
from tests.custom.beside_dali import compare, pictures, ragged
from tests.small import made
from tests.software_gpu.libraries import has_real_gpu

torch = pytest.importorskip("torch")
pytest.importorskip("nvidia.dali")


@pytest.mark.parametrize(
    ("of_torch", "of_numpy", "arguments"),
    [
        (lambda a, b: a * 2, lambda a, b: a * 2, {}),
        (lambda a, b: a.t(), lambda a, b: a.T.copy(), {}),
        (lambda a, b: (b.flip(0), a.double()), lambda a, b: (b[::-1].copy(), a.astype("f8")), {"num_outputs": 2}),
        (lambda a, b: b, lambda a, b: b, {"output_layouts": "HWC"}),
        (lambda a, b: [x + 1 for x in a], lambda a, b: [x + 1 for x in a], {"batch_processing": True}),
        (
            lambda a, b: (torch.stack(b), a),
            lambda a, b: (b, a),
            {"batch_processing": True, "num_outputs": 2, "output_layouts": ["ABC"]},
        ),
    ],
)
def test_as_dalis_with_numpy(of_torch: Any, of_numpy: Any, arguments: dict[str, Any]) -> None:
    """DALI's own needs a GPU even on the CPU."""
    from penstock.plugin.pytorch.fn import torch_python_function

    def define(fn: Any, theirs: bool) -> Any:
        inputs = [fn.external_source(source=source, batch=True) for source in (ragged, pictures)]
        call = fn.python_function if theirs else torch_python_function
        return call(*inputs, function=of_numpy if theirs else of_torch, **arguments)

    compare(define)


def test_the_class_and_gradients() -> None:
    from penstock.plugin.pytorch import TorchPythonFunction

    weight = torch.nn.Parameter(torch.tensor(3.0))
    scaled = TorchPythonFunction(function=lambda x: x.float() * weight, num_outputs=1)
    (output,) = made(lambda: scaled(fn.external_source(pictures))).run()
    assert output.at(1)[0, 0].tolist() == [9.0, 12.0]


def test_failures() -> None:
    from penstock.plugin.pytorch.fn import torch_python_function

    with pytest.raises(errors.FunctionError, match="torch_python_function: the function raised RuntimeError") as caught:
        made(lambda: torch_python_function(fn.external_source(ragged), function=lambda x: x @ x)).run()
    assert type(caught.value.__cause__) is RuntimeError
    with pytest.raises(errors.FunctionError, match="returned no tuple: Tensor"):
        made(lambda: torch_python_function(fn.external_source(ragged), function=lambda x: x, num_outputs=2)).run()
    with pytest.raises(errors.FunctionError, match="what the function returned makes no batch"):
        made(lambda: torch_python_function(fn.external_source(ragged), function=lambda x: x.bfloat16())).run()


@pytest.mark.gpu
def test_on_a_gpu_it_works_in_the_pipelines_stream() -> None:
    if not has_real_gpu():
        pytest.skip("needs an NVIDIA GPU")
    if not torch.cuda.is_available():
        pytest.skip("needs PyTorch for CUDA")
    from penstock.plugin.pytorch.fn import torch_python_function

    streams: list[int] = []

    def function(x: Any) -> Any:
        streams.append(torch.cuda.current_stream().cuda_stream)
        assert x.is_cuda
        return x * 2

    pipe = made(
        lambda: torch_python_function(fn.external_source(pictures).gpu() + 1, function=function) + 1, device_id=0
    )
    for i in range(3):
        (output,) = pipe.run()
        for k, wanted in enumerate(pictures(i)):
            assert (output.as_cpu().at(k) == (wanted.astype(int) + 1) * 2 + 1).all()
    assert set(streams) == {pipe._built().executor.stream()}
