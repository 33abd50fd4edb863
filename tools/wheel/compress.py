"""Packs a wheel's files smaller: by Zopfli, which looks longer for what any inflate unpacks.

Runs in the environment that has it: python -m tools.wheel.compress WHEEL OUTPUT
"""

from __future__ import annotations

import os
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

_LOCAL, _CENTRAL, _END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
_UNIX, _VERSION = 3, 20  # who made it, whose attributes are a file's mode; that of the format which has deflate
_UTF8 = 0x800


@dataclass(frozen=True)
class Member:
    """A file of the archive, packed; one that would not become smaller is as it is."""

    name: bytes
    mode: int
    when: tuple[int, int]
    crc: int
    size: int
    packed: bytes

    @property
    def _fields(self) -> bytes:
        method = zipfile.ZIP_STORED if len(self.packed) == self.size else zipfile.ZIP_DEFLATED
        flags = 0 if self.name.isascii() else _UTF8
        fields = (_VERSION, flags, method, *self.when, self.crc, len(self.packed), self.size, len(self.name), 0)
        return struct.pack("<5H3L2H", *fields)

    def header(self) -> bytes:
        return _LOCAL + self._fields + self.name

    def entry(self, at: int) -> bytes:
        """Its line in the list at the end: of what begins at this byte."""
        made_by = struct.pack("<H", _UNIX << 8 | _VERSION)
        return _CENTRAL + made_by + self._fields + struct.pack("<3H2L", 0, 0, 0, self.mode, at) + self.name


def deflated(data: bytes) -> bytes:
    """The bytes as deflate has them, without zlib's header and sum."""
    from zopfli.zlib import compress

    packed: bytes = compress(data)
    return packed[2:-4]


def pack(info: zipfile.ZipInfo, data: bytes) -> Member:
    year, month, day, hour, minute, second = info.date_time
    when = (hour << 11 | minute << 5 | second // 2, (year - 1980) << 9 | month << 5 | day)
    found = deflated(data)
    packed = found if len(found) < len(data) else data
    return Member(info.filename.encode(), info.external_attr, when, zlib.crc32(data), len(data), packed)


def archive(members: Iterable[Member]) -> bytes:
    """The zip file."""
    out, entries = bytearray(), []
    for member in members:
        entries.append(member.entry(len(out)))
        out += member.header() + member.packed
    listing = b"".join(entries)
    return bytes(out) + listing + _END + struct.pack("<4H2LH", 0, 0, *[len(entries)] * 2, len(listing), len(out), 0)


def repack(wheel: Path, output: Path) -> None:
    """Writes the wheel anew: the same files in the same order."""
    with zipfile.ZipFile(wheel) as old:
        infos = [info for info in old.infolist() if not info.is_dir()]
        contents = [old.read(info) for info in infos]
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        output.write_bytes(archive(pool.map(pack, infos, contents)))
    with zipfile.ZipFile(output) as new:
        if (broken := new.testzip()) is not None:
            raise ValueError(f"{broken} was packed wrongly")


if __name__ == "__main__":
    repack(Path(sys.argv[1]), Path(sys.argv[2]))
