"""The optimizer: a flat list of passes, each of which changes the plan. They match contracts, never names."""

from __future__ import annotations

import os
from collections.abc import Callable

from penstock.graph.node import DataNode, OpNode
from penstock.op import Contract
from penstock.optimize.plan import Plan, Segment, is_constant


def reach(plan: Plan, extra: list[OpNode]) -> None:
    """Keeps what the outputs need, and nodes that asked to be preserved."""
    found: set[OpNode] = set()
    waiting = [o.source for o in plan.outputs] + extra
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += [s.source for s in node.sources()]
    plan.nodes = sorted(found, key=lambda n: n.number)


def find_early(plan: Plan) -> None:
    """Marks what must be known before shapes are: arguments, inputs whose contents decide shapes, and their sources."""
    waiting = [n for n in plan.nodes if n.op.early]
    for node in plan.nodes:
        waiting += [data.source for data in node.op.tensors.values()]
        waiting += [node.inputs[i].source for i in node.op.setup_reads if i < len(node.inputs)]
    while waiting:
        node = waiting.pop()
        if node not in plan.early and not is_constant(node):
            plan.early.add(node)
            waiting += [s.source for s in node.sources()]


def cut_segments(plan: Plan) -> None:
    """Readers, and what they depend on, wait for files apart from the rest."""
    reading: set[OpNode] = set()
    waiting = [n for n in plan.nodes if n.op.io]
    while waiting:
        node = waiting.pop()
        if node not in reading:
            reading.add(node)
            waiting += [s.source for s in node.sources()]
    work = [n for n in plan.nodes if not is_constant(n)]
    for io in (True, False):
        groups = [[n] for n in work if (n in reading) == io]
        if groups:
            plan.segments.append(Segment(groups, io))


def fuse_rows(plan: Plan) -> None:
    """Joins decode → sampler → pixel → store chains into one pass over rows that stays in cache.

    Crops need no pass of their own: in a row pipeline each stage asks the one above only for the rows and columns
    that it needs, up to the decoder.
    """
    upper = {Contract.SOURCE, Contract.SAMPLER, Contract.PIXEL}
    lower = {Contract.SAMPLER, Contract.PIXEL, Contract.STORE}
    for segment in plan.segments:
        group_of = {group[-1]: group for group in segment.groups}
        for group in list(segment.groups):
            node = group[0]
            if node.op.contract not in lower or node in plan.early or not node.inputs:
                continue
            above = node.inputs[0].source
            joined = group_of.get(above)
            if (
                joined is None
                or above.op.contract not in upper
                or above in plan.early
                or not _only_reader(plan, above, node)
            ):
                continue
            joined.append(node)
            del group_of[above]
            group_of[node] = joined
            segment.groups.remove(group)
        # A group runs where its last node stood, when all that it reads is there.
        segment.groups.sort(key=lambda g: g[-1].number)


def _only_reader(plan: Plan, above: OpNode, node: OpNode) -> bool:
    others: list[DataNode] = [d for d in node.sources() if d.source is above]
    return (
        len(above.outputs) == 1
        and len(others) == 1
        and not plan.is_output(above)
        and plan.consumers(above.outputs[0]) == [node]
    )


PASSES: list[Callable[[Plan], None]] = [find_early, cut_segments, fuse_rows]


def optimize(outputs: list[DataNode], preserved: list[OpNode]) -> Plan:
    """The plan for these outputs. ``PENSTOCK_FUSE=0`` leaves out fusion, for comparison."""
    plan = Plan(outputs)
    reach(plan, preserved)
    fuse = os.environ.get("PENSTOCK_FUSE", "1") != "0"
    for one in PASSES:
        if fuse or one is not fuse_rows:
            one(plan)
    return plan
