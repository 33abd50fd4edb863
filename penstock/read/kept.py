"""Tables that were costly to make of a file, kept between processes: in the user's cache, never beside the file.

They are kept under the file's path, and are good as long as it has the size, the time of change and the number (inode)
that it had; of an object in a store, the size and what changes with its contents (its ETag). What cannot be kept,
or is broken, is made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import zlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.machine.kernels import folder
from penstock.read.stores.addresses import is_address
from penstock.read.stores.fetch import version_of

_MAGIC = b"Penstock tables 1\n"
_LEAST = 1 << 16  # bytes of tables that are worth it
_HEAD = 4096  # the most that says what the tables are

Bytes = npt.NDArray[np.uint8]


class Place:
    """Where the tables of a file are kept.

    Args:
        what: they are, so that several kinds may be kept of one file.
        path: the file's.
    """

    def __init__(self, what: str, path: str) -> None:
        full = path if is_address(path) else os.path.abspath(path)
        name = hashlib.blake2b(os.fsencode(f"{what}\n{full}"), digest_size=16).hexdigest()
        self._stamp = _stamp_of(full)
        self._file = folder() / "tables" / name

    def load(self) -> list[Bytes] | None:
        """What was kept, as bytes; None: there is none of the file as it is now."""
        if self._stamp is None:
            return None
        try:
            with self._file.open("rb") as file:
                head = file.readline(_HEAD) + file.readline(_HEAD)
                said = json.loads(head.removeprefix(_MAGIC)) if head.startswith(_MAGIC) else None
                if not isinstance(said, dict) or said.get("of") != self._stamp:
                    return None
                data = file.read()
            return _cut(data, said)
        except (OSError, ValueError):
            return None

    def store(self, tables: Sequence[npt.NDArray[Any]], least: int = _LEAST) -> None:
        """Keeps them, in place of older ones; those of fewer bytes than ``least`` are not worth it."""
        data = b"".join(table.tobytes() for table in tables)
        if self._stamp is None or len(data) < least:
            return
        said = {"of": self._stamp, "bytes": [table.nbytes for table in tables], "crc": zlib.crc32(data)}
        unfinished = self._file.with_name(f".{self._file.name}.{secrets.token_hex(8)}")
        with contextlib.suppress(OSError):  # a cache that cannot be written spares nothing, and breaks nothing
            self._file.parent.mkdir(parents=True, exist_ok=True)
            try:
                unfinished.write_bytes(_MAGIC + json.dumps(said).encode() + b"\n" + data)
                unfinished.replace(self._file)
            finally:
                unfinished.unlink(missing_ok=True)


def _stamp_of(path: str) -> list[int | str] | None:
    if is_address(path):
        return version_of(path)
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ino]


def _cut(data: bytes, said: dict[str, Any]) -> list[Bytes] | None:
    sizes = said.get("bytes")
    if not isinstance(sizes, list) or not all(isinstance(n, int) and n >= 0 for n in sizes):
        return None
    if sum(sizes) != len(data) or zlib.crc32(data) != said.get("crc"):
        return None
    ends = np.cumsum([0, *sizes])
    return [np.frombuffer(data, np.uint8)[a:b] for a, b in pairwise(ends)]
