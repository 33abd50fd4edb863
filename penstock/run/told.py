"""A pipeline whose readers are told by others which samples to read: one that makes batches for other processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from penstock.errors import GraphError
from penstock.feed.turn import Turn, in_turn
from penstock.read.broken_samples import BrokenSample
from penstock.read.order import Indices, Order, Position
from penstock.run.readers import reader_of
from penstock.run.runner import Runner
from penstock.tensors import TensorListCPU, TensorListGPU


class Samples(NamedTuple):
    """What `penstock.read.order.Cursor.take` gives: all that a batch depends on, but for the pipeline and its seed."""

    indices: Indices
    epochs: Indices
    keys: Indices


class ToldCursor:
    """Stands in for a `Cursor`: it gives the samples that it was told, one iteration after the other.

    Attributes:
        state: the next iteration, by its number, as if it were a sample's.
    """

    def __init__(self, order: Order) -> None:
        self.order, self.state = order, Position(0, 0)
        self._told: dict[int, Samples] = {}
        self._count = 0

    def tell(self, samples: Samples) -> None:
        """The samples of one more iteration."""
        self._told[self._count] = samples
        self._count += 1

    def take(self, n: int) -> Samples:
        """Those of the next iteration."""
        samples = self._told[self.state.position]
        if len(samples.indices) != n:
            raise GraphError(f"a batch has {n} samples here, and {len(samples.indices)} were asked for")
        self.state = Position(0, self.state.position + 1)
        return samples

    def forget(self, state: Position) -> None:
        """Says that the state will not be set back to what it was before this one."""
        self._told = {number: samples for number, samples in self._told.items() if number >= state.position}


class Told:
    """Drives a runner whose readers are told what to read. Nothing else may run the pipeline from then on."""

    def __init__(self, runner: Runner, turn: Turn) -> None:
        self._runner, self._turn = runner, turn
        executor = runner.executor
        executor.cancel()
        self._cursors: dict[str, ToldCursor] = {}
        for node, _ in executor.program.readers:
            reader = reader_of(node)
            self._cursors[node.name] = ToldCursor(reader.cursor.order)
            reader.cursor = self._cursors[node.name]  # type: ignore[assignment]  # it has all that iterations need
        executor.go_to([Position(0, 0)] * len(self._cursors))

    @in_turn
    def schedule(self, samples: Mapping[str, Samples]) -> None:
        """Starts an iteration with these samples of each reader."""
        if samples.keys() != self._cursors.keys():
            raise GraphError(f"the readers are {sorted(self._cursors)}, and samples are said of {sorted(samples)}")
        for name, cursor in self._cursors.items():
            cursor.tell(Samples(*samples[name]))
        self._runner.schedule(lambda: None)

    @in_turn
    def take(self) -> Sequence[TensorListCPU | TensorListGPU]:
        """Waits for the oldest iteration, and gives its outputs, or raises why it failed."""
        return self._runner.take(gpu_too=True)

    def broken(self, samples: Mapping[str, Samples]) -> list[BrokenSample]:
        """Which of these samples were found broken so far, and may be left out."""
        found = self._runner.executor.broken.samples
        return [one for one in found if one.index in samples[one.reader].indices]
