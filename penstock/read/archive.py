"""What is in tar archives: where each file lies, and which sample of WebDataset's it is of."""

from __future__ import annotations

import ctypes as c
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.machine import native
from penstock.read import kept
from penstock.read.at_once import at_once
from penstock.read.stores.addresses import is_address
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
    return list(at_once(lambda one: _read(*one), work, _AT_ONCE))


def _read(path: str, is_index: bool) -> Members:
    """Of an archive in a store, which has to be read from its beginning to its end, what was found is kept."""
    place = kept.Place("tar members", path) if is_address(path) and not is_index else None
    if place and (tables := place.load()):
        return _loaded(path, tables)
    members = _looked_at(path, is_index)
    if place:
        extensions = np.frombuffer(b"".join(os.fsencode(e) + b"\0" for e in members.extensions), np.uint8)
        names, samples = np.frombuffer(members.names, np.uint8), np.array([members.samples])
        columns = (members.offsets, members.lengths, members.sample, members.extension)
        place.store([*columns, names, extensions, samples], least=1)
    return members


def _loaded(path: str, tables: list[kept.Bytes]) -> Members:
    *columns, names, extensions, samples = tables
    offsets, lengths, sample = (column.view(np.int64) for column in columns[:3])
    extension = columns[3].view(np.int32)
    texts = os.fsdecode(extensions.tobytes()).split("\0")[:-1]
    count = int(samples.view(np.int64)[0])
    return Members(path, offsets, lengths, sample, extension, names.tobytes(), texts, count)


def _looked_at(path: str, is_index: bool) -> Members:
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
