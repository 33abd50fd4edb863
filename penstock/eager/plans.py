"""Plans of a few operators whose inputs are known, and by what such plans are told apart.

Two calls share a plan where the operators, their constants and devices are the same, and are joined in the same way:
shapes, types and layouts are found when it runs, as in any plan. Numbers can be inputs of it instead of constants.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Hashable, Sequence
from typing import Any

import numpy as np

from penstock.eager.data import GIVEN, EagerNode
from penstock.graph.branch import At
from penstock.graph.node import DataNode, OpNode, Scope
from penstock.op import Op
from penstock.optimize.passes import optimize
from penstock.optimize.plan import Plan

Array = np.ndarray[Any, Any]
Place = tuple[int, int | str]  # of a number: which operator's, and the number of an input, or the name of an argument

# Kinds of arguments, and the types of inputs with the same effect. To some operators a list in a tensor means something
# else than a constant one, so lists are constants.
_AS_INPUT = {"integer": np.int64, "number": np.float64}


def key(nodes: Sequence[OpNode], given: Sequence[EagerNode], wanted: Sequence[DataNode]) -> tuple[Hashable, Hashable]:
    """What the plan of these operators depends on: apart from the numbers that could be inputs, and these.

    TypeError where a constant cannot be told from others. ``given``: what they read, `leaves`.
    """
    known: dict[int, Hashable] = {id(leaf): (k, leaf.device) for k, leaf in enumerate(given)}
    for k, node in enumerate(nodes):
        for data in node.outputs:
            known[id(data)] = (k, data.index, "made")
    numbers: list[Hashable] = []
    parts = [_part(node, known, numbers) for node in nodes]
    return (tuple(parts), tuple([known[id(data)] for data in wanted])), tuple(numbers)


def _part(node: OpNode, known: dict[int, Hashable], numbers: list[Hashable]) -> Hashable:
    op = node.op
    parts: list[Hashable] = []
    for name, value in op.constants.items():
        if _may_be_input(op, name):
            numbers.append(value)
            parts.append(name)
        else:
            parts.append((name, frozen(value)))
    inputs = tuple([_source(data, known, numbers) for data in node.inputs])
    tensors = tuple([(name, _source(data, known, None)) for name, data in op.tensors.items()])
    return type(op), node.device, tuple(parts), inputs, tensors


def _may_be_input(op: Op, name: str) -> bool:
    argument = op.arguments[name]
    return argument.per_sample and argument.kind in _AS_INPUT


def _source(data: DataNode, known: dict[int, Hashable], numbers: list[Hashable] | None) -> Hashable:
    number = known.get(id(data))
    if number is not None:
        return number
    literal = data.source.op.literal()
    assert literal is not None
    if numbers is None or literal.array.ndim:
        return frozen(literal.array), literal.layout
    numbers.append(literal.array.tobytes())
    dtype: str = literal.array.dtype.str
    return dtype


def frozen(value: Any) -> Hashable:
    """The same where the value is, and a key of dictionaries."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (list, tuple)):
        return tuple([frozen(item) for item in value])
    if isinstance(value, dict):
        return tuple([(name, frozen(item)) for name, item in value.items()])
    hash(value)
    return type(value), value  # 1, 1.0 and True are equal


def numbers_of(nodes: Sequence[OpNode]) -> dict[Place, Array]:
    """The numbers that a plan of these may have as inputs, as tensors that have the same effect."""
    found: dict[Place, Array] = {}
    for k, node in enumerate(nodes):
        for name, value in node.op.constants.items():
            if _may_be_input(node.op, name):
                found[k, name] = np.asarray(value, _AS_INPUT[node.op.arguments[name].kind])
        for i, data in enumerate(node.inputs):
            literal = data.source.op.literal()
            if literal is not None and not literal.array.ndim:
                found[k, i] = literal.array
    return found


def make(
    nodes: Sequence[OpNode], given: Sequence[EagerNode], wanted: Sequence[DataNode], numbers: Collection[Place] = ()
) -> tuple[Plan, list[OpNode]]:
    """The plan of these operators, and its inputs: what is given, and these numbers. The nodes are left as they are.

    Raises ArgumentError where an operator needs a number as a constant.
    """
    with Scope(), At(()):
        stands_for = {id(leaf): _input(leaf.device) for leaf in given}
        as_inputs = {place: _input("cpu") for place in numbers}
        sources = [data.source for data in (*stands_for.values(), *as_inputs.values())]
        for k, node in enumerate(nodes):
            tensors = {name: stands_for.get(id(data), data) for name, data in node.op.tensors.items()}
            values = {name: data for (at, name), data in as_inputs.items() if at == k and isinstance(name, str)}
            inputs = [
                as_inputs[k, i] if (k, i) in as_inputs else stands_for.get(id(data), data)
                for i, data in enumerate(node.inputs)
            ]
            made = OpNode(_with(node.op, tensors, values), inputs, node.device, node.name)
            made.location = node.location
            for old, new in zip(node.outputs, made.outputs, strict=True):
                stands_for[id(old)] = new
    outputs = [stands_for[id(data)] for data in wanted]
    return optimize(outputs, [data.source for data in outputs]), sources


def _input(device: str) -> DataNode:
    return OpNode(GIVEN, [], device, None).outputs[0]


def _with(op: Op, tensors: dict[str, Any], values: dict[str, Any]) -> Op:
    """The operator with these arguments as nodes, of which ``values`` were constants."""
    if not values:
        made = copy.copy(op)
        made.tensors = tensors
        return made
    made = type(op)({name: value for name, value in op.constants.items() if name not in values}, {**tensors, **values})
    made.input_count = op.input_count
    return made
