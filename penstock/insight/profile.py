"""`profile`: where the time of a running pipeline goes, and what limits it."""

from __future__ import annotations

import os
import textwrap
import time
from types import TracebackType
from typing import Any

from penstock._values import whole_number
from penstock.errors import ArgumentTypeError, GraphError
from penstock.insight import machine, trace
from penstock.insight.figures import Figures, Snapshot, Work, figures
from penstock.insight.verdict import Verdict, judge, percent
from penstock.optimize.plan import Where
from penstock.pipeline import Pipeline
from penstock.run.recording import KEPT
from penstock.run.timeline import LAST, timeline


class Profile:
    """What `profile` measured. Printed, it is a report.

    ``bottleneck`` is ``"read"``, ``"decode"``, ``"augment"`` or ``"gpu"``; ``"consumer"``; ``"source"`` (external
    sources); ``"python"`` (other threads keep the interpreter busy, or the processors); or ``"none"``, if no batch was
    taken. ``evidence`` says in a sentence why, ``advice`` what would help. ``figures`` has all numbers, see
    `penstock.insight.figures.Figures`.
    """

    def __init__(self, pipe: Pipeline, trace: str | os.PathLike[str] | None = None):
        self._pipe = pipe
        self._trace = trace
        self._running = False
        self.figures = Figures()
        self._verdict = judge(self.figures, 1, False)
        self.lost = 0  # spans of time that the trace lacks, because they were too many

    def __enter__(self) -> Profile:
        executor = self._pipe._built().executor
        if executor.recording:
            raise GraphError("this pipeline is being profiled already")
        self._recording = executor.record()
        self._before, self._lost_before = Snapshot.of(executor), executor.spans_lost()
        self._running = True
        self._start = time.monotonic_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        end = time.monotonic_ns()
        runner = self._pipe._built()
        executor, plan = runner.executor, runner.plan
        self._running = False
        self._recording.stop()
        executor.recording = None
        if executor.closed:
            if error is None:
                raise GraphError("the pipeline was closed while it was profiled: close it behind the block")
            return
        after = Snapshot.of(executor)
        self.lost = executor.spans_lost() - self._lost_before + self._recording.dropped
        self.figures = figures(executor, plan, self._before, after, self._recording, self._start, end)
        mixed = any(node.device == "mixed" for node in plan.nodes)
        self._verdict = judge(self.figures, machine.usable_processors(), mixed)
        executor.last_batches = timeline(executor, plan, self._recording, last=LAST)
        if self._trace is not None:
            trace.write(self._trace, executor, plan, self._recording, self._start, self.figures)

    @property
    def verdict(self) -> Verdict:
        """Bottleneck, evidence and advice. GraphError as long as it is being measured."""
        if self._running:
            raise GraphError("the profile is complete at the end of its block")
        return self._verdict

    @property
    def bottleneck(self) -> str:
        """What limits the pipeline, in a word."""
        return self.verdict.bottleneck

    @property
    def evidence(self) -> str:
        """Why that is known."""
        return self.verdict.evidence

    @property
    def advice(self) -> str:
        """What would help."""
        return self.verdict.advice

    def spans(self) -> Any:
        """What threads of the engine did: an array of `penstock.run.recording.SPAN`, the last million of spans."""
        return self._recording.work()

    def __str__(self) -> str:
        if self._running:
            return "a profile that is being made"
        return report(self)


def report(profile: Profile) -> str:
    """The profile in words."""
    f = profile.figures
    wall = max(f.seconds, 1e-9)
    lines = [
        f"{f.batches} batches, {f.samples} samples in {f.seconds:.3f} s: {f.samples / wall:.0f} samples/s",
        f"bottleneck: {profile.bottleneck}",
        *_wrapped(profile.evidence),
        *_wrapped(f"What would help: {profile.advice}"),
        "",
        "stages                        at work",
    ]
    threads = {"read": f.io_threads or f.threads, "gpu": 1}
    for stage, seconds in f.stages.items():
        of = threads.get(stage, f.threads)
        share = percent(seconds / (of * wall))
        lines.append(f"  {stage:24}{seconds:9.3f} s   {share:>5} of {'the GPU' if stage == 'gpu' else f'{of} threads'}")
    lines += ["", "the thread that takes batches"]
    rows = {f"waits: {_WAITS[what]}": seconds for what, seconds in f.waits.items()}
    rows |= {
        "external sources": f.source,
        "scheduling": f.schedule,
        "handing out": f.handing_out,
        "its own": f.consumer,
    }
    for name, seconds in rows.items():
        lines.append(f"  {name:38}{seconds:9.3f} s   {percent(seconds / wall):>5}")
    width = max([30, *(len(work.name) + 2 for work in f.work)])
    lines += ["", f"{'operators (of all threads)':{width}}{'setup':>12}{'work':>12}{'samples':>10}"]
    for work in sorted(f.work, key=lambda w: -w.seconds):
        row = f"{'  ' + work.name:{width}}{work.setup:10.3f} s{work.run:10.3f} s{work.samples:10}{_where(work)}"
        lines.append(row)
        for operator, part in zip(work.operators, work.shares if len(work.operators) > 1 else (), strict=False):
            lines.append(f"{'    ' + operator:{width}}{'':12}{part * work.run:10.3f} s")
        if work.passes.apart:
            lines += _wrapped(str(work.passes))
    for name, decoded in f.decoded.items():
        named = "" if name.startswith("__") else f" {name!r}"
        lines += ["", f"files that {decoded.operator}{named} decoded", *_wrapped(str(decoded))]
    for name, reads in f.reads.items():
        named = "" if name.startswith("__") else f" of {name!r}"
        lines += ["", f"files into the GPU's memory{named}", *_wrapped(str(reads))]
    if profile.lost:
        lines.append(f"{profile.lost} spans are missing in the trace, which keeps {KEPT}")
    return "\n".join(lines)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 110, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


_WAITS = {
    "read": "the batch is being read",
    "cpu": "it is with worker threads",
    "gpu": "it is on the GPU",
    "python": "it is there, its thread not yet",
}


def _where(work: Work) -> str:
    return {Where.CPU: "", Where.IO: "  waits for files", Where.GPU: "  on the GPU; here the CPU's part"}[work.where]


def profile(pipe: Pipeline, batches: int | None = None, *, trace: str | os.PathLike[str] | None = None) -> Profile:
    """Measures where a pipeline's time goes, and names what limits it: reading, decoding, augmenting, or the consumer.

    Around a loop that takes batches, it measures them both; with ``batches``, it takes so many itself, as fast as they
    come, after a few that it does not count. Measuring slows the pipeline down by less than 2 %, without a profile it
    costs nothing. Figures of operators that run as one pass over the data are divided by clocks in an eighth of
    the samples.

    Args:
        pipe: the pipeline; it is built if that has not happened yet.
        batches: how many batches to take. None: the profile is a context manager.
        trace: a file to be written in Chrome's trace format (for ui.perfetto.dev, or chrome://tracing): what each
            thread did, and each batch's way.

    Errors: ArgumentTypeError and ArgumentError for arguments; GraphError if the pipeline is being profiled already, or
    is closed in the meantime; what the pipeline raises, StopIteration too if a source ends before that many batches.

    Example:
        >>> @pipeline_def(batch_size=8, num_threads=2, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     return fn.resize(fn.decoders.image(files), size=224)
        >>> pipe = pipeline()
        >>> with profile(pipe) as p:
        ...     for _ in range(4):
        ...         batch = pipe.run()
        >>> print(p)
        4 batches, 32 samples in ... s: ... samples/s
        bottleneck: ...
        >>> profile(pipe, batches=4).figures.samples
        32
    """
    if not isinstance(pipe, Pipeline):
        raise ArgumentTypeError(f"profile: pipe={pipe!r}: expected a Pipeline")
    if batches is None:
        return Profile(pipe, trace)
    batches = whole_number("profile: batches", batches, least=1)
    pipe.run()
    for _ in range(pipe._built().executor.pending()):  # those that were prepared before
        pipe.run()
    with Profile(pipe, trace) as measured:
        for _ in range(batches):
            pipe.run()
    return measured
