"""``fn.readers.sequence``: sequences of pictures that are the frames of videos."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock import types
from penstock.op import REQUIRED, arg, op
from penstock.read.base import IndexReader
from penstock.read.index import Index, digest_of, packed
from penstock.read.listing import sub_folders
from penstock.types import UINT8

_INSTEAD = "use fn.readers.file and fn.decoders.image, or an external source"


@op("readers.sequence", kernel="read_ranges", inputs=0, legacy=["sequence_reader"], deprecated=_INSTEAD)
class Sequence(IndexReader):
    """Reads sequences of pictures: each sub-folder of ``file_root`` is a video, and its files, sorted, are the frames.

    A sequence has ``sequence_length`` frames, ``stride`` frames apart; the next one begins ``step`` frames later.
    Sequences that a video has not all frames of are left out.

    Output: the frames, uint8 of shape ``(frames, height, width, channels)``, layout FHWC.

    Errors: ArgumentError for a folder without a sequence; ReadError for folders and files that cannot be read;
    DecodeError for frames that are no picture, broken, or of another size than the first one.

    Example:
        >>> import shutil
        >>> for i in range(4):
        ...     os.makedirs(f"{folder}/videos/0", exist_ok=True)
        ...     _ = shutil.copy(f"{folder}/a.jpg", f"{folder}/videos/0/{i}.jpg")
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.readers.sequence(file_root=f"{folder}/videos", sequence_length=2)
        >>> pipeline().run()[0].shape()[0][:1]
        (2,)
    """

    file_root = arg(REQUIRED, "Folder of folders of frames.", kind="path", to_kernel=False)
    sequence_length = arg(REQUIRED, "Frames of each sequence.", kind="integer", to_kernel=False)
    step = arg(1, "Frames from the beginning of a sequence to that of the next one.", to_kernel=False)
    stride = arg(1, "Frames from one frame of a sequence to the next one.", to_kernel=False)
    image_type = arg(types.RGB, "Colours of the output.", to_kernel=False)

    def prepare(self) -> None:
        for name in ("sequence_length", "step", "stride"):
            if getattr(self, name) < 1:
                raise self.wrong(name, "expected 1 or more")
        super().prepare()

    def num_outputs(self) -> int:
        return 2

    def gives_list(self) -> bool:
        return False

    def behind(self, outputs: list[Any], make: Callable[..., list[Any]]) -> list[Any]:
        return make("_readers.sequence_frames", outputs, image_type=self.image_type, on_error=self.on_error)

    def make_index(self) -> Index:
        videos = self._videos()
        span = (self.sequence_length - 1) * self.stride + 1
        firsts, before = [np.zeros(0, np.int64)], 0
        for frames in videos:
            firsts.append(before + np.arange(0, len(frames) - span + 1, self.step))
            before += len(frames)
        first = np.concatenate(firsts).astype(np.int64)
        if not len(first):
            raise self.wrong("file_root", f"no folder in it has the {span} frames of a sequence")
        names = [name for frames in videos for name in frames]
        picks = first[:, None] + np.arange(self.sequence_length) * self.stride
        return Index(
            size=len(first),
            names=packed(names, self.file_root),
            digest=digest_of(names, (first,)),
            types=[UINT8],
            picks=picks.reshape(-1),
            pick_starts=np.arange(len(first) + 1, dtype=np.int64) * self.sequence_length,
        )

    def _videos(self) -> list[list[str]]:
        found = sub_folders(self.file_root, lambda _: True, lambda _: True)
        return [[os.fsdecode(folder + b"/" + name) for name in names] for folder, names in found]
