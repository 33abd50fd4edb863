"""Files that are not what most are, among those that our kernels decode: who takes each, and that what comes of it,
picture or error, is what the CPU makes of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import fn, pipeline_def
from penstock.errors import DecodeError
from tests.decode.pictures import Array, jpeg, jpeg_parts, png, smooth, write
from tests.decode.test_formats import FILES as FORMATS

pytestmark = pytest.mark.usefixtures("software_gpu")
RANDOM = np.random.default_rng(16)
PICTURE = smooth(RANDOM, 90, 71)
FILE = jpeg(PICTURE, quality=90, subsampling="4:2:0")
RESTARTS = jpeg(PICTURE, quality=90, restart_marker_blocks=4)
TURNED = jpeg(PICTURE, orientation=6)
PROGRESSIVE = jpeg(PICTURE, progressive=True)
LAST_SCAN = PROGRESSIVE.rindex(b"\xff\xda")
EOI = b"\xff\xd9"
GOOD = [jpeg(smooth(RANDOM, 40, 50)), jpeg(smooth(RANDOM, 64, 33), subsampling="4:4:4")]


def changed(file: bytes, marker: int, at: int, to: bytes) -> bytes:
    """Other bytes in the segment of the header that has this marker; ``at``: counted from the marker."""
    start = file.index(bytes([0xFF, marker])) + at
    return file[:start] + to + file[start + len(to) :]


def without(file: bytes, *markers: int) -> bytes:
    return b"".join(part for part in jpeg_parts(file) if part[1] not in markers)


def with_segment(file: bytes, marker: int, body: bytes) -> bytes:
    """With one more segment, before the scan's."""
    *head, scan = jpeg_parts(file)
    return b"".join([*head, bytes([0xFF, marker]), (len(body) + 2).to_bytes(2, "big"), body, scan])


def several_scans() -> bytes:
    """A scan for each component, baseline; one is the gray picture's."""
    grays = [jpeg_parts(jpeg(PICTURE[..., k : k + 1], "L", quality=90)) for k in range(3)]
    frame = b"\xff\xc0\0\x11\x08" + bytes([0, 71, 0, 90]) + b"\x03\x01\x11\0\x02\x11\0\x03\x11\0"
    head = [frame if part[1] == 0xC0 else part for part in grays[0][:-1]]
    scans = [b"\xff\xda\0\x08\x01" + bytes([k + 1]) + parts[-1][6:-2] for k, parts in enumerate(grays)]
    return b"".join([*head, *scans, EOI])


def five_tables() -> bytes:
    """The third component's DC values have a table of their own: the second one's with a code that is not used."""
    chroma = next(part for part in jpeg_parts(FILE) if part[1] == 0xC4 and part[4] == 1)
    counts, symbols = bytearray(chroma[5:21]), chroma[21 : 21 + sum(chroma[5:21])]
    assert counts[11] == 0
    counts[11] = 1
    file = with_segment(FILE, 0xC4, b"\x02" + counts + symbols + b"\x0c")
    return changed(file, 0xDA, 10, b"\x21")


def wide_quantisation() -> bytes:
    """Quantisation by numbers of 16 bits, which extended files may have."""
    parts = []
    for part in jpeg_parts(FILE):
        if part[1] == 0xDB:
            for at in range(4, len(part), 65):
                body = bytes([part[at] | 0x10]) + b"".join(bytes([0, q]) for q in part[at + 1 : at + 65])
                parts.append(b"\xff\xdb" + (len(body) + 2).to_bytes(2, "big") + body)
        else:
            parts.append(part)
    return changed(b"".join(parts), 0xC0, 1, b"\xc1")


def with_symbol(old: int, new: int) -> bytes:
    """Another symbol in the tables for AC values."""
    parts = []
    for part in jpeg_parts(FILE):
        if part[1] == 0xC4 and part[4] >> 4:
            at = part.index(bytes([old]), 21)
            part = part[:at] + bytes([new]) + part[at + 1 :]
        parts.append(part)
    return b"".join(parts)


MIDDLE = FILE.index(b"\xff\xda") + (len(FILE) - FILE.index(b"\xff\xda")) // 2
MARKER = RESTARTS.index(b"\xff\xd1")
# Who takes it: "cuda", "cpu" by its header, "refused" when it is decoded, "" where its header is an error.
KINDS: dict[str, tuple[bytes, str]] = {
    "no end": (FILE[:-2], "cuda"),
    "more behind its end": (FILE + bytes(range(256)), "cuda"),
    "two pictures": (FILE + RESTARTS, "cuda"),
    "extended": (changed(FILE, 0xC0, 1, b"\xc1"), "cuda"),
    "16-bit quantisation": (wide_quantisation(), "cuda"),
    "fill bytes before markers": (RESTARTS[:MARKER] + b"\xff\xff" + RESTARTS[MARKER:], "cuda"),
    "an unknown application's segment": (with_segment(FILE, 0xE7, bytes(1000)), "cuda"),
    "a comment with an end in it": (with_segment(FILE, 0xFE, EOI * 9), "cuda"),
    "progressive": (PROGRESSIVE, "cuda"),
    "progressive, a scan cut off": (PROGRESSIVE[: LAST_SCAN + 50] + EOI, "refused"),
    "progressive, more behind its end": (PROGRESSIVE + bytes(range(256)), "cuda"),
    "progressive, a long scan": (
        jpeg(RANDOM.integers(0, 256, (1400, 1500, 3), np.uint8), progressive=True, quality=95),
        "cpu",
    ),
    "progressive, a scan missing": (PROGRESSIVE[:LAST_SCAN] + EOI, "cpu"),
    "progressive, a scan twice": (PROGRESSIVE[:-2] + PROGRESSIVE[LAST_SCAN:], "cpu"),
    "progressive, cut off": (jpeg(PICTURE, progressive=True)[:-300], "cpu"),
    "CMYK": (jpeg(smooth(RANDOM, 50, 40, 4), "CMYK"), "cpu"),
    "CMYK, cut off": (jpeg(smooth(RANDOM, 50, 40, 4), "CMYK")[:-300], "cpu"),
    "12 bits": (changed(changed(FILE, 0xC0, 1, b"\xc1"), 0xC1, 4, b"\x0c"), "cpu"),
    "arithmetic": (changed(FILE, 0xC0, 1, b"\xc9"), "cpu"),
    "lossless": (FORMATS["lossless jpeg 16"][0], "cpu"),
    "hierarchical": (changed(FILE, 0xC0, 1, b"\xc5"), "cpu"),
    "several scans": (several_scans(), "cpu"),
    "five tables": (five_tables(), "cpu"),
    "a code for values of 11 bits": (with_symbol(0xFA, 0xFB), "cuda"),  # no value has it
    "values of 11 bits": (with_symbol(0x01, 0x0B), "refused"),
    "a third of the chroma": (changed(FILE, 0xC0, 11, b"\x31"), "cpu"),
    "more blocks than an MCU may have": (changed(FILE, 0xC0, 11, b"\x44"), "cpu"),
    "no Huffman tables": (without(FILE, 0xC4), "cpu"),
    "no quantisation tables": (without(FILE, 0xDB), "cpu"),
    "quantisation by nothing": (changed(FILE, 0xDB, 5, bytes(64)), "cuda"),
    "components out of order": (changed(FILE, 0xDA, 5, b"\x02\0\x01\x11"), "cpu"),
    "components that there are not": (changed(FILE, 0xDA, 5, b"\x09"), "cpu"),
    "two frames": (with_segment(FILE, 0xC0, FILE[FILE.index(b"\xff\xc0") + 4 :][:15]), "cpu"),
    "too wide": (changed(FILE, 0xC0, 7, b"\xff\xff"), "cpu"),
    "cut off": (FILE[:MIDDLE], "refused"),
    "cut off, with an end": (FILE[:MIDDLE] + EOI, "refused"),
    "cut off, turned": (TURNED[:-500], "refused"),
    "cut off behind FF": (FILE[:MIDDLE] + b"\xff", "refused"),
    "no scan": (FILE[: FILE.index(b"\xff\xda") + 14], "cpu"),
    "no scan, but an end": (FILE[: FILE.index(b"\xff\xda") + 14] + EOI, "cpu"),
    "a marker in the scan": (FILE[:MIDDLE] + b"\xff\xc4\0\x04\0\0" + FILE[MIDDLE:], "refused"),
    "zeros in the scan": (FILE[:MIDDLE] + bytes(60) + FILE[MIDDLE + 60 :], "cuda"),
    "restarts that the header does not tell of": (without(RESTARTS, 0xDD), "refused"),
    "restarts that there are not": (with_segment(FILE, 0xDD, b"\0\x02"), "refused"),
    "restarts out of order": (RESTARTS[: MARKER + 1] + b"\xd5" + RESTARTS[MARKER + 2 :], "refused"),
    "a restart lost": (RESTARTS[:MARKER] + RESTARTS[MARKER + 2 :], "refused"),
    "more restarts than needed": (RESTARTS[:MARKER] + b"\xff\xd1\xff\xd2" + RESTARTS[MARKER + 2 :], "refused"),
    "the height behind the scan": (changed(FILE, 0xC0, 5, b"\0\0"), ""),
    "no width": (changed(FILE, 0xC0, 7, b"\0\0"), ""),
    "only a header's beginning": (FILE[:100], ""),
    "only a marker": (b"\xff\xd8\xff", ""),
    "nothing": (b"", ""),
    "PNG": (png(RANDOM.integers(0, 256, (71, 80, 3)), 2, 8), "cpu"),
    "text": (b"This is no picture.", ""),
}


def outcome(names: list[str], device: str) -> tuple[list[Array] | tuple[int, str | None, str], dict[str, int]]:
    """The batch's pictures, or which sample is wrong and why; and who decoded how many."""

    @pipeline_def(batch_size=3, num_threads=2, device_id=0 if device == "mixed" else None, prefetch_queue_depth=1)
    def pipeline() -> Any:
        encoded, _ = fn.readers.file(files=names)
        more: dict[str, Any] = dict(jpeg_fancy_upsampling=True, jpeg_engine="cuda") if device == "mixed" else {}
        return fn.decoders.image(encoded, device=device, **more)

    pipe = pipeline(exec_async=False, exec_pipelined=False)
    found: list[Array] | tuple[int, str | None, str]
    with penstock.profile(pipe) as p:
        try:
            (out,) = pipe.run()
            on_cpu = out.as_cpu() if device == "mixed" else out
            found = [np.array(on_cpu.at(i)) for i in range(3)]
        except DecodeError as e:
            found = int(e.sample or 0), e.file, str(e).splitlines()[0]
    counts: dict[str, int] = {}
    for decoded in p.figures.decoded.values():
        counts = {**decoded.files, "refused": decoded.refused}
    pipe.close()
    return found, counts


@pytest.mark.parametrize("kind", KINDS)
def test_each_among_others(tmp_path: Path, kind: str, software_gpu: dict[str, str]) -> None:
    file, by = KINDS[kind]
    names = write(tmp_path, [GOOD[0], file, GOOD[1]])
    expected, _ = outcome(names, "cpu")
    ours, counts = outcome(names, "mixed")
    if isinstance(expected, tuple) or isinstance(ours, tuple):
        assert ours == expected
    else:
        for a, b in zip(ours, expected, strict=True):
            np.testing.assert_array_equal(a, b)
    if kind == "lossless" and not software_gpu:  # nvImageCodec's, or the CPU's if that knows no such file
        assert counts["cuda"] == 2
        return
    assert counts["refused"] == (by == "refused")
    if by == "" or (by == "cpu" and isinstance(ours, tuple)):  # what the host finds out stops the batch
        assert isinstance(ours, tuple)
    else:
        assert counts["cuda"] == 2 + (by == "cuda")
        assert counts["cpu"] == (by != "cuda")
