"""Batches for PaddlePaddle, as tensors that share the pipelines' memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.errors import ArgumentError, ArgumentTypeError
from penstock.frameworks import Paddle, package
from penstock.plugin.base import BaseIterator, LastBatchPolicy
from penstock.plugin.classification import ClassificationIterator

__all__ = ["DALIClassificationIterator", "DALIGenericIterator", "LastBatchPolicy"]

package("paddle", "paddle")


class DALIGenericIterator(BaseIterator[Any]):
    """Gives the outputs of one or more pipelines as tensors, as that of `penstock.plugin.pytorch` does for PyTorch.

    ``next(iterator)`` gives a list with one dictionary for each pipeline, from the names in ``output_map`` to
    ``paddle.Tensor`` of shape ``(batch, *sample)``, which share the pipeline's memory as long as they live. (DALI gives
    LoD tensors, of which ``paddle.to_tensor`` makes these; it takes these as well. ``tensor.get_tensor()`` is what the
    executor of static graphs wants.)

    Args:
        output_map: a name for each of the pipelines' outputs. Or a pair of a name and a LoD level from 1 on: such an
            output, whose samples may differ in as many of their first axes, becomes a LoD tensor (a ``DenseTensor``
            on the CPU, with `recursive sequence lengths`). The other arguments are those of
            `penstock.plugin.pytorch.DALIGenericIterator`, and so are epochs and errors; ``channels_last`` is refused.

    Raises:
        ArgumentError: arguments that make no sense, alone or together.
        OperatorError: while iterating: samples of a dense output differ in shape, or are 16-bit unsigned integers,
            which Paddle does not have.

    Example:
        >>> from penstock.plugin.paddle import DALIGenericIterator
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.readers.file(files=["a.jpg"] * 8, file_root=folder, name="Reader")[1]
        >>> iterator = DALIGenericIterator(pipeline(), ["number"], reader_name="Reader")
        >>> [batch[0]["number"].flatten().tolist() for batch in iterator]
        [[0, 1, 2, 3], [4, 5, 6, 7]]
    """

    backend: Paddle = Paddle()  # type: ignore[misc]  # of the class

    def _output_names(self, output_map: Sequence[Any]) -> list[str]:
        pairs = [_named_level(entry) for entry in output_map]
        self._levels = dict(pairs)
        return [name for name, _ in pairs]

    def _array(self, name: str, output: Any, samples: int) -> Any:
        level = self._levels[name]
        if not level:
            return super()._array(name, output, samples)
        if level > output.ndim():
            raise ArgumentError(f"output_map: {name!r} has LoD level {level}, but its samples {output.ndim()} axes")
        on_cpu = output.as_cpu()
        return self.backend.lod_tensor([on_cpu.at(i) for i in range(samples)], level)

    def _empty(self, pipe: Any, like: Any) -> Any:
        if hasattr(like, "set_recursive_sequence_lengths"):
            return type(like)()
        return super()._empty(pipe, like)


def _named_level(entry: Any) -> tuple[str, int]:
    """Name and LoD level of an output."""
    name, level = (entry, 0) if isinstance(entry, str) else entry
    if not isinstance(name, str) or not isinstance(level, int) or level < 0:
        raise ArgumentTypeError(f"output_map: {entry!r} is neither a name nor a pair of a name and a LoD level")
    return name, level


class DALIClassificationIterator(ClassificationIterator, DALIGenericIterator):
    """A `DALIGenericIterator` for pipelines with two outputs, which it names ``"data"`` and ``"label"``."""
