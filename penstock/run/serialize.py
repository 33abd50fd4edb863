"""Pipelines as JSON: the graph and the constructor's arguments, but no state (see `penstock.run.checkpoint`)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TypeVar

from penstock import types
from penstock.errors import ArgumentError
from penstock.graph import serialize
from penstock.graph.node import DataNode, Scope
from penstock.run.options import Options

_FORMAT = 1
# Arguments that are of this process, or without effect.
_LEFT_OUT = {"checkpoint", "py_callback_pickler", "stream_policy", "concurrency", "experimental_exec_dynamic"}

_Self = TypeVar("_Self", bound="Serializable")


class Serializable(Scope):
    """What of a pipeline has to do with its serialized form."""

    _options: Options

    def _defined(self) -> list[DataNode]:
        """The outputs, after ``define_graph`` where they are not known yet."""
        raise NotImplementedError

    def set_outputs(self, *outputs: Any) -> None:
        """Says what the pipeline hands out: nodes, or constants."""
        raise NotImplementedError

    def build(self) -> None:
        """Starts the pipeline."""
        raise NotImplementedError

    def serialize(self, define_graph: Any = None, filename: str | os.PathLike[str] | None = None) -> bytes:
        """The pipeline's graph and arguments, but no state, as JSON. `deserialize` makes such a pipeline of it.

        ``define_graph``: a function that is called instead of the method of this name. Where ``filename`` is given,
        the text is written there, too. Raises GraphError for what only this process has, such as a callable source.

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
            self.define_graph = define_graph
        outputs = self._defined()
        graph = serialize.to_json(outputs, [node for node in self.nodes if node.preserve])
        arguments = {k: _plain(k, v) for k, v in self._options.given.items() if k not in _LEFT_OUT}
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

        ``arguments``: of the constructor, instead of those that were serialized. Raises ArgumentError for other texts.
        """
        if (serialized_pipeline is None) == (filename is None):
            raise ArgumentError("deserialize: give either serialized_pipeline or filename")
        text = serialized_pipeline if filename is None else Path(filename).read_bytes()
        pipe = cls(**{**_parse(text)["arguments"], **arguments})
        pipe.deserialize_and_build(text)
        return pipe

    def deserialize_and_build(self, serialized_pipeline: str | bytes | None) -> None:
        """Takes over the graph of what `serialize` gave, and builds this pipeline, with its own arguments."""
        with self:
            outputs = serialize.from_json(_parse(serialized_pipeline))
        self.set_outputs(*outputs)
        self.build()


def _parse(text: str | bytes | None) -> dict[str, Any]:
    try:
        state: dict[str, Any] = json.loads(text or "")
        if state["penstock_pipeline"] != _FORMAT:
            raise ValueError
    except (ValueError, TypeError, KeyError) as e:
        raise ArgumentError(f"deserialize: {str(text)[:60]}... is not what Pipeline.serialize() gave") from e
    return state


def _plain(name: str, value: Any) -> Any:
    if name != "output_dtype" or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [None if v is None else int(types.to_dali_type(v)) for v in value]
    return int(types.to_dali_type(value))
