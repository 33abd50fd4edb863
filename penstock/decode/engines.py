"""Who decodes with ``device="mixed"``: what is chosen for JPEG, and why; and how many files each engine has had."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from penstock import _settings, types
from penstock.decode.options import ImageOptions
from penstock.errors import DeviceError
from penstock.graph.blame import warn
from penstock.graph.node import OpNode
from penstock.machine import kernels, libraries

if TYPE_CHECKING:
    from penstock.run.executor import Executor

# In the order of native/cuda/record/decode_counts.h.
ENGINES = {"cpu": "CPU", "cuda": "own CUDA kernels", "nvjpeg": "nvJPEG", "nvimagecodec": "nvImageCodec"}


@dataclass(frozen=True)
class JpegEngine:
    """What decodes JPEG for one operator: ``"cuda"``, ``"hardware"`` or ``"cpu"``."""

    name: str
    why: str
    load: float = 0.0  # of a batch's JPEG files, in bytes: those that are given to the GPU if it can decode them
    wanted: str = "cpu"  # what it is for: where a library is missing, the CPU stands in

    def __str__(self) -> str:
        name = {"cuda": ENGINES["cuda"], "hardware": ENGINES["nvjpeg"], "cpu": ENGINES["cpu"]}[self.name]
        if self.name != "cpu" and self.load < 1:
            name += f" for {100 * self.load:g} % of the bytes"
        return f"{name} ({self.why})"


def choose(op: ImageOptions) -> JpegEngine:
    """The engine for an operator with ``device="mixed"``; the setting stands in for ``jpeg_engine="auto"``."""
    engine, why = op.jpeg_engine, f"jpeg_engine={op.jpeg_engine!r}"
    if engine == "auto" and _settings.JPEG.is_set():
        engine = _settings.JPEG.value()
        why = f"{_settings.JPEG.name}={engine}"
    load = min(max(float(op.hw_decoder_load), 0.0), 1.0)
    if engine == "cpu":
        return JpegEngine("cpu", why)
    if load == 0:
        return JpegEngine("cpu", f"hw_decoder_load={op.hw_decoder_load:g}")
    if op.use_fast_idct:
        return JpegEngine("cpu", "use_fast_idct=True")
    if engine == "auto" and not _compiler():
        engine, why = "hardware", "NVRTC was not found, so there are no kernels of our own"
    if engine != "hardware":
        return JpegEngine("cuda", why, load if "hw_decoder_load" in op.given else 1.0, "cuda")
    if op.dtype != types.UINT8:
        return JpegEngine("cpu", f"{why}, and nvJPEG decodes to UINT8, not to {types.DALIDataType(op.dtype).name}")
    if op.output_type == types.YCbCr:
        return JpegEngine("cpu", f"{why}, and nvJPEG does not make YCbCr as DALI has it")
    if not libraries.found("nvjpeg"):
        return JpegEngine("cpu", f"{why}, and nvJPEG was not found", wanted="hardware")
    return JpegEngine("hardware", why, load, "hardware")


def leaves_planes(node: OpNode) -> bool:
    """Whether kernels of our own decode JPEG to bytes for this node, if any does: another may make the pixels."""
    op = node.op
    if node.device != "mixed" or not isinstance(op, ImageOptions) or op.dtype != types.UINT8:
        return False
    return choose(op).name == "cuda"


def _compiler() -> bool:
    """Whether kernels can be compiled."""
    try:
        kernels.nvrtc()
    except DeviceError:
        return False
    return True


@dataclass(frozen=True)
class Decoded:
    """How many files a decoder with ``device="mixed"`` has decoded, by engine: ``cpu``, ``cuda`` (kernels of our own),
    ``nvjpeg`` and ``nvimagecodec``.
    """

    operator: str
    files: Mapping[str, int]
    bytes: Mapping[str, int]  # of the files, as they are encoded
    refused: int = 0  # of the CPU's: those that the GPU was given first, and could not decode
    indexed: int = 0  # of our kernels': those with an index

    @classmethod
    def of(cls, operator: str, row: list[int]) -> Decoded:
        """Of the native library's numbers."""
        files, sizes = (dict(zip(ENGINES, row[first:-2:2], strict=True)) for first in (0, 1))
        return cls(operator, files, sizes, row[-2], row[-1])

    def since(self, before: Decoded) -> Decoded:
        """What was decoded since then."""
        return Decoded(
            self.operator,
            {engine: n - before.files[engine] for engine, n in self.files.items()},
            {engine: n - before.bytes[engine] for engine, n in self.bytes.items()},
            self.refused - before.refused,
            self.indexed - before.indexed,
        )

    def __str__(self) -> str:
        parts = []
        for engine, name in ENGINES.items():
            if n := self.files[engine]:
                more = ""
                if engine == "cpu" and self.refused:
                    more = f", {self.refused} of them refused by the GPU's"
                elif engine == "cuda" and self.indexed:
                    more = f", {self.indexed} of them with an index"
                parts.append(f"{name} {n} file{'s' * (n > 1)} ({self.bytes[engine] / 1e6:.1f} MB{more})")
        return "; ".join(parts) or "no files"


def notes(executor: Executor) -> dict[OpNode, list[str]]:
    """Lines about decoders with ``device="mixed"``, for `Pipeline.explain`."""
    found = {}
    so_far = {} if executor.closed else executor.decoded()
    for node, engine in executor.program.jpeg_engines.items():
        problem = libraries.image_codec_problem()
        others = f"CPU ({problem})" if problem else "nvImageCodec"
        found[node] = [f"JPEG: {engine}", f"JPEG 2000, TIFF, lossless JPEG: {others}; other formats: CPU"]
        if node in so_far and any(so_far[node].files.values()):
            found[node].append(f"so far: {so_far[node]}")
    return found


def warn_of_missing(engines: Iterable[JpegEngine]) -> None:
    """Warns, once in a process, where NVIDIA's decoders are wanted, and the CPU must do what a library would do."""
    wanted = {engine.wanted for engine in engines} - {"cpu"}
    if "hardware" in wanted:
        _warn_without_libraries()
    if wanted:
        _warn_of_image_codec()


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
    """Of one that is installed: who does without may want to."""
    if libraries.found("nvimgcodec") and (problem := libraries.image_codec_problem()):
        warn(
            "device='mixed' decodes JPEG 2000, TIFF and lossless JPEG on the CPU, which is slower (jpeg_engine='cpu' "
            f"asks for the CPU, without this warning): {problem}",
            UserWarning,
        )
