"""The optimizer: a flat list of passes, each of which changes the plan. They match contracts, never names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock import _settings
from penstock.errors import GraphError
from penstock.graph.node import DataNode, OpNode
from penstock.op import Contract
from penstock.optimize.plan import Plan, Scope, Segment, Where, elements_of, is_data

_LOWER = {Contract.SAMPLER, Contract.PIXEL, Contract.STORE}  # what a source's rows go through


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
        if node not in plan.early and not is_data(node) and not node.op.in_python:  # whose segment is over by then
            plan.early.add(node)
            waiting += [s.source for s in elements_of(node)]  # of the others, the shape is known by then


def find_spared(plan: Plan) -> None:
    """Finds the copies to the GPU behind readers that can write there themselves: they are no part of the plan then."""
    for node in plan.nodes:
        if not node.op.copies_to_gpu or node in plan.early:
            continue
        above = node.inputs[0].source
        if (
            above.device == "cpu"
            and above not in plan.early
            and _only_reader(plan, above, node)
            and plan.scopes.get(above) == plan.scopes.get(node)
            and above.op.writes_to_gpu()
        ):
            plan.spared[node] = above


def find_followers(plan: Plan) -> None:
    """Marks chains behind sources that wait for files: they go where their source does, so that a video's frames need
    not lie in memory. What else they read must be arguments.
    """
    for node in plan.nodes:
        if node.op.contract not in _LOWER or node.device != "cpu" or not node.inputs or node in plan.early:
            continue
        above = node.inputs[0].source
        others = [data.source for data in node.sources() if data.source is not above]
        if (
            (above in plan.followers or (above.op.io and above.op.contract is Contract.SOURCE))
            and above not in plan.early
            and _only_reader(plan, above, node)
            and plan.scopes.get(above) == plan.scopes.get(node)
            and all(other in plan.early or is_data(other) for other in others)
        ):
            plan.followers.add(node)


def cut_segments(plan: Plan) -> None:
    """Readers, and what they depend on, wait for files apart from the rest; then CPU, GPU and Python take turns.

    What looks at all samples of its inputs begins a new segment, where all of them are there. So does each function in
    Python that reads what another one makes.
    """
    reading: set[OpNode] = set()
    waiting = [n for n in plan.nodes if (n.op.io and n.device == "cpu") or n in plan.followers]
    while waiting:
        node = waiting.pop()
        if node not in reading:
            reading.add(node)
            waiting += [s.source for s in node.sources()]
    first, then = _Turns([Where.IO, Where.PYTHON]), _Turns([Where.CPU, Where.GPU, Where.PYTHON])
    for node in plan.nodes:
        if is_data(node) or node in plan.spared:
            continue
        if node in reading:
            first.add(node, Where.PYTHON if node.op.in_python else Where.IO)
        else:
            on_device = Where.CPU if node.device == "cpu" else Where.GPU
            then.add(node, Where.PYTHON if node.op.in_python else on_device)
    plan.segments += first.segments() + then.segments()


class _Turns:
    """Kinds of segments, which take turns: a node is in the first one of its kind where all that it reads is there."""

    def __init__(self, kinds: list[Where]):
        self._kinds = kinds
        self._of: dict[OpNode, int] = {}

    def add(self, node: OpNode, kind: Where) -> None:
        """Nodes are added in topological order."""
        count = len(self._kinds)
        first = max((self._after(data) for data in node.sources()), default=0)
        turn = first + (self._kinds.index(kind) - first) % count
        if (node.op.batchwise or node.op.in_python) and any(self._of.get(s.source) == turn for s in node.sources()):
            turn += count
        self._of[node] = turn

    def _after(self, data: DataNode) -> int:
        """The first turn that may read this: what the GPU has copied to the CPU can be read when its turn is over."""
        turn = self._of.get(data.source, 0)
        return turn + (self._kind(turn) is Where.GPU and data.device == "cpu")

    def _kind(self, turn: int) -> Where:
        return self._kinds[turn % len(self._kinds)]

    def segments(self) -> list[Segment]:
        """Each with its nodes, as groups of one."""
        turns = sorted(set(self._of.values()))
        return [Segment([[n] for n, t in self._of.items() if t == turn], self._kind(turn)) for turn in turns]


def find_scopes(plan: Plan) -> None:
    """Finds the samples that nodes run on: those that have all that is read.

    Of several scopes one must be part of the others. A merge goes back to the scope of its predicate.
    """
    for node in plan.nodes:
        data = [node.op.tensors["predicate"]] if node.op.merges else node.sources()
        scope = _innermost(plan, node, data)
        if scope:
            plan.scopes[node] = scope
        if node.op.merges:
            for value, wanted in zip(node.inputs, (True, False), strict=True):
                own, branch = plan.scope(value), Scope.of(scope, data[0], wanted)
                if own and own not in branch.path():
                    which = (
                        f"input {int(not wanted)} is not of a branch for which this node, {data[0].name!r}, is {wanted}"
                    )
                    raise _split_apart(node, which)


def _innermost(plan: Plan, node: OpNode, data: Sequence[DataNode]) -> Scope | None:
    found: Scope | None = None
    for scope in map(plan.scope, data):
        if scope is None or (found and scope in found.path()):
            continue
        if found and found not in scope.path():
            raise _split_apart(node, "its inputs are of different branches, so that no sample has all of them")
        found = scope
    return found


def _split_apart(node: OpNode, problem: str) -> GraphError:
    return GraphError(f"{node.op.shown_name()}: {problem}\n  operator made at {node.location}")


def fuse(plan: Plan) -> None:
    """Joins decode → sampler → pixel → store chains: on the CPU into one pass over rows that stays in cache, on the GPU
    into one kernel that reads each picture once, or makes it of what the JPEG decoder leaves.

    Crops need no pass of their own: in a row pipeline each stage asks the one above only for the rows and columns
    that it needs, up to the decoder; in a kernel each pixel asks for the pixels that it needs.
    """
    for segment in plan.segments:
        on_gpu = segment.where is Where.GPU
        group_of = {group[-1]: group for group in segment.groups}
        for group in list(segment.groups):
            node = group[0]
            if node.op.contract not in _LOWER or node in plan.early or not node.inputs:
                continue
            above = node.inputs[0].source
            joined = group_of.get(above)
            if (
                joined is None
                or not _feeds(plan, above, on_gpu)
                or above in plan.early
                or not _only_reader(plan, above, node)
                or plan.scopes.get(above) != plan.scopes.get(node)
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
        (len(above.outputs) == 1 or (above.op.contract is Contract.SOURCE and node.inputs[0].index == 0))
        and len(others) == 1
        and not plan.is_output(above.outputs[0])
        and plan.element_consumers(above.outputs[0]) == [node]
    )


PASSES: list[Callable[[Plan], None]] = [
    find_scopes, find_planes, find_early, find_spared, find_followers, cut_segments, fuse,
]  # fmt: skip


def optimize(outputs: list[DataNode], preserved: list[OpNode]) -> Plan:
    """The plan for these outputs. ``PENSTOCK_FUSE=0`` leaves out fusion, for comparison."""
    plan = Plan(outputs)
    reach(plan, preserved)
    fusing = _settings.FUSE.value()
    for one in PASSES:
        if fusing or one not in (find_followers, fuse):
            one(plan)
    return plan
