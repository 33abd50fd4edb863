"""The command of tools that write a file which the repository has."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path


def main(path: Path, text: Callable[[], str], tool: str, about: str | None) -> int:
    """Writes the file; ``--check`` writes nothing, and fails where the file is not up to date."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--check", action="store_true", help="fail where the file is not up to date, and write nothing")
    check = parser.parse_args().check
    found = text()
    if not check:
        path.write_text(found)
    elif path.read_text() != found:
        print(f"{path} is not up to date: python {tool}", file=sys.stderr)
        return 1
    return 0
