"""The engines of ``device="mixed"``: which is chosen for JPEG, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from penstock import _settings, types
from penstock.arguments.decoded import ENGINES, Decoded, has_compiler
from penstock.graph.blame import warn
from penstock.machine import libraries


@dataclass(frozen=True)
class JpegEngine:
    """What decodes JPEG for one operator: ``"cuda"``, ``"hardware"`` or ``"cpu"``."""

    name: str
    why: str
    load: float = 0.0  # of a batch's JPEG files, in bytes: those that are given to the GPU if it can decode them
    wanted: str = "cpu"  # what it is for: where a library is missing, the CPU stands in
    planes: bool = False  # kernels of our own decode to bytes: another may make the pixels

    def __str__(self) -> str:
        name = {"cuda": ENGINES["cuda"], "hardware": ENGINES["nvjpeg"], "cpu": ENGINES["cpu"]}[self.name]
        if self.name != "cpu" and self.load < 1:
            name += f" for {100 * self.load:g} % of the bytes"
        return f"{name} ({self.why})"

    def arguments(self) -> dict[str, Any]:
        """The arguments that the kernel gets for it."""
        return {"jpeg_engine": self.name, "hw_decoder_load": self.load}

    def leaves_planes(self) -> bool:
        """Whether the kernel that reads the pictures may make their pixels."""
        return self.planes

    def warn_of_missing(self) -> None:
        """Warns, once in a process, where NVIDIA's decoders are wanted, and the CPU must do what a library would do."""
        if self.wanted == "hardware":
            _warn_without_libraries()
        if self.wanted != "cpu":
            _warn_of_image_codec()

    def notes(self) -> list[str]:
        """Lines for `Pipeline.explain`."""
        problem = libraries.image_codec_problem()
        others = f"CPU ({problem})" if problem else "nvImageCodec"
        return [f"JPEG: {self}", f"JPEG 2000, TIFF, lossless JPEG: {others}; other formats: CPU"]

    def done(self, operator: str, counts: Sequence[int]) -> Decoded:
        """What each engine has decoded."""
        return Decoded.of(operator, counts)


def choose(
    asked: str, *, dtype: int, output_type: int, use_fast_idct: bool, hw_decoder_load: float, all_to_own: bool
) -> JpegEngine:
    """The engine for an operator with ``device="mixed"`` and these arguments; the setting stands in for ``"auto"``.

    ``all_to_own``: kernels of our own get all files, whatever the load.
    """
    engine, why = asked, f"jpeg_engine={asked!r}"
    if engine == "auto" and _settings.JPEG.is_set():
        engine = _settings.JPEG.value()
        why = f"{_settings.JPEG.name}={engine}"
    load = min(max(float(hw_decoder_load), 0.0), 1.0)
    if engine == "cpu":
        return JpegEngine("cpu", why)
    if load == 0:
        return JpegEngine("cpu", f"hw_decoder_load={hw_decoder_load:g}")
    if use_fast_idct:
        return JpegEngine("cpu", "use_fast_idct=True")
    if engine == "auto" and not has_compiler():
        engine, why = "hardware", "NVRTC was not found, so there are no kernels of our own"
    if engine != "hardware":
        return JpegEngine("cuda", why, 1.0 if all_to_own else load, "cuda", dtype == types.UINT8)
    if dtype != types.UINT8:
        return JpegEngine("cpu", f"{why}, and nvJPEG decodes to UINT8, not to {types.DALIDataType(dtype).name}")
    if output_type == types.YCbCr:
        return JpegEngine("cpu", f"{why}, and nvJPEG does not make YCbCr as DALI has it")
    if not libraries.found("nvjpeg"):
        return JpegEngine("cpu", f"{why}, and nvJPEG was not found", wanted="hardware")
    return JpegEngine("hardware", why, load, "hardware")


@cache
def _warn_without_libraries() -> None:
    formats = {"nvjpeg": ("nvJPEG", "JPEG"), "nvimgcodec": ("nvImageCodec", "JPEG 2000, TIFF and lossless JPEG")}
    missing = [names for library, names in formats.items() if not libraries.found(library)]
    if missing:
        titles, pictures = (" and ".join(words) for words in zip(*missing, strict=True))
        warn(
            f"{titles} {'was' if len(missing) == 1 else 'were'} not found, so device='mixed' decodes {pictures} on "
            "the CPU, which is slower: pip install 'penstock[cuda13]' brings what is missing, or penstock[cuda12] for "
            "older drivers (jpeg_engine='cpu' asks for the CPU, without this warning)",
            UserWarning,
        )


@cache
def _warn_of_image_codec() -> None:
    """Only where one is installed: to be without may be on purpose."""
    if libraries.found("nvimgcodec") and (problem := libraries.image_codec_problem()):
        warn(
            "device='mixed' decodes JPEG 2000, TIFF and lossless JPEG on the CPU, which is slower (jpeg_engine='cpu' "
            f"asks for the CPU, without this warning): {problem}",
            UserWarning,
        )
