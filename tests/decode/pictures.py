"""Files to decode, and ways to decode them: with Penstock, with DALI."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from penstock import fn, pipeline_def

Array = np.ndarray[Any, Any]
Window = tuple[int, int, int, int]  # x0, y0, x1, y1


def smooth(random: np.random.Generator, width: int, height: int, channels: int = 3) -> Array:
    """A picture with soft and hard edges, of shape (height, width, channels)."""
    few = random.integers(0, 256, (max(2, height // 7), max(2, width // 7), channels), np.uint8)
    planes = [Image.fromarray(few[..., c]).resize((width, height), Image.Resampling.BICUBIC) for c in range(channels)]
    return np.stack([np.asarray(plane) for plane in planes], -1)


def exif(orientation: int, little_endian: bool = True) -> bytes:
    """An EXIF block (its TIFF structure) with a maker's name and an orientation."""
    order = "<" if little_endian else ">"
    entries = struct.pack(order + "HHII", 0x10F, 2, 1, 0) + struct.pack(order + "HHIHH", 0x112, 3, 1, orientation, 0)
    head = (b"II*\0" if little_endian else b"MM\0*") + struct.pack(order + "I", 8)
    return head + struct.pack(order + "H", 2) + entries + struct.pack(order + "I", 0)


def jpeg(pixels: Array, mode: str = "RGB", orientation: int = 1, little_endian: bool = True, **options: Any) -> bytes:
    """A JPEG file; ``mode`` is Pillow's: L, RGB, CMYK."""
    file = io.BytesIO()
    if orientation != 1:
        options["exif"] = b"Exif\0\0" + exif(orientation, little_endian)
    Image.fromarray(pixels[..., 0] if mode == "L" else pixels, mode).save(file, "JPEG", **options)
    return file.getvalue()


def jpeg_parts(file: bytes) -> list[bytes]:
    """The file cut before each marker of its header: SOI, APP0, ..., and the scan as the last part."""
    parts, at = [file[:2]], 2
    while file[at + 1] != 0xDA:
        end = at + 2 + int.from_bytes(file[at + 2 : at + 4], "big")
        parts.append(file[at:end])
        at = end
    return [*parts, file[at:]]


def chunk(kind: bytes, data: bytes = b"") -> bytes:
    """A chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


# Adam7: first column and row of each pass, and the steps from there.
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def png(values: Array, color_type: int, bits: int, interlaced: bool = False, chunks: Sequence[bytes] = ()) -> bytes:
    """A PNG file of samples as they are stored, (height, width, samples of a pixel)."""
    height, width = values.shape[:2]

    def packed(part: Array) -> bytes:
        rows = []
        for row in part.reshape(part.shape[0], -1):
            if bits == 16:
                body = row.astype(">u2").tobytes()
            elif bits == 8:
                body = row.astype(np.uint8).tobytes()
            else:
                body = np.packbits(np.unpackbits(row.astype(np.uint8)[:, None], axis=1)[:, -bits:]).tobytes()
            rows.append(b"\0" + body)
        return b"".join(rows)

    parts = [values[y::dy, x::dx] for x, y, dx, dy in ADAM7] if interlaced else [values]
    data = zlib.compress(b"".join(packed(part) for part in parts if part.size))
    header = struct.pack(">IIBBBBB", width, height, bits, color_type, 0, 0, int(interlaced))
    half = len(data) // 2  # two chunks of data, as encoders write them
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", header), *chunks,
            chunk(b"IDAT", data[:half]), chunk(b"IDAT", data[half:]), chunk(b"IEND"),
        ]
    )  # fmt: skip


def write(folder: Path, files: Sequence[bytes]) -> list[str]:
    """Writes the files and gives their names."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [str(folder / f"{i:03d}.bin") for i in range(len(files))]
    for name, data in zip(names, files, strict=True):
        Path(name).write_bytes(data)
    return names


def decode(
    folder: Path, files: Sequence[bytes], operator: Callable[..., Any] | None = None, **arguments: Any
) -> list[Array]:
    """What Penstock makes of these files; ``operator`` is `fn.decoders.image` unless said otherwise."""
    names = write(folder, files)
    make = operator or fn.decoders.image

    @pipeline_def(batch_size=len(files), num_threads=2, device_id=None, seed=7, prefetch_queue_depth=1)
    def pipeline() -> Any:
        encoded, _ = fn.readers.file(files=names)
        return make(encoded, **arguments)

    (out,) = pipeline().run()
    return [np.array(out.at(i)) for i in range(len(files))]


def decode_window(folder: Path, files: Sequence[bytes], windows: Sequence[Window], **arguments: Any) -> list[Array]:
    """One window of each file, decoded as such."""
    return [
        decode(folder / f"w{i}", [file], fn.decoders.image_slice, start=w[:2], end=w[2:], **arguments)[0]
        for i, (file, w) in enumerate(zip(files, windows, strict=True))
    ]


def some_windows(random: np.random.Generator, width: int, height: int, count: int) -> list[Window]:
    """Windows of a picture: its last pixel, its last column, and ``count`` random ones."""
    found = [(width - 1, height - 1, width, height), (width - 1, 0, width, height)]
    for _ in range(count):
        x0, y0 = int(random.integers(0, width)), int(random.integers(0, height))
        x1, y1 = int(random.integers(x0 + 1, width + 1)), int(random.integers(y0 + 1, height + 1))
        found.append((x0, y0, x1, y1))
    return found


def pillow(file: bytes, mode: str = "RGB") -> Array:
    """The upright picture as Pillow (an independent libjpeg-turbo) decodes it."""
    from PIL import ImageOps

    pixels = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(file))).convert(mode))
    return pixels if pixels.ndim == 3 else pixels[..., None]
