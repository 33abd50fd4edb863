"""What threads did, and when, as bars in rows: of a recording, or of its last batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from penstock.optimize.plan import Plan, Where
from penstock.run.executor import Executor
from penstock.run.recording import Did, Recording, Writer

LAST = 8  # batches that are kept of a recording when it is over
_NAMES = {Did.SETUP: "setup", Did.PREPARE: "prepare", Did.LAUNCH_AHEAD: "launch ahead", Did.LAUNCH: "launch"}
_WRITERS = {
    Writer.LAUNCHER: "launches",
    Writer.AHEAD: "launches ahead",
    Writer.DEVICE: "GPU",
    Writer.PYTHON: "functions in Python",
}


@dataclass(frozen=True)
class Bar:
    """What a thread did. Times are nanoseconds of the monotonic clock."""

    row: int
    name: str
    start: int
    end: int
    batch: int = -1  # -1: of none
    sample: int = -1  # -1: of all, or of none


@dataclass(frozen=True)
class Timeline:
    """Rows by their numbers, in order, and what is in them."""

    rows: dict[int, str]
    bars: list[Bar]


def timeline(executor: Executor, plan: Plan, recording: Recording, last: int | None = None) -> Timeline:
    """Of all that was recorded, or of the ``last`` so many batches."""
    workers = len(executor.thread_times())
    rows = {n: f"worker {n}" if n < executor.threads else f"reader {n - executor.threads}" for n in range(workers)}
    of_python = any(segment.where is Where.PYTHON for segment in plan.segments)
    for writer, name in _WRITERS.items():
        if of_python if writer is Writer.PYTHON else executor.device is not None:
            rows[workers + writer] = name
    consumers = {ident: workers + len(Writer) + i for i, ident in enumerate({c.thread for c in recording.called})}
    rows |= {number: f"consumer {i}" if i else "consumer" for i, number in enumerate(consumers.values())}

    events, work = recording.events(), recording.work()
    spans = np.concatenate([work, events[events["did"] == Did.DEVICE]])
    since = None
    if last is not None and len(spans):
        spans = spans[spans["batch"] > spans["batch"].max() - last]
        since = int(spans["start_ns"].min())
    names = pass_names(executor, plan)
    bars = [
        Bar(thread, names[at] if did == Did.RUN else _NAMES.get(did, "GPU"), start, end, batch, sample)
        for start, end, batch, thread, did, at, sample in spans.tolist()
    ]
    for one in recording.called:
        if since is None or one.end > since:
            bars.append(Bar(consumers[one.thread], one.call.value, one.start, one.end))
    return Timeline(rows, bars)


def pass_names(executor: Executor, plan: Plan) -> list[str]:
    """What ran, by native number of its first node: operators of one pass are joined by plus signs."""
    group_of = {node: group for segment in plan.segments for group in segment.groups for node in group}

    def names() -> Iterator[str]:
        for node in executor.program.nodes:
            group = group_of[node]
            fused = group[0] is node and node not in plan.early
            yield "+".join(n.op.name for n in group) if fused else node.op.name

    return list(names())
