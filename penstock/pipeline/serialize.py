"""Pipelines as JSON: the graph and the constructor's arguments, but no state (see `penstock.run.checkpoint`)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from penstock import _catalog, types
from penstock._document import Field, parse, short
from penstock.errors import ArgumentError, ArgumentTypeError
from penstock.graph import serialize
from penstock.pipeline.showing import Showing
from penstock.run.options import OperatorConcurrency, StreamPolicy

_FORMAT = 1
# Arguments that are of this process, or without effect.
_LEFT_OUT = {"checkpoint", "py_callback_pickler", "experimental_exec_dynamic"}
_PARTS = frozenset(["penstock_pipeline", "arguments", "operators", "outputs"])
_EXPECTED = "what Pipeline.serialize() gave"
_MOST_SAMPLES = 1 << 18  # of all batches ahead: more is asked for by a program, not by a text

_Self = TypeVar("_Self", bound="Serializable")


class Serializable(Showing):
    """The part of `penstock.Pipeline` that has to do with its serialized form."""

    def _chosen(self) -> dict[str, Any]:
        """Those arguments that are not as they are by default."""
        raise NotImplementedError

    def serialize(self, define_graph: Any = None, filename: str | os.PathLike[str] | None = None) -> bytes:
        """The pipeline's graph and arguments, but no state, as JSON. `deserialize` makes such a pipeline of it.

        A seed is in it only where it was given: what is made of the text draws its own, as this pipeline did.

        ``define_graph``: a function that is called instead of the method of this name; GraphError where the outputs
        were set already. Where ``filename`` is given, the text is written there, too. Raises GraphError for what only
        this process has, such as a callable source.

        Example:
            >>> from penstock import Pipeline
            >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None, seed=1)
            ... def numbers():
            ...     return fn.random.uniform(range=[5.0, 6.0])
            >>> again = Pipeline.deserialize(numbers().serialize())
            >>> bool((again.run()[0].as_array() == numbers().run()[0].as_array()).all())
            True
        """
        if define_graph is not None:
            if not callable(define_graph):
                hint = " Didn't you want to write `.serialize(filename=...)`?" if isinstance(define_graph, str) else ""
                raise ArgumentTypeError(f"Provided `define_graph` argument is not callable.{hint}")
            self._define_by(define_graph)
        outputs = self._defined()
        graph = serialize.to_json(outputs, [node for node in self.nodes if node.preserve])
        arguments = {k: _plain(k, v) for k, v in self._options.asked.items() if k not in _LEFT_OUT}
        text = json.dumps({"penstock_pipeline": _FORMAT, "arguments": arguments, **graph}).encode()
        if filename is not None:
            Path(filename).write_bytes(text)
        return text

    @classmethod
    def deserialize(
        cls: type[_Self], serialized_pipeline: str | bytes | None = None,
        filename: str | os.PathLike[str] | None = None, **arguments: Any,
    ) -> _Self:  # fmt: skip
        """Builds a pipeline out of what `serialize` gave, or wrote to ``filename``.

        ``arguments``: of the constructor, instead of those that were serialized.

        The text is checked as a program is: operators are made as calls of them are, and raise what these raise. For
        whatever else is wrong with it there is an ArgumentError that says where. Nothing in a text is executed, and
        no file is opened for it but those that its readers read. Together its batches ahead may have 2^18 samples,
        unless ``arguments`` say their sizes.
        """
        if (serialized_pipeline is None) == (filename is None):
            raise ArgumentError("deserialize: give either serialized_pipeline or filename")
        text = serialized_pipeline if filename is None else Path(filename).read_bytes()
        document = _parse(text)
        pipe = cls(**_arguments(document["arguments"], arguments))
        pipe._take_over(document)
        return pipe

    def deserialize_and_build(self, serialized_pipeline: str | bytes | None) -> None:
        """Takes over the graph of what `serialize` gave, and builds this pipeline.

        Its own arguments count; those that are as the constructor has them by default come from the text.
        """
        document = _parse(serialized_pipeline)
        own = {name: value for name, value in self._chosen().items() if name != "checkpoint"}
        self._set_options({**self._options.asked, **_arguments(document["arguments"], own)})
        self._take_over(document)

    def _take_over(self, document: dict[str, Field]) -> None:
        from penstock.ops import make  # which loads all declarations: not before they are needed

        nodes = len(self.nodes)
        try:
            with self:
                outputs = serialize.from_json(document["operators"], document["outputs"], make)
            self.set_outputs(*outputs)
            self.build()
        except BaseException:
            del self.nodes[nodes:]
            raise


def _parse(text: str | bytes | None) -> dict[str, Field]:
    _catalog.load()  # or operators would not be known in a process that has called none yet
    document = parse(text, "deserialize", _EXPECTED)
    version = document.value.get("penstock_pipeline") if isinstance(document.value, dict) else None
    if version != _FORMAT or version is True:
        shown = "" if version is None else f" (its penstock_pipeline is {version!r:.20}, expected {_FORMAT})"
        raise ArgumentError(f"deserialize: {short(text)} is not {_EXPECTED}{shown}")
    return document.fields_of(_PARTS)


def _arguments(text: Field, own: dict[str, Any]) -> dict[str, Any]:
    """The constructor's arguments: of the text, but for those that are given here."""
    fields = text.fields_of(frozenset(), frozenset(_KINDS))
    found = {name: _KINDS[name](field) for name, field in fields.items() if name not in own}
    batch_size, depth = found.get("batch_size") or 1, found.get("prefetch_queue_depth") or 1
    ahead = batch_size * (sum(depth.values()) if isinstance(depth, dict) else depth)
    if ahead > _MOST_SAMPLES:
        raise ArgumentError(
            f"deserialize: batch_size={batch_size} and prefetch_queue_depth={depth}: a text may ask "
            f"for {_MOST_SAMPLES} samples ahead; give these arguments to deserialize()"
        )
    return {**found, **own}


def _or_none(kind: Callable[[Field], Any]) -> Callable[[Field], Any]:
    return lambda field: None if field.value is None else kind(field)


def _or_list(kind: Callable[[Field], Any]) -> Callable[[Field], Any]:
    each = _or_none(kind)
    return lambda field: [each(item) for item in field.items()] if isinstance(field.value, list) else each(field)


def _one_of(names: type[StreamPolicy] | type[OperatorConcurrency]) -> Callable[[Field], Any]:
    def convert(field: Field) -> Any:
        if field.text() not in names.__members__:
            raise field.wrong(f"one of {', '.join(names.__members__)}")
        return names[field.text()]

    return _or_none(convert)


def _depth(field: Field) -> int | dict[str, int] | None:
    if isinstance(field.value, dict):
        sizes = field.fields_of(frozenset(["cpu_size"]), frozenset(["gpu_size"]))
        return {name: size.whole() for name, size in sizes.items()}
    return None if field.value is None else field.whole()


def _dtype(field: Field) -> types.DALIDataType:
    if field.whole() not in types.DALIDataType._value2member_map_:
        raise field.wrong("the number of a type")
    return types.DALIDataType(field.whole())


_WHOLE, _FLAG = _or_none(Field.whole), _or_none(Field.flag)
_KINDS: dict[str, Callable[[Field], Any]] = {
    "batch_size": _WHOLE,
    "num_threads": _WHOLE,
    "device_id": _WHOLE,
    "seed": _WHOLE,
    "exec_pipelined": _FLAG,
    "prefetch_queue_depth": _depth,
    "exec_async": _FLAG,
    "bytes_per_sample": _WHOLE,
    "set_affinity": _FLAG,
    "max_streams": _WHOLE,
    "default_cuda_stream_priority": _WHOLE,
    "enable_memory_stats": _FLAG,
    "enable_checkpointing": _FLAG,
    "py_num_workers": _WHOLE,
    "py_start_method": _or_none(Field.text),
    "output_dtype": _or_list(_dtype),
    "output_ndim": _or_list(Field.whole),
    "output_layout": _or_list(Field.text),
    "exec_dynamic": _FLAG,
    "stream_policy": _one_of(StreamPolicy),
    "concurrency": _one_of(OperatorConcurrency),
}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, (StreamPolicy, OperatorConcurrency)):
        return value.name
    if name != "output_dtype" or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [None if v is None else int(types.to_dali_type(v)) for v in value]
    return int(types.to_dali_type(value))
