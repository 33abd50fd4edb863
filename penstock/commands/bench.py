"""Runs a pipeline as fast as it goes, and says how fast that is, what limits it, and what would help.

Of a folder of class folders of pictures it makes the pipeline of a classifier's training: random crops, resized to
224 x 224, mirrored and normalized.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from penstock.commands import _pipelines
from penstock.commands._progress import Progress

HELP = "how fast a pipeline is, and what limits it"
EXAMPLES = """
    python -m penstock bench photos
    python -m penstock bench train.py:pipeline --set root=photos --seconds 20
    python -m penstock bench training.data:pipeline --device 0 --json
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    _pipelines.arguments(parser)
    parser.add_argument("--seconds", type=float, default=5.0, help="for how long (default: 5)")
    parser.add_argument("--trace", metavar="FILE", help="what threads did, for ui.perfetto.dev, as JSON")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(options: argparse.Namespace) -> int:
    from penstock.errors import PenstockError
    from penstock.insight.profile import profile

    progress = Progress(lambda done, of: f"{done:.0f} of {of:.0f} s")
    try:
        pipe = _pipelines.pipeline_of(options)
        pipe.run()
        with profile(pipe, trace=options.trace) as found:
            begin = time.monotonic()
            while (done := time.monotonic() - begin) < options.seconds:
                pipe.run()
                progress.show(done, options.seconds)
    except (PenstockError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except StopIteration:
        print("the pipeline's source ended: bench needs one that goes on", file=sys.stderr)
        return 2
    progress.end()
    f = found.figures
    facts = {
        "samples_per_second": f.samples / f.seconds,
        "batches": f.batches,
        "samples": f.samples,
        "seconds": f.seconds,
        "bottleneck": found.bottleneck,
        "evidence": found.evidence,
        "advice": found.advice,
    }
    print(json.dumps(facts, indent=1) if options.json else found)
    return 0
