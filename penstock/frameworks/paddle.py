"""PaddlePaddle as the library sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.errors import OperatorError
from penstock.frameworks.backend import Backend
from penstock.frameworks.packages import package
from penstock.types import DALIDataType


class Paddle(Backend):
    """Tensors by DLPack, on CPUs and GPUs."""

    name = "PaddlePaddle"
    module = "paddle"
    distribution = "paddlepaddle"
    plugin = "penstock.plugin.paddle"
    extra = "paddle"

    def array(self, tensor: Any) -> Any:
        if tensor.dtype == DALIDataType.UINT16:  # which Paddle would take for bfloat16
            raise OperatorError("PaddlePaddle has no tensors of 16-bit unsigned integers: cast them in the pipeline")
        return package("paddle", self.extra).utils.dlpack.from_dlpack(tensor.__dlpack__())

    def empty(self, like: Any, device: int) -> Any:
        return like[:0]

    def lod_tensor(self, arrays: Sequence[Any], level: int) -> Any:
        """A LoD tensor: the elements of all samples one behind the other, and how many of them each one has.

        The first ``level`` axes of the samples may differ in length, and become one axis.
        """
        core = package("paddle", self.extra).base.core
        samples = [np.asarray(array) for array in arrays]
        lengths = [
            [length for s in samples for length in [s.shape[k]] * int(np.prod(s.shape[:k], dtype=int))]
            for k in range(level)
        ]
        made = core.DenseTensor()
        rows = [s.reshape(int(np.prod(s.shape[:level], dtype=int)), *s.shape[level:]) for s in samples]
        made.set(np.concatenate(rows), core.CPUPlace())
        made.set_recursive_sequence_lengths(lengths)
        return made
