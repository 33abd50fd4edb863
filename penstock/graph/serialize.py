"""Graphs as JSON, and back: operators by name, their constants, what they read, and the user's lines."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from penstock._document import Field
from penstock.errors import ArgumentError, GraphError, PenstockError
from penstock.graph import expression, slicing
from penstock.graph.location import Location
from penstock.graph.node import DataNode, OpNode
from penstock.op import Op, registry
from penstock.types.convert import NUMPY_TYPES

Json = dict[str, Any]

# Makes the node of an operator's call: inputs and arguments as `fn` takes them, ``device``, ``name``, ``preserve``.
Make = Callable[[type[Op], Sequence[DataNode], Mapping[str, Any]], Sequence[DataNode]]

# Operators that no call in `fn` makes, but Python's own operators on nodes.
_MADE_BY: dict[type[Op], Make] = {expression.Arithmetic: expression.again, slicing.Subscript: slicing.again}

_ENTRY = frozenset(["operator", "name", "device", "preserve", "inputs", "nodes", "arguments", "location"])
_LIBRARY = frozenset(["library"])  # of custom operators alone
_ARRAY = frozenset(["dtype", "shape", "data"])
_DTYPES = {np.dtype(t).str: np.dtype(t) for t in NUMPY_TYPES.values()}
_DEEPEST = 16  # lists in lists


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


def from_json(operators: Field, outputs: Field, make: Make) -> list[DataNode]:
    """Makes the nodes as calls do, in the scope that is current, with all checks of a call; gives the outputs."""
    made: list[Sequence[DataNode]] = []

    def data(reference: Field) -> DataNode:
        operator, output = reference.items(2)
        nodes = made[operator.whole(0, len(made) - 1)] if made else []
        if not nodes:
            raise reference.wrong("an output of an operator before")
        return nodes[output.whole(0, len(nodes) - 1)]

    for entry in operators.items():
        fields = entry.fields_of(_ENTRY, _LIBRARY)
        cls = registry.ops.get(fields["operator"].text())
        if cls is None:
            raise _unknown(entry, fields)
        inputs = [data(reference) for reference in fields["inputs"].items()]
        given: dict[str, Any] = {name: data(field) for name, field in fields["nodes"].fields().items()}
        for name, field in fields["arguments"].fields().items():
            if name in given:
                raise ArgumentError(f"{entry.what}: {field.path}: this argument is among the nodes, too")
            given[name] = _decoded(field)
        for name in given:
            if name not in cls.arguments:
                raise ArgumentError(f"{entry.what}: {entry.path}: {cls.shown_name()} has no argument {name!r}")
        common = {"device": fields["device"].text(), "name": fields["name"].text()}
        location = _location(fields["location"])
        try:
            nodes = _MADE_BY.get(cls, make)(cls, inputs, {**given, **common, "preserve": fields["preserve"].flag()})
        except PenstockError as error:
            where = f"{entry.path} of the text" + (f", made at {location}" if location else "")
            error.blame(cls.shown_name(), where, "the operator is")
            raise
        if nodes:
            nodes[0].source.location = location
        made.append(nodes)
    return [data(reference) for reference in outputs.items()]


def _unknown(entry: Field, fields: dict[str, Field]) -> ArgumentError:
    name = fields["operator"].text()
    what = f"{entry.what}: {entry.path} is an operator {name!r}"
    if "library" not in fields:
        return ArgumentError(f"{what}, which is not known here")
    return ArgumentError(
        f"{what} of the library {fields['library'].text()!r}, which is not loaded: load it by "
        "penstock.plugin_manager.load_library() before"
    )


def _location(field: Field) -> Location | None:
    """Of the user's line as the text has it: no file that a text names is opened."""
    if field.value is None:
        return None
    file, line, function, *text = field.items()[:4] + [field] * (3 - len(field.items()))
    return Location(file.text(), line.whole(0), function.text(), text[0].text() if text else "")


def _node(node: OpNode, places: dict[int, int]) -> Json:
    where = node.location
    library = {"library": node.op.library} if node.op.library else {}
    return {
        **library,
        "operator": type(node.op).name,
        "name": node.name,
        "device": node.device,
        "preserve": node.preserve,
        "inputs": [_reference(data, places) for data in node.inputs],
        "nodes": {name: _reference(data, places) for name, data in node.op.tensors.items()},
        "arguments": {name: _encoded(value, node, name) for name, value in node.op.constants.items()},
        "location": [where.file, where.line, where.function, where.source()] if where else None,
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


def _decoded(field: Field, depth: int = 0) -> Any:
    value = field.value
    if isinstance(value, dict):
        return _array(field.fields_of(_ARRAY))
    if isinstance(value, list):
        if depth == _DEEPEST:
            raise field.wrong(f"at most {_DEEPEST} lists in each other")
        return [_decoded(item, depth + 1) for item in field.items()]
    return field.text() if isinstance(value, str) else value


def _array(fields: dict[str, Field]) -> np.ndarray[Any, Any]:
    dtype = _DTYPES.get(fields["dtype"].text())
    if dtype is None:
        raise fields["dtype"].wrong(f"one of {', '.join(_DTYPES)}")
    shape = [extent.whole(0) for extent in fields["shape"].items()]
    try:
        data = base64.b64decode(fields["data"].text(), validate=True)
    except ValueError:
        raise fields["data"].wrong("base64") from None
    if len(shape) > 12 or len(data) != math.prod(shape) * dtype.itemsize:
        raise fields["shape"].wrong(f"a shape of {len(data) // dtype.itemsize} elements")
    return np.frombuffer(data, dtype).reshape(shape)
