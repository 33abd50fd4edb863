"""Values of two branches as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.errors import ArgumentError, DeviceError
from penstock.fn import _conditional  # type: ignore[attr-defined]
from penstock.graph.branch import Fork
from penstock.graph.constants import as_node
from penstock.graph.node import DataNode
from penstock.pipeline.conditional.missing import Missing, Unassigned

_COMPARISONS = ("eq", "neq", "lt", "leq", "gt", "geq")


def fork(test: DataNode, what: str) -> Fork:
    """An ``if`` by a node: a number for each sample, on the CPU. DeviceError for one on a GPU."""
    if test.device != "cpu":
        raise DeviceError(
            f"{what}: {test.name} is on the GPU, and what is run depends on it: conditions are numbers on the CPU"
        )
    return Fork(test, split)


def truth(test: DataNode) -> DataNode:
    """Whether a number is not zero, as BOOL."""
    return test if test.source.op.name in _COMPARISONS else test != 0


def split(node: DataNode, predicate: DataNode) -> Sequence[DataNode]:
    parts: Sequence[DataNode] = _conditional.split(node, predicate=predicate)
    return parts


def merge(name: str, yes: Any, no: Any, at: Fork) -> Any:
    """The value of a variable after both branches: `Missing` where there can be none."""
    if yes is no:
        return yes
    if isinstance(yes, Missing) or isinstance(no, Missing):
        return _unassigned(name, yes, no)
    if isinstance(yes, (list, tuple)) and type(yes) is type(no) and len(yes) == len(no):
        values = [merge(f"{name}[{i}]", a, b, at) for i, (a, b) in enumerate(zip(yes, no, strict=True))]
        return type(yes)(*values) if hasattr(yes, "_fields") else type(yes)(values)
    if isinstance(yes, dict) and isinstance(no, dict) and yes.keys() == no.keys():
        return {key: merge(f"{name}[{key!r}]", yes[key], no[key], at) for key in yes}
    try:
        return _conditional.merge(_node(yes), _node(no), predicate=at.predicate)
    except (TypeError, ValueError) as e:
        reason = f"{name} cannot be merged: it is {_kind(yes)} in one branch of the `if`, and {_kind(no)} in the other"
        return Missing(f"{reason} ({e})" if isinstance(e, ArgumentError) else reason)


def _node(value: Any) -> DataNode:
    if value is None or isinstance(value, (dict, str)) or (isinstance(value, (list, tuple)) and _has_node(value)):
        raise TypeError("no number, array or node")
    return as_node(value)


def _has_node(value: Any) -> bool:
    return isinstance(value, DataNode) or (isinstance(value, (list, tuple)) and any(map(_has_node, value)))


def _kind(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, dict):
        return f"a dict of {list(value)}"
    return "a node" if isinstance(value, DataNode) else repr(value)


def _unassigned(name: str, yes: Any, no: Any) -> Missing:
    for value in (yes, no):
        if isinstance(value, Missing) and not isinstance(value, Unassigned):
            return value
    branch = "`if`" if isinstance(yes, Unassigned) else "`else`"
    return Missing(f"{name} has no value in the {branch} branch: samples that take it would have none")


def result(value: Any) -> Any:
    """A merged value that is wanted: ArgumentError where there is none."""
    if isinstance(value, Missing):
        raise ArgumentError(str(object.__getattribute__(value, "_why")))
    return value
