"""Writes penstock/dali_operators.txt: the names that operators have in DALI's ``fn``, from the DALI that is installed.

By it, errors about operators that this library does not have say whether DALI has them. `--check` fails where the file
is not what would be written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":  # tools/coverage.py would be taken for the package of that name
    sys.path[0] = str(ROOT)

from tools import kept  # noqa: E402

RESULT = ROOT / "penstock" / "dali_operators.txt"


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


def text() -> str:
    from nvidia.dali import fn

    return "".join(f"{name}\n" for name in sorted(names(fn)))


def main() -> int:
    return kept.main(RESULT, text, "tools/dali_operators.py", __doc__)


if __name__ == "__main__":
    sys.exit(main())
