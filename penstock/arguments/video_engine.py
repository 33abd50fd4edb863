"""What decodes videos for a GPU: which engine is chosen, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from penstock.arguments.decoded import Decoded, has_compiler
from penstock.graph.blame import warn
from penstock.machine import libraries

ENGINES = ("auto", "nvdec", "cpu")
_MISSING = "libnvcuvid.so.1 was not found; in a container NVIDIA_DRIVER_CAPABILITIES must name 'video'"


@dataclass(frozen=True)
class VideoEngine:
    """What decodes the videos of one operator: ``"nvdec"`` or ``"cpu"``."""

    name: str
    why: str
    missing: bool = False  # the CPU stands in for a library that is not there

    def arguments(self) -> dict[str, Any]:
        """The arguments that the kernel gets for it."""
        return {"video_engine": self.name}

    def leaves_planes(self) -> bool:
        """Frames are whole when kernels read them."""
        return False

    def warn_of_missing(self) -> None:
        """Warns, once in a process, where the CPU must do what a library would do."""
        if self.missing:
            _warn_without_library()

    def notes(self) -> list[str]:
        """Lines for `Pipeline.explain`."""
        if self.name == "cpu":
            return [f"videos: CPU ({self.why}), whose frames are copied to the GPU"]
        return [
            f"videos: NVDEC ({self.why}) for H.264, HEVC, VP8, VP9 and AV1 of 4:2:0, as far as this GPU has it; the "
            "rest, and what it gives up: CPU, whose frames are copied to the GPU"
        ]

    def done(self, operator: str, counts: Sequence[int]) -> Decoded:
        """What each engine has decoded."""
        return Decoded.of(operator, counts)


def choose(engine: str) -> VideoEngine:
    """The engine for an operator on a GPU, given its argument ``video_engine``."""
    why = f"video_engine={engine!r}"
    if engine == "cpu":
        return VideoEngine("cpu", why)
    if not libraries.found("nvcuvid"):
        return VideoEngine("cpu", f"{why}, and {_MISSING}", missing=True)
    if not has_compiler():
        return VideoEngine("cpu", f"{why}, and NVRTC was not found, so there are no kernels of our own", missing=False)
    return VideoEngine("nvdec", why)


@cache
def _warn_without_library() -> None:
    warn(
        f"videos for the GPU are decoded on the CPU, which is slower: {_MISSING} (video_engine='cpu' asks for the CPU, "
        "without this warning)",
        UserWarning,
    )
