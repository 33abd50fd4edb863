"""Writes a folder that a Triton server takes as a model: the serialized pipeline, which Triton's Python backend runs,
and its configuration. The pipeline is that of the file's function under ``@autoserialize`` (penstock.plugin.triton).
Its external sources say dtype and ndim, and output_dtype and output_ndim of ``@pipeline_def`` say what it gives.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

from penstock.errors import ArgumentError, PenstockError
from penstock.pipeline import Pipeline

HELP = "a model repository for Triton, of a pipeline"
EXAMPLES = """
    python -m penstock triton pipeline.py --out models
    python -m penstock triton pipeline.py --bytes JPEG --instances 2 --delay 500
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the Python file that defines the pipeline")
    parser.add_argument("--out", type=Path, default=Path("models"), help="the repository (default: models)")
    parser.add_argument("--name", help="of the model (default: the file's)")
    parser.add_argument("--outputs", help="names of the outputs, with commas between (default: OUTPUT_0,OUTPUT_1 ...)")
    parser.add_argument(
        "--bytes", nargs="*", default=[], metavar="INPUT",
        help="inputs whose samples come as Triton's BYTES: a request may have files of several lengths then",
    )  # fmt: skip
    parser.add_argument("--delay", type=int, default=1000, help="microseconds to wait for a fuller batch (1000)")
    parser.add_argument("--instances", type=int, default=1, help="processes that run it at the same time (1)")
    parser.add_argument(
        "--decoupled", action="store_true",
        help="requests of any number of samples, which are answered in several responses, one for each batch",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="for programs")


def run(options: argparse.Namespace) -> int:
    from penstock.plugin.triton.repository import write_model

    try:
        folder = write_model(
            _loaded(options.file), options.out, options.name or options.file.stem,
            outputs=options.outputs.split(",") if options.outputs else None, as_bytes=options.bytes,
            delay=options.delay, instances=options.instances, decoupled=options.decoupled,
        )  # fmt: skip
    except (PenstockError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps({"folder": str(folder)}) if options.json else folder)
    return 0


def _loaded(file: Path) -> Pipeline:
    """The pipeline that a Python file defines."""
    from penstock.plugin.triton import marked

    if not file.is_file():
        raise ArgumentError(f"{file}: there is no such file")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec
    assert spec.loader
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.resolve().parent))  # as for a script
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return marked(module)()  # type: ignore[no-any-return]
