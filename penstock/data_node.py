"""`DataNode` and `newaxis`, by the name of the module that scripts for DALI import them from."""

from __future__ import annotations

from penstock.graph.node import DataNode
from penstock.graph.slicing import newaxis

__all__ = ["DataNode", "newaxis"]
