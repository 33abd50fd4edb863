"""``python -m penstock``: what can be done from the command line. `penstock.commands` has the commands."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.commands import parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the arguments say; returns the exit status."""
    options = parser().parse_args(arguments)
    return int(options.run(options))


if __name__ == "__main__":
    try:
        status = main()
    except KeyboardInterrupt:
        status = 130
    raise SystemExit(status)
