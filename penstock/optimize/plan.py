"""What the optimizer works on, and what the engine runs: nodes in order, cut into segments and groups."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.graph.constants import ConstantOp
from penstock.graph.node import DataNode, OpNode


@dataclass
class Segment:
    """Nodes between two barriers: all samples find their shapes, memory is given out, then all samples run."""

    groups: list[list[OpNode]]  # in order; the nodes of a group go through a sample as one pass
    io: bool = False  # on the threads that may wait for files


@dataclass
class Plan:
    """One iteration, before it is handed to the engine."""

    outputs: list[DataNode]
    nodes: list[OpNode] = field(default_factory=list)  # in topological order, constants among them
    early: set[OpNode] = field(default_factory=set)  # computed while shapes are found
    segments: list[Segment] = field(default_factory=list)

    def consumers(self, data: DataNode) -> list[OpNode]:
        """The nodes that read this value, as input or argument."""
        return [n for n in self.nodes if any(s is data for s in n.sources())]

    def is_output(self, node: OpNode) -> bool:
        """Whether the pipeline hands out one of this node's values."""
        return any(o.source is node for o in self.outputs)


def is_constant(node: OpNode) -> bool:
    """Whether the node is data of the plan and no work."""
    return isinstance(node.op, ConstantOp)
