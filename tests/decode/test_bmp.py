"""BMP with run lengths that skip pixels: those are 0, wherever they are, and take no memory."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from penstock import fn
from tests.decode.pictures import decode, write
from tests.faults.processes import runs, script

PALETTE = np.arange(3 * 256, dtype=np.uint16).reshape(256, 3).astype(np.uint8)[:, ::-1] ^ 0x5A
LINE, END, STEP = b"\0\0", b"\0\1", b"\0\2"


def bmp(width: int, height: int, pixels: bytes, bits: int = 8) -> bytes:
    palette = b"".join(bytes([b, g, r, 0]) for r, g, b in PALETTE[: 1 << bits].tolist())
    start = 54 + len(palette)
    head = b"BM" + struct.pack("<IHHI", start + len(pixels), 0, 0, start)
    compression = 1 if bits == 8 else 2
    head += struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, len(pixels), 0, 0, 0, 0)
    return head + palette + pixels


def expanded(width: int, height: int, pixels: bytes, bits: int) -> np.ndarray:
    """A plain decoder's picture."""
    indices, x, line, at = np.zeros((height, width), np.uint8), 0, 0, 0
    while line < height:
        count, value = pixels[at], pixels[at + 1]
        at += 2
        run: list[int] = []
        if count:
            run = [value if bits == 8 else (value >> 4, value & 15)[i % 2] for i in range(count)]
        elif value == 0:
            x, line = 0, line + 1
        elif value == 1:
            break
        elif value == 2:
            x, line, at = x + pixels[at], line + pixels[at + 1], at + 2
        else:
            size = value if bits == 8 else (value + 1) // 2
            stored = pixels[at : at + size]
            run = [stored[i] if bits == 8 else (stored[i // 2] >> 4, stored[i // 2] & 15)[i % 2] for i in range(value)]
            at += size + size % 2
        for index in run:
            if x < width:
                indices[line, x] = index
            x += 1
    return PALETTE[indices[::-1]]


def random_pixels(random: np.random.Generator, width: int, height: int, bits: int) -> bytes:
    """Runs, steps and pixels as such; some reach beyond the line's end, or skip lines."""
    parts, line = [], 0
    while line < height:
        kind = int(random.integers(6))
        if kind == 0:
            parts.append(LINE)
            line += 1
        elif kind == 1:
            right, on = int(random.integers(width)), int(random.integers(4))
            parts.append(STEP + bytes([right, on]))
            line += on
        elif kind == 2:
            count = int(random.integers(3, 20))
            size = count if bits == 8 else (count + 1) // 2
            parts.append(bytes([0, count]) + random.bytes(size + size % 2))
        else:
            parts.append(bytes([int(random.integers(1, 2 * width // 3)), int(random.integers(256))]))
    return b"".join(parts) + (END if random.integers(2) else b"")


@pytest.mark.parametrize("bits", [8, 4])
def test_runs_and_steps_of_all_kinds(tmp_path: Path, random: np.random.Generator, bits: int) -> None:
    sizes = [(int(w), int(h)) for w, h in random.integers(5, 40, (40, 2))]
    coded = [random_pixels(random, *size, bits) for size in sizes]
    files = [bmp(*size, pixels, bits) for size, pixels in zip(sizes, coded, strict=True)]
    expected = [expanded(*size, pixels, bits) for size, pixels in zip(sizes, coded, strict=True)]
    for picture, wanted in zip(decode(tmp_path, files), expected, strict=True):
        np.testing.assert_array_equal(picture, wanted)
    parts = decode(tmp_path, files, fn.decoders.image_slice, start=(2, 1), end=(5, 4), axes=(0, 1))
    for part, whole in zip(parts, expected, strict=True):
        np.testing.assert_array_equal(part, whole[2:5, 1:4])


def test_a_small_file_of_a_large_picture_needs_little_memory(tmp_path: Path) -> None:
    """22,000 x 22,000 pixels, of which one run is there."""
    (name,) = write(tmp_path, [bmp(22_000, 22_000, STEP + b"\xff\xff" + b"\x09\x07" + END)])
    out = runs(
        script(
            """
            import resource, sys
            from penstock import fn, pipeline_def

            @pipeline_def(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
            def pipeline():
                encoded, _ = fn.readers.file(files=sys.argv[1:])
                return fn.decoders.image_slice(encoded, start=(253, 21_742), end=(268, 21_747), axes=(1, 0))

            pipe = pipeline()
            pipe.build()
            with open("/proc/self/statm") as file:
                now = int(file.read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (now + (300 << 20), -1))
            print(pipe.run()[0].at(0)[..., 0].tolist())
            """,
            name,
        ),
        60,
    )
    expected = np.zeros((5, 15), np.uint8)
    expected[2, 2:11] = 7
    assert out == f"{PALETTE[expected][..., 0].tolist()}\n"
