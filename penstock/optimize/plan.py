"""What the optimizer works on, and what the engine runs: nodes in order, cut into segments and groups."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field

from penstock.graph.node import DataNode, OpNode


class Where(enum.Enum):
    """Which threads work on a segment. On a GPU, and in Python, it is one batch at a time, not one sample. As the C ABI
    has it.
    """

    CPU = 0
    IO = 1  # threads that may wait for files
    GPU = 2
    PYTHON = 3


@dataclass(frozen=True)
class Scope:
    """The samples of another scope (None: all) for which a value is true, or false: those that take a branch."""

    parent: Scope | None
    source: (
        OpNode  # whose output of this index the value is: nodes of data have no truth value, so none can be compared
    )
    index: int
    wanted: bool

    @classmethod
    def of(cls, parent: Scope | None, predicate: DataNode, wanted: bool) -> Scope:
        """The scope of a value."""
        return cls(parent, predicate.source, predicate.index, wanted)

    @property
    def predicate(self) -> DataNode:
        """The value."""
        return self.source.outputs[self.index]

    def path(self) -> Iterator[Scope]:
        """This scope and those that it is part of."""
        scope: Scope | None = self
        while scope:
            yield scope
            scope = scope.parent


@dataclass
class Segment:
    """Nodes between two barriers: all samples find their shapes, memory is given out, then all samples run."""

    groups: list[list[OpNode]]  # in order; the nodes of a group go through a sample as one pass
    where: Where = Where.CPU


@dataclass
class Plan:
    """One iteration, before it is handed to the engine."""

    outputs: list[DataNode]
    nodes: list[OpNode] = field(default_factory=list)  # in topological order, constants among them
    early: set[OpNode] = field(default_factory=set)  # computed while shapes are found
    segments: list[Segment] = field(default_factory=list)
    followers: set[OpNode] = field(default_factory=set)  # chains that go where a source does that waits for files
    planes: set[OpNode] = field(default_factory=set)  # decoders on the GPU whose pictures a kernel may finish
    spared: dict[OpNode, OpNode] = field(default_factory=dict)  # copies to the GPU, by which node writes there itself
    scopes: dict[OpNode, Scope] = field(default_factory=dict)  # the samples that nodes run on; without one: all

    def scope(self, data: DataNode) -> Scope | None:
        """The samples that have this value; None: all."""
        scope = self.scopes.get(data.source)
        if not data.source.op.splits:
            return scope
        return Scope.of(scope, data.source.op.tensors["predicate"], data.index == 0)

    def consumers(self, data: DataNode) -> list[OpNode]:
        """The nodes that read this value, as input or argument."""
        return [n for n in self.nodes if any(s is data for s in n.sources())]

    def element_consumers(self, data: DataNode) -> list[OpNode]:
        """Those of them that look at its elements, and not only at type and shape."""
        return [n for n in self.consumers(data) if any(s is data for s in elements_of(n))]

    def is_output(self, data: DataNode) -> bool:
        """Whether the pipeline hands out this value."""
        return any(o.source is data.source and o.index == data.index for o in self.outputs)


def is_data(node: OpNode) -> bool:
    """Whether the node is data and no work: a constant, or an input of the pipeline."""
    return node.op.external or node.op.literal() is not None


def elements_of(node: OpNode) -> list[DataNode]:
    """The values whose elements a node looks at."""
    inputs = [data for i, data in enumerate(node.inputs) if i not in node.op.metadata_inputs]
    return inputs + list(node.op.tensors.values())
