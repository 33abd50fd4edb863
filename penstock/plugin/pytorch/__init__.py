"""Batches for PyTorch, as tensors that share the pipelines' memory."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch.utils.dlpack import from_dlpack

from penstock import types
from penstock.custom import torch_python_function
from penstock.errors import TensorError
from penstock.frameworks import PyTorch
from penstock.ops import class_of
from penstock.pipeline import Pipeline
from penstock.plugin.base import BaseIterator, LastBatchPolicy
from penstock.plugin.classification import ClassificationIterator
from penstock.plugin.pytorch import fn
from penstock.plugin.ragged import RaggedIterator
from penstock.tensors import TensorCPU, TensorGPU, TensorListGPU

__all__ = [
    "DALIClassificationIterator",
    "DALIGenericIterator",
    "DALIRaggedIterator",
    "LastBatchPolicy",
    "Pipeline",
    "TensorCPU",
    "TensorGPU",
    "TensorListGPU",
    "TorchPythonFunction",
    "feed_ndarray",
    "fn",
    "to_torch_type",
]

TorchPythonFunction = class_of(
    torch_python_function.TorchPythonFunction, "torch_python_function", "TorchPythonFunction", __name__
)

to_torch_type = {
    types.FLOAT: torch.float32,
    types.FLOAT64: torch.float64,
    types.FLOAT16: torch.float16,
    types.UINT8: torch.uint8,
    types.INT8: torch.int8,
    types.BOOL: torch.bool,
    types.INT16: torch.int16,
    types.INT32: torch.int32,
    types.INT64: torch.int64,
}


def feed_ndarray(dali_tensor: Any, arr: torch.Tensor, cuda_stream: Any = None) -> torch.Tensor:
    """Copies a tensor, or a list of tensors of one shape, into a PyTorch tensor.

    Args:
        dali_tensor: what a pipeline gave: a tensor, or a list of tensors that all have one shape.
        arr: where to copy to: contiguous, of the same shape and type, on the CPU or a GPU.
        cuda_stream: the CUDA stream, PyTorch's or a handle, in which to copy; None: PyTorch's current one.

    Returns ``arr``. Raises TensorError where shapes or types differ, or ``arr`` is not contiguous.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return np.uint8([1, 2, 3])
        >>> batch, = pipeline().run()
        >>> feed_ndarray(batch, torch.zeros(2, 3, dtype=torch.uint8)).tolist()
        [[1, 2, 3], [1, 2, 3]]
    """
    with _stream_of(cuda_stream):  # in which the source must be ready, too
        source = from_dlpack(dali_tensor.as_tensor() if hasattr(dali_tensor, "as_tensor") else dali_tensor)
        if source.shape != arr.shape or source.dtype != arr.dtype:
            raise TensorError(
                f"feed_ndarray: a tensor of shape {tuple(source.shape)} and {source.dtype} does not go into one of "
                f"shape {tuple(arr.shape)} and {arr.dtype}"
            )
        if not arr.is_contiguous():
            raise TensorError("feed_ndarray: arr is not contiguous")
        return arr.copy_(source)


def _stream_of(stream: Any) -> Any:
    """A context in which this stream is PyTorch's current one."""
    if stream is None or not torch.cuda.is_available():
        return contextlib.nullcontext()
    return torch.cuda.stream(
        stream if isinstance(stream, torch.cuda.Stream) else torch.cuda.ExternalStream(int(stream))
    )


class DALIGenericIterator(BaseIterator[torch.Tensor]):
    """Gives the outputs of one or more pipelines as tensors.

    ``next(iterator)`` gives a list with one dictionary for each pipeline, from the names in ``output_map`` to tensors
    of shape ``(batch, *sample)`` with the type and on the device of the pipeline's output. Nothing is copied: a tensor
    keeps its memory as long as it lives. With several pipelines and `LastBatchPolicy.PARTIAL`, the tensors of one that
    has no sample left in the epoch are empty; where only ``size`` says how long an epoch is, they are left out.

    On a GPU, PyTorch's current stream there waits for the tensor, the host does not. Any stream may read it: its memory
    is used again only after all work that was enqueued on the GPU when the tensor was released. (To know that, CUDA has
    to look at all streams, which ends the capture of a CUDA graph: release no batch inside ``torch.cuda.graph``.)

    Each ``for`` loop is one epoch, whether the one before was finished or left by ``break``.

    Where external sources raise StopIteration before an epoch of ``size`` or ``reader_name`` has all its batches, they
    begin anew and the epoch goes on with what they give then, if they had begun in an epoch before; if they began with
    this one, it ends with them, and the next epoch begins. (DALI's iterator gives no batch any more in most such cases;
    which ones depends on the prefetch depth.) Readers leave out what `LastBatchPolicy.DROP` drops; a source beside a
    reader drops nothing.

    Args:
        pipelines: the pipeline, or a list of pipelines with the same batch size.
        output_map: a name for each of the pipelines' outputs.
        size: samples in an epoch, over all pipelines. -1: as ``reader_name`` says, or else, with a single pipeline,
            until that raises StopIteration.
        reader_name: the reader, by the name that it has in all pipelines, that says how long an epoch is, what this
            process reads of it, and whether last batches are padded.
        auto_reset: ``True`` or ``"yes"``: the end of an epoch resets the iterator. ``False``, ``None`` or ``"no"``:
            ``next()`` raises StopIteration until ``reset()`` or the next ``for`` loop.
        fill_last_batch: deprecated: ``True`` means ``LastBatchPolicy.FILL``, ``False`` means ``PARTIAL``.
        dynamic_shape: accepted as in DALI, without effect: shapes may always differ from batch to batch.
        last_batch_padded: with ``size``, whether the readers repeat the last sample at an epoch's end.
        last_batch_policy: what becomes of an epoch's last batch; see `LastBatchPolicy`.
        prepare_first_batch: whether to start working at once, or when the first batch is asked for.
        channels_last: give pictures of layout HWC (volumes: DHWC) as tensors of shape ``(N, C, H, W)`` in
            ``torch.channels_last`` memory format, which is how they lie in memory: convolutions like it best.

    Raises:
        ArgumentError: arguments that make no sense, alone or together.
        OperatorError: while iterating: the samples of an output differ in shape.

    With seven samples 1 to 7 and a batch size of 2, an epoch's last batch and the next epoch's first batch are:

    ========= ==================== =====================
    policy    reader pads          reader does not pad
    ========= ==================== =====================
    FILL      [7, 7], then [1, 2]  [7, 1], then [2, 3]
    PARTIAL   [7], then [1, 2]     [7], then [1, 2]
    DROP      [5, 6], then [1, 2]  [5, 6], then [1, 2]
    ========= ==================== =====================

    Example:
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return tuple(fn.readers.file(files=["a.jpg"] * 7, file_root=folder, name="Reader"))
        >>> iterator = DALIGenericIterator(
        ...     pipeline(), ["jpeg", "number"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL
        ... )
        >>> [batch[0]["number"].flatten().tolist() for batch in iterator]
        [[0, 1, 2, 3], [4, 5, 6]]
        >>> len(iterator)
        2
    """

    backend = PyTorch()

    # Subclasses in circulation take a batch from here that DALI prepared; here it waits in the pipeline.
    _first_batch: Any = None


class DALIClassificationIterator(ClassificationIterator, DALIGenericIterator):
    """A `DALIGenericIterator` for pipelines with two outputs, which it names ``"data"`` and ``"label"``."""


class DALIRaggedIterator(RaggedIterator[torch.Tensor]):
    """A `DALIGenericIterator` for outputs whose samples differ in shape, too.

    Args:
        output_types: for each output, one of these; None: all are dense. The other arguments are those of
            `DALIGenericIterator`.

            - ``DENSE_TAG``: one tensor, as `DALIGenericIterator` gives it;
            - ``SPARSE_LIST_TAG``: a list of tensors, one for each sample, which share the pipeline's memory;
            - ``SPARSE_COO_TAG``: one sparse tensor of shape ``(batch, *largest)``, where an axis is as long as in the
              sample that has most of it. All elements of the samples are in it, zeros, too. (DALI's needs samples with
              one axis, ours may have any number.)

    Raises:
        ArgumentError: another tag, or another number of tags than outputs.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.external_source(lambda: [np.float32([1, 2, 3]), np.float32([4])])
        >>> batch, = next(DALIRaggedIterator(pipeline(), ["x"], output_types=[DALIRaggedIterator.SPARSE_COO_TAG]))
        >>> batch["x"].to_dense().tolist()
        [[1.0, 2.0, 3.0], [4.0, 0.0, 0.0]]
    """

    backend = PyTorch()
