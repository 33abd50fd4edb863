"""Writes README's list of operators out of the registry; `--check` fails where it is out of date."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

from penstock import _catalog
from penstock.op import registry

README = Path(__file__).resolve().parent.parent / "README.md"
MARKS = re.compile(r"(<!-- operators:.*?-->\n).*?(<!-- end of operators -->)", re.DOTALL)


def operators() -> str:
    _catalog.load()
    names = sorted(registry.public(), key=lambda name: ("." not in name, name))
    return textwrap.fill(", ".join(f"`{name}`" for name in names), 120, break_on_hyphens=False)


def main() -> int:
    text = README.read_text()
    wanted = MARKS.sub(lambda match: f"{match[1]}\n{operators()}\n\n{match[2]}", text)
    if "--check" in sys.argv[1:]:
        if text != wanted:
            print("README's list of operators is out of date; run ./dev stubs", file=sys.stderr)
        return text != wanted
    README.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
