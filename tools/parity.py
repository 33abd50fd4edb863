"""Writes docs/operators.md: every operator, and how far its results are from DALI's.

Runs the cases of tests/augment, and the same in DALI, which must be installed; `--check` fails where the table does not
have the operators that there are.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from penstock import _catalog  # noqa: E402
from penstock.op import registry  # noqa: E402

RESULT = ROOT / "docs" / "operators.md"
HEAD = """# Operators

Written by `python tools/parity.py`: results on the CPU beside those of DALI {dali}, over the cases of the tests.
"Off by" is the greatest difference of integers, "share" that of the elements which differ at all, "error" the greatest
relative difference of floats (to the larger of 1 and DALI's value). Operators that draw random numbers agree in shapes,
types and distributions, not in the numbers. Decoders and readers are compared in tests/decode and tests/read, results
on GPUs with those on the CPU by `./dev test gpu`.

| operator | devices | cases | off by | share | error | on purpose unlike DALI |
| --- | --- | ---: | ---: | ---: | ---: | --- |
"""


@dataclass
class Row:
    """What was measured for one operator."""

    cases: int = 0
    off_by: int | None = None
    share: float = 0.0
    error: float | None = None
    differs: list[str] = field(default_factory=list)

    def add(self, found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> None:
        """Compares one sample."""
        if not found.size:
            return
        if found.dtype.kind == "f":
            a, b = found.astype(np.float64), wanted.astype(np.float64)
            with np.errstate(invalid="ignore"):
                apart = np.abs(a - b) / np.maximum(1, np.abs(b))
            apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, apart)
            self.error = max(self.error or 0.0, float(apart.max()))
        else:
            if found.dtype.kind == "b":
                found, wanted = found.astype(np.uint8), wanted.astype(np.uint8)
            apart = np.where(found > wanted, found - wanted, wanted - found)
            self.off_by = max(self.off_by or 0, int(apart.max()))
            self.share = max(self.share, float((apart > 0).mean()))


def operators() -> list[str]:
    """All public ones."""
    _catalog.load()
    return list(registry.public())


def measured(only: str) -> dict[str, Row]:
    """Runs the cases."""
    from tests.augment.test_sweep import CASES, is_random
    from tests.runners import dalis, ours

    rows: dict[str, Row] = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in (c for c in CASES if only in c.op):
            row = rows.setdefault(registry.ops[case.op].name, Row())
            if case.differs:
                if case.differs not in row.differs:
                    row.differs.append(case.differs)
                continue
            if case.op.startswith("_"):
                continue
            row.cases += 1
            if is_random(case):
                continue
            for a, b in zip(ours(case, Path(folder)), dalis(case), strict=True):
                for found, wanted in zip(a.arrays, b.arrays, strict=True):
                    row.add(found, wanted)
    return rows


def lines(rows: dict[str, Row]) -> Iterator[str]:
    for name in operators():
        row, devices = rows.get(name, Row()), ", ".join(registry.ops[name].devices)
        cells = [
            f"`{name}`",
            devices,
            str(row.cases or ""),
            "" if row.off_by is None else str(row.off_by),
            f"{100 * row.share:.2g} %" if row.share else "",
            "" if row.error is None else f"{row.error:.1g}",
            "; ".join(row.differs),
        ]
        yield "| " + " | ".join(cells) + " |"


FORMATS_HEAD = """
## Picture formats

`decoders.image` on the CPU, UINT8, over the pictures of DALI_extra's `db/single`; as DALI itself decodes 8-bit gray
alone of lossless JPEG on the CPU, the others are compared with each other in tests/decode.

| files | pictures | output type | off by | share |
| --- | ---: | --- | ---: | ---: |
"""


def formats(media: Path) -> Iterator[str]:
    """Rows for the pictures of DALI_extra."""
    from tests.decode.test_formats_dali import FORMATS, OUTPUT_TYPES, both

    for name in FORMATS:
        paths = sorted(p for p in (media / "db/single" / name).rglob("*.*") if p.suffix != ".txt")
        gray = name == "jpeg_lossless"
        files = [p.read_bytes() for p in paths if "8bit" in p.name or not gray]
        for output_type in ["GRAY"] if gray else OUTPUT_TYPES:
            row = Row()
            with tempfile.TemporaryDirectory() as folder:
                for ours, dalis in both(Path(folder), files, output_type, "UINT8"):
                    row.add(ours, dalis)
            share = f"{100 * row.share:.2g} %" if row.share else ""
            yield f"| {name} | {len(files)} | {output_type} | {row.off_by} | {share} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="measure and print the operators with this in their names")
    parser.add_argument("--check", action="store_true", help="only look whether each operator is in the table")
    options = parser.parse_args()
    if options.check:
        listed = re.findall(r"^\| `(.*?)` \|", RESULT.read_text(), re.MULTILINE) if RESULT.exists() else []
        if listed != operators():
            print(f"{RESULT.name} does not list the operators there are: run python tools/parity.py", file=sys.stderr)
        return listed != operators()
    warnings.simplefilter("ignore")
    from nvidia import dali

    rows = measured(options.only)
    if options.only:
        print("\n".join(line for line in lines(rows) if options.only in line.split("|")[1]))
        return 0
    media = Path(os.environ.get("DALI_EXTRA_PATH", "?"))
    if not media.exists():
        raise SystemExit("set DALI_EXTRA_PATH to a checkout of DALI's test media")
    text = HEAD.format(dali=dali.__version__) + "\n".join(lines(rows)) + "\n"
    RESULT.write_text(text + FORMATS_HEAD + "\n".join(formats(media)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
