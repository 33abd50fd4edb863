"""Files of records: where each record lies, by an index, by a scan, or by a scan of another day."""

from __future__ import annotations

import ctypes as c
import enum
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.machine import native
from penstock.op import arg
from penstock.read import kept
from penstock.read.at_once import at_once
from penstock.read.base import FilesShuffler, IndexReader
from penstock.read.index import Index, digest_of, has_scheme, packed
from penstock.read.stores.addresses import is_address
from penstock.read.stores.server import listen_for

_AT_ONCE = 16  # files that are gone through: threads mostly wait for disks


class Format(enum.IntEnum):
    """``ps_record_format``: what a file of records is, or a text with two whole numbers a line."""

    TFRECORD = 0
    RECORDIO = 1
    LMDB = 2
    TEXT = 3


@dataclass(frozen=True)
class Records:
    """Where the records of a file are, in order.

    Attributes:
        offsets, lengths: the bytes of each, with what frames them: int64.
        keys: of LMDB, each ended by a zero byte.
    """

    offsets: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    keys: bytes = b""


def scan(form: Format, path: str) -> Records:
    """Goes through the whole file; where its records lie is kept for the next time. Raises ReadError."""
    place = None if has_scheme(path) and not is_address(path) else kept.Place(f"{form.name} records", path)
    if place and (tables := place.load()):
        return Records(tables[0].view(np.int64), tables[1].view(np.int64), tables[2].tobytes())
    found = read(form, path)
    if place:
        place.store([found.offsets, found.lengths, np.frombuffer(found.keys, np.uint8)])
    return found


def read(form: Format, path: str) -> Records:
    """The records of a file, without looking for what was kept; of a text its numbers. Raises ReadError."""
    listen_for(path)
    found = native.Records()
    handle = native.blocking().ps_record_table_read(os.fsencode(path), form, c.byref(found))
    if not handle:
        raise native.failure()
    try:
        n = found.records
        keys = c.string_at(found.names, found.names_bytes) if found.names_bytes else b""
        return Records(_copied(found.offsets, n), _copied(found.bytes, n), keys)
    finally:
        native.quick().ps_record_table_destroy(handle)


def _copied(column: Any, n: int) -> npt.NDArray[np.int64]:
    return np.ctypeslib.as_array(column, (n,)).copy() if n else np.zeros(0, np.int64)


class RecordReader(IndexReader):
    """Base of readers of records: such a one declares its arguments and says where the records of a file are."""

    path: list[str]
    argument = "path"  # that errors name

    def files(self) -> list[str]:
        """The files that records are read from: those of `path`."""
        return self.path

    def records(self, number: int) -> Records:
        """Those of one of the files."""
        raise NotImplementedError

    def prepare(self) -> None:
        if not self.path:
            raise self.wrong("path", "there is no file")
        super().prepare()

    def make_index(self) -> Index:
        files = self.files()
        found = list(at_once(self.records, range(len(files)), _AT_ONCE))
        sizes = [len(one.offsets) for one in found]
        if not sum(sizes):
            raise self.wrong("path", "there are no records")
        offsets = np.concatenate([one.offsets for one in found])
        lengths = np.concatenate([one.lengths for one in found])
        starts = np.cumsum([0, *sizes])[:-1]
        return Index(
            size=len(offsets),
            names=packed(files),
            digest=digest_of(self.path, (offsets, lengths)),
            containers=np.repeat(np.arange(len(files), dtype=np.int32), sizes),
            offsets=offsets,
            lengths=lengths,
            members=b"".join(one.keys for one in found) or None,
            groups=starts[np.array(sizes) > 0],
        )

    def kernel_arguments(self) -> dict[str, Any]:
        tables = self.index.tables()
        told = {name: tables[name] for name in ("names", "containers", "offsets", "lengths")}
        shown = None if self.files() == self.path else np.frombuffer(packed(self.path), np.uint8)
        own = {name: getattr(self, a.attribute) for name, a in self.arguments.items() if a.to_kernel}
        return {**own, **told, "shown": shown, "keys": tables["members"]}


class FramedReader(FilesShuffler, RecordReader):
    """Base of readers of files whose records frame themselves, so that a file can be gone through without an index."""

    form: Format

    index_path = arg(
        None,
        "For each file its index, as `python -m penstock index` and the format's own programs (tfrecord2idx; im2rec, "
        "rec2idx) write them; without them the files are gone through first, and where their records lie is kept in "
        "the user's cache.",
        kind="paths",
        to_kernel=False,
        aka=["index_paths", "index", "idx", "path_imgidx"],
    )

    def indexed(self, index: str) -> Records:
        """What an index tells."""
        raise NotImplementedError

    def prepare(self) -> None:
        if self.index_path and len(self.index_path) != len(self.path):
            raise self.wrong("index_path", f"there are {len(self.path)} files, and each needs an index")
        super().prepare()

    def records(self, number: int) -> Records:
        if not self.index_path:
            return scan(self.form, self.path[number])
        return self.indexed(self.index_path[number])
