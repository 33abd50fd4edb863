"""Reads all samples of each data set once, on all processors, and lists those that readers refuse, by file and
record.
"""

from __future__ import annotations

import argparse
import sys

from penstock.commands._progress import Progress

HELP = "read whole data sets, and list what is broken"
EXAMPLES = """
    python -m penstock validate train.tfrecord val.tfrecord
    python -m penstock validate photos --decode --json
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="TFRecord, RecordIO and tar files, data bases, folders"
    )
    parser.add_argument("--format", help="tfrecord, mxnet, caffe, caffe2, webdataset or file (default: as it looks)")
    parser.add_argument("--decode", action="store_true", help="decode the pictures, too")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(options: argparse.Namespace) -> int:
    from penstock.errors import PenstockError
    from penstock.insight.validate import as_json, validate

    progress = Progress(lambda done, of: f"{done} of {of} samples")
    try:
        found = validate(options.paths, options.format, decode=options.decode, progress=progress.show)
    except PenstockError as error:
        print(error, file=sys.stderr)
        return 2
    progress.end()
    print(as_json(found) if options.json else found)
    return int(bool(found.faults))
