"""PNG files, and the ``data:`` addresses by which a page carries them: with the standard library alone."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # by the number of channels: gray, with alpha, RGB, with alpha
_UP = 2  # the filter that keeps the difference to the row above: it suits photographs and drawings


def png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """The file of a picture, HW or HWC with up to four channels.

    Example:
        >>> png(np.zeros((2, 3, 3), np.uint8))[:8]
        b'\\x89PNG\\r\\n\\x1a\\n'
    """
    height, width = pixels.shape[:2]
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    rows = pixels.reshape(height, width * channels)
    above = np.concatenate([np.zeros((1, width * channels), np.uint8), rows[:-1]])
    filtered = np.empty((height, width * channels + 1), np.uint8)
    filtered[:, 0] = _UP
    filtered[:, 1:] = rows - above
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOR_TYPES[channels], 0, 0, 0)
    body = zlib.compress(filtered.tobytes(), 6)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def address(kind: str, data: Any) -> str:
    """The bytes of a file of this MIME type, as an address."""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
