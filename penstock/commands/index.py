"""Writes the index of each TFRecord, RecordIO or tar file, as tfrecord2idx, im2rec and wds2idx do, for the arguments
index_path= and index_paths= of readers. With --jpeg, makes an index of a data set's JPEG files, for the argument
jpeg_index= of the decoders. It has some 4 % of the files' size. It knows files by what they contain: where they lie and
what they are called does not matter. Run it again when files have come or changed.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from typing import Any

from penstock.commands._progress import Progress

HELP = (
    "indexes: of TFRecord, RecordIO and tar files, and of videos, for readers, of JPEG files so that they are decoded "
    "faster"
)
EXAMPLES = """
    python -m penstock index train-*.tfrecord --output indexes
    python -m penstock index --jpeg photos
    python -m penstock index --video clips
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="TFRecord, RecordIO and tar files, or their addresses in object stores"
    )
    parser.add_argument("--force", action="store_true", help="replace other indexes that are there")
    parser.add_argument(
        "--jpeg",
        nargs="+",
        metavar="PATH",
        help="files, folders (with all below them) and tar archives (named .tar, as WebDataset's)",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="the index, or a folder for several; default: beside each file, of addresses in the current folder; of "
        "--jpeg: penstock.jpegindex in the one folder",
    )
    parser.add_argument(
        "--video",
        nargs="+",
        metavar="PATH",
        help="videos, or folders with all below them: their indexes are kept in the cache, so that readers of videos "
        "begin at once",
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(wrong=parser.error)


def run(options: argparse.Namespace) -> int:
    if sum(map(bool, (options.files, options.jpeg, options.video))) != 1:
        options.wrong("name files of records, JPEG files by --jpeg, or videos by --video")
    if options.video:
        return _videos(options)
    return _jpegs(options) if options.jpeg else _records(options)


def _tell(options: argparse.Namespace, facts: Any, text: str) -> None:
    print(json.dumps(facts, indent=1) if options.json else text)


def _records(options: argparse.Namespace) -> int:
    from penstock.errors import PenstockError
    from penstock.read.write_index import write_indexes

    progress = Progress(lambda done, of: f"{done / 1e9:.1f} GB")
    try:
        found = write_indexes(options.files, options.output, force=options.force, progress=progress.show)
    except PenstockError as error:
        print(error, file=sys.stderr)
        return 1
    progress.end()
    good = [one for one in found if not isinstance(one, PenstockError)]
    for one in found:
        if isinstance(one, PenstockError):
            print(one, file=sys.stderr)
    facts = [{"index": str(one.index), "samples": one.entries, "broken": one.broken} for one in good]
    lines = [
        f"{one.index}: {one.entries} samples" + f", {one.broken} of them broken" * (one.broken > 0) for one in good
    ]
    if good:
        _tell(options, facts, "\n".join(lines))
    return int(len(good) < len(found) or any(one.broken for one in good))


def _exit(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def _jpegs(options: argparse.Namespace) -> int:
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
    size = path.stat().st_size
    facts = {"index": str(path), "bytes": size, "files": report.seen, "unreadable": list(map(str, report.unreadable))}
    _tell(options, facts, f"{path} ({size / 1e6:.1f} MB)\n{report}")
    return 1 if report.unreadable else 0


def _videos(options: argparse.Namespace) -> int:
    from penstock.errors import PenstockError
    from penstock.read.video_files import videos_below
    from penstock.read.video_index import index_videos

    progress = Progress(lambda done, of: f"{done} of {of} videos")
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
    frames = sum(one.frames for one in good)
    _tell(options, {"videos": len(good), "frames": frames}, f"{len(good)} videos, {frames} frames")
    return int(len(good) < len(found))
