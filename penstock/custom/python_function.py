"""``fn.python_function``: a function of the user's on the samples of a batch."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, ClassVar

import numpy as np

from penstock.custom.function import SampleCallback, stream
from penstock.frameworks import CuPy, backend_of
from penstock.op import Called, op
from penstock.tensors import TensorListCPU
from penstock.types import CUDAStream


def current_stream() -> CUDAStream:
    """The pipeline's CUDA stream, within a function that it calls on a GPU; elsewhere the default one."""
    return CUDAStream(stream() or 0)


@op("python_function", devices=("cpu", "gpu"), inputs=(0, 256))
class PythonFunction(SampleCallback):
    """Calls a Python function with the samples of its inputs; what it returns goes on as outputs.

    The function gets one array per input, once for each sample: NumPy's, or with ``device="gpu"`` CuPy's. With
    ``batch_processing=True`` it is called once for the batch, with a list of arrays per input. Where CuPy is not
    installed, functions on the GPU get `TensorGPU` objects, which PyTorch, Numba and others take by DLPack or
    ``__cuda_array_interface__``, and may return what these frameworks make of them.

    It returns an array per sample, or with ``num_outputs`` of 2 or more a tuple of so many; with
    ``batch_processing=True`` each of them is a list of arrays, or one array with the samples along its first axis. All
    samples of an output have one type and number of axes. With ``num_outputs=0`` nothing is used of it.

    The function runs on a thread of the pipeline's own, batch after batch, as far ahead as the pipeline prepares, while
    the other operators work on other batches; the interpreter is needed once for a batch. It is called for batches that
    are then thrown away, too, as by ``pipe.reset()``, and again for those that are begun anew without their broken
    samples. With CuPy its work goes into the pipeline's stream.

    Inputs are shown without a copy, and others may look at the same memory, so the arrays on the CPU are read-only
    (DALI leaves it at a warning): a function that works in place begins with a copy of its own. Arrays may be kept.

    The function must not use its own pipeline, but for what only looks, `feed_input` and `close`.

    Inputs: 0 to 256, any. Outputs: ``num_outputs``; with a number other than 1 a list.

    The operator runs even if no output needs it. A pipeline with a Python function cannot be serialized.

    Errors: FunctionError from ``run`` for whatever the function raises, which is its ``__cause__``, and where it
    returns what makes no batch. The iteration has failed then, and those behind it go on.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     numbers = fn.external_source(lambda: [np.arange(3), np.arange(2)])
        ...     return fn.python_function(numbers, function=lambda row: row[::-1] * 10)
        >>> [row.tolist() for row in pipeline().run()[0]._arrays()]
        [[20, 10, 0], [10, 0]]
    """

    of_class: ClassVar[Mapping[str, Any]] = {"current_stream": staticmethod(current_stream)}

    def working_in(self, batch: Called) -> AbstractContextManager[Any]:
        if batch.device is None or batch.stream is None or not _has_cupy():
            return super().working_in(batch)
        return CuPy().working_in(batch.device, batch.stream)

    def shown(self, tensors: Any, batch: Called) -> list[Any]:
        if isinstance(tensors, TensorListCPU):
            return tensors._arrays()
        return [CuPy().array(tensor) for tensor in tensors] if _has_cupy() else list(tensors)

    def taken(self, returned: Any) -> Any:
        """A number makes an array, and an array with strides a dense one."""
        if isinstance(returned, (bool, int, float, np.generic)):
            return np.asarray(returned)
        backend = backend_of(returned)
        return backend.dense(returned) if backend else returned


def _has_cupy() -> bool:
    return importlib.util.find_spec("cupy") is not None
