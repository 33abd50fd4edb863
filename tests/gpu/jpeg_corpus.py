"""The files that tests/native/jpeg_corpus.cpp makes, and broken ones made of them."""

from __future__ import annotations

import struct
import subprocess
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.decode.pictures import Array
from tests.programs import all_levels

HEAD = struct.Struct("<7I")
MARKERS = (0x00, 0xFF, 0xC0, 0xC4, 0xD0, 0xD1, 0xD4, 0xD7, 0xD8, 0xD9, 0xDA, 0xDB, 0xDD)  # behind 0xFF


@dataclass(frozen=True)
class Sample:
    """A sound file, and what libjpeg makes of it."""

    name: str  # "17: 120x93, quality 84, 2x2 over 1x1, restart 0"
    file: bytes
    shape: tuple[int, int]  # height, width
    rgb: int  # CRC-32 of the pixels
    repeated: int  # with chroma repeated, not interpolated
    gray: int

    @property
    def segments(self) -> list[bytes]:
        """The header, cut before each marker, SOI first, the scan's own header last."""
        parts, at = [self.file[:2]], 2
        while parts[-1][1] != 0xDA:
            end = at + 2 + int.from_bytes(self.file[at + 2 : at + 4], "big")
            parts.append(self.file[at:end])
            at = end
        return parts

    @property
    def scan(self) -> int:
        """Where the entropy-coded data begins."""
        return sum(map(len, self.segments))

    def is_for_kernels(self) -> bool:
        """Whether kernels decode it: a baseline or progressive file whose chroma is 1, 2 or 4 times as coarse."""
        frame = next((part for part in self.segments if part[1] in (0xC0, 0xC1, 0xC2)), None)
        if frame is None:
            return False
        factors = [divmod(byte, 16) for byte in frame[11::3]]
        if len(factors) == 1:
            return True
        largest = [max(f[axis] for f in factors) for axis in (0, 1)]
        return all(largest[axis] // f[axis] in (1, 2, 4) for f in factors for axis in (0, 1))

    def is_for_index(self) -> bool:
        return self.is_for_kernels() and not any(part[1] == 0xC2 for part in self.segments)


def checksum(pixels: Array) -> int:
    return zlib.crc32(pixels.tobytes())


def make_corpus(path: Path, pictures: int, seed: int) -> list[Sample]:
    """By the program that ./dev test has built; ``path``: of the file that it writes."""
    words = [str(all_levels("jpeg_corpus")[0]), "--output", str(path), "--pictures", str(pictures), "--seed", str(seed)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    data, at, samples = path.read_bytes(), 0, []
    while at < len(data):
        of_name, of_file, width, height, *checksums = HEAD.unpack_from(data, at)
        name = at + HEAD.size
        file = name + of_name
        at = file + of_file
        samples.append(Sample(data[name:file].decode(), data[file:at], (height, width), *checksums))
    assert len(samples) == pictures
    return samples


class Mutator:
    """Breaks files, each time in other ways: mostly their scans, for headers are soon found out."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def below(self, n: int) -> int:
        return int(self._random.integers(0, max(n, 1)))

    def mutate(self, sample: Sample, other: Sample) -> bytes:
        data, scan = bytearray(sample.file), sample.scan
        for _ in range(1 if self.below(2) else 2 + self.below(2)):
            if self.below(5) == 0:
                self._change_header(data, scan)
            else:
                self._change_scan(data, scan, other.file[other.scan :])
        return bytes(data)

    def _change_header(self, data: bytearray, scan: int) -> None:
        at = 2 + self.below(min(scan, len(data)) - 2)
        kind = self.below(4)
        if kind == 0:
            data[at] ^= 1 << self.below(8)
        elif kind == 1:
            data[at] = (0, 1, 0x11, 0x22, 0x7F, 0x80, 0xFF)[self.below(7)]
        elif kind == 2:
            self._change_field(data, scan)
        elif self.below(2):
            del data[at : at + 1 + self.below(20)]
        else:
            data[at:at] = self._random.bytes(1 + self.below(20))

    def _change_field(self, data: bytearray, scan: int) -> None:
        """One that says how to read the scan: size, sampling, table numbers, codes' lengths, restart interval."""
        marker, first, count = ((0xC0, 5, 4), (0xC0, 10, 9), (0xC4, 5, 16), (0xDD, 4, 2), (0xDA, 5, 6))[self.below(5)]
        at = data.find(bytes([0xFF, marker]), 2, scan)
        at += first + self.below(count)
        if first <= at < len(data):
            value = self.below(256) if self.below(2) else data[at] + (-1, 1)[self.below(2)]
            data[at] = value & 0xFF

    def _change_scan(self, data: bytearray, scan: int, other: bytes) -> None:
        if len(data) <= scan:
            return
        at = scan + self.below(len(data) - scan)
        size = 1 + self.below(min(len(data) - at, 30 if self.below(2) else 3000))
        kind = self.below(14)
        if kind < 3:
            data[at] ^= 1 << self.below(8)
        elif kind == 3:
            for _ in range(1 + self.below(20)):
                data[scan + self.below(len(data) - scan)] ^= 1 << self.below(8)
        elif kind == 4:
            data[at] = (0x00, 0xFF, 0x7F, 0xFE, 0xD9)[self.below(5)]
        elif kind == 5:
            data[at : at + 2 * self.below(2)] = bytes([0xFF, MARKERS[self.below(len(MARKERS))]])
        elif kind == 6:
            data[at:at] = self._random.bytes(size)
        elif kind == 7:
            del data[at : at + size]
        elif kind == 8:
            data[at:at] = data[at : at + size]
        elif kind == 9:
            data[at : at + size] = bytes([(0x00, 0xFF, 0xAA)[self.below(3)]]) * size
        elif kind == 10:
            to = scan + self.below(len(data) - scan)
            data[at : at + size], data[to : to + size] = data[to : to + size], data[at : at + size]
        elif kind == 11:
            data[at:] = other[min(at - scan, len(other)) :]
        elif kind == 12:
            self._change_restart(data, at)
        elif self.below(3) == 0:
            data[at:] = (b"", b"\xff\xd9", b"\xff")[self.below(3)]

    def _change_restart(self, data: bytearray, at: int) -> None:
        """The next marker: another number, none, two of them, bytes before it or behind it."""
        while at + 2 < len(data) and not (data[at] == 0xFF and 0xD0 <= data[at + 1] <= 0xD7):
            at += 1
        marker = bytes(data[at : at + 2])
        other = bytes([0xFF, 0xD0 + self.below(8)])
        kinds = (other, b"", marker + marker, self._random.bytes(2) + marker, marker + b"\x7f")
        data[at : at + 2] = kinds[self.below(len(kinds))]
