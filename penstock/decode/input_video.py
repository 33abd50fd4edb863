"""``fn.experimental.inputs.video``: sequences of videos that are fed, one behind the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np

from penstock.arguments.video_engine import ENGINES
from penstock.arguments.video_frames import MATRICES, FrameArgs
from penstock.errors import TensorError
from penstock.feed.data import dense
from penstock.feed.input_op import InputOp
from penstock.op import REQUIRED, arg, op
from penstock.read.video_index import VideoIndex, index_bytes
from penstock.tensors import TensorListCPU

_POLICIES = ("partial", "pad")
_numbers = count(1)  # of the videos that were fed, in this process


@op("experimental.inputs.video", devices=["cpu", "mixed"], inputs=0)
class InputVideo(InputOp):
    """Sequences of a video that is fed while the pipeline runs, for long ones and for streams: what FFmpeg knows, see
    `fn.decoders.video`.

    ``pipe.feed_input(name, [video])``, or ``pipe.run(name=[video])``, gives the bytes of one file. Each run then takes
    the next sequences of it, as many as the pipeline's batch size; what is left at its end is a smaller batch. The
    next video follows then, of which several may be fed ahead. A video is gone through once, when it is fed, and only
    the frames of sequences that are wanted are ever decoded: never more than the pipeline prepares ahead. Decoders go
    on where the sequence before has ended.

    With other inputs, or readers, all must give as many samples to an iteration.

    Output: RGB, uint8 of shape ``(frames, height, width, 3)``, layout FHWC. Videos may differ in size.

    Errors: from `feed_input`: TensorError for what is not one file's bytes, DecodeError for files that are no video or
    broken, OperatorError where FFmpeg is missing; NoDataError from ``run`` where no video is left; DecodeError for
    frames that cannot be decoded, naming them.

    With ``device="mixed"`` the GPU decodes, as `fn.decoders.video` has it; what is fed is in the CPU's memory.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.experimental.inputs.video(name="video", sequence_length=16)
        >>> pipe = pipeline()
        >>> pipe.feed_input("video", [np.fromfile(video, np.uint8)])
        >>> [pipe.run()[0].shape() for _ in range(2)]
        [[(16, 48, 64, 3), (16, 48, 64, 3)], [(8, 48, 64, 3)]]
    """

    stage = "decode"
    on_host = True

    sequence_length = arg(
        REQUIRED, "Frames of each sequence.", kind="integer", aka=["num_frames", "frames_per_sequence"]
    )
    last_sequence_policy = arg(
        "partial",
        "What becomes of a video's last sequence where frames are left over: 'partial': it has these alone; 'pad': "
        "frames of zeros fill it up.",
        choices=_POLICIES,
    )
    blocking = arg(False, "Where no video is left, `run` waits until another thread feeds one, rather than fail.")
    no_copy = arg(
        False, "Use the memory of the array itself: it must not be changed before the video's last batch is there."
    )
    affine = arg(True, "Bind the decoder's threads to processors.", unused="it has none; see Pipeline(set_affinity=)")
    color_matrix = arg(
        "bt601", "How YUV becomes RGB; see `fn.decoders.video`. DALI has no such argument.", choices=MATRICES
    )
    adjust_orientation = arg(
        False, "Turn frames upright, where a phone has noted how it was held. DALI has no such argument."
    )

    video_engine = arg(
        "auto", "On a GPU: what decodes; see `fn.decoders.video`. DALI has no such argument.", choices=ENGINES
    )

    def prepare(self) -> None:
        if self.sequence_length < 1:
            raise self.wrong("sequence_length", "expected 1 or more")
        outputs = self.num_outputs()
        self.layouts, self.dtypes, self.ndims = [None] * outputs, [None] * outputs, [None] * outputs
        self._copies = not self.no_copy
        self.no_copy = True  # of what iterations get, which is views of one video

    def num_outputs(self) -> int:
        """The video's bytes, its index, and which frames."""
        return 3

    def behind(self, outputs: list[Any], make: Callable[..., list[Any]]) -> list[Any]:
        return make(
            "_decoders.input_video",
            outputs,
            color_matrix=self.color_matrix,
            adjust_orientation=self.adjust_orientation,
            video_engine=self.video_engine,
            device=self.device,
        )

    def gives_list(self) -> bool:
        return False

    def iterations(self, data: Any, batch_size: int) -> Iterator[list[Any]]:
        video = _one_file(data)
        if self._copies:
            video = video.copy()
        index = index_bytes(video)
        pieces = list(self._pieces(index))
        for i in range(0, len(pieces), batch_size):
            some = pieces[i : i + batch_size]
            yield [[video] * len(some), [index.block] * len(some), some]

    def _pieces(self, index: VideoIndex) -> Iterator[np.ndarray[Any, Any]]:
        """Of each sequence: the video's number, the first frame, how many there are, and how many are wanted."""
        number, length = next(_numbers), self.sequence_length
        for first in range(0, index.frames, length):
            frames = min(length, index.frames - first)
            yield np.array([number, first, frames, length if self.last_sequence_policy == "pad" else frames])


def _one_file(data: Any) -> np.ndarray[Any, Any]:
    """The bytes of the batch's only sample."""
    tensors = TensorListCPU(dense(data))
    if len(tensors) != 1:
        raise TensorError(f"expected the bytes of one video, got a batch of {len(tensors)} samples")
    video = np.asarray(tensors.at(0))
    if video.dtype != np.uint8 or video.ndim != 1:
        raise TensorError(f"expected the bytes of a file, uint8 with one axis, got {video.dtype} of {video.shape}")
    return video


@op("_decoders.input_video", kernel="input_video", contract="source", devices=["cpu", "mixed"], inputs=3)
class FedVideo(FrameArgs):
    """Decodes a sequence of a video that was fed: the operator behind `fn.experimental.inputs.video`.

    Inputs: the file's bytes, uint8; its index, uint8; the video's number, the first frame, how many frames there are,
    and how many are wanted, int64 of shape ``(4,)``. Output: as there.
    """

    stage = "decode"
    setup_reads = (0, 1, 2)
