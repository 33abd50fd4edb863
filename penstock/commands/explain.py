"""Says how a pipeline is run: which operators go together, on which threads. With --html it writes a page with the
graph, a timeline, and the data at each stage.
"""

from __future__ import annotations

import argparse
import json
import sys

from penstock.commands import _pipelines

HELP = "the plan of a pipeline, in words or as a page"
EXAMPLES = """
    python -m penstock explain train.py:pipeline --set root=photos
    python -m penstock explain photos --html plan.html
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    _pipelines.arguments(parser)
    parser.add_argument("--html", metavar="FILE", help="a page to be written")
    parser.add_argument("--source", action="store_true", help="also the sources of the GPU's kernels")
    parser.add_argument("--json", action="store_true", help="for programs: the graph, as Pipeline.serialize() has it")


def run(options: argparse.Namespace) -> int:
    from penstock.errors import PenstockError

    try:
        pipe = _pipelines.pipeline_of(options)
        text = pipe.explain(options.source, html=options.html)
        if options.json:
            text = json.dumps({"plan": text, "pipeline": json.loads(pipe.serialize())}, indent=1)
    except (PenstockError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(text)
    return 0
