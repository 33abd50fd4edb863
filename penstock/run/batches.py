"""A native iteration as Python holds it, and the tensors that show its memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from penstock.feed.data import Fed
from penstock.machine import native
from penstock.tensors import TensorListCPU, TensorListGPU
from penstock.tensors.gpu_memory import GpuMemory


class Batch:
    """An iteration's memory: given back when the last tensor that shows it is gone."""

    answer = native.Answer()  # of one that Ctrl-C stopped here

    def __init__(self, library: Any):
        self.answer = native.Answer()  # the engine writes to it, so there is no moment in which nobody has the batch
        self._library = library
        self.kept: Sequence[Fed] = ()  # memory of users that the outputs show
        self._destroy = library.ps_batch_destroy
        self._pid = os.getpid()

    def __del__(self, getpid: Any = os.getpid) -> None:
        # A forked child must not touch locks that a thread of its parent may have held.
        if self.answer.batch and getpid() == self._pid:
            self._destroy(self.answer.batch)

    def show(self, value: int, expected: int) -> TensorListCPU | TensorListGPU:
        """The samples that have a value: where it is in no branch, as many as are ``expected``."""
        handle = self.answer.batch
        samples = (native.Tensor * expected)()
        found = self._library.ps_batch_show(handle, value, expected, samples)
        if found >> 32 != expected:
            samples = (native.Tensor * (found >> 32))()
            found = self._library.ps_batch_show(handle, value, len(samples), samples)
        flags, device = found & 0xFF, (found >> 8 & 0xFFFFFF) - 1
        if device < 0:
            return TensorListCPU._from_native(self, samples, flags)
        memory = GpuMemory.of_batch(handle, value, device) if len(samples) else None
        return TensorListGPU._from_native(self, memory, samples, flags)
