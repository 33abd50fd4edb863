"""What this machine offers: processors, memory, formats, GPUs, frameworks. And what is missing for what."""

from __future__ import annotations

import argparse

HELP = "what this machine offers, and what is missing for what"
EXAMPLES = """
    python -m penstock doctor
    python -m penstock doctor --json | jq .missing
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs")


def run(options: argparse.Namespace) -> int:
    from penstock.insight.doctor import as_json, as_text, examine

    found = examine()
    print(as_json(found) if options.json else as_text(found))
    return 0
