"""Which files a data set has: the paths and labels that ``fn.readers.file`` reads."""

from __future__ import annotations

import ctypes
import operator
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from penstock.errors import ArgumentError, ArgumentTypeError, ReadError
from penstock.machine.codecs import codecs
from penstock.read.contents import contents, problem
from penstock.read.index import Column, Index, digest_of, has_scheme, is_absolute, packed
from penstock.read.stores import listing
from penstock.read.stores.addresses import is_address

StrPath: TypeAlias = "str | os.PathLike[str]"

SOUNDS = ("*.flac", "*.ogg", "*.wav")

_GLOB_CHARACTERS = re.compile(r"[*?\[\\]")
_IGNORE_CASE = 16  # FNM_CASEFOLD of glibc and musl
_INT32 = np.iinfo(np.int32)


@dataclass(frozen=True)
class FileList:
    """The files of a data set.

    Attributes:
        root: folder that the names are relative to; ``""`` is the current folder.
        names: the files, relative to ``root`` or absolute, in the order of the data set.
        labels: one label per file, int32, shape ``(len(names),)``.
    """

    root: str
    names: list[str]
    labels: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.names)

    def path(self, index: int) -> str:
        """Where file ``index`` is."""
        name = self.names[index]
        return name if is_absolute(name) else os.path.join(self.root, name)

    def index(self) -> Index:
        """Each file is a sample, and its label is a column."""
        names, labels = packed(self.names, self.root), Column(self.labels.reshape(-1, 1))
        return Index(len(self), names, digest_of(self.names), columns=(labels,))


def default_filters() -> tuple[str, ...]:
    """Patterns of the names of pictures and sounds."""
    return (*(pattern for codec in codecs() for pattern in codec.patterns), *SOUNDS)


def list_files(
    file_root: StrPath | None = None,
    file_list: StrPath | None = None,
    files: StrPath | Sequence[StrPath] | None = None,
    labels: int | Sequence[int] | npt.NDArray[Any] | None = None,
    file_filters: str | Sequence[str] | None = None,
    dir_filters: str | Sequence[str] | None = None,
    case_sensitive_filter: bool = False,
) -> FileList:
    """Lists the files of a data set in one of three ways, as DALI's file reader does.

    1. ``file_root`` alone: the files in its sub-folders. Sub-folders and the files in each are sorted by their bytes;
       a file's label is its sub-folder's rank among those that pass ``dir_filters``. Deeper folders are not visited.
    2. ``file_list``: a text file of lines "name label". Names may contain spaces and are relative to ``file_root``,
       or else to the list's own folder; labels are decimal numbers without a sign; empty lines count for nothing.
    3. ``files``, relative to ``file_root`` if that is given, with ``labels`` or else with labels 0, 1, 2, ...

    Nothing is opened but folders and the list: a file that is missing is noticed when it is read.

    Args:
        file_root: the folder.
        file_list: the text file; not together with ``files``.
        files: the names; not together with ``file_list``.
        labels: one integer per file of ``files``, within int32.
        file_filters: glob patterns (``fnmatch`` of POSIX); a file must match one. Default: the usual ends of
            the names of pictures, of each format that there is a codec for, and of sounds. Only for the first way, as
            ``dir_filters``.
        dir_filters: glob patterns; a sub-folder must match one. Default: all match.
        case_sensitive_filter: whether upper and lower case differ to the filters.

    Raises:
        ArgumentError: arguments that do not go together, a malformed line, or no file at all.
        ReadError: a folder or the list cannot be read.

    >>> list_files(files=["cat.jpg", "my dog.jpg"], labels=[3, 5], file_root="photos").path(1)
    'photos/my dog.jpg'
    """
    if files is not None and file_list is not None:
        raise ArgumentError("files and file_list exclude each other: give one of them")
    if labels is not None and files is None:
        raise ArgumentError("labels go with files only; folders and file_list bring their own")
    for name, filters in (("file_filters", file_filters), ("dir_filters", dir_filters)):
        if filters is not None and not filters:
            raise ArgumentError(f"{name}={filters!r} is empty, so nothing could match: leave it out to get the default")

    if files is not None:
        return _given(_strings("files", files), labels, os.fspath(file_root or ""))
    if file_list is not None:
        return _from_list(os.fspath(file_list), file_root)
    if file_root is None:
        raise ArgumentError("file_root is missing: give file_root, file_list or files")
    file_match = matcher(_strings("file_filters", file_filters or default_filters()), case_sensitive_filter)
    dir_match = matcher(_strings("dir_filters", dir_filters or "*"), case_sensitive_filter)
    return _from_folders(os.fspath(file_root), file_match, dir_match)


def _from_folders(root: str, file_match: Callable[[bytes], bool], dir_match: Callable[[bytes], bool]) -> FileList:
    found = sub_folders(root, dir_match, file_match)
    # The label is the rank among the folders, so folders without a matching file count too.
    labels = np.repeat(np.arange(len(found), dtype=np.int32), [len(names) for _, names in found])
    if not len(labels):
        raise ArgumentError(
            f"file_root={root!r}: no file in its {len(found)} matching sub-folders passes the filters "
            "(files that lie in file_root itself are not read; see file_filters and dir_filters)"
        )
    names = [folder + b"/" + name for folder, names in found for name in names]
    return FileList(root, _decode(names), labels)


def sub_folders(
    root: str, wanted: Callable[[bytes], bool], match: Callable[[bytes], bool], own: bool = False
) -> list[tuple[bytes, list[bytes]]]:
    """The sub-folders of ``file_root`` that are wanted, sorted, each with the names of its files that match, sorted;
    with ``own`` also ``b"."`` with the folder's own files. Raises ArgumentError and ReadError.
    """
    if is_address(root):
        try:
            return listing.folders(root, wanted, match, own)
        except ReadError as error:
            raise ReadError(f"file_root={root!r}: cannot list it: {error}") from error
    if has_scheme(root):
        raise ArgumentError(
            f"file_root={root!r}: only folders of the disk and of object stores are listed: give names (file_list, "
            "files)"
        )
    base = os.fsencode(root)
    try:
        with os.scandir(base) as entries:
            folders = [e.name for e in entries if wanted(e.name) and e.is_dir()]
        names = sorted([*folders, b"."] if own else folders)
        return [(name, _files_in(os.path.join(base, name), match)) for name in names]
    except OSError as error:
        raise ReadError(f"file_root={root!r}: cannot list {_shown(error.filename)}: {error.strerror}") from error


def _files_in(folder: bytes, match: Callable[[bytes], bool]) -> list[bytes]:
    """The names of its files that match, sorted."""
    with os.scandir(folder) as entries:
        # The kernel tells what an entry is along with its name: no call per file. A link is taken for a file.
        names = [e.name for e in entries if match(e.name) and (e.is_file(follow_symlinks=False) or e.is_symlink())]
    names.sort()
    return names


def lines_of(file_list: str) -> list[bytes]:
    """The lines of a list of files. ReadError where it cannot be read, ArgumentError for what is no text."""
    try:
        text = contents(file_list)
    except OSError as error:
        raise ReadError(f"file_list={file_list!r}: cannot read it: {problem(error)}") from error
    if b"\0" in text:
        raise ArgumentError(f"file_list={file_list!r} contains a zero byte: it is no text file")
    return text.split(b"\n")


def _from_list(file_list: str, file_root: StrPath | None) -> FileList:
    names, labels = [], []
    for number, line in enumerate(lines_of(file_list), 1):
        words = line.rsplit(None, 1)  # at the last run of spaces: names contain spaces, too
        if len(words) == 2 and words[1].isdigit() and (label := int(words[1])) <= _INT32.max:
            names.append(words[0])
            labels.append(label)
        elif words:
            raise ArgumentError(
                f"file_list={file_list!r}: line {number} is {_shown(line)}, which is not a file name and a label "
                f"(an integer from 0 to {_INT32.max}) with a space between them"
            )
    if not names:
        raise ArgumentError(f"file_list={file_list!r} names no file")
    root = os.path.dirname(file_list) if file_root is None else os.fspath(file_root)
    return FileList(root, _decode(names), np.array(labels, dtype=np.int32))


def _given(names: list[str], labels: Any, root: str) -> FileList:
    if not names:
        raise ArgumentError("files=[] names no file")
    for name in names:
        if "\0" in name:
            raise ArgumentError(f"files: {name!r} contains a zero byte, which no file name can")
    if labels is None:
        return FileList(root, names, np.arange(len(names), dtype=np.int32))
    try:
        numbers = [operator.index(label) for label in (labels if np.ndim(labels) else [labels])]
    except TypeError as error:
        raise ArgumentTypeError(f"labels={labels!r}: labels are integers") from error
    if len(numbers) != len(names):
        raise ArgumentError(f"labels has {len(numbers)} elements, files has {len(names)}: each file takes one label")
    for index, label in enumerate(numbers):
        if not _INT32.min <= label <= _INT32.max:
            raise ArgumentError(f"labels[{index}]={label} does not fit into 32 bits")
    return FileList(root, names, np.array(numbers, dtype=np.int32))


def matcher(filters: Iterable[str], case_sensitive: bool) -> Callable[[bytes], bool]:
    """A function that tells whether a name matches one of the patterns.

    Nearly all patterns in use are "*" and a fixed end, which needs no search; a million names take a moment then.
    """
    ends: list[bytes] = []
    patterns: list[bytes] = []
    for pattern in filters:
        end = pattern[1:]
        fixed_end = pattern.startswith("*") and end.isascii() and not _GLOB_CHARACTERS.search(end)
        (ends if fixed_end else patterns).append(os.fsencode(end if fixed_end else pattern))
    suffixes, flags = tuple(ends), 0 if case_sensitive else _IGNORE_CASE
    if not case_sensitive:
        suffixes = tuple(end.lower() for end in suffixes)

    def matches(name: bytes) -> bool:
        if (name if case_sensitive else name.lower()).endswith(suffixes):
            return True
        return any(_fnmatch()(pattern, name, flags) == 0 for pattern in patterns)

    return matches


@cache
def _fnmatch() -> Any:
    """POSIX fnmatch, which DALI uses: Python's module of that name knows neither backslash nor [[:classes:]]."""
    function = ctypes.PyDLL(None).fnmatch
    function.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int]
    return function


def _strings(argument: str, value: StrPath | Sequence[StrPath]) -> list[str]:
    try:
        return [os.fspath(v) for v in ([value] if isinstance(value, (str, os.PathLike)) else value)]
    except TypeError as error:
        raise ArgumentTypeError(f"{argument}={value!r}: strings or paths are expected") from error


def _decode(names: list[bytes]) -> list[str]:
    return os.fsdecode(b"\0".join(names)).split("\0")  # one call instead of a million


def _shown(name: bytes | str) -> str:
    return repr(os.fsdecode(name))
