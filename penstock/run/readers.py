"""The readers of a plan: what they read, and where they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from penstock.errors import ArgumentError
from penstock.graph.node import OpNode
from penstock.read.base import Reader
from penstock.read.order import Order


class Readers:
    """By their names, in the order of the plan."""

    def __init__(self, nodes: Iterable[OpNode]):
        self._nodes = {node.name: node for node in nodes if node.op.fed}

    def order(self, name: str) -> Order:
        """The order in which a reader reads."""
        return self._named(name).cursor.order

    def number(self, name: str) -> int:
        """A reader's place among them."""
        self._named(name)
        return list(self._nodes).index(name)

    def meta(self, name: str | None = None) -> dict[str, Any]:
        """A reader's `Order.reader_meta`; without a name, those of all by their names."""
        if name is not None:
            return self.order(name).reader_meta()
        return {key: self.meta(key) for key in self._nodes}

    def epoch_size(self, name: str | None = None) -> Any:
        """Samples in the data set of a reader; without a name, of all by their names."""
        if name is not None:
            return self.meta(name)["epoch_size_padded"]
        return {key: self.epoch_size(key) for key in self._nodes}

    def in_step_with(self, name: str) -> list[Order]:
        """The orders of this reader and of all that read as many samples as it."""
        some = [self._named(name)]
        return [reader.cursor.order for reader in map(reader_of, self._nodes.values()) if in_step(reader, some)]

    def _named(self, name: str) -> Reader:
        if name not in self._nodes:
            known = ", ".join(self._nodes) or "none"
            raise ArgumentError(f"there is no reader named {name!r}; there are: {known}")
        return reader_of(self._nodes[name])


def in_step(reader: Reader, some: Iterable[Reader]) -> bool:
    """Whether a reader is one of these, or read side by side with one, pictures and their masks for example: those have
    as many samples.
    """
    return reader.size() in {one.size() for one in some}


def reader_of(node: OpNode) -> Reader:
    """The operator of a node that is ``fed``, as only readers are."""
    return cast(Reader, node.op)
