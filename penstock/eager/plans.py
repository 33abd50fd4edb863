"""Plans of a few operators whose inputs are known, and by what such plans are told apart.

Two calls share a plan where the operators, their constants and devices are the same, and are joined in the same way:
shapes, types and layouts are found when it runs, as in any plan.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from penstock.eager.data import Given, leaves
from penstock.graph.branch import At
from penstock.graph.node import DataNode, OpNode, Scope
from penstock.optimize.passes import optimize
from penstock.optimize.plan import Plan

_GIVEN = Given({}, {})


def key(nodes: Sequence[OpNode], wanted: Sequence[DataNode]) -> Hashable:
    """What the plan of these operators depends on. TypeError where a constant cannot be told from others."""
    numbers: dict[int, Any] = {}
    for k, leaf in enumerate(leaves(list(nodes))):
        numbers[id(leaf)] = (k, leaf.device)
    for k, node in enumerate(nodes):
        for data in node.outputs:
            numbers[id(data)] = (k, data.index, "made")
    parts = [_part(node, numbers) for node in nodes]
    return tuple(parts), tuple(numbers[id(data)] for data in wanted)


def _part(node: OpNode, numbers: dict[int, Any]) -> Hashable:
    op = node.op
    constants = tuple([(name, frozen(value)) for name, value in op.constants.items()])
    inputs = tuple([_source(data, numbers) for data in node.inputs])
    tensors = tuple([(name, _source(data, numbers)) for name, data in op.tensors.items()])
    return type(op), node.device, constants, inputs, tensors


def _source(data: DataNode, numbers: dict[int, Any]) -> Hashable:
    number: Hashable = numbers.get(id(data))
    if number is not None:
        return number
    literal = data.source.op.literal()
    assert literal is not None
    return frozen(literal.array), literal.layout


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


def make(nodes: Sequence[OpNode], wanted: Sequence[DataNode]) -> tuple[Plan, list[OpNode]]:
    """The plan of these operators, and its inputs, as `leaves` has them. The nodes are left as they are."""
    stands_for: dict[int, DataNode] = {}
    sources = []
    with Scope(), At(()):
        for leaf in leaves(list(nodes)):
            source = OpNode(_GIVEN, [], leaf.device, None)
            if leaf.device == "gpu":
                source.outputs[0].device = "gpu"
            stands_for[id(leaf)] = source.outputs[0]
            sources.append(source)
        for node in nodes:
            op = copy.copy(node.op)
            op.tensors = {name: stands_for.get(id(data), data) for name, data in node.op.tensors.items()}
            inputs = [stands_for.get(id(data), data) for data in node.inputs]
            made = OpNode(op, inputs, node.device, node.name)
            made.location = node.location
            for old, new in zip(node.outputs, made.outputs, strict=True):
                stands_for[id(old)] = new
    outputs = [stands_for[id(data)] for data in wanted]
    return optimize(outputs, [data.source for data in outputs]), sources
