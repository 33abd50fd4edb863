"""Memory that the pipeline's process shares with its workers: a file without a name, and so nothing that could be left.

It is cut into slots, each with room for whatever a source may give. Pages are taken as they are written to, so a slot
is as large as what lies in it. A worker writes a result to its task's slot; tensors show it there, and the slot is free
again when the last of them is gone.
"""

from __future__ import annotations

import heapq
import mmap
import os
from collections import deque
from contextlib import suppress
from typing import Any

import numpy as np

STRIDE = 1 << 36  # bytes from slot to slot
SLOTS = 1 << 14
HELD = 4096  # slots that tensors may keep; what comes then is copied
_LEAST = 1 << 16  # bytes that are mapped at least
_SPARE = 8  # free slots that keep their memory, besides twice as many as are in use


class Arena:
    """The file of this descriptor, seen from either side."""

    def __init__(self, fd: int):
        self.fd = fd
        self._mapped: dict[int, tuple[mmap.mmap, Any]] = {}

    def bytes_of(self, slot: int, size: int) -> Any:
        """The first bytes of a slot, at least so many, as an array."""
        found = self._mapped.get(slot)
        if found is None or len(found[0]) < size:
            length = max(_LEAST, 1 << max(size - 1, 0).bit_length())
            memory = mmap.mmap(self.fd, length, offset=slot * STRIDE)
            with suppress(OSError):  # a kernel that has none for shared memory
                memory.madvise(mmap.MADV_HUGEPAGE)
            found = self._mapped[slot] = memory, np.frombuffer(memory, np.uint8)
        return found[1]

    def drop(self, slot: int) -> None:
        """Gives the memory of a slot back."""
        found = self._mapped.pop(slot, None)
        if found:
            with suppress(OSError):
                found[0].madvise(mmap.MADV_REMOVE)

    def sizes(self) -> list[int]:
        """Bytes mapped of each slot."""
        return [len(memory) for slot, (memory, _) in sorted(self._mapped.items()) if slot]


class Lease:
    """Keeps a slot until nobody needs it; ``memory`` is what of it is shown."""

    __slots__ = ("_returned", "memory", "slot")

    def __init__(self, returned: deque[int]):
        self._returned = returned
        self.memory: Any = None
        self.slot = 0  # none yet: Ctrl-C may come between any two steps

    def __del__(self) -> None:
        if getattr(self, "slot", 0):
            self._returned.append(self.slot)  # by any thread, at any moment


class Slots(Arena):
    """The side that made it, and gives its slots out. Slot 0 is for what the sides tell each other."""

    def __init__(self) -> None:
        super().__init__(os.memfd_create("penstock", os.MFD_CLOEXEC))
        os.ftruncate(self.fd, SLOTS * STRIDE)
        self._free: list[int] = []
        self._empty: list[int] = []  # free ones without memory
        self._returned: deque[int] = deque()
        self._next = 1

    def take(self) -> Lease:
        """A free slot. MemoryError if there is none."""
        self._collect()
        lease = Lease(self._returned)
        for heap in (self._free, self._empty):
            if heap:
                lease.slot = heapq.heappop(heap)
                return lease
        if self._next == SLOTS:
            raise MemoryError(f"{SLOTS} results of external sources are in use")
        lease.slot, self._next = self._next, self._next + 1
        return lease

    def held(self) -> int:
        """Slots that are in use."""
        self._collect()
        return self._next - 1 - len(self._free) - len(self._empty)

    def _collect(self) -> None:
        while self._returned:
            heapq.heappush(self._free, self._returned.popleft())
        used = self._next - 1 - len(self._free) - len(self._empty)
        while len(self._free) > 2 * used + _SPARE:
            last = max(self._free)
            self._free.remove(last)
            heapq.heapify(self._free)
            self.drop(last)
            heapq.heappush(self._empty, last)
