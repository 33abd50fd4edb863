"""Makes batches for other processes: what runs in an actor, but for Ray."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

from penstock.errors import ArgumentError
from penstock.pipeline import Pipeline
from penstock.plugin.remote.units import Made, Unit
from penstock.read.order import Order
from penstock.run.readers import reader_of
from penstock.run.told import Told


class ReaderFacts(NamedTuple):
    """What trainers need to know of a reader."""

    order: Order
    identity: Mapping[str, Any]
    own_seed: bool  # its order does not depend on the pipeline's seed


class Facts(NamedTuple):
    """What trainers need to know of a pipeline.

    Attributes:
        state: of the pipeline before its first batch, which others must take over to be the same.
        may_skip: whether broken samples are left out.
    """

    batch_size: int
    seed: int
    readers: Mapping[str, ReaderFacts]
    random: Sequence[str]
    state: Mapping[str, Any]
    may_skip: bool


class Maker:
    """A pipeline that makes the batches it is asked for. Any number of threads may ask.

    Args:
        definition: returns the pipeline.
        state: `Facts.state` of another: an ArgumentError says what differs where the two would not give the same.
    """

    def __init__(self, definition: Callable[[], Pipeline], state: Mapping[str, Any] | None = None) -> None:
        self._definition = definition
        self._lock = threading.Lock()
        self._asked: deque[tuple[Unit, Future[Made]]] = deque()
        self._begun: deque[tuple[Unit, Future[Made]]] = deque()
        self._build(state)

    def _build(self, state: Mapping[str, Any] | None) -> None:
        pipe = self._definition()
        if not isinstance(pipe, Pipeline):
            raise ArgumentError(f"expected a function that returns a Pipeline, and it returned {type(pipe).__name__}")
        pipe.build() if state is None else pipe.load_state_dict(state)
        runner = pipe._built()
        if not runner.executor.program.readers or pipe.external_sources():
            raise ArgumentError(
                "a pipeline whose batches others are to make has a reader, which says what an epoch is, and no "
                "external sources"
            )
        facts, told = _facts(pipe), Told(runner, pipe._turn)
        self._pipe, self.facts, self._told = pipe, facts, told

    def make(self, unit: Unit) -> Made:
        """Makes a batch. Who comes first works for all that have come by then, so that the pipeline is never idle."""
        future: Future[Made] = Future()
        self._asked.append((unit, future))
        with self._lock:
            while not future.done():
                self._step()
        return future.result()

    def _step(self) -> None:
        """Starts what was asked for, and finishes the oldest."""
        while self._asked:
            unit, future = self._asked[0]
            if unit.seed != self.facts.seed and self._begun:
                break  # what was begun comes first
            self._asked.popleft()
            try:
                if unit.seed != self.facts.seed:
                    self._build({**self.facts.state, "seed": unit.seed})
                self._told.schedule(unit.samples)
            except Exception as failure:
                future.set_result(Made(failure=failure))
            else:
                self._begun.append((unit, future))
        if self._begun:
            unit, future = self._begun.popleft()
            future.set_result(self._finish(unit))

    def _finish(self, unit: Unit) -> Made:
        try:
            outputs = [output.as_cpu() for output in self._told.take()]
        except Exception as failure:
            broken = self._told.broken(unit.samples)
            return Made(broken=broken) if broken else Made(failure=failure)
        return Made([(output.layout(), _shown(output)) for output in outputs])


def _shown(output: Any) -> Any:
    """The memory of an output, as one array where that can be."""
    return output.as_array() if output.is_dense_tensor() else [output.at(i) for i in range(len(output))]


def _facts(pipe: Pipeline) -> Facts:
    program = pipe._built().executor.program
    readers = {}
    for node, _ in program.readers:
        reader = reader_of(node)
        if reader.num_shards != 1:
            raise ArgumentError(
                f"num_shards={reader.num_shards} of the reader {node.name!r}: leave num_shards and shard_id out, for "
                "each trainer says by itself which part it wants"
            )
        own_seed = reader.seed is not None and reader.seed >= 0
        readers[node.name] = ReaderFacts(reader.cursor.order, reader.identity(), own_seed)
    options = pipe._options
    return Facts(
        options.sizes()[0], options.seed, readers, list(program.draws), pipe.state_dict(), pipe.may_skip()
    )  # fmt: skip
