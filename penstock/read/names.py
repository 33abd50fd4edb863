"""Which files a data set without labels has: those that ``fn.readers.numpy`` and its likes read."""

from __future__ import annotations

import os
from collections.abc import Sequence

from penstock.errors import ArgumentError
from penstock.op import arg
from penstock.read.base import SamplesShuffler
from penstock.read.index import Index, digest_of, packed
from penstock.read.listing import lines_of, matcher, sub_folders


class NamedFilesReader(SamplesShuffler):
    """Base of readers of files without labels."""

    file_root = arg(
        None,
        "Folder whose files are read, and those of its sub-folders; or what names are relative to.",
        kind="path",
        to_kernel=False,
        aka=["path", "root", "folder", "directory", "dir", "data_dir"],
    )
    file_filter = arg("", "Pattern (`fnmatch`) that the names of files in `file_root` must match.", to_kernel=False)
    file_list = arg(
        None,
        "Text file with a name on each line, relative to `file_root` or else to the list's folder.",
        kind="path",
        to_kernel=False,
        aka=["list_file"],
    )
    files = arg(None, "Names of files.", kind="paths", to_kernel=False, aka=["filenames", "paths"])

    def make_index(self) -> Index:
        root, names = list_names(self.file_root, self.file_list, self.files, self.file_filter)
        return Index(len(names), packed(names, root), digest_of(names))


def list_names(
    file_root: str | None, file_list: str | None, files: Sequence[str] | None, file_filter: str
) -> tuple[str, list[str]]:
    """A folder, and names relative to it, or absolute ones. Raises ArgumentError and ReadError.

    Those of a folder are sorted by sub-folder and name, and sub-folders of sub-folders are not looked into.
    """
    if files is not None and file_list is not None:
        raise ArgumentError("files and file_list exclude each other: give one of them")
    if files is not None:
        if not files:
            raise ArgumentError("files=[] names no file")
        return file_root or "", list(files)
    if file_list is not None:
        return _from_list(file_list, file_root)
    if file_root is None:
        raise ArgumentError("file_root is missing: give file_root, file_list or files")
    return file_root, _from_folder(file_root, file_filter)


def _from_list(file_list: str, file_root: str | None) -> tuple[str, list[str]]:
    names = [os.fsdecode(name) for line in lines_of(file_list) if (name := line.rstrip())]
    if not names:
        raise ArgumentError(f"file_list={file_list!r} names no file")
    return os.path.dirname(file_list) if file_root is None else file_root, names


def _from_folder(file_root: str, file_filter: str) -> list[str]:
    found = [
        (folder, name)
        for folder, names in sub_folders(file_root, lambda _: True, matcher([file_filter], True), own=True)
        for name in names
    ]
    if not found:
        raise ArgumentError(f"file_root={file_root!r}: it has no file whose name matches {file_filter!r}")
    return [os.fsdecode(name if folder == b"." else folder + b"/" + name) for folder, name in found]
