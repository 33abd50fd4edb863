"""What decoders on a GPU have decoded, by engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.errors import DeviceError
from penstock.machine import kernels

# In the order of ps_decoded_by in native/penstock.h.
ENGINES = {
    "cpu": "CPU",
    "cuda": "own CUDA kernels",
    "nvjpeg": "nvJPEG",
    "nvimagecodec": "nvImageCodec",
    "nvdec": "NVDEC",
}


def has_compiler() -> bool:
    """Whether kernels can be compiled."""
    try:
        kernels.nvrtc()
    except DeviceError:
        return False
    return True


@dataclass(frozen=True)
class Decoded:
    """How many files a decoder with ``device="mixed"`` has decoded, by engine: ``cpu``, ``cuda`` (kernels of our own),
    ``nvjpeg``, ``nvimagecodec`` and, of videos, ``nvdec``: sequences, then, and the bytes of their frames.
    """

    operator: str
    files: Mapping[str, int]
    bytes: Mapping[str, int]  # of the files, as they are encoded
    refused: int = 0  # of the CPU's: those that the GPU was given first, and could not decode
    indexed: int = 0  # of our kernels': those with an index

    @classmethod
    def of(cls, operator: str, row: Sequence[int]) -> Decoded:
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
