"""``python -m penstock``: what can be done from the command line."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the arguments say; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m penstock", description="Penstock's tools.")
    commands = parser.add_subparsers(dest="command", required=True)
    doctor = commands.add_parser("doctor", help="what this machine offers, and what is missing for what")
    doctor.add_argument("--json", action="store_true", help="for programs")
    doctor.set_defaults(run=_doctor)
    index = commands.add_parser(
        "index",
        help="record where JPEG files can be decoded from, so that crops and GPUs decode them faster",
        description="Makes an index of a data set's JPEG files, for the argument jpeg_index= of the decoders. It has "
        "some 4 % of the files' size. It knows files by what they contain: where they lie and what they are called "
        "does not matter. Run it again when files have come or changed.",
    )
    index.add_argument(
        "--jpeg",
        nargs="+",
        required=True,
        metavar="PATH",
        help="files, folders (with all below them) and tar archives (named .tar, as WebDataset's)",
    )
    index.add_argument("--output", metavar="FILE", help="the index; default: penstock.jpegindex in the one folder")
    index.set_defaults(run=_index)
    include = commands.add_parser("include", help="where the headers for operators of one's own are")
    include.set_defaults(run=_include)
    options = parser.parse_args(arguments)
    return int(options.run(options))


def _exit(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def _doctor(options: argparse.Namespace) -> int:
    from penstock.insight.doctor import as_json, as_text, examine

    found = examine()
    print(as_json(found) if options.json else as_text(found))
    return 0


def _include(_: argparse.Namespace) -> int:
    import penstock

    print(penstock.get_include())
    return 0


def _index(options: argparse.Namespace) -> int:
    from penstock.decode.jpeg_index import Report, build_index
    from penstock.errors import PenstockError

    terminal = sys.stderr.isatty()

    def show(report: Report) -> None:
        print(f"\r{report.seen} files", end="", file=sys.stderr, flush=True)

    before = signal.signal(signal.SIGTERM, _exit)  # by an exception, so that an unfinished index is removed
    try:
        path, report = build_index(options.jpeg, options.output, show if terminal else None)
    except (PenstockError, OSError) as error:
        print(f"\n{error}" if terminal else error, file=sys.stderr)
        return 1
    finally:
        signal.signal(signal.SIGTERM, before)
    if terminal:
        print(file=sys.stderr)
    for problem in report.unreadable[:10]:
        print(problem, file=sys.stderr)
    print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)\n{report}")
    return 1 if report.unreadable else 0


if __name__ == "__main__":
    raise SystemExit(main())
