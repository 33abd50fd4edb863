"""The external sources of a running pipeline: what was fed, who is asked, and what an iteration gets.

Data waits under the number of the iteration that it is for, and stays there until that one is taken. So an iteration
that is cancelled, or interrupted on its way into the engine, finds its data again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeviceError,
    GraphError,
    NoDataError,
    StoppedError,
    TensorError,
    UnknownArgumentError,
)
from penstock.graph.node import DataNode, OpNode
from penstock.read.external import ExternalSource
from penstock.run.feed import Fed

_POLL_SECONDS = 0.1  # how soon it is noticed that the pipeline was closed while somebody waits for data


@dataclass
class Given:
    """What one input gives to one iteration: a value per output."""

    name: str
    numbers: Sequence[int]  # of its values in the engine
    values: Sequence[Fed]
    place: tuple[int, int]  # epoch and iteration of the source

    @property
    def size(self) -> int:
        """Samples."""
        return self.values[0].size

    def numbered(self) -> Iterator[tuple[int, Fed]]:
        """The values with their numbers."""
        return zip(self.numbers, self.values, strict=True)


def _facts(value: Fed) -> tuple[Any, ...]:
    return value.dtype, value.ndim, value.layout


@dataclass(eq=False)
class Input:
    """One external source."""

    node: OpNode
    numbers: list[int]  # of its values in the engine
    feed: Callable[..., Fed]
    batch_size: int
    data: dict[int, Given] = field(default_factory=dict)  # by iteration, in order
    seen: dict[int, tuple[Any, ...]] = field(default_factory=dict)  # type, axes and layout, by output

    @property
    def op(self) -> ExternalSource:
        """The declaration."""
        assert isinstance(self.node.op, ExternalSource)
        return self.node.op

    def place(self, first: int) -> tuple[int, int]:
        """Epoch and iteration of what the source gives to iteration ``first``."""
        assert self.op.poll is not None
        waiting = (given.place for number, given in self.data.items() if number >= first)
        return next(waiting, (self.op.poll.epoch, self.op.poll.iteration))

    def accept(
        self, number: int, items: Sequence[Any], layout: str | None = None, stream: Any = None,
        place: tuple[int, int] = (0, 0),
    ) -> None:  # fmt: skip
        """Keeps data for one iteration, at the earliest ``number``: one batch per output."""
        values = [self._value(k, item, layout, stream) for k, item in enumerate(items)]
        if len({v.size for v in values}) > 1:
            raise self._wrong(f"its outputs have different numbers of samples: {[v.size for v in values]}")
        self.seen.update({k: _facts(v) for k, v in enumerate(values) if v.size})
        last = next(reversed(self.data), number - 1)
        self.data[max(number, last + 1)] = Given(self.node.name, self.numbers, values, place)

    def ask(self, number: int) -> None:
        """Keeps what the source gives to iteration ``number``."""
        op, poll = self.op, self.op.poll
        assert poll is not None
        place = poll.epoch, poll.iteration
        try:
            item = poll.take(self.batch_size)
            if not op.gives_list():
                items = [item]
            elif op.batch is False:
                items = [[self._part(sample, k) for sample in item] for k in range(op.num_outputs())]
            else:
                items = [self._part(item, k) for k in range(op.num_outputs())]
            self.accept(number, items, place=place)
        except BaseException:
            if number not in self.data:
                poll.epoch, poll.iteration = place
            raise

    def drop(self, number: int) -> None:
        """Drops the data of one iteration: what follows is for the iterations before."""
        self.data = {n - (n > number): given for n, given in self.data.items() if n != number}

    def forget(self, first: int, coming: int) -> None:
        """Drops the data of iterations before ``first``, but for what may be repeated in iteration ``coming``."""
        for number in [n for n in self.data if n < first and not (self.op.repeat_last and n == coming - 1)]:
            del self.data[number]

    def _part(self, item: Any, k: int) -> Any:
        try:
            return item[k]
        except (IndexError, KeyError, TypeError) as e:
            count = self.op.num_outputs()
            raise self._wrong(f"num_outputs={count}, but the source gave {type(item).__name__} without a [{k}]") from e

    def _value(self, k: int, item: Any, layout: str | None, stream: Any) -> Fed:
        op = self.op
        try:
            value = self.feed(
                item, layout or op.layouts[k], copy=not op.no_copy, stream=op.cuda_stream if stream is None else stream
            )
        except DeviceError as e:
            raise DeviceError(self._text(str(e))) from e
        except (TypeError, ValueError) as e:
            raise self._wrong(str(e)) from e
        if value.size > self.batch_size:
            raise self._wrong(f"a batch of {value.size} samples, but the pipeline's batch_size is {self.batch_size}")
        if not value.size:
            return value
        found = _facts(value)
        for name, wanted, is_ in zip(("dtype", "ndim"), (op.dtypes[k], op.ndims[k]), found, strict=False):
            if wanted is not None and is_ != wanted:
                raise self._wrong(f"{name}={wanted!r}, but the data has {is_!r}")
        before = self.seen.get(k, found)
        if found[:2] != before[:2] or (before[2] and found[2] != before[2]):
            raise self._wrong(f"type, axes and layout were {before} in earlier iterations, and are {found} now")
        return value

    def _wrong(self, problem: str) -> TensorError:
        return TensorError(self._text(problem))

    def _text(self, problem: str) -> str:
        return f"external_source {self.node.name!r}: {problem}\n  operator made at {self.node.location}"


class Inputs:
    """All external sources of a pipeline. `feed` may be called from any thread.

    ``numbers`` tells the oldest iteration that nobody has taken, and the next one to be scheduled.
    """

    def __init__(
        self, inputs: Iterable[Input] = (), batch_size: int = 0, full: bool = False,
        closed: Callable[[], bool] = lambda: False, numbers: Callable[[], tuple[int, int]] = lambda: (0, 0),
    ):  # fmt: skip
        self._inputs = {i.node.name: i for i in inputs}
        self._batch_size, self._full, self._closed, self._numbers = batch_size, full, closed, numbers
        self._changed = threading.Condition()

    def feed(self, to: str | DataNode, data: Any, layout: str | None, stream: Any) -> None:
        """Queues a batch for an input, given by its name or node."""
        if not isinstance(to, (str, DataNode)):
            raise ArgumentTypeError(f"feed_input(): {to!r}: expected the name of an input, or its node")
        one = self._named(to if isinstance(to, str) else to.source.name)
        if one.op.poll:
            raise GraphError(f"feed_input(): external_source {one.node.name!r} has a source, so it takes nothing else")
        with self._changed:
            one.accept(self._numbers()[1], [data], layout, stream)
            self._changed.notify_all()

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

    def take(self, needed: bool) -> list[Given] | None:
        """The data of the next iteration: some for each input.

        None if it is not ``needed`` and something was not fed yet. Raises NoDataError where it is; what sources raise,
        StopIteration too; TensorError if inputs differ in size. Data that others have given by then is kept for later.
        """
        with self._changed:
            coming = self._numbers()[1]
            for one in self._inputs.values():
                if not self._is_there(one, needed):
                    return None
            for one in self._inputs.values():
                if coming in one.data:
                    continue
                if one.op.poll:
                    one.ask(coming)
                else:
                    one.data[coming] = one.data[coming - 1]  # is repeated
            given = [one.data[coming] for one in self._inputs.values()]
            try:
                self._check_sizes(given)
            except TensorError:
                for one in self._inputs.values():
                    one.drop(coming)
                raise
            return given

    def forget(self) -> None:
        """Lets go of the data of iterations that were taken."""
        with self._changed:
            for one in self._inputs.values():
                one.forget(*self._numbers())

    def _ready(self, one: Input) -> bool:
        return self._numbers()[1] in one.data or one.op.poll is not None

    def _is_there(self, one: Input, needed: bool) -> bool:
        while not self._ready(one):
            if not needed:
                return False
            if one.op.repeat_last and one.data:
                return True
            if not one.op.blocking:
                raise self._nothing(one)
            if self._closed():
                raise StoppedError(f"the pipeline was closed while it waited for data for {one.node.name!r}")
            self._changed.wait(_POLL_SECONDS)
        return True

    def _check_sizes(self, given: Sequence[Given]) -> None:
        sizes = {g.name: g.size for g in given}
        if self._full and any(size != self._batch_size for size in sizes.values()):
            raise TensorError(f"a reader gives batches of {self._batch_size} samples, external sources {sizes}")
        if len(set(sizes.values())) > 1:
            raise TensorError(f"external sources give batches of different sizes: {sizes}")

    def restart(self) -> None:
        """Begins an epoch: sources that can begin again do, and what they gave ahead is dropped."""
        for one in self._inputs.values():
            if one.op.poll and one.op.poll.restarts:
                one.data.clear()
                one.op.poll.restart()

    def places(self) -> dict[str, list[int]]:
        """Where sources stand that can go on from anywhere: by name, the epoch and iteration of what they gave to the
        oldest iteration that nobody has taken, or else give next.
        """
        first = self._numbers()[0]
        return {name: list(i.place(first)) for name, i in self._inputs.items() if i.op.poll and i.op.poll.indexed}

    def go_to(self, places: dict[str, list[int]]) -> None:
        """Lets sources go on from there."""
        for name, place in places.items():
            poll = self._named(name).op.poll
            if poll is None or not poll.indexed:
                raise ArgumentError(f"checkpoint: the source of {name!r} cannot be told where to go on")
            poll.epoch, poll.iteration = place

    def forgetful(self) -> list[str]:
        """Names of the sources that `places` cannot tell of."""
        return [name for name, i in self._inputs.items() if i.op.poll and not i.op.poll.indexed]

    def _named(self, name: str) -> Input:
        if name not in self._inputs:
            known = ", ".join(map(repr, self._inputs)) or "none"
            raise UnknownArgumentError(f"the pipeline has no input named {name!r}; there are: {known}")
        return self._inputs[name]

    def _nothing(self, one: Input) -> NoDataError:
        return NoDataError(
            f"external_source {one.node.name!r} has no data for this iteration: call feed_input({one.node.name!r}, "
            f"batch) before run(), or run({one.node.name}=batch)\n  operator made at {one.node.location}"
        )
