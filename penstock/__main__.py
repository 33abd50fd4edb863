"""``python -m penstock``: what can be done from the command line."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable, Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the arguments say; returns the exit status."""
    from penstock.plugin.triton import repository

    parser = argparse.ArgumentParser(prog="python -m penstock", description="Penstock's tools.")
    commands = parser.add_subparsers(dest="command", required=True)
    doctor = commands.add_parser("doctor", help="what this machine offers, and what is missing for what")
    doctor.add_argument("--json", action="store_true", help="for programs")
    doctor.set_defaults(run=_doctor)
    index = commands.add_parser(
        "index",
        help="indexes: of TFRecord, RecordIO and tar files, and of videos, for readers, of JPEG files so that they are "
        "decoded faster",
        description="Writes the index of each TFRecord, RecordIO or tar file, as tfrecord2idx, im2rec and wds2idx do, "
        "for the arguments index_path= and index_paths= of readers. With --jpeg, makes an index of a data set's JPEG "
        "files, for the argument jpeg_index= of the decoders. It has some 4 % of the files' size. It knows files by "
        "what they contain: where they lie and what they are called does not matter. Run it again when files have come "
        "or changed.",
    )
    index.add_argument(
        "files", nargs="*", metavar="FILE", help="TFRecord, RecordIO and tar files, or their addresses in object stores"
    )
    index.add_argument("--force", action="store_true", help="replace other indexes that are there")
    index.add_argument(
        "--jpeg",
        nargs="+",
        metavar="PATH",
        help="files, folders (with all below them) and tar archives (named .tar, as WebDataset's)",
    )
    index.add_argument(
        "--output",
        metavar="FILE",
        help="the index, or a folder for several; default: beside each file, of addresses in the current folder; of "
        "--jpeg: penstock.jpegindex in the one folder",
    )
    index.add_argument(
        "--video",
        nargs="+",
        metavar="PATH",
        help="videos, or folders with all below them: their indexes are kept in the cache, so that readers of videos "
        "begin at once",
    )
    index.set_defaults(run=lambda options: _index_of(index, options))
    validate = commands.add_parser(
        "validate",
        help="read whole data sets, and list what is broken",
        description="Reads all samples of each data set once, on all processors, and lists those that readers refuse, "
        "by file and record. The exit status is 1 where something is broken.",
    )
    validate.add_argument(
        "paths", nargs="+", metavar="PATH", help="TFRecord, RecordIO and tar files, data bases, folders"
    )
    validate.add_argument("--format", help="tfrecord, mxnet, caffe, caffe2, webdataset or file (default: as it looks)")
    validate.add_argument("--decode", action="store_true", help="decode the pictures, too")
    validate.add_argument("--json", action="store_true", help="for programs")
    validate.set_defaults(run=_validate)
    include = commands.add_parser("include", help="where the headers for operators of one's own are")
    include.set_defaults(run=_include)
    repository.add_command(commands)
    options = parser.parse_args(arguments)
    return int(options.run(options))


def _exit(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def _doctor(options: argparse.Namespace) -> int:
    from penstock.insight.doctor import as_json, as_text, examine

    found = examine()
    print(as_json(found) if options.json else as_text(found))
    return 0


class _Progress:
    """A line of a terminal that tells how far something is, once it takes longer than a second."""

    def __init__(self, text: Callable[[int, int], str]):
        self._text, self._begin, self._terminal = text, time.monotonic(), sys.stderr.isatty()

    def _is_shown(self) -> bool:
        return self._terminal and time.monotonic() > self._begin + 1

    def show(self, done: int, of: int) -> None:
        if self._is_shown():
            print(f"\r{self._text(done, of)}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._is_shown():
            print(file=sys.stderr)


def _validate(options: argparse.Namespace) -> int:
    from penstock.errors import PenstockError
    from penstock.insight.validate import as_json, validate

    progress = _Progress(lambda done, of: f"{done} of {of} samples")
    try:
        found = validate(options.paths, options.format, decode=options.decode, progress=progress.show)
    except PenstockError as error:
        print(error, file=sys.stderr)
        return 2
    progress.end()
    print(as_json(found) if options.json else found)
    return int(bool(found.faults))


def _include(_: argparse.Namespace) -> int:
    import penstock

    print(penstock.get_include())
    return 0


def _index_of(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if sum(map(bool, (options.files, options.jpeg, options.video))) != 1:
        parser.error("name files of records, JPEG files by --jpeg, or videos by --video")
    if options.video:
        return _video_index(options)
    return _jpeg_index(options) if options.jpeg else _index(options)


def _index(options: argparse.Namespace) -> int:
    from penstock.errors import PenstockError
    from penstock.read.write_index import write_indexes

    def bar(done: int, of: int) -> str:
        width = 40 * done // max(of, 1)
        return f"[{'#' * width}{' ' * (40 - width)}] {done / 1e9:.1f} GB"

    progress = _Progress(bar)
    try:
        found = write_indexes(options.files, options.output, force=options.force, progress=progress.show)
    except PenstockError as error:
        print(error, file=sys.stderr)
        return 1
    progress.end()
    failed = False
    for one in found:
        failed |= isinstance(one, PenstockError) or one.broken > 0
        if isinstance(one, PenstockError):
            print(one, file=sys.stderr)
        else:
            print(f"{one.index}: {one.entries} samples" + f", {one.broken} of them broken" * (one.broken > 0))
    return int(failed)


def _jpeg_index(options: argparse.Namespace) -> int:
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


def _video_index(options: argparse.Namespace) -> int:
    from penstock.errors import PenstockError
    from penstock.read.video_files import videos_below
    from penstock.read.video_index import index_videos

    progress = _Progress(lambda done, of: f"{done} of {of} videos")
    try:
        names = videos_below(options.video)
        found = index_videos(names, progress.show)
    except PenstockError as error:
        print(error, file=sys.stderr)
        return 1
    progress.end()
    good = [one for one in found if not isinstance(one, PenstockError)]
    for one in found:
        if isinstance(one, PenstockError):
            print(one, file=sys.stderr)
    print(f"{len(good)} videos, {sum(one.frames for one in good)} frames")
    return int(len(good) < len(found))


if __name__ == "__main__":
    raise SystemExit(main())
