"""Headers that go on and on, point at themselves, or claim more than can be there: gone through once, in little memory.

Time is the processor's, which a busy machine does not change, and the limit is far above what is needed: what it finds
is work that grows with the square of a file.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import DecodeError
from tests.decode.pictures import Array, chunk, decode, exif, jpeg, jpeg_parts, pillow, png, smooth
from tests.decode.test_formats import FILES

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 30
RANDOM = np.random.default_rng(1)
PHOTOGRAPH = jpeg(smooth(RANDOM, 160, 120), quality=90)
PROGRESSIVE = jpeg(smooth(RANDOM, 160, 120), quality=90, progressive=True)
RGB = smooth(RANDOM, 31, 20)
PNG = png(RGB, 2, 8)
DATA = zlib.compress(b"".join(b"\0" + row.tobytes() for row in RGB))
TIFF = FILES["tiff"][0]
HUFFMAN = next(part[4:] for part in jpeg_parts(PHOTOGRAPH) if part[1] == 0xC4)


@pytest.fixture(autouse=True)
def limited_time() -> Iterator[None]:
    began = time.process_time()
    yield
    assert time.process_time() - began < SECONDS


def with_segments(marker: int, body: bytes, count: int) -> bytes:
    """The photograph with a segment so many times in front of its header."""
    segment = struct.pack(">BBH", 0xFF, marker, 2 + len(body)) + body
    return PHOTOGRAPH[:2] + segment * count + PHOTOGRAPH[2:]


def with_chunks(chunks: bytes) -> bytes:
    """The PNG with more chunks in front of its data."""
    return PNG[:33] + chunks + PNG[33:]


LONG = {
    "jpeg, application data": with_segments(0xE1, b"", 300_000),
    "jpeg, EXIF": with_segments(0xE1, b"Exif\0\0" + exif(1), 100_000),
    "jpeg, comments": with_segments(0xFE, b"text", 300_000),
    "jpeg, restart intervals": with_segments(0xDD, b"\0\0", 300_000),
    "jpeg, Huffman tables": with_segments(0xC4, HUFFMAN, 20_000),
    "jpeg, fill bytes": PHOTOGRAPH[:2] + b"\xff" * 5_000_000 + PHOTOGRAPH[2:],
    "png, texts": with_chunks(chunk(b"tEXt", b"Title\0any") * 50_000),
    "png, packed texts": with_chunks(chunk(b"zTXt", b"Title\0\0" + zlib.compress(bytes(20_000_000))) * 200),
    "png, unknown chunks": with_chunks(chunk(b"anYy") * 300_000),
    "png, no data": with_chunks(chunk(b"IDAT") * 100_000),
    "png, a byte each": PNG[:33] + b"".join(chunk(b"IDAT", bytes([b])) for b in DATA) + chunk(b"IEND"),
}  # fmt: skip


@pytest.mark.parametrize("name", LONG)
def test_a_long_header_is_gone_through(tmp_path: Path, name: str) -> None:
    """The picture behind it is decoded."""
    expected = pillow(PHOTOGRAPH) if name.startswith("jpeg") else RGB
    np.testing.assert_array_equal(decode(tmp_path, [LONG[name]])[0], expected)


LAST_SCAN = PROGRESSIVE.rindex(b"\xff\xda")
LAYERS = FILES["j2k"][0].index(b"\xff\x52") + 6


def large_jpeg(scans: int) -> bytes:
    """Progressive, of 10000 x 7000 pixels by its header, whose scans are all but empty."""
    size, large = struct.pack(">HH", 120, 160), struct.pack(">HH", 7000, 10_000)
    assert size in PROGRESSIVE
    scan = PROGRESSIVE[LAST_SCAN : LAST_SCAN + 11]
    return PROGRESSIVE[:LAST_SCAN].replace(size, large, 1) + scan * scans + b"\xff\xd9"


ENDLESS = {
    "jp2, boxes in boxes": FILES["jp2"][0][:12]
    + b"".join(struct.pack(">I", 8 * n) + b"jp2h" for n in range(100_000, 0, -1)),
    "jp2, empty boxes": FILES["jp2"][0][:12] + (struct.pack(">I", 8) + b"free") * 300_000,
    "jpeg 2000, layers": FILES["j2k"][0][:LAYERS] + b"\xff\xff" + FILES["j2k"][0][LAYERS + 2 :],
    "jpeg, segments": b"\xff\xd8" + b"\xff\xe1\0\x02" * 500_000,
    "jpeg, starts": b"\xff\xd8" * 500_000,
    "jpeg, restarts": b"\xff\xd8" + b"\xff\xd0" * 500_000,
    "jpeg, scans": PROGRESSIVE[:LAST_SCAN] + PROGRESSIVE[LAST_SCAN:-2] * 1000 + b"\xff\xd9",
    "jpeg, scans of a large picture": large_jpeg(1000),
    "webp, chunks": b"RIFF\0\0\0\0WEBPVP8X" + struct.pack("<I", 10) + bytes(10) + b"EXIF\0\0\0\0" * 100_000,
    "png, chunks": PNG[:33] + chunk(b"IDAT") * 300_000,
    "pnm, comments": b"P5\n" + b"#\n" * 500_000,
    "pnm, digits": b"P5\n" + b"1" * 1_000_000,
    "tiff, tags": b"II*\0\x08\0\0\0\xff\xff" + struct.pack("<HHII", 256, 3, 1, 8) * 65_535 + bytes(4),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_header_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DecodeError):
        decode(tmp_path, [ENDLESS[name]])


@pytest.mark.parametrize("tags", [(), (330, 34665)], ids=["next", "within"])
def test_directories_that_point_at_themselves(tmp_path: Path, tags: tuple[int, ...]) -> None:
    """The next one, or those of further pictures and of EXIF: only the first is looked at."""
    at = len(TIFF)
    count = TIFF[8]
    entries = [TIFF[10 + 12 * i : 22 + 12 * i] for i in range(count)]
    entries += [struct.pack("<HHII", tag, 4, 1, at) for tag in tags]
    entries.sort(key=lambda entry: int.from_bytes(entry[:2], "little"))
    directory = struct.pack("<H", count + len(tags)) + b"".join(entries) + struct.pack("<I", at)
    file = TIFF[:4] + struct.pack("<I", at) + TIFF[8:] + directory
    np.testing.assert_array_equal(decode(tmp_path, [file])[0], FILES["tiff"][1])


def large_png() -> bytes:
    """Interlaced, of 20000 x 20000 pixels by its header: all of it would have to be in memory."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 20_000, 20_000, 8, 2, 0, 0, 1))
    return PNG[:8] + header + PNG[33:]


def large_tiff(compression: int) -> bytes:
    """Of one strip, of 8000 x 65500 pixels by its header."""
    file = bytearray(TIFF)
    for i in range(TIFF[8]):
        entry = 10 + 12 * i
        (tag,) = struct.unpack_from("<H", file, entry)
        value = {256: 8000, 257: 65500, 278: 65500, 259: compression}.get(tag)
        if value:
            struct.pack_into("<H", file, entry + 8, value)
    return bytes(file)


def large_lossless() -> bytes:
    """Lossless JPEG of 8000 x 65500 pixels by its header."""
    file, size = FILES["lossless jpeg 16"][0], struct.pack(">HH", 23, 37)
    assert size in file
    return file.replace(size, struct.pack(">HH", 65_500, 8000), 1)


CLAIMS = {
    "lossless jpeg": (large_lossless(), 8000, 65_500),
    "png": (large_png(), 20_000, 20_000),
    "tiff": (large_tiff(1), 8000, 65_500),
    "tiff, packed bits": (large_tiff(32773), 8000, 65_500),
    "tiff, deflate": (large_tiff(8), 8000, 65_500),
    "tiff, LZW": (large_tiff(5), 8000, 65_500),
}
MEASURED = """
import resource, sys
from pathlib import Path
from penstock.errors import DecodeError
from tests.decode.pictures import decode_window
folder, sound, file, x, y = Path(sys.argv[1]), *map(Path, sys.argv[2:4]), *map(int, sys.argv[4:])
decode_window(folder, [sound.read_bytes()], [(0, 0, 1, 1)])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    decode_window(folder, [file.read_bytes()], [(x - 1, y - 1, x, y)])
except DecodeError:
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("name", CLAIMS)
def test_what_cannot_be_there_takes_no_memory(tmp_path: Path, name: str) -> None:
    """Small files that claim more than a gigabyte, which is within the limit on pixels."""
    file, width, height = CLAIMS[name]
    sound, broken = tmp_path / "sound", tmp_path / "broken"
    sound.write_bytes({"p": PNG, "t": TIFF, "l": FILES["lossless jpeg 16"][0]}[name[0]])
    broken.write_bytes(file)
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, tmp_path, sound, broken, str(width), str(height)],
        env=dict(os.environ), capture_output=True, text=True, timeout=300, cwd=ROOT,
    )  # fmt: skip
    assert done.stdout, done.stderr
    assert int(done.stdout) < 100


def decode_file(path: Path) -> Array:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.decoders.image(fn.readers.file(files=[str(path)])[0]))
    (out,) = pipe.run()
    return np.array(out.at(0))


def test_text_with_a_pictures_name(tmp_path: Path) -> None:
    """What a file is its bytes say; the error names the file and how it begins."""
    (tmp_path / "photograph.jpg").write_text("This is a text.\n" * 100)
    with pytest.raises(DecodeError, match=r"not a .*JPEG.* picture .starts with 'This is '") as caught:
        decode_file(tmp_path / "photograph.jpg")
    assert caught.value.file == str(tmp_path / "photograph.jpg")
    (tmp_path / "picture.txt").write_bytes(PNG)
    np.testing.assert_array_equal(decode_file(tmp_path / "picture.txt"), RGB)
