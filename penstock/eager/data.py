"""Nodes whose contents are known, or can be computed at once."""

from __future__ import annotations

from typing import Any

from penstock.graph.node import DataNode, OpNode
from penstock.op import Op
from penstock.tensors import TensorListCPU, TensorListGPU

Tensors = TensorListCPU | TensorListGPU
Rows = tuple[int, ...]


class EagerNode(DataNode):
    """The node of a batch that is known, or can be.

    Attributes:
        value: its samples; None: nobody has computed them yet.
        rows: which samples of the iteration's batch these are; None: all.
        wanted: whether somebody may ask for it when it was computed on the way to something else.
    """

    value: Tensors | None = None
    rows: Rows | None = None
    wanted = False

    def know(self, value: Tensors, rows: Rows | None = None) -> None:
        """Sets what it is. What it was made of is not needed any more."""
        self.value, self.rows = value, rows


class Given(Op):
    """What is known before a plan runs: an input of the plan."""

    name = "given"
    external = True
    no_copy = True


GIVEN = Given({}, {})


def given(value: Tensors, rows: Rows | None = None) -> EagerNode:
    """The node of a batch that there is."""
    there = "gpu" if isinstance(value, TensorListGPU) else "cpu"
    source = OpNode.__new__(OpNode)
    source.op, source.inputs, source.device, source.preserve = GIVEN, [], there, False
    source.number, source.location, source.made_in, source.key = 0, None, None, None
    source.name = "given"
    node = EagerNode(source, 0, "given", there)
    source.outputs = [node]
    node.branches = ()
    node.know(value, rows)
    return node


def is_known(data: DataNode) -> bool:
    """Whether its contents are there: a constant's, too."""
    return getattr(data, "value", None) is not None or data.source.op.literal() is not None


def pending(wanted: list[DataNode]) -> list[OpNode]:
    """The operators that have to run, in order, for these to be known."""
    found: dict[OpNode, None] = {}
    waiting = [data.source for data in wanted if not is_known(data)]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found[node] = None
            waiting += [data.source for data in node.sources() if not is_known(data)]
    return sorted(found, key=lambda node: node.number)


def leaves(nodes: list[OpNode]) -> list[EagerNode]:
    """What these operators read that is known, constants left out; each once."""
    found: dict[int, Any] = {}
    for node in nodes:
        for data in node.sources():
            if getattr(data, "value", None) is not None:
                found[id(data)] = data
    return list(found.values())
