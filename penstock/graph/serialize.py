"""Graphs as JSON, and back: operators by name, their constants, what they read, and the user's lines."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from penstock.errors import ArgumentError, GraphError
from penstock.graph.location import Location
from penstock.graph.node import DataNode, OpNode
from penstock.op import check_given, registry

Json = dict[str, Any]


def to_json(outputs: Sequence[DataNode], preserved: Iterable[OpNode]) -> Json:
    """What these outputs need, and the operators that are preserved, in an order in which they can be made."""
    needed: dict[int, OpNode] = {}
    waiting = [*(output.source for output in outputs), *preserved]
    while waiting:
        node = waiting.pop()
        if node.number not in needed:
            needed[node.number] = node
            waiting += [source.source for source in node.sources()]
    nodes = [needed[number] for number in sorted(needed)]
    places = {node.number: i for i, node in enumerate(nodes)}
    return {
        "operators": [_node(node, places) for node in nodes],
        "outputs": [_reference(output, places) for output in outputs],
    }


def from_json(graph: Json) -> list[DataNode]:
    """Makes the nodes, in the scope that is current; gives the outputs."""
    nodes: list[OpNode] = []

    def data(reference: Sequence[int]) -> DataNode:
        return nodes[reference[0]].outputs[reference[1]]

    for entry in graph["operators"]:
        cls = registry.ops.get(entry["operator"])
        if cls is None:
            raise ArgumentError(
                f"the serialized pipeline has an operator {entry['operator']!r}, which is not known here"
            )
        values, _ = check_given(cls, {k: _decoded(v) for k, v in entry["arguments"].items()}, lambda _: False)
        op = cls(values, {name: data(reference) for name, reference in entry["nodes"].items()})
        inputs = [data(reference) for reference in entry["inputs"]]
        node = OpNode(op, inputs, entry["device"], entry["name"], entry["preserve"])
        node.location = Location(*entry["location"]) if entry["location"] else None
        nodes.append(node)
    return [data(reference) for reference in graph["outputs"]]


def _node(node: OpNode, places: dict[int, int]) -> Json:
    where = node.location
    return {
        "operator": type(node.op).name,
        "name": node.name,
        "device": node.device,
        "preserve": node.preserve,
        "inputs": [_reference(data, places) for data in node.inputs],
        "nodes": {name: _reference(data, places) for name, data in node.op.tensors.items()},
        "arguments": {name: _encoded(value, node, name) for name, value in node.op.constants.items()},
        "location": [where.file, where.line, where.function] if where else None,
    }


def _reference(data: DataNode, places: dict[int, int]) -> list[int]:
    return [places[data.source.number], data.index]


def _encoded(value: Any, node: OpNode, name: str) -> Any:
    if isinstance(value, np.generic):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"dtype": value.dtype.str, "shape": list(value.shape), "data": data}
    if isinstance(value, (list, tuple)):
        return [_encoded(item, node, name) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)  # enums, too
    if value is None or isinstance(value, (bool, float, str)):
        return value
    raise GraphError(
        f"{node.op.name} {node.name!r}: {name}={value!r} cannot be serialized: only numbers, texts and arrays can. "
        f"(Data of an external source without source= is fed.)\n  operator made at {node.location}"
    )


def _decoded(value: Any) -> Any:
    if isinstance(value, dict):
        flat = np.frombuffer(base64.b64decode(value["data"]), np.dtype(value["dtype"]))
        return flat.reshape(value["shape"])
    return [_decoded(item) for item in value] if isinstance(value, list) else value
