"""Conditionals where all is known: which samples take a branch, and both branches together again."""

from __future__ import annotations

from typing import Any

from penstock.eager.compute import select
from penstock.eager.data import Rows, Tensors, given
from penstock.errors import GraphError
from penstock.graph.node import OpNode
from penstock.tensors import TensorListCPU


def rows_of(predicate: Any, size: int) -> tuple[Rows, Rows]:
    """The samples for which a predicate is true, and those for which it is false."""
    rows = range(size) if predicate.rows is None else predicate.rows
    truths = [bool(predicate.value.at(k)) for k in range(len(predicate.value))]
    return (
        tuple(row for row, truth in zip(rows, truths, strict=True) if truth),
        tuple(row for row, truth in zip(rows, truths, strict=True) if not truth),
    )


def fill_up(node: OpNode, predicate: Any, size: int) -> None:
    """Gives a merge inputs of all samples: where a sample does not take a branch, any stands in for it there."""
    parts = rows_of(predicate, size)
    everything: Rows = tuple(sorted((*parts[0], *parts[1])))
    inputs: list[Any] = list(node.inputs)
    for k, data in enumerate(inputs):
        if getattr(data, "value", None) is None:  # a constant
            continue
        if data.rows is not None and not set(parts[k]) <= set(data.rows):
            raise GraphError(
                f"{node.op.shown_name()}: input {k} is not of a branch for which {predicate.name!r} is {not k}\n"
                f"  operator made at {node.location}"
            )
        value = _filled(data, everything, inputs[1 - k])
        node.inputs[k] = given(value, predicate.rows)


def _filled(data: Any, rows: Rows, other: Any) -> Tensors:
    value: Tensors = data.value
    places = range(len(value)) if data.rows is None else data.rows
    if tuple(places) == rows:
        return value
    at = {row: k for k, row in enumerate(places)}
    if not len(value):
        literal = other.source.op.literal()
        any_other = other.value if literal is None else TensorListCPU([literal.array], literal.layout or None)
        return select(any_other, [0] * len(rows))
    return select(value, [at.get(row, 0) for row in rows])
