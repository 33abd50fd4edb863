"""``fn.decoders.video``: frames out of videos in memory."""

from __future__ import annotations

from penstock.arguments.video_frames import PAD_MODES, FrameArgs
from penstock.op import arg, op

_RANGE = ("start_frame", "end_frame", "sequence_length", "stride")


@op(
    "decoders.video",
    kernel="decode_video",
    contract="source",
    devices=["cpu", "mixed"],
    legacy=["experimental.decoders.video"],
)
class Video(FrameArgs):
    """Decodes videos, or some of their frames: what FFmpeg knows, such as H.264, HEVC, VP8, VP9, AV1, MPEG-4 and MJPEG,
    with 8 to 16 bits, in MP4, MOV, MKV, WebM, AVI, MPEG-TS and others.

    Which frames: those of ``frames``, in any order, some several times; or those from ``start_frame`` on, ``stride``
    apart, ``sequence_length`` of them or as far as ``end_frame``; or all. Frames are counted as they are shown: an edit
    list cuts what it cuts, and hidden frames do not count. Wherever a clip begins, its frames are, bit for bit, those
    that decoding the video from its beginning gives. What is not needed for them is not decoded: neither what lies
    before the last key frame, nor, in H.264, frames that no other one refers to.

    Frames that the video has not are what ``pad_mode`` says: with 'none' a range ends where the video does, and
    ``frames`` is refused; 'constant' gives frames of ``fill_value``; 'edge' or 'repeat' the first or last frame;
    'reflect_1001' or 'symmetric' go back, and show the last frame twice; 'reflect_101' or 'reflect' show it once.

    Chroma is interpolated, and colours are computed by BT.601, as DALI does it; ``color_matrix`` has others.

    Input: the bytes of a file, uint8 of shape ``(size,)``.

    Output: RGB, uint8 of shape ``(frames, height, width, 3)``, layout FHWC.

    Errors: DecodeError for files that are no video or broken, naming the frame: one that is damaged, or follows a
    damaged one and may be made of it, is refused, and no other. A file that was cut off has the frames that are whole.
    OperatorError for frames that are not there, and where FFmpeg is missing: it says what to install. Frames of another
    size than the first one's, and of more pixels than pictures may have, are refused, too.

    With ``device="mixed"`` NVIDIA's decoder (NVDEC) decodes H.264, HEVC, VP8, VP9 and AV1 of 4:2:0, as far as the GPU
    has it, and the CPU the rest: see ``video_engine``. Frames are the same; which engine decoded, `Pipeline.explain`
    says. NVDEC does not tell of all damage: what it conceals may be shown.

    DALI decodes VP8, VP9 and MJPEG on the CPU.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(files=[video])
        ...     return fn.decoders.video(files, start_frame=4, sequence_length=8, stride=2)
        >>> frames, = pipeline().run()
        >>> frames.layout(), frames.at(0).shape
        ('FHWC', (8, 48, 64, 3))
    """

    stage = "decode"
    setup_reads = (0,)

    start_frame = arg(
        None, "The first frame; default 0.", kind="integer", per_sample=True, only_given=True, aka=["start", "offset"]
    )
    end_frame = arg(
        None, "The frame behind the last one; default: the end.", kind="integer", per_sample=True, only_given=True
    )
    sequence_length = arg(
        None, "How many frames.", kind="integer", per_sample=True, only_given=True, aka=["num_frames", "length"]
    )
    stride = arg(
        None, "From one frame to the next; default 1.", kind="integer", per_sample=True, only_given=True, aka=["step"]
    )
    frames = arg(
        None, "The frames by number.", kind="integers", per_sample=True, only_given=True, aka=["frame_indices"]
    )
    pad_mode = arg("constant", "What stands for frames that are not there.", choices=PAD_MODES, per_sample=True)
    affine = arg(True, "Bind the decoder's threads to processors.", unused="it has none; see Pipeline(set_affinity=)")
    build_index = arg(True, "Go through a video before it is decoded.", unused="its frames are always counted first")

    def prepare(self) -> None:
        super().prepare()
        both = [name for name in _RANGE if name in self.given]
        if "frames" in self.given and both:
            raise self.wrong("frames", f"cannot be given together with {both[0]}")
        if "sequence_length" in self.given and "end_frame" in self.given:
            raise self.wrong("sequence_length", "cannot be given together with end_frame")
