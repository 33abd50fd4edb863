"""Batches for PyTorch, as tensors that share the pipelines' memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils.dlpack import from_dlpack

from penstock.errors import ArgumentError, OperatorError
from penstock.plugin.base import AutoReset, BaseIterator, LastBatchPolicy, PipelineLike

__all__ = ["DALIClassificationIterator", "DALIGenericIterator", "LastBatchPolicy"]

_CHANNELS_LAST = ("HWC", "DHWC")


class DALIGenericIterator(BaseIterator[torch.Tensor]):
    """Gives the outputs of one or more pipelines as tensors.

    ``next(iterator)`` gives a list with one dictionary for each pipeline, from the names in ``output_map`` to tensors
    of shape ``(batch, *sample)`` with the type and on the device of the pipeline's output. Nothing is copied: a tensor
    keeps its memory as long as it lives. With several pipelines and `LastBatchPolicy.PARTIAL`, a pipeline that has no
    sample left in the epoch is missing from the last list.

    On a GPU, PyTorch's current stream there waits for the tensor, the host does not. Any stream may read it: its memory
    is used again only after all work that the GPU had been given when the tensor was let go of. (To know that, CUDA has
    to look at all streams, which ends the capture of a CUDA graph: let go of no batch inside ``torch.cuda.graph``.)

    Each ``for`` loop is one epoch, whether the one before was finished or left by ``break``.

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

    def __init__(
        self,
        pipelines: PipelineLike | Sequence[PipelineLike],
        output_map: Sequence[str],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: AutoReset = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        *,
        channels_last: bool = False,
    ) -> None:
        self._channels_last = channels_last
        super().__init__(
            pipelines,
            output_map,
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )

    def _arrays(self, outputs: Sequence[Any], samples: int) -> dict[str, torch.Tensor]:
        if self._channels_last and not any(output.layout() in _CHANNELS_LAST for output in outputs):
            raise ArgumentError(
                f"channels_last=True, but the outputs' layouts are {[output.layout() for output in outputs]}: make one "
                'HWC, with output_layout="HWC" in crop_mirror_normalize for example'
            )
        return super()._arrays(outputs, samples)

    def _array(self, name: str, output: Any, samples: int) -> torch.Tensor:
        if not output.is_dense_tensor() and len(shapes := {tuple(shape) for shape in output.shape()}) > 1:
            first, second, *_ = sorted(shapes)
            raise OperatorError(
                f"output {name!r} cannot be one tensor: its samples have {len(shapes)} shapes, {first} and {second} "
                "among them. Resize, crop or pad them to one shape in the pipeline"
            )
        tensor = from_dlpack(output.as_tensor())
        if self._channels_last and output.layout() in _CHANNELS_LAST:
            tensor = tensor.movedim(-1, 1)
        return tensor[:samples] if samples < len(tensor) else tensor


class DALIClassificationIterator(DALIGenericIterator):
    """A `DALIGenericIterator` for pipelines with two outputs, which it names ``"data"`` and ``"label"``."""

    def __init__(
        self,
        pipelines: PipelineLike | Sequence[PipelineLike],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: AutoReset = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        *,
        channels_last: bool = False,
    ) -> None:
        super().__init__(
            pipelines,
            ["data", "label"],
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
            channels_last=channels_last,
        )
