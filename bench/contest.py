"""Contestants side by side: each lives in a process of its own, and they take turns, round by round (A B A B).

A contestant that has no turn is stopped (SIGSTOP), with all its workers: refilling a queue would cost the others their
cores.
"""

from __future__ import annotations

import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench import machine

# Runs the worker of this checkout with the library of another.
OTHER = (
    "import sys, runpy; sys.path.insert(0, sys.argv.pop(1)); import penstock; del sys.path[0]; "
    "runpy.run_module('bench.worker', run_name='__main__', alter_sys=True)"
)
SPIN = "while True: sum(i * i for i in range(1000))"
AT_ONCE = 4  # that are tuned in one contest: all of them hold memory


class ContestantError(Exception):
    """A contestant's process ended; what it printed is in the text."""


@dataclass
class Contestant:
    """Who (penstock, dali, pillow or opencv) does what with how many threads, and how each round went."""

    who: str
    work: str
    root: Path
    threads: int = 2
    batch: int = 256
    load: float | None = None  # share of the pictures for the GPU's decoder; None: on the CPU
    engine: str = ""  # jpeg_engine, of Penstock
    fancy: bool = False  # chroma is interpolated on the GPU, too
    index: str = ""  # jpeg_index, of Penstock
    depth: int = 2  # prefetch_queue_depth
    gpus: int = 1
    budget: str = ""  # PENSTOCK_DEVICE_MEMORY
    checkout: Path | None = None  # whose library it is; None: this one's
    kind: str = "plain"  # or "busy": the main thread runs pure Python meanwhile; "beside": another process does
    rates: list[float] = field(default_factory=list)
    peak: float = 0  # MB
    pss: float = 0  # MB
    spent: float = math.inf  # milliseconds of all processors for a picture, in the best round

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    @property
    def spread(self) -> str:
        return f"{min(self.rates):.0f}-{max(self.rates):.0f}"

    def command(self) -> list[str]:
        """What starts its process, which answers as bench/worker.py does."""
        names = ("who", "work", "threads", "batch", "load", "engine", "fancy", "index", "depth", "gpus")
        settings = {name: getattr(self, name) for name in names}
        worker = ["-c", OTHER, str(self.checkout)] if self.checkout else ["-m", "bench.worker"]
        return [sys.executable, *worker, json.dumps({**settings, "root": str(self.root)})]

    @contextmanager
    def process(self) -> Iterator[subprocess.Popen[str]]:
        with tempfile.TemporaryFile("w+") as errors:
            budget = {"PENSTOCK_DEVICE_MEMORY": self.budget} if self.budget else {}
            process = subprocess.Popen(
                self.command(),
                env={**os.environ, **budget},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
            try:
                yield process
            except ContestantError as error:
                errors.seek(0)
                raise ContestantError(f"{error}\n{errors.read()[-2000:]}") from None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # a DataLoader's workers too
                process.communicate()

    def await_start(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        if not process.stdout.readline():
            raise ContestantError(f"{self.who} {self.work}: did not start")
        os.killpg(process.pid, signal.SIGSTOP)

    def round(self, process: subprocess.Popen[str], seconds: float) -> None:
        assert process.stdin
        assert process.stdout
        beside = subprocess.Popen([sys.executable, "-c", SPIN]) if self.kind == "beside" else None
        os.killpg(process.pid, signal.SIGCONT)
        try:
            process.stdin.write(json.dumps({"kind": self.kind, "seconds": seconds}) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        finally:
            if beside:
                beside.kill()
                beside.wait()
        if not answer:
            raise ContestantError(f"{self.who} {self.work}: the process ended")
        os.killpg(process.pid, signal.SIGSTOP)
        result = json.loads(answer)
        self.rates.append(result["rate"])
        self.spent = min(self.spent, 1000 * result["cores"] / result["rate"])
        self.peak, self.pss = max(self.peak, result["peak"]), max(self.pss, result["pss"])


def contest(contestants: Sequence[Contestant], rounds: int, seconds: float) -> None:
    """Times all contestants; ``rates`` of each holds one figure per round afterwards."""
    with ExitStack() as stack:
        processes = [stack.enter_context(contestant.process()) for contestant in contestants]
        pairs = list(zip(contestants, processes, strict=True))
        for contestant, process in pairs:
            contestant.await_start(process)
        for _ in range(rounds):
            for contestant, process in pairs:
                contestant.round(process, seconds)


def gpu_memory(contestant: Contestant, seconds: float) -> int:
    """Megabytes of the GPU's that it takes, by itself, once it has run for so long; CUDA's own are among them."""
    before = machine.gpu_memory()
    alone = replace(contestant, rates=[])
    with alone.process() as process:
        alone.await_start(process)
        alone.round(process, seconds)
        return machine.gpu_memory() - before


def fastest(candidates: Sequence[Contestant], seconds: float) -> Contestant:
    """The one with the best settings, by one short round of each; without these rounds' figures."""
    for first in range(0, len(candidates), AT_ONCE):
        some = candidates[first : first + AT_ONCE]
        contest(some, 1, seconds)
        for c in some:
            print(f"  {c.who} {c.work}: {c.threads} threads, {c.engine} load {c.load}: {c.rate:.0f}", flush=True)
    return replace(max(candidates, key=lambda c: c.rate), rates=[])


def ratio(a: Contestant, b: Contestant) -> float:
    """How many times faster a is: the median over the rounds, each compared with its neighbour in time."""
    return statistics.median(x / y for x, y in zip(a.rates, b.rates, strict=True))
