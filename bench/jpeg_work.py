"""What there is to do in a JPEG file, counted in plain Python: blocks, pixels, symbols. For the floors of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

Codes = dict[tuple[int, int], int]  # by length and code: the symbol


@dataclass(frozen=True)
class Work:
    """On average, of each file."""

    bytes: float
    blocks: float  # of 8x8 coefficients
    pixels: float
    symbols: float  # Huffman codes


@dataclass(frozen=True)
class _Header:
    width: int
    height: int
    factors: list[tuple[int, int]]  # of each component, across and down
    tables: list[tuple[int, int]]  # of each component in the scan: DC, AC
    codes: dict[tuple[int, int], Codes]  # by class (0: DC, 1: AC) and number
    scan: int  # where it begins

    @property
    def blocks(self) -> int:
        across, down = (8 * max(f[axis] for f in self.factors) for axis in (0, 1))
        return -(-self.width // across) * -(-self.height // down) * sum(h * v for h, v in self.factors)


def _header(file: bytes) -> _Header:
    """Of a baseline file of one scan."""
    at, codes, factors, size = 2, {}, [], (0, 0)
    while True:
        marker, length = file[at + 1], int.from_bytes(file[at + 2 : at + 4], "big")
        body = file[at + 4 : at + 2 + length]
        at += 2 + length
        if marker == 0xC0:
            size = (int.from_bytes(body[3:5], "big"), int.from_bytes(body[1:3], "big"))
            factors = [divmod(byte, 16) for byte in body[7::3]]
        elif marker == 0xC4:
            while body:
                counts, code, symbols = body[1:17], 0, iter(body[17:])
                table: Codes = {}
                for bits, count in enumerate(counts, 1):
                    for _ in range(count):
                        table[bits, code] = next(symbols)
                        code += 1
                    code <<= 1
                codes[divmod(body[0], 16)] = table
                body = body[17 + sum(counts) :]
        elif marker == 0xDA:
            return _Header(*size, factors, [divmod(byte, 16) for byte in body[2:-3:2]], codes, at)


def count_symbols(file: bytes, most: int | None = None) -> tuple[int, int]:
    """Symbols, and the bytes of the scan that they lie in: of all the file, or of about the first ``most`` bytes."""
    header = _header(file)
    scan = file[header.scan : -2].replace(b"\xff\x00", b"\xff")
    bits = "".join(f"{byte:08b}" for byte in scan[:most])
    mcu = [t for (h, v), t in zip(header.factors, header.tables, strict=True) for _ in range(h * v)]
    as_text = {
        key: {f"{code:0{length}b}": symbol for (length, code), symbol in table.items()}
        for key, table in header.codes.items()
    }
    count = at = block = 0
    end = len(bits) - (64 * 32 if most and most < len(scan) else 0)  # a block that is begun is there as a whole
    while block < header.blocks and at < end:
        index = 0
        dc, ac = mcu[block % len(mcu)]
        while index < 64:
            table = as_text[1, ac] if index else as_text[0, dc]
            length = next(n for n in range(1, 17) if bits[at : at + n] in table)
            symbol = table[bits[at : at + length]]
            count += 1
            at += length + symbol % 16
            index += 1 + symbol // 16 if symbol or not index else 64
        block += 1
    return count, -(-at // 8)


def measure(root: Path, samples: int = 3, most: int = 30_000) -> Work:
    """Of a folder's files; symbols by a few of them."""
    names = sorted(root.glob("*/*.jpg"))
    headers = [_header(path.read_bytes()) for path in names]
    size = sum(path.stat().st_size for path in names)
    chosen = names[:: -(-len(names) // samples)]
    symbols, within = map(sum, zip(*(count_symbols(path.read_bytes(), most) for path in chosen), strict=True))
    return Work(
        bytes=size / len(names),
        blocks=sum(h.blocks for h in headers) / len(names),
        pixels=sum(h.width * h.height for h in headers) / len(names),
        symbols=symbols / within * size / len(names),
    )
