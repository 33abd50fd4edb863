"""Model repositories for Triton, of pipelines: what ``python -m penstock triton`` writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from penstock import types
from penstock.errors import ArgumentError, GraphError
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
