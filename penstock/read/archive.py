"""What is in tar archives: where each file lies, and which sample of WebDataset's it is of."""

from __future__ import annotations

import ctypes as c
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.machine import native
from penstock.read.stores.server import listen_for

_AT_ONCE = 16  # archives that are looked at: threads mostly wait for disks


@dataclass(frozen=True)
class Members:
    """The files of an archive, in order.

    Attributes:
        path: the archive, or its index.
        offsets, lengths: the bytes of each: int64.
        sample: which sample of the archive each is of, from 0: int64, ascending.
        extension: which of ``extensions`` each has: int32.
        names: of the files, each ended by a zero byte.
        samples: how many there are.
    """

    path: str
    offsets: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    sample: npt.NDArray[np.int64]
    extension: npt.NDArray[np.int32]
    names: bytes
    extensions: list[str]
    samples: int


def read_archives(paths: Sequence[str], indexes: Sequence[str] | None = None) -> list[Members]:
    """Those of each archive, by its headers or by its index. Raises ReadError."""
    work = [(path, False) for path in paths] if indexes is None else [(path, True) for path in indexes]
    if len(work) == 1:
        return [_read(*work[0])]
    with ThreadPoolExecutor(min(len(work), _AT_ONCE)) as pool:
        return list(pool.map(_read, *zip(*work, strict=True)))


def _read(path: str, is_index: bool) -> Members:
    listen_for(path)
    found = native.Members()
    handle = native.blocking().ps_archive_read(os.fsencode(path), is_index, c.byref(found))
    if not handle:
        raise native.failure()
    try:
        n = found.files
        columns = (found.offsets, found.bytes, found.sample, found.extension)
        offsets, lengths, sample, extension = (_copied(column, n) for column in columns)
        names = c.string_at(found.names, found.names_bytes)
        extensions = os.fsdecode(c.string_at(found.extensions, found.extensions_bytes)).split("\0")[:-1]
        return Members(path, offsets, lengths, sample, extension, names, extensions, found.samples)
    finally:
        native.quick().ps_archive_destroy(handle)


def _copied(column: Any, n: int) -> Any:
    return np.ctypeslib.as_array(column, (n,)).copy() if n else np.zeros(0, np.dtype(column._type_))
