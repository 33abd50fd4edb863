"""Indexes of JPEG files, which decoders use as ``jpeg_index=``: ``python -m penstock index`` makes them.

An index records for each file where decoding can begin besides its first bit. It knows a file by what it contains, so
it serves folders, archives and data bases alike.
"""

from __future__ import annotations

import ctypes as c
import enum
import os
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from penstock.errors import ArgumentError, PenstockError, ReadError, one_line
from penstock.machine import native

NAME = "penstock.jpegindex"  # of an index that lies in the folder that it is of
_MAGIC = b"Penstock JPEG ix"
_TOGETHER = 32  # JPEG files that a thread takes at a time
_WHOLE = (0, -1)

_Range: TypeAlias = tuple[int, int]  # where a JPEG file begins in a file, and its bytes; -1: all that follow
_Work: TypeAlias = list[tuple[str, list[_Range]]]


class Indexed(enum.IntEnum):
    """What became of a file."""

    YES = 0
    NOT_JPEG = 1
    OTHER_KIND = 2
    BROKEN = 3


@dataclass
class Report:
    """What an index was made of, in numbers of files.

    Attributes:
        indexed: JPEG files that are in it.
        other_kind: progressive and other JPEG that is decoded without an index.
        broken: JPEG whose data has a fault; decoders decode or refuse them as ever.
        not_jpeg: other files.
        unreadable: why files could not be read, one message for each.
    """

    indexed: int = 0
    other_kind: int = 0
    broken: int = 0
    not_jpeg: int = 0
    unreadable: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.indexed} JPEG files are indexed"]
        lines += [f"{self.other_kind} progressive or of another kind that is decoded without"] * bool(self.other_kind)
        lines += [f"{self.broken} with faults in their data, decoded without"] * bool(self.broken)
        lines += [f"{self.not_jpeg} that are no JPEG"] * bool(self.not_jpeg)
        lines += [f"{len(self.unreadable)} that could not be read"] * bool(self.unreadable)
        return "\n".join(lines)

    @property
    def seen(self) -> int:
        """All files."""
        return self.indexed + self.other_kind + self.broken + self.not_jpeg + len(self.unreadable)


def build_index(
    paths: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str] | None = None,
    progress: Callable[[Report], None] | None = None,
) -> tuple[Path, Report]:
    """Makes an index of JPEG files, on all processors.

    The file appears whole, in place of an older one, or not at all.

    Args:
        paths: files, folders (with all below them), and tar archives (WebDataset's), whose names end in ``.tar``.
        output: the index; by default ``penstock.jpegindex`` in the folder, if ``paths`` is one folder.
        progress: called now and then with what has been done so far.

    Returns:
        Where the index is, and what is in it.

    Errors: ArgumentError where there are no paths, where the output is not clear, or is a file that is no index;
    ReadError where a path is not there, or the index can't be written.

    Example:
        >>> path, report = build_index([photos])
        >>> report.indexed
        16
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     return fn.decoders.image_random_crop(files, jpeg_index=path)
        >>> images, = pipeline().run()
        >>> path.unlink()
    """
    names = [os.fspath(path) for path in paths]
    target = _target(names, output)
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        report = _write(names, unfinished, {str(target), str(unfinished)}, progress)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target, report


def _target(paths: list[str], output: str | os.PathLike[str] | None) -> Path:
    if not paths:
        raise ArgumentError("index: name the files, folders or .tar archives that the index is to be of")
    for path in paths:
        if not os.path.exists(path):
            raise ReadError(f"index: {one_line(path)} is not there")
    if output is None:
        if len(paths) > 1 or not os.path.isdir(paths[0]):
            raise ArgumentError("index: say where the index is to be written (output): there is not one folder alone")
        output = Path(paths[0], NAME)
    target = Path(output).absolute()
    if not target.parent.is_dir():
        raise ReadError(f"index: output={str(output)!r}: the folder {target.parent} is not there")
    if target.exists():
        if not target.is_file():
            raise ArgumentError(f"index: output={str(output)!r} is there, and no file")
        with target.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise ArgumentError(f"index: output={str(output)!r} is there, and no index: it is not overwritten")
    return target


def _write(paths: list[str], to: Path, but: set[str], progress: Callable[[Report], None] | None) -> Report:
    report = Report()
    index = _Index(to)
    _add_all(index, _together(_files(paths, but, report.unreadable)), report, progress)
    index.finish()
    return report


class _Index:
    """One that is being written. It is closed when nobody has it any more: a signal's exception may come when a thread
    has begun that its pool does not know yet, so that nobody waits for it.
    """

    def __init__(self, path: Path) -> None:
        self._index = native.blocking().ps_jpeg_index_create(os.fsencode(path))
        if not self._index:
            raise native.failure()

    def add(self, path: str, ranges: list[_Range]) -> list[int]:
        """What became of each."""
        became = (c.c_int32 * len(ranges))()
        flat = native.integers([number for pair in ranges for number in pair])
        if native.blocking().ps_jpeg_index_add(self._index, os.fsencode(path), flat, len(ranges), became) < 0:
            raise native.failure()
        return list(became)

    def finish(self) -> None:
        if native.blocking().ps_jpeg_index_finish(self._index) < 0:
            raise native.failure()

    def __del__(self) -> None:
        if getattr(self, "_index", None):
            native.blocking().ps_jpeg_index_destroy(self._index)


def _add_all(index: _Index, work: Iterator[_Work], report: Report, progress: Callable[[Report], None] | None) -> None:
    """Threads take work as long as there is any. The native library does it without the GIL."""
    lock, stopped = threading.Lock(), threading.Event()

    def run() -> None:
        while not stopped.is_set():
            with lock:
                some = next(work, None)
            if some is None:
                return
            for path, ranges in some:
                _add(index, path, ranges, report, lock)

    from concurrent.futures import ThreadPoolExecutor, wait  # takes long to import: only where it is needed

    threads = len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(threads) as pool:
        try:
            running = {pool.submit(run) for _ in range(threads)}
            while running:
                done, running = wait(running, timeout=0.25)
                for future in done:
                    future.result()
                if progress:
                    progress(report)
        finally:
            stopped.set()


def _add(index: _Index, path: str, ranges: list[_Range], report: Report, lock: threading.Lock) -> None:
    try:
        counts = Counter(index.add(path, ranges))
    except PenstockError as e:
        with lock:
            report.unreadable.append(str(e))
        return
    with lock:
        report.indexed += counts[Indexed.YES]
        report.not_jpeg += counts[Indexed.NOT_JPEG]
        report.other_kind += counts[Indexed.OTHER_KIND]
        report.broken += counts[Indexed.BROKEN]


def _together(files: Iterator[tuple[str, list[_Range]]]) -> Iterator[_Work]:
    some: _Work = []
    for file in files:
        some.append(file)
        if sum(len(ranges) for _, ranges in some) >= _TOGETHER:
            yield some
            some = []
    if some:
        yield some


def _files(paths: list[str], but: set[str], unreadable: list[str]) -> Iterator[tuple[str, list[_Range]]]:
    for path in paths:
        for file in _below(path, unreadable) if os.path.isdir(path) else [path]:
            if file.endswith(".tar") and not _is_special(file):
                yield from _members(file, unreadable)
            elif os.path.abspath(file) not in but:
                yield file, [_WHOLE]


def _is_special(file: str) -> bool:
    """Whether it is a pipe, a device or a socket: reading one may take for ever, or have no end."""
    return os.path.exists(file) and not os.path.isfile(file)


def _below(folder: str, unreadable: list[str]) -> Iterator[str]:
    """The files of a folder and of those below it, in order; folders that several links lead to count once."""
    seen: set[tuple[int, int]] = set()
    for at, folders, files in os.walk(folder, onerror=lambda e: unreadable.append(str(e)), followlinks=True):
        status = os.stat(at)
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders.sort()
        yield from (os.path.join(at, file) for file in sorted(files))


def _members(archive: str, unreadable: list[str]) -> Iterator[tuple[str, list[_Range]]]:
    """The files of a tar archive, some at a time."""
    import tarfile

    try:
        with tarfile.open(archive, "r:") as tar:
            files = (member for member in tar if member.isreg() and not member.issparse())
            while some := list(islice(files, _TOGETHER)):
                yield archive, [(member.offset_data, member.size) for member in some]
    except (OSError, tarfile.TarError) as error:
        unreadable.append(f"{archive} cannot be read as a tar archive: {error}")
