"""The optimizer: a flat list of passes, each of which changes the plan. They match contracts, never names."""

from __future__ import annotations

from collections.abc import Callable

from penstock import _settings
from penstock.graph.node import DataNode, OpNode
from penstock.op import Contract
from penstock.optimize.plan import Plan, Segment, Where, elements_of, is_data


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


def find_planes(plan: Plan) -> None:
    """Marks the decoders on the GPU whose pictures a kernel may finish."""
    for node in plan.nodes:
        chosen = node.op.chosen(node.device)
        if chosen and chosen.leaves_planes():
            plan.planes.add(node)


def find_early(plan: Plan) -> None:
    """Marks what must be known before shapes are: arguments, inputs whose contents decide shapes, and their sources."""
    waiting = [n for n in plan.nodes if n.op.early]
    for node in plan.nodes:
        waiting += [data.source for data in node.op.tensors.values()]
        waiting += [node.inputs[i].source for i in node.op.setup_reads if i < len(node.inputs)]
    while waiting:
        node = waiting.pop()
        if node not in plan.early and not is_data(node):
            plan.early.add(node)
            waiting += [s.source for s in elements_of(node)]  # of the others, the shape is known by then


def cut_segments(plan: Plan) -> None:
    """Readers, and what they depend on, wait for files apart from the rest; then CPU and GPU take turns.

    What looks at all samples of its inputs begins a new segment, where all of them are there.
    """
    reading: set[OpNode] = set()
    waiting = [n for n in plan.nodes if n.op.io]
    while waiting:
        node = waiting.pop()
        if node not in reading:
            reading.add(node)
            waiting += [s.source for s in node.sources()]
    round_of: dict[OpNode, int] = {}  # of reading
    turn: dict[OpNode, int] = {}  # odd: the GPU's
    for node in plan.nodes:
        if is_data(node):
            continue
        if node in reading:
            above = max((round_of.get(s.source, 0) for s in node.sources()), default=0)
            round_of[node] = above + (node.op.batchwise and _is_read_at(node, round_of, above))
            continue
        above = max((_turn_after(s, turn.get(s.source, 0)) for s in node.sources()), default=0)
        above += above % 2 != (node.device != "cpu")
        turn[node] = above + 2 * (node.op.batchwise and _is_read_at(node, turn, above))
    for number in sorted(set(round_of.values())):
        plan.segments.append(Segment([[n] for n in round_of if round_of[n] == number], Where.IO))
    for number in sorted(set(turn.values())):
        plan.segments.append(Segment([[n] for n in turn if turn[n] == number], Where.GPU if number % 2 else Where.CPU))


def _is_read_at(node: OpNode, segment_of: dict[OpNode, int], segment: int) -> bool:
    """Whether something that the node reads is made in this segment."""
    return any(segment_of.get(s.source) == segment for s in node.sources())


def _turn_after(data: DataNode, turn: int) -> int:
    """The first turn that may read this: what the GPU has copied to the CPU can be read when its turn is over."""
    return turn + (turn % 2 == 1 and data.device == "cpu")


def fuse(plan: Plan) -> None:
    """Joins decode → sampler → pixel → store chains: on the CPU into one pass over rows that stays in cache, on the GPU
    into one kernel that reads each picture once, or makes it of what the JPEG decoder leaves.

    Crops need no pass of their own: in a row pipeline each stage asks the one above only for the rows and columns
    that it needs, up to the decoder; in a kernel each pixel asks for the pixels that it needs.
    """
    lower = {Contract.SAMPLER, Contract.PIXEL, Contract.STORE}
    for segment in plan.segments:
        on_gpu = segment.where is Where.GPU
        group_of = {group[-1]: group for group in segment.groups}
        for group in list(segment.groups):
            node = group[0]
            if node.op.contract not in lower or node in plan.early or not node.inputs:
                continue
            above = node.inputs[0].source
            joined = group_of.get(above)
            if (
                joined is None
                or not _feeds(plan, above, on_gpu)
                or above in plan.early
                or not _only_reader(plan, above, node)
                or (on_gpu and node.op.tiled and not _cheap(joined))
                or (on_gpu and node.op.scattered and joined[0] in plan.planes)
            ):
                continue
            joined.append(node)
            del group_of[above]
            group_of[node] = joined
            segment.groups.remove(group)
        # A group runs where its last node stood, when all that it reads is there.
        segment.groups.sort(key=lambda g: g[-1].number)


def _feeds(plan: Plan, above: OpNode, on_gpu: bool) -> bool:
    """Whether what this node makes need not lie in memory."""
    if on_gpu and above.op.contract is Contract.SOURCE:
        return above in plan.planes
    return above.op.contract in {Contract.SOURCE, Contract.SAMPLER, Contract.PIXEL}


def _cheap(group: list[OpNode]) -> bool:
    """Whether a kernel may ask for the same pixels of this chain many times over."""
    return all(n.op.contract in {Contract.SOURCE, Contract.SAMPLER} and not n.op.tiled for n in group)


def _only_reader(plan: Plan, above: OpNode, node: OpNode) -> bool:
    others: list[DataNode] = [d for d in node.sources() if d.source is above]
    return (
        len(above.outputs) == 1
        and len(others) == 1
        and not plan.is_output(above)
        and plan.readers(above.outputs[0]) == [node]
    )


PASSES: list[Callable[[Plan], None]] = [find_planes, find_early, cut_segments, fuse]


def optimize(outputs: list[DataNode], preserved: list[OpNode]) -> Plan:
    """The plan for these outputs. ``PENSTOCK_FUSE=0`` leaves out fusion, for comparison."""
    plan = Plan(outputs)
    reach(plan, preserved)
    fusing = _settings.FUSE.value()
    for one in PASSES:
        if fusing or one is not fuse:
            one(plan)
    return plan
