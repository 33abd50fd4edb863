"""Indexes of videos: which frames a file has, where they lie and when they are shown; made once, without decoding."""

from __future__ import annotations

import ctypes as c
import os
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import PenstockError
from penstock.machine import codecs, native
from penstock.read import kept
from penstock.read.at_once import at_once
from penstock.read.index import has_scheme

_AT_ONCE = 8  # files that are gone through
_NUMBERS = count(1)  # of files in memory
_LEAST = 0  # bytes of an index that is worth keeping: any is, since a file is opened for it

# native/video/index.h: VideoHead, and VideoPacket with the flag in the highest bit of `bytes`.
HEAD = np.dtype(
    [
        ("magic", "S8"), ("bytes", "i8"), ("file_bytes", "i8"), ("extradata_bytes", "i8"), ("packets", "i8"),
        ("frames", "i8"), ("codec", "6i4"), ("color", "4i4"), ("ffmpeg", "i4"), ("stream", "i4"), ("width", "i4"),
        ("height", "i4"), ("quarter_turns", "i4"), ("time_num", "i4"), ("time_den", "i4"), ("rate_num", "i4"),
        ("rate_den", "i4"), ("is_direct", "i4"),
    ]
)  # fmt: skip
_PACKET = np.dtype([("offset", "i8"), ("pts", "i8"), ("dts", "i8"), ("bytes", "u4"), ("frame", "i4")])

Block = npt.NDArray[np.uint8]


class VideoIndex:
    """What is known of one video.

    Attributes:
        block: the index as the native library has it: uint8.
        frames: how many there are.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self._head = block[: HEAD.itemsize].view(HEAD)[0]
        self.frames = int(self._head["frames"])

    def seconds(self) -> npt.NDArray[np.float64]:
        """When each frame is shown, by the file's clock: float64 of shape ``(frames,)``."""
        head = self._head
        at = HEAD.itemsize + (int(head["extradata_bytes"]) + 7) // 8 * 8
        packets = self.block[at : at + int(head["packets"]) * _PACKET.itemsize].view(_PACKET)
        order = self.block[at + packets.nbytes :].view(np.int32)[: self.frames]
        found: npt.NDArray[np.float64] = packets["pts"][order] * (float(head["time_num"]) / float(head["time_den"]))
        return found


def index_video(path: str) -> VideoIndex:
    """The index of a file: what was kept of it as it is now, or a new one, which is kept. Raises PenstockError."""
    codecs.prepare()
    place = None if has_scheme(path) else kept.Place(f"video, {_libraries()}", path)
    if place and (tables := place.load()) and len(tables) == 1 and _is_sound(tables[0]):
        return VideoIndex(tables[0].copy())
    block = _make(path)
    if place:
        place.store([block], _LEAST)
    return VideoIndex(block)


def index_videos(
    paths: Sequence[str], progress: Callable[[int, int], None] | None = None
) -> list[VideoIndex | PenstockError]:
    """That of each file, or why there is none. ``progress`` is told how many files are done, and of how many."""
    found: list[VideoIndex | PenstockError] = []
    for one in at_once(_attempt, paths, _AT_ONCE):
        found.append(one)
        if progress:
            progress(len(found), len(paths))
    return found


def _attempt(path: str) -> VideoIndex | PenstockError:
    try:
        return index_video(path)
    except PenstockError as error:
        return type(error)(f"{path}: {error}" if path not in str(error) else str(error))


def _libraries() -> str:
    """The libraries that videos are read with, whose numbers an index has; OperatorError where there are none."""
    found = native.blocking().ps_video_libraries()
    if not found:
        raise native.failure()
    return str(found.decode())


def _make(path: str) -> Block:
    data, size = c.c_void_p(), c.c_int64()
    handle = native.blocking().ps_video_index_make(os.fsencode(path), c.byref(data), c.byref(size))
    if not handle:
        raise native.failure()
    try:
        return np.frombuffer(c.string_at(data, size.value), np.uint8)
    finally:
        native.quick().ps_video_index_destroy(handle)


def index_bytes(video: Block) -> VideoIndex:
    """The index of a file in memory. Raises PenstockError."""
    codecs.prepare()
    name = f"memory://penstock.fed/{next(_NUMBERS)}"
    quick = native.quick()
    if quick.ps_memory_file(name.encode(), video.ctypes.data, video.nbytes):
        raise native.failure()
    try:
        return VideoIndex(_make(name))
    finally:
        quick.ps_memory_file(name.encode(), None, 0)


def _is_sound(block: Any) -> bool:
    whole = np.ascontiguousarray(block)
    return bool(native.quick().ps_video_index_check(whole.ctypes.data, whole.nbytes))
