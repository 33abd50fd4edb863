"""Where the time went between two moments of a running pipeline."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.graph.node import OpNode
from penstock.op import Done
from penstock.optimize.plan import Plan, Where
from penstock.run.executor import Executor
from penstock.run.passes import Passes
from penstock.run.reads import Reads
from penstock.run.recording import Call, Called, Did, Phase, Recording

_OF_GPU = (Phase.LAUNCH, Phase.FLIGHT)  # in which it is the GPU's turn
_STAGES = ("read", "decode", "augment")  # as data goes


def stage_of(node: OpNode, where: Where) -> str:
    """``"read"``, ``"decode"`` or ``"augment"``: by the threads that it runs on, and as it declares."""
    return "read" if where is Where.IO else node.op.stage


@dataclass(frozen=True)
class Snapshot:
    """What the engine had counted at a moment."""

    nodes: list[tuple[OpNode, float, float, int]]
    stages: list[float]
    threads: list[tuple[float, float]]
    decoded: dict[OpNode, Done]
    passes: dict[OpNode, Passes]
    reads: dict[OpNode, Reads]

    @classmethod
    def of(cls, executor: Executor) -> Snapshot:
        """Now."""
        return cls(
            executor.node_times(), executor.stage_times(), executor.thread_times(), executor.decoded(),
            executor.passes(), executor.reads(),
        )  # fmt: skip


@dataclass(frozen=True)
class Work:
    """What a group of operators, one pass over the data, took of the processors' time."""

    operators: tuple[str, ...]
    stages: tuple[str, ...]  # of each of them
    where: Where
    samples: int
    setup: float  # seconds, of all threads together: finding shapes
    run: float  # likewise: the work itself; on a GPU, the CPU's part of it
    shares: tuple[float, ...]  # of each operator in `run`, measured in some of the samples; empty: not measured
    passes: Passes = field(default_factory=Passes)  # whether samples went through all of them at once

    @property
    def name(self) -> str:
        """The operators, joined by plus signs."""
        return "+".join(self.operators)

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.setup + self.run


@dataclass
class Figures:
    """Where the time went. All times are in seconds."""

    seconds: float = 0.0  # of the clock on the wall
    batches: int = 0
    samples: int = 0
    threads: int = 0  # that work on samples
    io_threads: int = 0
    work: list[Work] = field(default_factory=list)
    stages: dict[str, float] = field(default_factory=dict)  # read, decode, augment, gpu: time at work, of all threads
    busy: dict[str, float] = field(default_factory=dict)  # io, cpu, gpu: the share of their time at work, 0 to 1
    waits: dict[str, float] = field(default_factory=dict)  # see `_waits`
    source: float = 0.0  # in external sources, on the thread that takes batches
    schedule: float = 0.0
    handing_out: float = 0.0
    consumer: float = 0.0  # between the calls: the consumer's own
    decoded: dict[str, Done] = field(default_factory=dict)  # by name of decoders with device="mixed"
    reads: dict[str, Reads] = field(default_factory=dict)  # by name of readers that write to a GPU's memory


def figures(
    executor: Executor, plan: Plan, before: Snapshot, after: Snapshot, recording: Recording, start: int, end: int
) -> Figures:
    """Of the time between ``start`` and ``end``, in nanoseconds of the monotonic clock."""
    f = Figures(seconds=max(end - start, 1) * 1e-9)
    f.work = _work(plan, before, after)
    f.stages = _stages(f.work)
    f.decoded = {node.name: now.since(before.decoded[node]) for node, now in after.decoded.items()}
    f.reads = {node.name: now.since(before.reads.get(node, Reads())) for node, now in after.reads.items()}
    f.threads, f.io_threads = executor.threads, len(after.threads) - executor.threads
    busy = [b[0] - a[0] for a, b in zip(before.threads, after.threads, strict=True)]
    f.busy["cpu"] = sum(busy[: f.threads]) / (f.threads * f.seconds)
    if f.io_threads:
        f.busy["io"] = sum(busy[f.threads :]) / (f.io_threads * f.seconds)
    events = recording.events()
    if executor.device is not None:
        device = events[events["did"] == Did.DEVICE]
        f.stages["gpu"] = _overlap(zip(device["start_ns"].tolist(), device["end_ns"].tolist(), strict=True), start, end)
        f.busy["gpu"] = f.stages["gpu"] / f.seconds
    taken = events[(events["did"] == Did.WAIT) & (events["sample"] == 1)]
    f.batches, f.samples = len(taken), recording.samples
    called = _outermost(recording.called)
    f.waits = _waits(events, recording.called, plan, start, end)
    f.source = _sum(called, Call.SOURCE)
    f.schedule = _sum(called, Call.SCHEDULE)
    f.handing_out = max(_sum(called, Call.TAKE) - sum(f.waits.values()), 0.0)
    f.consumer = max(f.seconds - sum(f.waits.values()) - f.source - f.schedule - f.handing_out, 0.0)
    return f


def _work(plan: Plan, before: Snapshot, after: Snapshot) -> list[Work]:
    at = {row[0]: i for i, row in enumerate(after.nodes)}
    found = []
    for segment in plan.segments:
        for group in segment.groups:
            indices = [at[node] for node in group]
            setup = sum(after.nodes[i][1] - before.nodes[i][1] for i in indices)
            run = sum(after.nodes[i][2] - before.nodes[i][2] for i in indices)
            parts = [after.stages[i] - before.stages[i] for i in indices]
            shares = tuple(part / sum(parts) for part in parts) if sum(parts) > 0 else ()
            samples = after.nodes[indices[0]][3] - before.nodes[indices[0]][3]
            names = tuple(node.op.name for node in group)
            stages = tuple(stage_of(node, segment.where) for node in group)
            passes = after.passes.get(group[0], Passes()).since(before.passes.get(group[0], Passes()))
            found.append(Work(names, stages, segment.where, samples, setup, run, shares, passes))
    return found


def _stages(work: Iterable[Work]) -> dict[str, float]:
    """Time on the processors. A pass of several stages counts by its measured shares; without them, to its first."""
    stages: dict[str, float] = {}
    for one in work:
        stages.setdefault(one.stages[0], 0.0)
        stages[one.stages[0]] += one.setup
        for stage, share in zip(one.stages, one.shares or (1.0,), strict=False):
            stages[stage] = stages.get(stage, 0.0) + share * one.run
    return {stage: stages[stage] for stage in _STAGES if stage in stages}


def _sum(called: Iterable[Called], call: Call) -> float:
    return sum(one.end - one.start for one in called if one.call is call) * 1e-9


def _outermost(called: Iterable[Called]) -> list[Called]:
    """Without those within others: taking a batch may schedule others anew."""
    found: list[Called] = []
    ends: dict[int, int] = {}
    for one in sorted(called, key=lambda c: (c.start, -c.end)):
        if one.start >= ends.get(one.thread, 0):
            found.append(one)
            ends[one.thread] = one.end
    return found


def _overlap(spans: Iterable[tuple[int, int]], start: int, end: int) -> float:
    """The seconds of these spans within the time from start to end."""
    return sum(max(min(b, end) - max(a, start), 0) for a, b in spans) * 1e-9


def _waits(events: Any, called: Sequence[Called], plan: Plan, start: int, end: int) -> dict[str, float]:
    """How long the consumer waited, by what the batch that it waited for was at: ``read``, ``cpu`` or ``gpu``; and
    ``python``, from the moment when it was there, to get the interpreter back from other threads.
    """
    where_of = [segment.where for segment in plan.segments]
    path: dict[int, list[tuple[int, str]]] = defaultdict(list)  # by batch: (since when, at what)
    ready: dict[int, int] = {}  # on the GPU, where that came last
    for e in sorted(events.tolist()):
        when, till, batch, _, did, at, sample = e
        if did == Did.PHASE:
            where = where_of[at]
            on_gpu = where is Where.GPU and sample in _OF_GPU
            path[batch].append((when, "gpu" if on_gpu else "read" if where is Where.IO else "cpu"))
        elif did == Did.FINISHED:
            path[batch].append((when, "python"))
        elif did == Did.DEVICE:
            ready[batch] = till
    if any(where is Where.GPU for where in where_of):  # finished is what was launched; the GPU goes on
        for batch, steps in path.items():
            since, what = steps[-1]
            if what == "python":
                till = ready.get(batch)  # None: it was launched before the recording began
                steps[-1:] = [(since, "gpu")] if till is None else [(since, "gpu"), (max(till, since), "python")]
    waits: dict[str, float] = {}
    taken = sorted((e["start_ns"].item(), e["batch"].item()) for e in events[events["did"] == Did.WAIT])
    for one in called:
        if one.call is not Call.WAIT:
            continue
        i = bisect_right(taken, (one.end, 0))
        if not i or taken[i - 1][0] < one.start:
            continue
        steps = path[taken[i - 1][1]] or [(one.start, "python")]
        for (since, what), (until, _) in zip(steps, [*steps[1:], (one.end, "")], strict=True):
            part = _overlap([(max(since, one.start), min(until, one.end))], start, end)
            if part > 0:
                waits[what] = waits.get(what, 0.0) + part
        first = steps[0][0]
        unknown = _overlap([(one.start, min(first, one.end))], start, end)  # it was under way before this began
        if unknown > 0:
            waits[steps[0][1]] = waits.get(steps[0][1], 0.0) + unknown
    return waits
