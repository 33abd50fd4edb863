"""Checks that the units which CMake compiles once for all levels see no SIMD, in no header that they include.

Such a header means another thing at each level, and of two meanings of one inline function the linker takes any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIMD = re.compile(r"__(AVX|BMI|F16C|FMA|SSE|ARM_NEON)|immintrin\.h|arm_neon\.h|core/simd\.h|\bPS_ISA\b")


@cache
def _includes(path: Path) -> tuple[Path, ...]:
    names = re.findall(r'^\s*#include "([^"]+)"', path.read_text(), re.MULTILINE)
    found = (folder / name for name in names for folder in (ROOT / "native", ROOT / "penstock"))
    return tuple(file for file in found if file.exists())


def seen_by(unit: Path) -> Iterator[Path]:
    """The unit and all of the project's headers that it includes."""
    waiting, seen = [unit], {unit}
    while waiting:
        path = waiting.pop()
        yield path
        new = [file for file in _includes(path) if file not in seen]
        waiting += new
        seen.update(new)


def common_units() -> list[Path]:
    """What CMakeLists.txt puts into `common_sources`."""
    text = (ROOT / "CMakeLists.txt").read_text()
    (wanted,) = re.findall(r'list\(FILTER common_sources INCLUDE REGEX "(.+)"\)', text)
    (but,) = re.findall(r'list\(FILTER common_sources EXCLUDE REGEX "(.+)"\)', text)
    units = sorted((ROOT / "native").rglob("*.cpp"))
    return [unit for unit in units if re.search(wanted, str(unit)) and not re.search(but, str(unit))]


def mistakes() -> Iterator[str]:
    for unit in common_units():
        for path in seen_by(unit):
            if found := SIMD.search(path.read_text()):
                what = f"{path.relative_to(ROOT)} ({found[0]})"
                yield f"{unit.relative_to(ROOT)} is compiled once for all levels, but sees SIMD in {what}"


def main() -> int:
    found = sorted(set(mistakes()))
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
