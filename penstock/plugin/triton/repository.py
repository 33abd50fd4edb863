"""``python -m penstock triton``: a model repository for Triton, of a pipeline."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from penstock import types
from penstock.errors import ArgumentError, GraphError, PenstockError
from penstock.pipeline import Pipeline

PIPELINE = "pipeline.json"  # beside model.py
_MODEL = '''"""A pipeline of Penstock's, by Triton's Python backend: written by `python -m penstock triton`."""

from penstock.plugin.triton.backend import TritonPythonModel

__all__ = ["TritonPythonModel"]
'''
_TYPES = {
    types.UINT8: "UINT8", types.UINT16: "UINT16", types.UINT32: "UINT32", types.UINT64: "UINT64",
    types.INT8: "INT8", types.INT16: "INT16", types.INT32: "INT32", types.INT64: "INT64",
    types.FLOAT16: "FP16", types.FLOAT: "FP32", types.FLOAT64: "FP64", types.BOOL: "BOOL",
}  # fmt: skip


def add_command(commands: Any) -> None:
    """Adds the command to those of ``python -m penstock``."""
    command = commands.add_parser(
        "triton",
        help="a model repository for Triton, of a pipeline",
        description="Writes a folder that a Triton server takes as a model: the serialized pipeline, which Triton's "
        "Python backend runs, and its configuration. The pipeline is that of the function under @autoserialize "
        "(penstock.plugin.triton) in the file. Its external sources say dtype and ndim, and output_dtype and "
        "output_ndim of @pipeline_def say what it gives.",
    )
    command.add_argument("file", type=Path, help="the Python file that defines the pipeline")
    command.add_argument("--out", type=Path, default=Path("models"), help="the repository (default: models)")
    command.add_argument("--name", help="of the model (default: the file's)")
    command.add_argument("--outputs", help="names of the outputs, with commas between (default: OUTPUT_0,OUTPUT_1 ...)")
    command.add_argument(
        "--bytes", nargs="*", default=[], metavar="INPUT",
        help="inputs whose samples come as Triton's BYTES: a request may have files of several lengths then",
    )  # fmt: skip
    command.add_argument("--delay", type=int, default=1000, help="microseconds to wait for a fuller batch (1000)")
    command.add_argument("--instances", type=int, default=1, help="processes that run it at the same time (1)")
    command.add_argument(
        "--decoupled", action="store_true",
        help="requests of any number of samples, which are answered in several responses, one for each batch",
    )  # fmt: skip
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    try:
        folder = write_model(
            _loaded(options.file), options.out, options.name or options.file.stem,
            outputs=options.outputs.split(",") if options.outputs else None, as_bytes=options.bytes,
            delay=options.delay, instances=options.instances, decoupled=options.decoupled,
        )  # fmt: skip
    except (PenstockError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(folder)
    return 0


def write_model(
    pipe: Pipeline,
    repository: Path,
    name: str,
    *,
    outputs: Sequence[str] | None = None,
    as_bytes: Sequence[str] = (),
    delay: int = 1000,
    instances: int = 1,
    decoupled: bool = False,
) -> Path:
    """Writes a model of a pipeline into a repository; returns its folder. The arguments are those of the command.

    Raises ArgumentError where the configuration cannot be known, and GraphError for a pipeline that cannot be
    serialized.
    """
    text = pipe.serialize()
    lines = list(_config(pipe, name, outputs, as_bytes, delay, instances, decoupled))  # before anything is written
    version = repository / name / "1"
    version.mkdir(parents=True, exist_ok=True)
    (version / PIPELINE).write_bytes(text)
    (version / "model.py").write_text(_MODEL)
    (repository / name / "config.pbtxt").write_text("\n".join(lines) + "\n")
    return repository / name


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


class Described(NamedTuple):
    """An input or output of a model."""

    name: str
    dtype: types.DALIDataType
    ndim: int  # of a sample


def sources(
    pipe: Pipeline, outputs: Sequence[str] | None, as_bytes: Sequence[str]
) -> tuple[list[Described], list[Described]]:
    """A pipeline's inputs and outputs; of those that come as bytes nothing need be known. Raises as `write_model`."""
    names = pipe.fed_inputs()
    if not names:
        raise GraphError("the pipeline has no fn.external_source(name=...) to feed requests to")
    if unknown := sorted(set(as_bytes) - set(names)):
        raise ArgumentError(f"bytes: {', '.join(unknown)}: the inputs are {', '.join(names)}")
    nodes: dict[str, Any] = {node.name: node.op for node in pipe.nodes}
    fed = [
        Described(name, types.UINT8, 1)
        if name in as_bytes
        else _described(name, op.dtype, op.ndim, f"input {name!r}: fn.external_source takes dtype=, ndim=")
        for name, op in ((name, nodes[name]) for name in names)
    ]
    count = pipe.num_outputs
    given = list(outputs or [f"OUTPUT_{k}" for k in range(count)])
    if len(given) != count:
        raise ArgumentError(f"outputs: {', '.join(given)}: the pipeline has {count} outputs")
    what = zip(given, pipe.output_dtype(), pipe.output_ndim(), strict=True)
    return fed, [
        _described(name, dtype, ndim, f"output {k}: @pipeline_def takes output_dtype=, output_ndim=")
        for k, (name, dtype, ndim) in enumerate(what)
    ]


def _described(name: str, dtype: Any, ndim: Any, advice: str) -> Described:
    if dtype is None or ndim is None or types.to_dali_type(dtype) not in _TYPES:
        raise ArgumentError(f"type or axes are not known of {advice}")
    return Described(name, types.to_dali_type(dtype), ndim)


def _config(
    pipe: Pipeline, name: str, outputs: Sequence[str] | None, as_bytes: Sequence[str], delay: int, instances: int,
    decoupled: bool,
) -> Iterator[str]:  # fmt: skip
    fed, given = sources(pipe, outputs, as_bytes)
    first = [-1] if decoupled else []  # the samples' axis, which Triton counts itself where it makes batches
    yield f'name: "{name}"'
    yield 'backend: "python"'
    yield f"max_batch_size: {0 if decoupled else pipe.max_batch_size}"
    for one in fed:
        if one.name in as_bytes:
            yield _tensor("input", one.name, "STRING", first or [1])
        else:
            yield _tensor("input", one.name, _TYPES[one.dtype], first + [-1] * one.ndim, ragged=not decoupled)
    for one in given:
        yield _tensor("output", one.name, _TYPES[one.dtype], first + [-1] * one.ndim)
    yield f"instance_group [{{ count: {instances} kind: {'KIND_CPU' if pipe.device_id is None else 'KIND_GPU'} }}]"
    if decoupled:
        yield "model_transaction_policy { decoupled: true }"
    else:
        yield f"dynamic_batching {{ max_queue_delay_microseconds: {delay} }}"


def _tensor(what: str, name: str, kind: str, dims: Sequence[int], ragged: bool = False) -> str:
    shape = ", ".join(map(str, dims)) or "1"
    more = " allow_ragged_batch: true" if ragged else ""
    return f'{what} {{ name: "{name}" data_type: TYPE_{kind} dims: [{shape}]{more} }}'
