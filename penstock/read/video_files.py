"""Which videos a data set has, their labels, and which part of each is read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.errors import ArgumentError
from penstock.read.index import has_scheme
from penstock.read.listing import lines_of, sub_folders

# What files of folders are taken for videos.
PATTERNS = (
    ".avi", ".flv", ".m2ts", ".m4v", ".mjpeg", ".mjpg", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ogv", ".ts",
    ".webm", ".wmv",
)  # fmt: skip


class VideoFile(NamedTuple):
    """A video, or a part of one.

    Attributes:
        label: None where videos have none.
        start, end: where the part begins and ends, as the list has it; None: where the video does.
    """

    name: str
    label: int | None
    start: float | None = None
    end: float | None = None


def list_videos(
    file_root: str | None, file_list: str | None, filenames: Sequence[str] | None, labels: Sequence[int] | None
) -> list[VideoFile]:
    """Those of a folder with a sub-folder for each class, of a list, or with these names. Raises ArgumentError and
    ReadError.
    """
    given = [name for name, value in zip(("file_root", "file_list", "filenames"), (file_root, file_list, filenames),
                                         strict=True) if value]  # fmt: skip
    if len(given) != 1:
        raise ArgumentError(
            f"{' and '.join(given)} exclude each other: give one of them" if given else
            "filenames is missing: give filenames, file_list or file_root"
        )  # fmt: skip
    if filenames:
        if labels is not None and len(labels) != len(filenames):
            raise ArgumentError(f"labels has {len(labels)} elements, filenames has {len(filenames)}: each takes one")
        return [VideoFile(name, None if labels is None else labels[i]) for i, name in enumerate(filenames)]
    if labels is not None:
        raise ArgumentError("labels go with filenames: a folder and a list have their own")
    return _from_folder(str(file_root)) if file_root else _from_list(str(file_list))


def _from_folder(file_root: str) -> list[VideoFile]:
    if has_scheme(file_root):
        raise ArgumentError(f"file_root={file_root!r}: only folders of the disk are listed: give names instead")
    found = [
        VideoFile(os.path.join(file_root, os.fsdecode(folder), os.fsdecode(name)), label)
        for label, (folder, names) in enumerate(sub_folders(file_root, lambda _: True, _is_video))
        for name in names
    ]
    if not found:
        raise ArgumentError(f"file_root={file_root!r}: no sub-folder of it has a file whose name ends as a video's")
    return found


def videos_below(paths: Sequence[str]) -> list[str]:
    """These files, and those of these folders and all below them that are called as videos are. Raises ArgumentError
    where there is none.
    """
    found: list[str] = []
    for path in paths:
        if not os.path.isdir(path):
            found.append(path)
        for folder, _, names in sorted(os.walk(path)):
            found += [os.path.join(folder, name) for name in sorted(names) if name.lower().endswith(PATTERNS)]
    if not found:
        raise ArgumentError(f"there is no video in {', '.join(paths)}")
    return found


def _is_video(name: bytes) -> bool:
    return os.fsdecode(name).lower().endswith(PATTERNS)


def _from_list(file_list: str) -> list[VideoFile]:
    found = []
    for number, line in enumerate(lines_of(file_list), 1):
        words = os.fsdecode(line).split()
        if words:
            found.append(_entry(words, f"file_list={file_list!r}: line {number} is {os.fsdecode(line)!r}"))
    if not found:
        raise ArgumentError(f"file_list={file_list!r} names no file")
    return found


def _entry(words: list[str], shown: str) -> VideoFile:
    """A line "name label [start [end]]"; names may have spaces where what follows is numbers."""
    count = 0
    while count < min(3, len(words) - 1) and _number(words[-1 - count]) is not None:
        count += 1
    numbers: list[Any] = [_number(word) for word in words[len(words) - count :]]
    if not count or numbers[0] != int(numbers[0]) or not 0 <= numbers[0] < 1 << 31:
        raise ArgumentError(f"{shown}: expected a name, a label (0 or more), and where the part begins and ends")
    name = " ".join(words[: len(words) - count])
    return VideoFile(name, int(numbers[0]), *numbers[1:])


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if abs(value) < 1e15 else None
