"""`penstock.plugin.pytorch.fn.torch_python_function`: a function of the user's on PyTorch's tensors."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from penstock.custom.function import SampleCallback
from penstock.frameworks import PyTorch
from penstock.op import Called, op
from penstock.tensors import TensorCPU, TensorListCPU
from penstock.tensors.arrays import writable


@op("_torch_python_function", devices=("cpu", "gpu"), inputs=(0, 256))
class TorchPythonFunction(SampleCallback):
    """Calls a Python function with its inputs as PyTorch's tensors; the tensors that it returns go on as outputs.

    The function gets one tensor for each input, once for each sample. With ``batch_processing=True`` it is called once
    for the batch, with a list of tensors for each input. It returns a tensor per sample, or with ``num_outputs`` of 2
    or more a tuple of so many; with ``batch_processing=True`` each of them is a list of tensors, or one tensor with the
    samples along its first axis. All samples of an output have one type and number of axes. Gradients are left behind.

    It must not write to its inputs: they show the pipeline's memory without a copy, and others may look there, too.
    So a function that works in place begins with ``x.clone()``.

    On a GPU, PyTorch works in the pipeline's CUDA stream while the function runs, so nobody waits.

    When and where it is called, what it must not do, and its errors are those of `fn.python_function`.

    Inputs: 0 to 256, any. Outputs: ``num_outputs``; with a number other than 1 a list.

    Example:
        >>> from penstock.plugin.pytorch.fn import torch_python_function
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     numbers = fn.external_source(lambda: [np.arange(3), np.arange(2)])
        ...     return torch_python_function(numbers, function=lambda row: row.flip(0) * 10)
        >>> [row.tolist() for row in pipeline().run()[0]._arrays()]
        [[20, 10, 0], [10, 0]]
    """

    def working_in(self, batch: Called) -> AbstractContextManager[Any]:
        if batch.device is None or batch.stream is None:
            return super().working_in(batch)
        return PyTorch().working_in(batch.device, batch.stream)

    def shown(self, tensors: Any, batch: Called) -> list[Any]:
        torch = PyTorch()
        if isinstance(tensors, TensorListCPU):
            return [torch.array(TensorCPU(writable(array))) for array in tensors._arrays()]
        return [torch.array(tensor) for tensor in tensors]

    def taken(self, returned: Any) -> Any:
        return returned.detach().contiguous() if hasattr(returned, "detach") else returned
