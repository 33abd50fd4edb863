"""Writes penstock/dali_operators.txt: the names that operators have in DALI's ``fn``, from the DALI that is installed.

By it, errors about operators that this library does not have say whether DALI has them. `--check` fails where the file
is not what would be written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

RESULT = Path(__file__).resolve().parent.parent / "penstock" / "dali_operators.txt"


def names(module: ModuleType, prefix: str = "") -> Iterator[str]:
    """Dotted names, but for those that DALI itself hides."""
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") or name == "hidden":
            continue
        if isinstance(value, ModuleType):
            if value.__name__ == f"{module.__name__}.{name}":
                yield from names(value, f"{prefix}{name}.")
        elif hasattr(value, "_schema_name"):
            yield prefix + name


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail where the file is not up to date, and write nothing")
    check = parser.parse_args().check
    from nvidia.dali import fn

    text = "".join(f"{name}\n" for name in sorted(names(fn)))
    if not check:
        RESULT.write_text(text)
    elif RESULT.read_text() != text:
        print(f"{RESULT} is not up to date: python tools/dali_operators.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
