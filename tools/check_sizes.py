"""Prints the size of the tree, and fails where it outgrows its budget: files short enough to read in one go.

Lines of C++ and CMake are measured, too; ruff measures those of Python.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AREAS = {
    "library, Python": ("penstock", ("*.py",)),
    "library, C++": ("native", ("*.h", "*.cpp")),
    "library, device": ("penstock/device", ("*.h",)),
    "tests": ("tests", ("*.py", "*.h", "*.cpp")),
    "bench": ("bench", ("*.py", "*.h", "*.cpp")),
    "examples": ("examples", ("*.py",)),
    "tools": ("tools", ("*.py",)),
}
MEDIAN, LONG, MOST_LONG = 150, 500, 0
WIDE, MOST_WIDE = 120, 0  # columns


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def wide_lines() -> Iterator[str]:
    """Those of C++ and of CMake that are wider than they may be."""
    places = ("native", "penstock/device", "penstock/include", "tests", "bench", "cmake")
    files = [path for place in places for path in sorted((ROOT / place).rglob("*")) if path.is_file()]
    for path in [*files, ROOT / "CMakeLists.txt"]:
        if path.suffix in (".c", ".cmake", ".cpp", ".h", ".hpp") or path.name == "CMakeLists.txt":
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if len(line) > WIDE:
                    yield f"{path.relative_to(ROOT)}:{number}: {len(line)} columns"


def main() -> int:
    sizes: dict[Path, int] = {}
    print(f"{'':18}{'files':>7}{'lines':>8}{'median':>8}{'longest':>9}")
    for area, (folder, patterns) in AREAS.items():
        found = {path: lines(path) for pattern in patterns for path in (ROOT / folder).rglob(pattern)}
        found = {path: size for path, size in found.items() if size and ".photos" not in path.parts}
        if found:
            values = found.values()
            print(f"{area:18}{len(found):7}{sum(values):8}{statistics.median(values):8.0f}{max(values):9}")
        sizes |= found
    median = statistics.median(sizes.values())
    print(f"{'all':18}{len(sizes):7}{sum(sizes.values()):8}{median:8.0f}{max(sizes.values()):9}")
    long = {path: size for path, size in sizes.items() if size > LONG}
    for path, size in long.items():
        print(f"long: {path.relative_to(ROOT)} has {size} lines")
    wide = list(wide_lines())
    if len(wide) > MOST_WIDE:
        print("\n".join([*wide, f"over the budget: at most {MOST_WIDE} lines over {WIDE} columns"]), file=sys.stderr)
        return 1
    if median > MEDIAN or len(long) > MOST_LONG:
        budget = f"a median of {MEDIAN} lines, and at most {MOST_LONG} files over {LONG}"
        print(f"over the budget: {budget}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
