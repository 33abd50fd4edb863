"""``fn.experimental.readers.video`` and ``fn.readers.video``: sequences of frames of videos in files."""

from __future__ import annotations

from typing import Any

from penstock import types
from penstock.arguments.video_frames import PAD_MODES
from penstock.errors import ArgumentError
from penstock.op import arg, fixed, op
from penstock.read.video_files import VideoFile
from penstock.read.video_index import VideoIndex
from penstock.read.videos import VideoReader, clipped, frames_between

_FRAME_NUMBERS = {"none": "", "false": "", "0": "", "scalar": "scalar", "true": "scalar", "1": "scalar",
                  "sequence": "sequence"}  # fmt: skip
_ROUNDING = ("start_down_end_up", "start_up_end_down", "all_up", "all_down")
_COLORS = (types.RGB, types.YCbCr)


def frame_numbers_of(reader: VideoReader, value: Any) -> str:
    """What there is of the frames' numbers; ArgumentError for what says nothing."""
    found = _FRAME_NUMBERS.get(str(value).lower())
    if found is None:
        raise reader.wrong("enable_frame_num", "expected 'none', 'scalar' or 'sequence', or True or False")
    return found


@op("experimental.readers.video", kernel="read_video", contract="source", devices=["cpu", "gpu"], inputs=0)
class ExperimentalVideo(VideoReader):
    """Reads sequences of frames of videos: what FFmpeg knows, see `fn.decoders.video`.

    The files are named by ``filenames``, with or without ``labels``; or are those of ``file_root``, which has a folder
    for each class; or of ``file_list``, a text of lines "name label [start [end]]", which say what part of a video is
    read: between times in seconds, of which ``file_list_rounding`` makes frames, or with ``file_list_format="frames"``
    between numbers of frames, which count from the end where they are negative. The end is not one of the part, as in
    DALI.

    A sequence has ``sequence_length`` frames, ``stride`` apart; the next one begins ``step`` frames later, or by
    default where it ends. Sequences of which a part has not all frames are left out, or with ``pad_mode`` filled; or
    with ``uniform_sample`` each part gives one, spread from its first frame to its last.

    Each file is gone through once, without decoding: what frames it has, and when they are shown. That is kept in the
    user's cache as long as the file is the same, and ``python -m penstock index --video`` does it for many files. Of a
    sequence no more is read and decoded than it needs, from a key frame on. Decoders stay where they are between
    sequences, so what follows goes on there; no more than 48 files are open but for those in use.

    Outputs: the frames, uint8 of shape ``(frames, height, width, 3)``, layout FHWC; where there are labels, the label,
    int32 of shape ``(1,)``; with ``enable_frame_num`` the number of the first frame ("scalar"), int32 of shape
    ``(1,)``, or of each ("sequence"); with ``enable_timestamps`` when each is shown, in seconds, float64 of shape
    ``(frames,)``. Frames that were filled in have the number and time -1.

    Errors: ArgumentError for arguments that do not go together, lists that are none, and where there is no sequence;
    ReadError for files that cannot be read; DecodeError for files that are no video or broken, and frames that cannot
    be decoded, naming file and frame. ``on_error`` leaves such files out.

    With ``device="gpu"`` all outputs are there, and NVIDIA's decoder does what it can, as `fn.decoders.video` has it.

    DALI skips files that are broken, and reads nothing where a list tells a start and no end.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return tuple(fn.experimental.readers.video(filenames=[video], labels=[3], sequence_length=5, stride=2))
        >>> frames, labels = pipeline().run()
        >>> frames.shape(), labels.as_array().tolist()
        ([(5, 48, 64, 3), (5, 48, 64, 3)], [[3], [3]])
    """

    image_type = arg(types.RGB, "Colours: RGB or YCbCr (BT.601, luma 16 to 235).", choices=_COLORS)
    file_list = arg(
        "", "Text file of lines 'name label [start [end]]'.", kind="path", to_kernel=False, aka=["list_file"]
    )
    file_list_format = arg("timestamps", "What start and end are.", choices=("timestamps", "frames"), to_kernel=False)
    file_list_rounding = arg("start_down_end_up", "How times become frames.", choices=_ROUNDING, to_kernel=False)
    file_list_include_end = arg(True, "Whether the end is one of the part.", unused="it never is, as in DALI")
    enable_frame_num = arg(
        "none", "Whether frames' numbers are an output: 'none', 'scalar' or 'sequence'.", kind="any", to_kernel=False
    )
    pad_mode = arg(
        "none", "What stands for frames that are not there: a constant.", choices=PAD_MODES, to_kernel=False,
        per_sample=True,
    )  # fmt: skip
    uniform_sample = arg(False, "One sequence of each part, spread over it; `step` and `stride` count for nothing.")

    def prepare(self) -> None:
        frame_numbers_of(self, self.enable_frame_num)
        if "pad_mode" in self.tensors:
            raise self.wrong("pad_mode", "expected a constant: how many sequences there are depends on it")
        super().prepare()

    @property
    def frame_numbers(self) -> str:
        return frame_numbers_of(self, self.enable_frame_num)

    def padding(self) -> str:
        return str(self.pad_mode)

    def spreads(self) -> bool:
        return bool(self.uniform_sample)

    def steps(self) -> int:
        return int(self.step) if self.step > 0 else self.sequence_length * self.stride

    def part(self, file: VideoFile, index: VideoIndex) -> tuple[int, int]:
        if self.file_list_format == "frames":
            return clipped(index, file.start, file.end)
        both = self.file_list_rounding
        up = both.startswith("start_up") or both == "all_up", both.endswith("end_up") or both == "all_up"
        return frames_between(index, file.start, file.end, *up)


class VideoArgs(VideoReader):
    """What `fn.readers.video` and `fn.readers.video_resize` share."""

    file_list = arg(
        "", "Text file of lines 'name label [start [end]]'.", kind="path", to_kernel=False, aka=["list_file"]
    )
    image_type = arg(types.RGB, "Colours: RGB or YCbCr (BT.601, luma 16 to 235).", choices=_COLORS)
    dtype = arg(types.UINT8, "Type of the output.", choices=(types.UINT8, types.FLOAT))
    normalized = arg(False, "Divide by 255: with `dtype=types.FLOAT`.")
    channels = arg(3, "Of the output: 3.", to_kernel=False)
    enable_frame_num = arg(
        "none", "Whether frames' numbers are an output: 'none', 'scalar' or 'sequence'.", kind="any", to_kernel=False
    )
    file_list_frame_num = arg(False, "Whether start and end are frames' numbers; else seconds.", to_kernel=False)
    file_list_include_preceding_frame = arg(
        False, "Round times down: a part begins with the frame that is shown then; else with the next.",
        to_kernel=False,
    )  # fmt: skip
    pad_sequences = arg(False, "Fill sequences that a video has not all frames of with zeros.", to_kernel=False)
    skip_vfr_check = arg(
        False, "Take videos of variable frame rate.", unused="they are as good as others: frames are counted"
    )
    additional_decode_surfaces = arg(2, "More surfaces for the GPU's decoder.", unused="it has as many as it needs")
    uniform_sample = fixed(False)
    fill_value = fixed([0])

    def prepare(self) -> None:
        frame_numbers_of(self, self.enable_frame_num)
        if self.channels != 3:
            raise self.wrong("channels", "expected 3")
        if self.normalized and self.dtype != types.FLOAT:
            raise self.wrong("normalized", "it goes with dtype=types.FLOAT")
        super().prepare()

    @property
    def frame_numbers(self) -> str:
        return frame_numbers_of(self, self.enable_frame_num)

    def padding(self) -> str:
        return "constant" if self.pad_sequences else "none"

    def steps(self) -> int:
        return int(self.step) if self.step > 0 else self.sequence_length

    def has_labels(self) -> bool:
        return bool(self.labels) or not self.filenames

    def part(self, file: VideoFile, index: VideoIndex) -> tuple[int, int]:
        if self.file_list_frame_num:
            found = clipped(index, file.start, file.end)
        else:
            up = not self.file_list_include_preceding_frame
            found = frames_between(index, file.start, file.end, up, up)
        if file.start is not None and found[0] >= found[1]:
            raise ArgumentError(
                f"{self.shown_name()}: file_list={self.file_list!r}: of {file.name} the part from {file.start:g} to "
                f"{'its end' if file.end is None else format(file.end, 'g')} has no frame"
            )
        return found


@op("readers.video", kernel="read_video", contract="source", devices=["cpu", "gpu"], inputs=0, legacy=["video_reader"])
class Video(VideoArgs):
    """Reads sequences of frames of videos: what FFmpeg knows, see `fn.decoders.video`.

    As `fn.experimental.readers.video`, with other defaults: the next sequence begins ``sequence_length`` frames later,
    whatever the ``stride``. ``file_list`` tells times in seconds, or with ``file_list_frame_num`` numbers of frames;
    a part begins at the first frame that is shown at its start or later, or with ``file_list_include_preceding_frame``
    at the one before, if none is shown just then, and so it ends.

    Outputs: the frames, uint8 or FLOAT of shape ``(frames, height, width, 3)``, layout FHWC; and, where they are asked
    for, labels, frames' numbers and times, as `fn.experimental.readers.video` has them.

    Errors: as `fn.experimental.readers.video`; ArgumentError for parts without a frame, too.

    With ``device="gpu"`` as there. DALI has it on GPUs only.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.readers.video(filenames=[video], sequence_length=6, dtype=types.FLOAT, normalized=True)
        >>> frames, = pipeline().run()
        >>> frames.dtype, frames.shape()[0], bool(frames.as_array().max() <= 1)
        (DALIDataType.FLOAT, (6, 48, 64, 3), True)
    """
