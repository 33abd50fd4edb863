"""The external sources of a running pipeline: what was fed, who is asked, and what an iteration gets.

Data waits under the number of the iteration that it is for, and stays there until that one is taken. So an iteration
that is cancelled, or interrupted on its way into the engine, finds its data again; and one whose data is refused fails
as a whole, in its turn, so that all sources and readers stay in step.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeviceError,
    GraphError,
    NoDataError,
    PenstockError,
    StoppedError,
    TensorError,
    UnknownArgumentError,
)
from penstock.feed.data import Fed, layout_of
from penstock.feed.input_op import InputOp
from penstock.feed.items import outputs_of
from penstock.feed.turn import Turn
from penstock.feed.workers.delivery import Delivery
from penstock.graph.node import DataNode, OpNode

_POLL_SECONDS = 0.1  # how soon it is noticed that the pipeline was closed while somebody waits for data

# Epoch and iteration of what a source gives.
Places = Mapping[str, tuple[int, int]]


@dataclass
class Given:
    """What one input gives to one iteration: a value per output."""

    name: str
    numbers: Sequence[int]  # of its values in the engine
    values: Sequence[Fed]
    place: tuple[int, int] | None = None  # epoch and iteration of the source; None: it was fed
    refused: PenstockError | None = None  # why there are no values

    @property
    def size(self) -> int:
        """Samples."""
        return self.values[0].size

    def numbered(self) -> Iterator[tuple[int, Fed]]:
        """The values with their numbers."""
        return zip(self.numbers, self.values, strict=True)


@dataclass
class Ready:
    """What all inputs give to one iteration, or why it fails."""

    given: Sequence[Given]
    size: int
    failure: PenstockError | None = None

    def after(self, places: Places) -> Places:
        """Where sources are behind this iteration, if they were here before it."""
        more = {g.name: (g.place[0], g.place[1] + 1) for g in self.given if g.place}
        return {**places, **more} if more else places


def _without_frames(error: PenstockError) -> PenstockError:
    """The same: its traceback's frames would keep what keeps it."""
    if error.__cause__:
        error.__cause__.__traceback__ = None
    error.__context__ = None
    return error.with_traceback(None)


@dataclass(eq=False)
class Input:
    """One external source."""

    node: OpNode
    numbers: list[int]  # of its values in the engine
    feed: Callable[..., Fed]
    batch_size: int
    fed: deque[Given] = field(default_factory=deque)  # by any thread, at any moment
    data: dict[int, Given] = field(default_factory=dict)  # by iteration, in order
    seen: dict[int, tuple[Any, ...]] = field(default_factory=dict)  # type, axes and layout, by output
    item: tuple[tuple[int, int], Any] | None = None  # that the source gave, and its place, until it is in `data`
    op: InputOp = field(init=False)  # the declaration

    def __post_init__(self) -> None:
        assert isinstance(self.node.op, InputOp)
        self.op = self.node.op

    def place(self, first: int) -> tuple[int, int]:
        """Epoch and iteration of what the source gives to iteration ``first``."""
        assert self.op.poll is not None
        waiting = (given.place for number, given in self.data.items() if number >= first and given.place)
        return next(waiting, (self.op.poll.epoch, self.op.poll.iteration))

    def accept(self, items: Sequence[Any], layout: str | None = None, stream: Any = None) -> Given:
        """What an iteration gets of this data: one batch per output. Raises what is wrong with it."""
        values = [self._value(k, item, layout, stream) for k, item in enumerate(items)]
        if len(values) > 1 and len({v.size for v in values}) > 1:
            raise self.wrong(f"its outputs have different numbers of samples: {[v.size for v in values]}")
        for k, v in enumerate(values):
            if v.size:
                self.seen[k] = v.facts
        return Given(self.node.name, self.numbers, values)

    def accept_fed(self, data: Any, layout: str | None, stream: Any) -> list[Given]:
        """What one iteration or several get of data that is fed. Raises what is wrong with it."""
        try:
            items = list(self.op.iterations(data, self.batch_size))
        except (TypeError, ValueError) as e:
            raise self.wrong(str(e)) from e
        return [self.accept(item, layout, stream) for item in items]

    def pull(self, number: int) -> None:
        """Lets what was fed wait for its iterations, at the earliest ``number``. Ctrl-C may come before each step."""
        while self.fed:
            last = next(reversed(self.data), number - 1)
            if self.data.get(last) is not self.fed[0]:
                self.data[max(number, last + 1)] = self.fed[0]
            self.fed.popleft()

    def ask(self, number: int) -> None:
        """Keeps what the source gives to iteration ``number``, or why that is refused. Ctrl-C may come at each step."""
        poll = self.op.poll
        assert poll is not None
        place = poll.epoch, poll.iteration
        if self.item is None or self.item[0] != place:
            self.item = place, poll.take(self.batch_size)
        try:
            given = self.accept(self._items(self.item[1]))
        except (TensorError, DeviceError) as e:
            given = Given(self.node.name, self.numbers, (), refused=_without_frames(e))
        given.place = place
        self.data[number] = given
        poll.iteration += 1  # as `finish_interrupted` does
        self.item = None
        poll.let_go()

    def finish_interrupted(self) -> None:
        """Has the source asked for what follows the data that waits."""
        poll = self.op.poll
        last = next(reversed(self.data.values()), None)
        if last is not None and last.place and poll and last.place == (poll.epoch, poll.iteration):
            poll.iteration += 1

    def _items(self, item: Any) -> Sequence[Any]:
        op = self.op
        try:
            if isinstance(item, Delivery):
                return item.outputs()
            return outputs_of(item, op.count, op.gives_batches())
        except DeviceError as e:
            raise DeviceError(self._text(str(e))) from e
        except TensorError as e:
            raise self.wrong(str(e)) from e

    def forget(self, first: int, coming: int) -> None:
        """Drops the data of iterations before ``first``, but for what may be repeated in iteration ``coming``."""
        data = self.data
        while data:
            number = next(iter(data))
            if number >= first or (self.op.repeat_last and number == coming - 1):
                return
            del data[number]

    def _value(self, k: int, item: Any, layout: str | None, stream: Any) -> Fed:
        op = self.op
        try:
            value = self.feed(
                item, layout or op.layouts[k], copy=not op.no_copy, stream=op.cuda_stream if stream is None else stream
            )
        except DeviceError as e:
            raise DeviceError(self._text(str(e))) from e
        except (TypeError, ValueError) as e:
            raise self.wrong(str(e)) from e
        if value.size > self.batch_size:
            raise self.wrong(f"a batch of {value.size} samples, but the pipeline's batch_size is {self.batch_size}")
        if not value.size:
            return value
        found, before = value.facts, self.seen.get(k)
        if found == before:  # and so it has what is asked of it
            return value
        for name, wanted, is_ in zip(("dtype", "ndim"), (op.dtypes[k], op.ndims[k]), found, strict=False):
            if wanted is not None and is_ != wanted:
                raise self.wrong(f"{name}={wanted!r}, but the data has {is_!r}")
        if before is not None and (found[:2] != before[:2] or (before[2] and found[2] != before[2])):
            raise self.wrong(f"type, axes and layout were {before} in earlier iterations, and are {found} now")
        return value

    def wrong(self, problem: str) -> TensorError:
        """An error about its data."""
        return TensorError(self._text(problem))

    def _text(self, problem: str) -> str:
        return f"{self.op.shown_name()} {self.node.name!r}: {problem}\n  operator made at {self.node.location}"


class Inputs:
    """All external sources of a pipeline. `feed` may be called from any thread at any moment, the rest by who has the
    turn.

    ``numbers`` tells the oldest iteration that nobody has taken, and the next one to be scheduled.
    """

    def __init__(
        self, inputs: Iterable[Input], batch_size: int, full: bool, turn: Turn, closed: Callable[[], bool],
        numbers: Callable[[], tuple[int, int]],
    ):  # fmt: skip
        self._inputs = {i.node.name: i for i in inputs}
        self._batch_size, self._full, self._turn = batch_size, full, turn
        self._closed, self._numbers = closed, numbers
        self._nothing_new = threading.Lock()  # a plain one, unlocked by whoever feeds: signal handlers may, too
        self._asked = 0

    def feed(self, to: str | DataNode, data: Any, layout: str | None, stream: Any) -> None:
        """Queues a batch for an input, given by its name or node."""
        self._queue([self._accepted(to, data, layout, stream)])

    def feed_all(self, batches: Mapping[str, Any]) -> None:
        """Queues a batch for each of these inputs, or for none where one is refused: so they stay in step."""
        self._queue([self._accepted(name, data, None, None) for name, data in batches.items()])

    def _queue(self, accepted: Iterable[tuple[Input, Sequence[Given]]]) -> None:
        for one, given in accepted:
            one.fed.extend(given)
        with suppress(RuntimeError):  # nobody waits
            self._nothing_new.release()

    def _accepted(
        self, to: str | DataNode, data: Any, layout: str | None, stream: Any
    ) -> tuple[Input, Sequence[Given]]:
        if not isinstance(to, (str, DataNode)):
            raise ArgumentTypeError(f"feed_input(): {to!r}: expected the name of an input, or its node")
        one = self._named(to if isinstance(to, str) else to.source.name)
        if one.op.poll:
            raise GraphError(f"feed_input(): external_source {one.node.name!r} has a source, so it takes nothing else")
        declared, told = one.op.layouts[0], layout or layout_of(data)
        if declared and told and told != declared:
            raise one.wrong(f"layout={declared!r}, but the data has {told!r}")
        return one, one.accept_fed(data, layout, stream)

    def check(self, name: str) -> None:
        """Raises UnknownArgumentError if there is no input of this name."""
        self._named(name)

    def check_complete(self, names: Collection[str]) -> None:
        """Raises NoDataError if an iteration would lack data even when these inputs are fed."""
        for name in names:
            self.check(name)
        for one in self._inputs.values():
            if one.node.name not in names and not (self._ready(one) or one.op.blocking or one.op.repeat_last):
                raise self._nothing(one)

    def take(self, needed: Callable[[], bool]) -> Ready | None:
        """The data of the next iteration: some for each input.

        None if it is not ``needed`` and something was not fed yet. Raises NoDataError where it is; what sources raise,
        StopIteration too. Data that others have given by then is kept for later. Where data is refused, or inputs
        differ in size, the iteration is one that fails.
        """
        if not self._inputs:
            return Ready((), self._batch_size)
        while (lacking := self._lacking()) is not None:
            if not needed():
                return None
            coming = self._numbers()[1]
            if lacking.op.repeat_last and coming - 1 in lacking.data:
                lacking.data[coming] = lacking.data[coming - 1]
            else:
                self._wait_for(lacking)
        coming = self._numbers()[1]
        given = []
        for one in self._inputs.values():
            if one.op.poll:
                if one.data:
                    one.finish_interrupted()
                if coming not in one.data:
                    self._ask(one, coming)
            given.append(one.data[coming])
        if len(given) == 1 and not self._full and not given[0].refused:
            return Ready(given, given[0].size)
        failure = next((g.refused for g in given if g.refused), None) or self._wrong_sizes(given)
        return Ready(given, self._batch_size if failure else given[0].size, failure)

    def forget(self) -> None:
        """Lets go of the data of iterations that were taken."""
        if self._inputs:
            first, coming = self._numbers()
            for one in self._inputs.values():
                one.forget(first, coming)

    def _ask(self, one: Input, coming: int) -> None:
        self._asked += 1
        self._turn.asking = one.node.name, self._asked
        try:
            one.ask(coming)
        finally:
            self._turn.asking = None

    def _ready(self, one: Input) -> bool:
        if one.op.poll:
            return True
        coming = self._numbers()[1]
        one.pull(coming)
        return coming in one.data

    def _lacking(self) -> Input | None:
        """An input that was to be fed for the next iteration, and was not."""
        for one in self._inputs.values():
            if not (one.op.poll or self._ready(one)):
                return one
        return None

    def _wait_for(self, one: Input) -> None:
        if not one.op.blocking:
            raise self._nothing(one)
        if self._closed():
            raise StoppedError(f"the pipeline was closed while it waited for data for {one.node.name!r}")
        self._nothing_new.acquire(blocking=False)
        if not one.fed:
            self._turn.pause(lambda: self._nothing_new.acquire(timeout=_POLL_SECONDS))

    def _wrong_sizes(self, given: Sequence[Given]) -> TensorError | None:
        sizes = {g.name: g.size for g in given}
        if self._full and any(size != self._batch_size for size in sizes.values()):
            return TensorError(f"a reader gives batches of {self._batch_size} samples, external sources {sizes}")
        if len(set(sizes.values())) > 1:
            return TensorError(f"external sources give batches of different sizes: {sizes}")
        return None

    def restart(self, places: Places) -> None:
        """Begins the epoch behind these places: sources that can, do; what they gave ahead is dropped."""
        for name, one in self._inputs.items():
            if one.op.poll and one.op.poll.restarts:
                one.data.clear()
                one.item = None
                one.op.poll.restart(places[name][0] + 1)

    def places(self) -> Places:
        """Where sources stand that can go on from anywhere: by name, the epoch and iteration of what they gave to the
        oldest iteration that nobody has taken, or else give next.
        """
        first = self._numbers()[0]
        return {name: i.place(first) for name, i in self._inputs.items() if i.op.poll}

    def go_to(self, places: Mapping[str, Sequence[int]]) -> None:
        """Lets sources go on from there."""
        for name, place in places.items():
            poll = self._named(name).op.poll
            if poll is None or not poll.indexed:
                raise ArgumentError(f"checkpoint: the source of {name!r} cannot be told where to go on")
            poll.epoch, poll.iteration = place

    def in_batches(self, name: str, place: tuple[int, int], before: int, size: int) -> tuple[int, int]:
        """A source's place, counted in batches of another size; ArgumentError where none begins there."""
        epoch, iteration = place
        if before == size or not iteration:
            return place
        if self._named(name).op.batch is False and iteration * before % size == 0:
            return epoch, iteration * before // size
        raise ArgumentError(
            f"checkpoint: the source of external_source {name!r} had given {iteration} batches of {before} samples: it "
            f"cannot go on with batches of {size}"
        )

    def indexed(self) -> list[str]:
        """Names of the sources that can go on from anywhere."""
        return [name for name, i in self._inputs.items() if i.op.poll and i.op.poll.indexed]

    def forgetful(self) -> list[str]:
        """Names of the sources that cannot."""
        return [name for name, i in self._inputs.items() if i.op.poll and not i.op.poll.indexed]

    def _named(self, name: str) -> Input:
        if name not in self._inputs:
            known = ", ".join(map(repr, self._inputs)) or "none"
            raise UnknownArgumentError(f"the pipeline has no input named {name!r}; there are: {known}")
        return self._inputs[name]

    def _nothing(self, one: Input) -> NoDataError:
        return NoDataError(
            f"{one.op.shown_name()} {one.node.name!r} has no data for this iteration: call "
            f"feed_input({one.node.name!r}, batch) before run(), or "
            f"run({one.node.name}=batch)\n  operator made at {one.node.location}"
        )
