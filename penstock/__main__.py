"""``python -m penstock``: what can be done from the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the arguments say; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m penstock", description="Penstock's tools.")
    commands = parser.add_subparsers(dest="command", required=True)
    doctor = commands.add_parser("doctor", help="what this machine offers, and what is missing for what")
    doctor.add_argument("--json", action="store_true", help="for programs")
    doctor.set_defaults(run=_doctor)
    options = parser.parse_args(arguments)
    return int(options.run(options))


def _doctor(options: argparse.Namespace) -> int:
    from penstock.insight.doctor import as_json, as_text, examine

    found = examine()
    print(as_json(found) if options.json else as_text(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
