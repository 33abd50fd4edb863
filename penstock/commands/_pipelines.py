"""Pipelines that are named on the command line."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

from penstock import fn, types
from penstock.errors import ArgumentError
from penstock.pipeline import Pipeline

_SHAPE = "FILE.py:NAME, MODULE:NAME, a file of Pipeline.serialize(), or a folder of class folders of pictures"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Those that say which pipeline it is."""
    parser.add_argument("pipeline", metavar="PIPELINE", help=_SHAPE)
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="an argument of the function that makes it"
    )
    parser.add_argument("--batch-size", type=int, metavar="N", help="of the pipeline (default: its own, or 64)")
    parser.add_argument("--threads", type=int, metavar="N", help="of the pipeline (default: its own, or one a CPU)")
    parser.add_argument(
        "--device", type=int, metavar="N", help="the GPU, by its number (default: the pipeline's, or none)"
    )


def pipeline_of(options: argparse.Namespace) -> Pipeline:
    """The pipeline. Raises ArgumentError where there is none, and what making it raises."""
    asked = {"batch_size": options.batch_size, "num_threads": options.threads, "device_id": options.device}
    given = {name: value for name, value in asked.items() if value is not None}
    own = dict(_setting(text) for text in options.set)
    target = options.pipeline
    file, colon, name = target.rpartition(":")
    if not colon and os.path.isdir(target):
        return training(target, **{"batch_size": 64, "num_threads": _processors(), "device_id": None, **given})
    if not colon:
        return Pipeline.deserialize(filename=_existing(target), **given)
    made = getattr(_module(file), name, None)
    if isinstance(made, Pipeline):
        return made
    if not callable(made):
        raise ArgumentError(f"{target}: there is no pipeline {name!r}, and no function that makes one")
    decorated = getattr(made, "pipeline_arguments", None)  # by `pipeline_def`; other functions see to themselves
    if decorated is not None:
        defaults = {"batch_size": 64, "num_threads": _processors()}
        given = {**{name: value for name, value in defaults.items() if decorated.get(name) is None}, **given}
    found = made(**own, **given)
    if not isinstance(found, Pipeline):
        raise ArgumentError(f"{target}: {name} gives a {type(found).__name__}, and no pipeline")
    return found


def training(folder: str, **given: Any) -> Pipeline:
    """What a classifier is trained on: random crops of 224 x 224, mirrored and normalized, and labels."""
    pipe = Pipeline(**given)
    device = "cpu" if given["device_id"] is None else "mixed"
    with pipe:
        files, labels = fn.readers.file(file_root=folder, random_shuffle=True, name="Reader")
        pictures = fn.decoders.image_random_crop(files, device=device)
        pictures = fn.resize(pictures, resize_x=224, resize_y=224)
        mirror = fn.random.coin_flip()
        mean, std = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]
        normalized = fn.crop_mirror_normalize(
            pictures, dtype=types.FLOAT, output_layout="CHW", mean=mean, std=std, mirror=mirror
        )
        pipe.set_outputs(normalized, labels)
    return pipe


def _processors() -> int:
    return len(os.sched_getaffinity(0))


def _existing(path: str) -> str:
    if not Path(path).is_file():
        raise ArgumentError(f"{path!r}: expected {_SHAPE}")
    return path


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (equals and name.isidentifier()):
        raise ArgumentError(f"--set {text!r}: expected NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value  # a text without quotes


def _module(name: str) -> Any:
    """Of a file, as Python runs it but for its ``__main__`` part; or of a name."""
    if not name.endswith(".py"):
        sys.path.insert(0, os.getcwd())
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise ArgumentError(f"{name}: {error}") from error
    spec = importlib.util.spec_from_file_location(Path(name).stem, _existing(name))
    assert spec
    assert spec.loader
    sys.path.insert(0, str(Path(name).resolve().parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
