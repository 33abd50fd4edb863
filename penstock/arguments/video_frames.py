"""Arguments that all operators share which decode videos."""

from __future__ import annotations

from penstock import types
from penstock.arguments.on_error import OnErrorArgs
from penstock.arguments.video_engine import ENGINES, VideoEngine, choose
from penstock.op import arg, fixed

PAD_MODES = ("none", "constant", "edge", "repeat", "reflect_1001", "symmetric", "reflect_101", "reflect")
MATRICES = ("bt601", "stream", "bt709", "bt2020")


class FrameArgs(OnErrorArgs):
    """What to make of a video's frames."""

    color_matrix = arg(
        "bt601",
        "How YUV becomes RGB: by ITU-R BT.601 as DALI does it, whatever the video says; 'stream': by what the video "
        "says, and BT.601 where it says nothing; 'bt709' or 'bt2020'. The range of the video's values is always "
        "respected. DALI has no such argument.",
        choices=MATRICES,
        aka=["matrix", "colorspace"],
    )
    adjust_orientation = arg(
        False,
        "Turn frames upright, where a phone has noted how it was held; else they are as they are stored, as in DALI, "
        "which has no such argument.",
        aka=["rotate", "autorotate"],
    )
    fill_value = arg([0], "Pixels of frames that 'constant' adds: one number from 0 to 255, or three.", kind="integers")
    video_engine = arg(
        "auto",
        "On a GPU: what decodes. 'nvdec': NVIDIA's decoder, and the CPU what that does not take; 'cpu', whose frames "
        "are copied; 'auto': 'nvdec' where it is found. DALI has no such argument.",
        choices=ENGINES,
    )
    image_type = fixed(int(types.RGB))
    dtype = fixed(int(types.UINT8))
    normalized = fixed(False)

    def chosen(self, device: str) -> VideoEngine | None:
        return None if device == "cpu" else choose(str(self.video_engine))

    def prepare(self) -> None:
        fill = self.fill_value if "fill_value" in self.arguments else [0]
        if len(fill) not in (1, 3) or not all(0 <= v <= 255 for v in fill):
            raise self.wrong("fill_value", "expected a number from 0 to 255, or three")
        super().prepare()
