"""Branches of ``if``: what an operator in one reads is divided, so that it runs on the samples that take the branch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from penstock.graph.node import DataNode

Split = Callable[["DataNode", "DataNode"], Sequence["DataNode"]]


class Fork:
    """An ``if`` on a node: two branches, and what was divided among them already.

    ``split`` makes two nodes of one, by the predicate: the samples for which it is true, and those for which it is
    false. Each node is divided once, however many operators of both branches read it.
    """

    def __init__(self, predicate: DataNode, split: Split):
        self.predicate = predicate
        self._split = split
        self._outside = Branch.stack()
        self._branches = Branch(self, 0), Branch(self, 1)
        self._divided: dict[DataNode, Sequence[DataNode]] = {}

    def branch(self, taken: bool) -> At:
        """For a ``with`` block in which one of them is being defined."""
        return At((*self._outside, self._branches[not taken]))

    def divided(self, node: DataNode) -> Sequence[DataNode]:
        """Both parts of a node, made outside of the branches."""
        if node not in self._divided:
            with At(self._outside):
                parts = self._divided[node] = self._split(node, self.predicate)
            for part, branch in zip(parts, self._branches, strict=True):
                part.branches = (*self._outside, branch)
        return self._divided[node]


class Branch:
    """One way of a fork."""

    _active: ClassVar[threading.local] = threading.local()

    def __init__(self, fork: Fork, index: int):
        self._fork, self._index = fork, index

    @classmethod
    def stack(cls) -> tuple[Branch, ...]:
        """The branches that this thread is defining, outermost first."""
        return getattr(cls._active, "stack", ())

    def part(self, node: DataNode) -> DataNode:
        """Of a node from outside the samples that take this branch."""
        return self._fork.divided(node)[self._index]


class At:
    """For a ``with`` block: operators made in it run on the samples that take these branches."""

    def __init__(self, stack: tuple[Branch, ...]):
        self._stack = stack

    def __enter__(self) -> None:
        self._before = Branch.stack()
        Branch._active.stack = self._stack

    def __exit__(self, *_: object) -> None:
        Branch._active.stack = self._before


def taken_here(node: DataNode) -> DataNode:
    """Of a node that an operator reads, the samples that take the branches in which the operator is made.

    What was made in a branch has its samples alone, but for what reads nothing, such as constants and random numbers:
    that is of all samples, of which the engine takes those that an operator needs.
    """
    here = Branch.stack()
    common = 0
    while common < min(len(node.branches), len(here)) and node.branches[common] is here[common]:
        common += 1
    for branch in here[common:]:
        node = branch.part(node)
    return node
