"""Copies of nodes, for another plan of the same work."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from penstock.graph.node import DataNode, OpNode


def copies(nodes: Sequence[OpNode]) -> dict[OpNode, OpNode]:
    """By the node, a copy that reads copies of what it reads. ``nodes``: with all that they read, that first.

    What operators have found out when they were made (a reader's index of its files) is shared.
    """
    made: dict[OpNode, OpNode] = {}

    def data(of: DataNode) -> DataNode:
        return made[of.source].outputs[of.index]

    for node in nodes:
        again = made[node] = copy.copy(node)
        again.op = copy.copy(node.op)
        again.inputs = [data(one) for one in node.inputs]
        again.op.tensors = {name: data(one) for name, one in node.op.tensors.items()}
        again.outputs = [DataNode(again, one.index, one.name, one.device) for one in node.outputs]
    return made
