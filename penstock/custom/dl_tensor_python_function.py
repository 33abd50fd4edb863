"""`fn.dl_tensor_python_function`: a function of the user's on DLPack tensors."""

from __future__ import annotations

from typing import Any

from penstock.custom.function import SampleCallback
from penstock.op import Called, arg, op
from penstock.tensors import TensorListCPU, capsules


@op("dl_tensor_python_function", devices=("cpu", "gpu"), inputs=(0, 256))
class DLTensorPythonFunction(SampleCallback):
    """Calls a Python function with its inputs as DLPack capsules; the capsules that it returns go on as outputs.

    The function gets a list of capsules for each input, one for each sample, once for a batch; with
    ``batch_processing=False`` one capsule for each input, once for each sample. It returns the same, or objects that
    have ``__dlpack__``: one, or with ``num_outputs`` of 2 or more a tuple of so many. All samples of an output have one
    type and number of axes.

    It must not write to its inputs: they show the pipeline's memory without a copy, and others may look there, too.

    On a GPU, the host waits until the inputs are there before the function is called. With
    ``synchronize_stream=False`` it does not: then all that the function does must go into the pipeline's CUDA stream,
    of which `penstock.python_function_plugin.current_dali_stream` is the handle. Work in other streams must have ended
    when the function returns.

    When and where it is called, and what it must not do, is as with `fn.python_function`.

    Inputs: 0 to 256, any. Outputs: ``num_outputs``; with a number other than 1 a list.

    Errors: FunctionError from ``run`` for whatever the function raises, which is its ``__cause__``, and where it
    returns what makes no batch.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     numbers = fn.external_source(lambda: [np.arange(3), np.arange(2)])
        ...     swap = lambda batch: batch[::-1]
        ...     return fn.dl_tensor_python_function(numbers, function=swap)
        >>> [row.tolist() for row in pipeline().run()[0]._arrays()]
        [[0, 1], [0, 1, 2]]
    """

    batch_processing = arg(True, "Call it once for a batch, with lists of capsules.", to_kernel=False)
    synchronize_stream = arg(True, "On a GPU, wait for the inputs before the call.", to_kernel=False)

    def shown(self, tensors: Any, batch: Called) -> list[Any]:
        if isinstance(tensors, TensorListCPU):
            return capsules.lend(tensors)
        stream = None if self.synchronize_stream else batch.stream
        return [tensor.__dlpack__(stream=stream) for tensor in tensors]

    def taken_batch(self, returned: list[Any]) -> Any:
        taken = capsules.take(returned)
        return super().taken_batch(returned) if taken is None else taken
