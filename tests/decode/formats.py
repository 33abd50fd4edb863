"""Files of BMP, PNM, TIFF and lossless JPEG, written by hand: what Pillow does not write."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.decode.pictures import Array

# BMP


def bmp(rows: bytes, width: int, height: int, bits: int, compression: int = 0, palette: Array | None = None,
        masks: tuple[int, ...] = (), header: int = 40) -> bytes:  # fmt: skip
    """``palette``: (n, 3) colours. A negative height: from top to bottom. Header of 12 (OS/2), 40, 108 or 124 bytes."""
    body = b"" if palette is None else b"".join(bytes([b, g, r][:3]) + b"\0" * (header > 12) for r, g, b in palette)
    if header == 12:
        head = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        colours = 0 if palette is None else len(palette)
        head = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, compression, len(rows), 0, 0, colours, 0)
        head += struct.pack(f"<{len(masks)}I", *masks)
        head += bytes(max(0, header - len(head)))
    at = 14 + len(head) + len(body)
    return b"BM" + struct.pack("<IHHI", at + len(rows), 0, 0, at) + head + body + rows


def bmp_rows(values: Array, from_top: bool = False) -> bytes:
    """Rows of bytes or words, padded to 4 bytes."""
    rows = [row.tobytes() for row in (values if from_top else values[::-1])]
    return b"".join(row + bytes(-len(row) % 4) for row in rows)


def nibbles(values: Array) -> Array:
    """Two numbers of 4 bits in a byte, the first one in its high half."""
    even = np.pad(values, ((0, 0), (0, values.shape[1] % 2)))
    packed: Array = (even[:, ::2] << 4 | even[:, 1::2]).astype(np.uint8)
    return packed


def run_lengths(indices: Array, bits: int) -> bytes:
    """RLE8 or RLE4, of encoded runs and of literal ones, by turns."""
    out = bytearray()
    for row in indices[::-1]:
        for n, at in enumerate(range(0, len(row), 6)):
            part = row[at : at + 6]
            if n % 2 and len(part) >= 3:
                body = part.tobytes() if bits == 8 else nibbles(part[None]).tobytes()
                out += bytes([0, len(part)]) + body + bytes(len(body) % 2)
            elif bits == 8:
                for value in part:
                    out += bytes([1, value])
            else:
                for i in range(0, len(part), 2):
                    pair = part[i : i + 2]
                    out += bytes([len(pair), pair[0] << 4 | (pair[1] if len(pair) > 1 else 0)])
        out += b"\0\0"
    return bytes(out) + b"\0\1"


# TIFF


def _bits(values: Array, bits: int) -> bytes:
    """Rows of numbers of so many bits, each row padded to whole bytes."""
    shifts = np.arange(bits - 1, -1, -1)
    return b"".join(
        np.packbits((row.astype(np.int64).ravel()[:, None] >> shifts & 1).astype(np.uint8)).tobytes() for row in values
    )


def tiff(values: Array, photometric: int = 2, bits: int | None = None, order: str = "<", tile: tuple[int, int] = (0, 0),
         rows_per_strip: int = 0, planar: bool = False, deflate: bool = False, orientation: int = 1,
         palette: Array | None = None, sample_format: int = 1, big: bool = False) -> bytes:  # fmt: skip
    """``values``: (height, width, channels); ``tile``: its width and height; ``palette``: (n, 3) of 16 bits; ``big``:
    BigTIFF."""
    height, width, channels = values.shape
    bits = bits or values.itemsize * 8

    def encode(part: Array) -> bytes:
        whole = bits in (8, 16, 32)
        data = part.astype(part.dtype.newbyteorder(order)).tobytes() if whole else _bits(part, bits)
        return zlib.compress(data) if deflate else data

    blocks = []
    for plane in np.split(values, channels, 2) if planar else [values]:
        if tile[0]:
            padded = np.pad(plane, ((0, -height % tile[1]), (0, -width % tile[0]), (0, 0)), mode="edge")
            for y in range(0, height, tile[1]):
                for x in range(0, width, tile[0]):
                    blocks.append(encode(padded[y : y + tile[1], x : x + tile[0]]))
        else:
            step = rows_per_strip or height
            blocks += [encode(plane[y : y + step]) for y in range(0, height, step)]
    short, long = ("H", 3), ("I", 4)
    tags: dict[int, tuple[tuple[str, int], list[int]]] = {
        256: (short, [width]), 257: (short, [height]), 258: (short, [bits] * channels),
        259: (short, [8 if deflate else 1]), 262: (short, [photometric]), 274: (short, [orientation]),
        277: (short, [channels]), 284: (short, [2 if planar else 1]), 339: (short, [sample_format] * channels),
    }  # fmt: skip
    where, sizes = (324, 325) if tile[0] else (273, 279)
    if tile[0]:
        tags |= {322: (short, [tile[0]]), 323: (short, [tile[1]])}
    else:
        tags[278] = (short, [rows_per_strip or height])
    if palette is not None:
        tags[320] = (short, [int(v) for v in palette.T.ravel()])
    tags |= {where: (long, [0] * len(blocks)), sizes: (long, [len(b) for b in blocks])}
    entry, head = (20, 16) if big else (12, 8)
    inline = entry - (12 if big else 8)
    directory = (8 if big else 2) + entry * len(tags) + (8 if big else 4)
    extra_at = head + directory
    lengths = [len(numbers) * struct.calcsize(kind[0]) for kind, numbers in tags.values()]
    extra_size = sum(length for length in lengths if length > inline)
    starts = np.cumsum([extra_at + extra_size, *map(len, blocks[:-1])])
    tags[where] = (long, [int(s) for s in starts])
    pointer = "Q" if big else "I"
    out = b"II" if order == "<" else b"MM"
    out += struct.pack(order + "HHHQ", 43, 8, 0, head) if big else struct.pack(order + "HI", 42, head)
    out += struct.pack(order + ("Q" if big else "H"), len(tags))
    extra = b""
    for number in sorted(tags):
        kind, numbers = tags[number]
        body = struct.pack(order + f"{len(numbers)}{kind[0]}", *numbers)
        if len(body) > inline:
            extra += body
            body = struct.pack(order + pointer, extra_at + len(extra) - len(body))
        out += struct.pack(order + "HH" + pointer, number, kind[1], len(numbers)) + body.ljust(inline, b"\0")
    return out + struct.pack(order + pointer, 0) + extra + b"".join(blocks)


# Lossless JPEG

_PREDICTORS: list[Callable[[int, int, int], int]] = [
    lambda a, b, c: a, lambda a, b, c: b, lambda a, b, c: c, lambda a, b, c: a + b - c,
    lambda a, b, c: a + (b - c >> 1), lambda a, b, c: b + (a - c >> 1), lambda a, b, c: a + b >> 1,
]  # fmt: skip


def _segment(marker: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def lossless_jpeg(values: Array, bits: int, predictor: int = 1, shift: int = 0, restart_rows: int = 0,
                  one_scan: bool = True) -> bytes:  # fmt: skip
    """``values``: (height, width, components), whose lowest ``shift`` bits are lost.

    Sizes of differences are written as codes of 5 bits.
    """
    height, width, components = values.shape
    stored = values.astype(int) >> shift

    def scan(of: list[int]) -> bytes:
        parts, text = [], ""
        for y in range(height):
            first = y == 0 or (restart_rows > 0 and y % restart_rows == 0)
            if first and y:
                parts.append(text)
                text = ""
            for x in range(width):
                for c in of:
                    if x == 0:
                        expected = 1 << (bits - shift - 1) if first else stored[y - 1, 0, c]
                    elif first:
                        expected = stored[y, x - 1, c]
                    else:
                        a, b, d = (int(v) for v in (stored[y, x - 1, c], stored[y - 1, x, c], stored[y - 1, x - 1, c]))
                        expected = _PREDICTORS[predictor - 1](a, b, d)
                    difference = int(stored[y, x, c] - expected + 32768) % 65536 - 32768
                    size = abs(difference).bit_length()
                    text += format(size, "05b")
                    if 0 < size < 16:
                        text += format(difference if difference > 0 else difference + (1 << size) - 1, f"0{size}b")
        out = b""
        for i, bit_text in enumerate([*parts, text]):
            bit_text += "1" * (-len(bit_text) % 8)
            data = bytes(int(bit_text[k : k + 8], 2) for k in range(0, len(bit_text), 8)).replace(b"\xff", b"\xff\0")
            out += (struct.pack(">BB", 0xFF, 0xD0 + (i - 1) % 8) if i else b"") + data
        head = bytes([len(of)]) + b"".join(bytes([c + 1, 0]) for c in of) + bytes([predictor, 0, shift])
        return _segment(0xDA, head) + out

    frame = struct.pack(">BHHB", bits, height, width, components)
    frame += b"".join(bytes([c + 1, 0x11, 0]) for c in range(components))
    counts = [0] * 16
    counts[4] = 17
    tables = bytes([0, *counts, *range(17)])
    restart = _segment(0xDD, struct.pack(">H", restart_rows * width)) if restart_rows else b""
    scans = [list(range(components))] if one_scan else [[c] for c in range(components)]
    head = b"\xff\xd8" + _segment(0xC3, frame) + _segment(0xC4, tables) + restart
    return head + b"".join(map(scan, scans)) + b"\xff\xd9"


def saved(picture: Any, format: str, **options: Any) -> bytes:
    """A Pillow picture as a file."""
    file = io.BytesIO()
    picture.save(file, format, **options)
    return file.getvalue()
