"""Writes the indexes that readers take: ``python -m penstock index FILE...``."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from penstock.errors import ArgumentError, PenstockError, ReadError
from penstock.read.archive import Members, read_archives
from penstock.read.at_once import at_once
from penstock.read.records import Format, Records, read
from penstock.read.stores.addresses import is_address, parsed
from penstock.read.stores.fetch import head_of, version_of

_AT_ONCE = 4  # files that are gone through
_HEAD = 512  # bytes that tell what a file is
_RECORDIO = b"\x0a\x23\xd7\xce"
_LEAST = {Format.TFRECORD: 16, Format.RECORDIO: 9}  # bytes of a record; a broken one is told by fewer


@dataclass(frozen=True)
class Written:
    """An index.

    Attributes:
        file: that it is of.
        index: where it is.
        entries: samples or records.
        broken: of these, how many readers will refuse.
    """

    file: str
    index: Path
    entries: int
    broken: int


def write_indexes(
    files: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str] | None = None,
    *,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> list[Written | PenstockError]:
    """Writes the index of each file: of TFRecord as tfrecord2idx does, of RecordIO as im2rec, of tar archives as
    wds2idx (v1.2).

    Each index appears whole or not at all. One that is there already stays if it is the same, and is refused otherwise.

    Args:
        files: to go through, or addresses in object stores and web servers. What they are is known by what they have
            in them.
        output: the index, if there is one file, or a folder for all. By default the index lies beside its file:
            ``a.idx`` of ``a.tar`` and ``a.rec``, ``a.tfrecord.idx`` of ``a.tfrecord``; of an address in the current
            folder.
        force: replace indexes that are there.
        progress: called now and then with the bytes that are done, and those of all files.

    Returns:
        For each file what was written, or why it was not.

    Errors: ArgumentError where there are no files, or several for one index.

    Example:
        >>> (written,) = write_indexes([records])
        >>> written.entries
        4
        >>> print(written.index.read_text(), end="")
        0 56
        56 56
        112 56
        168 56
    """
    names = [os.fspath(file) for file in files]
    if not names:
        raise ArgumentError("index: name the files that indexes are to be of")
    into = None if output is None else Path(output)
    if into and len(names) > 1 and not into.is_dir():
        raise ArgumentError(f"index: output={str(into)!r}: there are {len(names)} files: expected a folder")
    sizes = [_size_of(name) for name in names]
    found: list[Written | PenstockError] = []
    for one in at_once(lambda name: _write(name, into, force), names, _AT_ONCE):
        found.append(one)
        if progress:
            progress(sum(sizes[: len(found)]), sum(sizes))
    return found


def _write(file: str, into: Path | None, force: bool) -> Written | PenstockError:
    try:
        text, entries, broken, replaced = _text_of(file)
        own = Path(parsed(file).path if is_address(file) else file)
        name = own.with_suffix(".idx").name if replaced else own.name + ".idx"
        beside = Path(name) if is_address(file) else own.with_name(name)
        target = into / name if into and into.is_dir() else into or beside
        _store(target, text, force)
    except PenstockError as error:
        return error
    except OSError as error:
        return ReadError(f"the index of {file} cannot be written: {error}")
    return Written(file, target, entries, broken)


def _size_of(file: str) -> int:
    """0 where it is not there, which is told when it is its turn."""
    try:
        return int(version_of(file)[0]) if is_address(file) else os.path.getsize(file)
    except OSError:
        return 0


def head_of_file(file: str) -> bytes:
    """The first bytes of a file, which tell what it is. Raises ReadError where there is none, or only a pipe."""
    try:
        mode = os.stat(file).st_mode
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # a folder is told when it is opened, which of a pipe may block
            with open(file, "rb") as opened:
                return opened.read(_HEAD)
    except OSError as error:
        raise ReadError(f"the file {file} cannot be read: {error.strerror}") from None
    raise ReadError(f"the file {file} cannot be read: it is a device or a pipe")


def _text_of(file: str) -> tuple[str, int, int, bool]:
    """The index, its entries, how many of them are broken, and whether its name ends in .idx instead of the file's."""
    head = head_of(file, _HEAD) if is_address(file) else head_of_file(file)
    if head[257:262] == b"ustar" or file.partition("?")[0].endswith(".tar"):
        (members,) = read_archives([file])
        text, samples = _of_archive(file, members)
        return text, samples, 0, True
    if head[:4] == _RECORDIO:
        records = read(Format.RECORDIO, file)
        lines = map("%d\t%d\n".__mod__, enumerate(records.offsets.tolist()))
        return "".join(lines), len(records.offsets), _broken(Format.RECORDIO, records), True
    records = read(Format.TFRECORD, file)
    pairs = zip(records.offsets.tolist(), records.lengths.tolist(), strict=True)
    return "".join(map("%d %d\n".__mod__, pairs)), len(records.offsets), _broken(Format.TFRECORD, records), False


def _broken(form: Format, records: Records) -> int:
    return int(np.count_nonzero(records.lengths < _LEAST[form]))


def _of_archive(file: str, members: Members) -> tuple[str, int]:
    names = members.names.decode(errors="surrogateescape").split("\0")
    samples: dict[int, list[str]] = {}
    for i, name in enumerate(names[:-1]):
        extension = members.extensions[members.extension[i]]
        if not extension:
            continue  # no reader can ask for it
        if name.split() != [name]:
            raise ReadError(f"the archive {file} has a file {name!r}: an index cannot tell names with spaces")
        entry = f"{extension} {members.offsets[i]} {members.lengths[i]} {name}"
        samples.setdefault(int(members.sample[i]), []).append(entry)
    if not samples:
        raise ReadError(f"the archive {file} has no samples")
    return f"v1.2 {len(samples)}\n" + "".join(" ".join(entries) + "\n" for entries in samples.values()), len(samples)


def _store(target: Path, text: str, force: bool) -> None:
    data = text.encode(errors="surrogateescape")
    if target.exists():
        if target.read_bytes() == data:
            return
        if not force:
            raise ReadError(f"{target} is there already, and is another index: --force replaces it")
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
