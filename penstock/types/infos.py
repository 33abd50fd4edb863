"""Small records and names that the API passes around."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class TensorLayout(str):
    """Names of a tensor's axes, one letter each, such as ``TensorLayout("HWC")``: a string in all respects."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"TensorLayout({str(self)!r})"


class PipelineAPIType(enum.Enum):
    """Which of the ways to run a pipeline is in use: they must not be mixed."""

    BASIC = 0
    ITERATOR = 1
    SCHEDULED = 2


@dataclass
class SampleInfo:
    """Which sample an external source is asked for; all counts start at 0."""

    idx_in_epoch: int
    idx_in_batch: int
    iteration: int
    epoch_idx: int


@dataclass
class BatchInfo:
    """Which batch an external source is asked for; both counts start at 0."""

    iteration: int
    epoch_idx: int


class CUDAStream:
    """A CUDA stream's handle, in ``ptr``; 0 is the default stream."""

    def __init__(self, ptr: int = 0):
        self._ptr = ptr

    @property
    def ptr(self) -> int:
        """The handle."""
        return self._ptr

    def __repr__(self) -> str:
        return f"CUDAStream({self._ptr:#x})"
