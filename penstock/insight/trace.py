"""A recording in Chrome's trace format, which Perfetto and chrome://tracing show."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from penstock.insight.figures import Figures
from penstock.optimize.plan import Plan
from penstock.run.executor import Executor
from penstock.run.recording import Did, Recording
from penstock.run.timeline import timeline


def write(
    path: str | os.PathLike[str], executor: Executor, plan: Plan, recording: Recording, start: int, f: Figures
) -> None:
    """Writes it. Times count from ``start``."""
    passes = {work.name: str(work.passes) for work in f.work if work.passes.total}
    trace = {
        "traceEvents": list(_events(executor, plan, recording, start)),
        "displayTimeUnit": "ms",
        "otherData": {"passes": passes},
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file)


def _events(executor: Executor, plan: Plan, recording: Recording, start: int) -> Iterator[dict[str, Any]]:
    yield _named("process_name", 0, "penstock")
    shown = timeline(executor, plan, recording)
    for number, name in shown.rows.items():
        yield _named("thread_name", number, name)
    for bar in shown.bars:
        arguments = {"batch": bar.batch} if bar.batch >= 0 else {}
        arguments |= {"sample": bar.sample} if bar.sample >= 0 else {}
        yield _complete(bar.name, bar.row, bar.start - start, bar.end - bar.start, arguments)
    yield from _batches(recording.events(), plan, start)


def _batches(events: Any, plan: Plan, start: int) -> Iterator[dict[str, Any]]:
    """Each batch's way, as tracks of their own: the segments that it was in, and how long it lay ready."""
    steps: dict[int, list[tuple[int, str]]] = {}
    for since, till, batch, _, did, at, sample in sorted(events.tolist()):
        if did == Did.PHASE:
            name = f"segment {at + 1} ({plan.segments[at].where.name})"
            if not steps.get(batch) or steps[batch][-1][1] != name:
                steps.setdefault(batch, []).append((since, name))
        elif did == Did.FINISHED:
            steps.setdefault(batch, []).append((since, "ready"))
        elif did == Did.WAIT and sample:
            steps.setdefault(batch, []).append((till, ""))
    for batch, path in steps.items():
        common = {"cat": "batch", "id": batch, "pid": 1, "tid": 0}
        ends = [*path[1:], (path[-1][0], "")]
        yield {"ph": "b", "name": f"batch {batch}", "ts": (path[0][0] - start) / 1000, **common}
        for (since, name), (until, _) in zip(path, ends, strict=True):
            if name and until > since:
                yield {"ph": "b", "name": name, "ts": (since - start) / 1000, **common}
                yield {"ph": "e", "name": name, "ts": (until - start) / 1000, **common}
        yield {"ph": "e", "name": f"batch {batch}", "ts": (path[-1][0] - start) / 1000, **common}


def _named(kind: str, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": 1, "tid": thread, "args": {"name": name}}


def _complete(name: str, thread: int, since: int, lasting: int, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "ph": "X", "name": name, "pid": 1, "tid": thread, "ts": since / 1000, "dur": lasting / 1000, "args": arguments,
    }  # fmt: skip
