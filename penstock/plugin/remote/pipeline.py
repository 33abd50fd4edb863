"""A pipeline whose batches are made elsewhere: what a trainer's iterator runs."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.errors import ArgumentError, GraphError
from penstock.graph.blame import warn
from penstock.pipeline.ways import Ways
from penstock.plugin.remote.crew import Crew
from penstock.plugin.remote.maker import Facts, ReaderFacts
from penstock.plugin.remote.units import Made, Unit
from penstock.read.broken_samples import BrokenSample, report
from penstock.read.order import Cursor, EpochOrder, LastBatch, Order, Position, check_last_batch
from penstock.run.checkpoint import check_readers, restore_readers, with_readers
from penstock.run.state import State, parse
from penstock.run.told import Samples
from penstock.tensors import TensorListCPU
from penstock.tensors.arrays import writable
from penstock.types import PipelineAPIType

Places = tuple[Position, ...]


class RemoteReader:
    """A reader of a pipeline elsewhere, of which this process has the order."""

    def __init__(self, name: str, facts: ReaderFacts, shard_id: int, num_shards: int, seed: int) -> None:
        self._identity = {**facts.identity, "num_shards": num_shards}
        order = facts.order
        if isinstance(order, EpochOrder):
            order = order.for_shard(shard_id, num_shards, order.seed if facts.own_seed else seed)
        elif num_shards != 1:
            raise ArgumentError(f"num_shards={num_shards}: the reader {name!r} has a sampler, which says what is read")
        self.cursor = Cursor(order)

    def identity(self) -> dict[str, Any]:
        """What a position in its order depends on."""
        return self._identity


@dataclass
class _Coming:
    """A batch that was asked for."""

    number: int
    samples: Mapping[str, Samples]
    begin: Places
    end: Places
    made: Made | None = None


class RemotePipeline:
    """Stands for a `Pipeline` in iterators of `penstock.plugin`: the same epochs and states, made by a crew.

    Which samples a batch has is decided here, by the readers' own orders, and the crew is told; so a batch that was
    lost is asked for again, and none comes twice.

    Attributes:
        max_batch_size: samples of a batch.
        device_id: None: batches are on the CPU.
    """

    device_id = None

    def __init__(
        self, crew: Crew, facts: Facts, shard_id: int = 0, num_shards: int = 1, ahead: int = 8, checkpoint: Any = None
    ) -> None:
        if ahead < 1:
            raise ArgumentError(f"ahead={ahead}: expected one batch or more")
        self._crew, self._facts, self._ahead = crew, facts, ahead
        self._shard = shard_id, num_shards
        self._queue: deque[_Coming] = deque()
        self._handed_out = 0
        self._known: set[tuple[str, int]] = set()  # broken samples, by reader
        self._unreported: list[BrokenSample] = []
        self._ways = Ways()
        self._place: Places = ()
        self.max_batch_size = facts.batch_size
        self._go_to(None if checkpoint is None else self._checked(checkpoint))

    # What iterators run (`penstock.plugin.pipeline_like`).

    def build(self) -> None:
        """Nothing is to be done: the actors have built it."""

    def using(self, way: PipelineAPIType) -> Ways:
        """For a ``with`` block that runs the pipeline in one of the ways that must not be mixed."""
        return self._ways.using(way)

    def empty(self) -> bool:
        """Whether no batch was asked for."""
        return not self._queue

    def schedule_run(self) -> None:
        """Asks for a batch; the first call asks for as many as are prepared ahead."""
        for _ in range(1 if self._queue else self._ahead):
            self._ask()

    def wait(self) -> None:
        """Waits for the oldest batch, without samples that turn out to be broken."""
        if not self._queue:
            raise GraphError("no batch was asked for: call schedule_run() first")
        while True:
            first = self._queue[0]
            first.made = first.made or self._crew.take(first.number)
            if not first.made.broken:
                return
            self._leave_out(first.made.broken)

    def share_outputs(self, cuda_stream: Any = None) -> list[TensorListCPU]:
        """Waits for the oldest batch, and hands it out: lists of tensors in the memory that it came in."""
        self.wait()
        one = self._queue.popleft()
        assert one.made is not None
        self._place, self._handed_out = one.end, self._handed_out + 1
        for reader, place in zip(self._readers.values(), one.end, strict=True):
            reader.cursor.forget(place)
        if one.made.failure:
            raise one.made.failure
        self._warn_of_past()
        return [_batch(layout, data) for layout, data in one.made.outputs]

    def release_outputs(self) -> None:
        """Nothing is to be done: memory is given back with the last tensor that shows it."""

    def handed_out(self) -> int:
        """How many batches were handed out so far, those included that failed."""
        return self._handed_out

    def reset(self) -> None:
        """Throws away what was asked for: the next batch follows the last one that was handed out."""
        self._crew.drop([one.number for one in self._queue])
        self._queue.clear()
        self._set_cursors(self._place)

    def start_epoch(self, epoch: int) -> None:
        """Throws away what was asked for; the next batch begins with the epoch's first samples."""
        self._place = (Position(epoch, 0),) * len(self._readers)
        self.reset()

    def set_last_batch(self, reader: str, last_batch: LastBatch) -> None:
        """Throws away what was asked for, and sets it for a reader and for those of as many samples."""
        size = self._named(reader).identity()["samples"]
        for one in self._readers.values():
            if one.identity()["samples"] == size:
                one.cursor.order.last_batch = check_last_batch(last_batch)
        self.reset()

    def reader_meta(self, name: str | None = None) -> dict[str, Any]:
        """Size and shards of a reader; without a name, those of all by their names."""
        if name is None:
            return {key: self.reader_meta(key) for key in self._readers}
        return self.reader_order(name).reader_meta()

    def reader_order(self, name: str) -> Order:
        """The order in which a reader reads."""
        return self._named(name).cursor.order

    def reader_position(self, name: str) -> Position:
        """Where a reader is: the first sample that was not handed out yet."""
        self._named(name)
        return self._place[list(self._readers).index(name)]

    def may_skip(self) -> bool:
        """Whether broken samples are left out, so that epochs may turn out to be shorter."""
        return self._facts.may_skip

    # States (docs/checkpoints.md).

    @property
    def is_restored_from_checkpoint(self) -> bool:
        """Whether it goes on from a state."""
        return self._restored is not None

    def checkpoint(self) -> str:
        """The state behind the last batch that was handed out, as `Pipeline.checkpoint` gives it."""
        return self.checkpoint_of(None)

    def checkpoint_of(self, noted: Mapping[str, Any] | None) -> str:
        """The same, with what an iterator notes in it."""
        before = parse(self._facts.state)
        state = replace(before, seed=self._seed, batch_size=self.max_batch_size, iterator=noted)
        return with_readers(state, self._readers, self._place).text()

    def state_dict(self) -> dict[str, Any]:
        """What `checkpoint` says, as an object of JSON."""
        return json.loads(self.checkpoint())  # type: ignore[no-any-return]

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on where a pipeline was, here or in actors, or several of them (`penstock.merge_states`)."""
        parsed = self._checked(state)
        self.reset()
        self._go_to(parsed)

    def check_state(self, state: Any) -> None:
        """Raises ArgumentError where `load_state_dict` would."""
        self._checked(state)

    def noted_by_iterator(self) -> Mapping[str, Any] | None:
        """What an iterator noted in the state that the pipeline went on from."""
        return self._restored.iterator if self._restored else None

    def statistics(self) -> dict[str, int]:
        """Of what came so far: ``batches``, their ``bytes``, and ``again``: how often one was asked for anew, of
        another actor.
        """
        return self._crew.statistics()

    def _checked(self, state: Any) -> State:
        parsed = parse(state)
        check_readers(self._made_readers(parsed.seed), self._facts.random, [], parsed)
        return parsed

    def _made_readers(self, seed: int) -> dict[str, RemoteReader]:
        return {n: RemoteReader(n, facts, *self._shard, seed) for n, facts in self._facts.readers.items()}

    def _go_to(self, state: State | None) -> None:
        self._restored = state
        self._seed = state.seed if state else self._facts.seed
        self._readers = self._made_readers(self._seed)
        places = restore_readers(self._readers, state) if state else [Position(0, 0)] * len(self._readers)
        self._place = tuple(Position(*place) for place in places)
        self._handed_out = 0
        self._set_cursors(self._place)

    def _named(self, name: str) -> RemoteReader:
        if name not in self._readers:
            raise ArgumentError(f"there is no reader named {name!r}; there are: {', '.join(self._readers)}")
        return self._readers[name]

    def _set_cursors(self, places: Places) -> None:
        for reader, place in zip(self._readers.values(), places, strict=True):
            reader.cursor.state = place

    def _states(self) -> Places:
        return tuple(reader.cursor.state for reader in self._readers.values())

    def _ask(self) -> None:
        begin = self._states()
        samples = {n: Samples(*reader.cursor.take(self.max_batch_size)) for n, reader in self._readers.items()}
        number = self._crew.want(Unit(self._seed, samples))
        self._queue.append(_Coming(number, samples, begin, self._states()))

    def _leave_out(self, broken: Sequence[BrokenSample]) -> None:
        """Asks anew for all that was asked for, now without these samples."""
        news = [one for one in broken if (one.reader, one.index) not in self._known]
        if not news:  # this would have no end
            raise broken[0].error
        for one in news:
            self._known.add((one.reader, one.index))
            self._named(one.reader).cursor.order.broken.add(one.index, one.action)
        files = {one.file or one.index: one for one in reversed(news)}
        self._unreported += reversed(files.values())
        count = len(self._queue)
        self.reset()
        for _ in range(count):
            self._ask()

    def _warn_of_past(self) -> None:
        epoch = min(place.epoch for place in self._place)
        past = [one for one in self._unreported if one.epoch < epoch]
        for number in sorted({one.epoch for one in past}):
            self._unreported = [one for one in self._unreported if one.epoch != number]
            warn(report([one for one in past if one.epoch == number]), UserWarning)


def _batch(layout: str, data: Any) -> TensorListCPU:
    """A list of tensors in memory that nobody else has, though it came as memory to be read only."""
    shown = [writable(one) for one in data] if isinstance(data, list) else writable(data)
    return TensorListCPU(shown, layout or None)
