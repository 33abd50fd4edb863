"""How far decoded pictures may be from DALI's, on the CPU; docs/operators.md shows it."""

from __future__ import annotations

OUTPUT_TYPES = ["RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"]
# Folders of DALI_extra's db/single, and how many pictures there are at least (of those that DALI can decode).
FORMATS = {
    "bmp": 3, "jpeg": 47, "jpeg2k": 8, "jpeg_lossless": 1, "multichannel": 2, "png": 4, "pnm": 5, "tiff": 6, "webp": 16,
}  # fmt: skip


def most_apart(dtype: str, output_type: str = "YCbCr") -> float:
    """Equal, but for YCbCr, whose 16 bits are one apart once in some hundred, and floats."""
    return {"UINT8": 0, "UINT16": int(output_type == "YCbCr"), "FLOAT": 2**-22}[dtype]
