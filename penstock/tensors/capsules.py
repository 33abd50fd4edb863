"""DLPack capsules of the host's memory, for all samples of a batch at a time."""

from __future__ import annotations

from typing import Any

from penstock.machine import native
from penstock.tensors.samples import flags_of
from penstock.tensors.tensor_list import TensorListCPU


class _Taken:
    """The tensors of capsules that were consumed: deleted with it."""

    def __init__(self, handle: int):
        self._handle, self._destroy = handle, native.quick().ps_capsules_destroy

    def __del__(self) -> None:
        self._destroy(self._handle)


def lend(tensors: TensorListCPU) -> list[Any]:
    """A capsule of each sample; they keep the list's memory, of which they do not say that it is read only."""
    capsules: list[Any] = [None] * len(tensors)
    owner = tensors._owner, tensors._samples  # which has the names of the samples' sources
    if native.quick().ps_capsules_lend(id(capsules), tensors._samples, len(capsules), id(owner)) < 0:
        raise native.failure()
    return capsules


def take(capsules: list[Any]) -> TensorListCPU | None:
    """A list of tensors that shares their memory. None, and nothing is consumed, where not all of them are capsules of
    dense tensors in the host's memory, of one type and number of axes.
    """
    samples = (native.Tensor * len(capsules))()
    handle = native.quick().ps_capsules_take(id(capsules), samples) if capsules else None
    return TensorListCPU._from_native(_Taken(handle), samples, flags_of(samples)) if handle else None
