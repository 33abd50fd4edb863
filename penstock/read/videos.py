"""What readers of videos share: their sequences, as tables for the native reader."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.arguments.video_frames import FrameArgs
from penstock.errors import ArgumentError, PenstockError
from penstock.graph.blame import warn
from penstock.op import REQUIRED, Op, arg
from penstock.read.base import IndexReader
from penstock.read.index import Index, digest_of, packed
from penstock.read.video_files import VideoFile, list_videos
from penstock.read.video_index import VideoIndex, index_videos

_MARGIN = 1e-6  # seconds by which a time in a list may miss that of a frame which it means


class VideoReader(FrameArgs, IndexReader):
    """Base of readers of videos."""

    early = False  # indexes have the shapes; frames are decoded to where they stay

    file_root = arg(
        "", "Folder with a sub-folder of videos for each class: its rank is their label.", kind="path",
        to_kernel=False, aka=["path", "root", "folder", "directory", "data_dir"],
    )  # fmt: skip
    filenames = arg([], "Names of files.", kind="paths", to_kernel=False, aka=["files", "paths"])
    labels = arg(None, "One label for each of `filenames`.", kind="integers", to_kernel=False)
    sequence_length = arg(REQUIRED, "Frames of each sequence.", kind="integer", aka=["num_frames"])
    step = arg(-1, "Frames from the beginning of a sequence to that of the next one.", to_kernel=False)
    stride = arg(1, "Frames from one frame of a sequence to the next one.")
    enable_timestamps = arg(False, "Whether the frames' times are an output.")

    @property
    def frame_numbers(self) -> str:
        """What there is of the frames' numbers: "", "scalar" or "sequence"."""
        raise NotImplementedError

    def padding(self) -> str:
        """What stands for frames that are not there."""
        raise NotImplementedError

    def spreads(self) -> bool:
        """Whether each part gives one sequence, spread over it."""
        return False

    def steps(self) -> int:
        """Frames from the beginning of a sequence to that of the next one."""
        raise NotImplementedError

    def part(self, file: VideoFile, index: VideoIndex) -> tuple[int, int]:
        """The first frame of the part that is read, and the one behind the last."""
        raise NotImplementedError

    def prepare(self) -> None:
        for name in ("sequence_length", "stride"):
            if getattr(self, name) < 1:
                raise self.wrong(name, "expected 1 or more")
        if self.step == 0:
            raise self.wrong("step", "expected 1 or more, or -1")
        super().prepare()

    def has_labels(self) -> bool:
        """Whether labels are an output."""
        return self.labels is not None or not self.filenames

    def num_outputs(self) -> int:
        return 1 + self.has_labels() + bool(self.frame_numbers) + bool(self.enable_timestamps)

    def list_name(self) -> str | None:
        """The list of files, if that is what names them."""
        given: str | None = getattr(self, "file_list", None) or None
        return given

    def make_index(self) -> Index:
        files = list_videos(self.file_root or None, self.list_name(), self.filenames, self.labels)
        names = list(dict.fromkeys(file.name for file in files))
        known = self._known(names)
        number = {name: i for i, name in enumerate(known)}
        videos, firsts, begins, ends, labels = [], [], [], [], []
        for file in files:
            if file.name not in known:
                continue
            begin, end = self.part(file, known[file.name])
            first = self._firsts(begin, end)
            videos.append(np.full(len(first), number[file.name], np.int32))
            firsts.append(first)
            begins.append(np.full(len(first), begin))
            ends.append(np.full(len(first), end))
            labels.append(np.full(len(first), file.label or 0, np.int32))
        tables = {
            "videos": _joined(videos, np.int32), "firsts": _joined(firsts, np.int64),
            "begins": _joined(begins, np.int64), "ends": _joined(ends, np.int64),
            "labels": _joined(labels, np.int32) if self.has_labels() else None,
        }  # fmt: skip
        if not len(tables["videos"]):  # type: ignore[arg-type]
            raise ArgumentError(
                f"{self.shown_name()}: sequence_length={self.sequence_length}, stride={self.stride}: no video has the "
                f"{(self.sequence_length - 1) * self.stride + 1} frames of a sequence"
            )
        blocks = [one.block for one in known.values()]
        self._tables = {
            **tables,
            "names": np.frombuffer(packed(list(known)), np.uint8),
            "indexes": np.concatenate(blocks),
            "index_starts": np.cumsum([0, *(len(b) for b in blocks)], dtype=np.int64),
        }
        digest = digest_of(list(known), [t for t in tables.values() if t is not None])
        return Index(len(tables["videos"]), packed(list(known)), digest)  # type: ignore[arg-type]

    def _known(self, names: list[str]) -> dict[str, VideoIndex]:
        """The index of each video; those that are broken are left out, if ``on_error`` says so."""
        found = dict(zip(names, index_videos(names), strict=True))
        broken = {name: one for name, one in found.items() if isinstance(one, PenstockError)}
        if broken and (self.on_error == "raise" or len(broken) == len(found)):
            error = next(iter(broken.values()))
            raise type(error)(f"{self.shown_name()}: {error}")
        if broken:
            shown = "\n".join(f"  {error}" for error in list(broken.values())[:10])
            warn(f"{self.shown_name()}: {len(broken)} of {len(found)} videos are left out:\n{shown}", UserWarning)
        return {name: one for name, one in found.items() if isinstance(one, VideoIndex)}

    def _firsts(self, begin: int, end: int) -> npt.NDArray[np.int64]:
        """The first frame of each sequence of a part."""
        if self.spreads():
            return np.array([begin] if end > begin else [], np.int64)
        span = (self.sequence_length - 1) * self.stride + 1 if self.padding() == "none" else 1
        return np.arange(begin, end - span + 1, self.steps(), dtype=np.int64)

    def kernel_arguments(self) -> dict[str, Any]:
        own = Op.kernel_arguments(self)
        self.index  # noqa: B018 - which makes the tables
        return {**own, **self._tables, "frame_numbers": self.frame_numbers or None, "pad_mode": self.padding()}


def _joined(parts: Sequence[Any], dtype: Any) -> npt.NDArray[Any]:
    return np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype)


def frames_between(
    index: VideoIndex, start: float | None, end: float | None, round_start_up: bool, round_end_up: bool
) -> tuple[int, int]:
    """The frames between two times in seconds: the first one, and the one behind the last."""
    if start is None and end is None:
        return 0, index.frames
    times = index.seconds()
    return (
        0 if start is None else _frame_at(times, start, round_start_up),
        index.frames if end is None else _frame_at(times, end, round_end_up),
    )


def _frame_at(times: npt.NDArray[np.float64], time: float, up: bool) -> int:
    if up:
        return int(np.searchsorted(times, time - _MARGIN, "left"))
    return max(int(np.searchsorted(times, time + _MARGIN, "right")) - 1, 0)


def clipped(index: VideoIndex, start: float | None, end: float | None) -> tuple[int, int]:
    """The frames with numbers, which count from the end where they are negative."""
    first, last = (
        default if value is None else math.floor(value) + (index.frames if value < 0 else 0)
        for value, default in ((start, 0), (end, index.frames))
    )
    return max(first, 0), min(last, index.frames)
