"""Sources for workers, which other processes can import."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class OwnError(Exception):
    """Of the user's."""

    def __init__(self, number: int, text: str):
        super().__init__(number, text)
        self.number = number


class Ends:
    """Samples or batches up to a sample, or iteration, at which it stops."""

    def __init__(self, end: int):
        self.end = end

    def sample(self, info: Any) -> Array:
        if info.idx_in_epoch >= self.end:
            raise StopIteration
        return np.array([info.idx_in_epoch, info.idx_in_batch, info.iteration, info.epoch_idx])

    def batch(self, i: int) -> Array:
        if i >= self.end:
            raise StopIteration
        return np.full((3, 1), i)

    def arrays(self, i: int) -> list[Array]:
        """As `batch`, as DALI takes it with parallel=True: no array of all samples."""
        return list(self.batch(i))

    def info(self, info: Any) -> list[Array]:
        if info.iteration >= self.end:
            raise StopIteration
        return [np.full(k + 1, 10 * info.epoch_idx + info.iteration) for k in range(info.iteration % 3 + 1)]

    def __call__(self) -> Iterator[Array]:
        for i in range(self.end):
            yield np.full((3, 1), i)

    def __iter__(self) -> Iterator[Array]:
        return self()


def numbered(info: Any) -> Array:
    """Its number, again and again, in as many places as tell that nothing is torn."""
    return np.full(5000 + info.idx_in_epoch, info.idx_in_epoch, np.int32)


def pair(info: Any) -> tuple[Array, Array]:
    return np.full((2, 2), info.idx_in_epoch, np.uint8), np.full(info.idx_in_batch + 1, 0.5, np.float32)


def fails(info: Any) -> Array:
    """At sample 7."""
    if info.idx_in_epoch == 7:
        raise OwnError(7, "sample seven")
    return np.array([info.idx_in_epoch])


def fails_before_the_end(info: Any) -> Array:
    """Sample 4 is wrong, and what follows it is behind the end."""
    if info.idx_in_epoch > 4:
        raise StopIteration
    return np.array([1 // (4 - info.idx_in_epoch)])


class Dies:
    """Ends its worker at sample 7: once, if there is a file to note that in."""

    def __init__(self, how: str, once: Path | None = None):
        self.how, self.once = how, once

    def __call__(self, info: Any) -> Array:
        if info.idx_in_epoch == 7 and not (self.once and self.once.exists()):
            if self.once:
                self.once.touch()
            if self.how == "exit":
                os._exit(3)
            os.kill(os.getpid(), signal.SIGKILL)
        return np.array([info.idx_in_epoch])


class Waits:
    """Answers late at sample 7, as long as there is a file."""

    def __init__(self, file: Path, seconds: float = 3600.0):
        self.file, self.seconds = file, seconds

    def __call__(self, info: Any) -> Array:
        if info.idx_in_epoch == 7 and self.file.exists():
            time.sleep(self.seconds)
        return np.array([info.idx_in_epoch])
