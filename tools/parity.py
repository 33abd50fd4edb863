"""Writes docs/operators.md: every operator, and how far its results are from DALI's.

The distances are those that the cases in tests/augment state, which the tests hold results to: so the table is the same
with and without DALI and its media. `--check` fails where it is not up to date.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from penstock import _catalog  # noqa: E402
from penstock.op import Op, registry  # noqa: E402

RESULT = ROOT / "docs" / "operators.md"
HEAD = """# Operators

Written by `./dev stubs`: how far results on the CPU may be from those of DALI {dali}, as the tests see to it, over
the cases of the tests. "Off by" is the greatest difference of integers, "share" that of the elements which differ at
all, "error" the greatest relative difference of floats (to the larger of 1 and DALI's value). Operators that draw
random numbers agree in shapes, types and distributions, not in the numbers. Decoders and readers are compared in
tests/decode and tests/read, results on GPUs with those on the CPU by `./dev test gpu`.

Some things that DALI refuses are taken here, since there is only one thing that they can mean: operands that are
broadcast in more than six groups of axes, crops of FDHWC, `...` in subscripts (`x[..., :1]`), enums as constants (they
are INT32), an `alpha` or `beta` of `random.beta` beyond FLOAT, and `dtype=NO_TYPE` of `constant`, `zeros_like` and
`ones_like` (as if it was not given). A script that is to run with DALI, too, should do without them.

Besides what the table and the operators' own pages say, these results are others on purpose. Some of DALI's are what
lies in memory or what the processor makes, the others are no use to a script:

- Ranges with a step (`x[::2]`) are NumPy's. DALI's take wrong elements of tensors beyond some ten thousand, and may end
  the process where nothing is left.
- Not-a-number is 0 as an integer, in `cast` and wherever types are converted; DALI's depends on the type and processor.
- What is infinite stays where it is: a number divided by infinity is 0 (`std` of `crop_mirror_normalize`), what
  `grid_mask` masks is 0, and sums of squares in `normalize` hold what overflows FLOAT. DALI has not-a-number there.
- `fill_values` of `slice` and `crop` beyond the limits of the type are the limit; DALI's wrap round.
- Operands without elements are broadcast as all others; DALI's result has the first operand's shape.
- `expand_dims` without names for the new axes gives no layout; with `new_axis_names=""` DALI keeps the letters before
  the first new axis, which do not name all axes.
- A single number as `MT` of `coord_transform` means the same from a node as it does as a constant; DALI adds an axis.
- `src_dims` of `reshape` and `reinterpret` counts as a node, too; DALI overlooks that beside other arguments.
- `prefetch_queue_depth` of a reader is 1024 at most: more takes all memory before the first batch.

| operator | devices | cases | off by | share | error | unlike DALI, and why |
| --- | --- | ---: | ---: | ---: | ---: | --- |
"""
FORMATS_HEAD = """
## Picture formats

`decoders.image` on the CPU, over the pictures of DALI_extra's `db/single`, of all output types; as DALI itself decodes
8-bit gray alone of lossless JPEG on the CPU, the others are compared with each other in tests/decode.

| files | pictures | UINT8, off by | UINT16, off by | FLOAT, off by |
| --- | ---: | ---: | ---: | ---: |
"""


def operators() -> dict[str, type[Op]]:
    """All public ones, by name, without those that users have made or loaded."""
    _catalog.load()
    return {name: cls for name, cls in registry.public().items() if not cls.library}


def dali_version() -> str:
    """Of the DALI that the tests compare with."""
    found = re.search(r"nvidia-dali-[a-z0-9]+==([0-9.]+)", (ROOT / "pyproject.toml").read_text())
    assert found, "pyproject.toml names no version of DALI"
    return found[1]


def lines() -> Iterator[str]:
    """A row of the table for each operator."""
    from tests.augment.test_sweep import CASES, is_random

    for name in operators():
        cases = [case for case in CASES if registry.ops[case.op].name == name]
        compared = [case for case in cases if not case.differs]
        held = [case.from_dali for case in compared if not is_random(case)]
        off_by = max((apart.off_by for apart in held), default=0)
        share = max((apart.share for apart in held if apart.off_by), default=0.0)
        error = max((apart.tolerance for apart in held), default=0.0)
        notes = dict.fromkeys(note for case in cases for note in (case.from_dali.why, case.differs) if note)
        cells = [
            f"`{name}`",
            ", ".join(registry.ops[name].devices),
            str(len(compared) or ""),
            str(off_by) if held else "",
            f"{100 * share:.2g} %" if off_by else "",
            f"{error:.1g}" if held else "",
            "; ".join(notes),
        ]
        yield "| " + " | ".join(cells) + " |"


def formats() -> Iterator[str]:
    """A row for each format of pictures."""
    from tests.decode.parity import FORMATS, most_apart

    for name, pictures in FORMATS.items():
        apart = " | ".join(f"{most_apart(dtype):.1g}" for dtype in ("UINT8", "UINT16", "FLOAT"))
        yield f"| {name} | {pictures} | {apart} |"


def text() -> str:
    """The whole document."""
    head = HEAD.format(dali=dali_version())
    return "\n".join([head.rstrip(), *lines(), FORMATS_HEAD.rstrip(), *formats()]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only look whether it is up to date")
    if not parser.parse_args().check:
        RESULT.write_text(text())
        return 0
    stale = not RESULT.exists() or RESULT.read_text() != text()
    if stale:
        print(f"{RESULT.relative_to(ROOT)} is not up to date: run ./dev stubs", file=sys.stderr)
    return stale


if __name__ == "__main__":
    sys.exit(main())
