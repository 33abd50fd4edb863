"""Asks the source of an external source for data."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, Literal

from penstock.errors import ArgumentError, ArgumentTypeError
from penstock.types import BatchInfo, SampleInfo

Cycle = Literal["no", "quiet", "raise"]
_CYCLES: dict[Any, Cycle] = {None: "no", False: "no", "no": "no", True: "quiet", "quiet": "quiet", "raise": "raise"}


def cycle_of(value: Any) -> Cycle:
    """The argument ``cycle`` in one of its three meanings; ArgumentError where it has none."""
    if not isinstance(value, (bool, str, type(None))) or value not in _CYCLES:
        raise ArgumentError(
            f"external_source: cycle={value!r}: expected 'no' (or False or None), 'quiet' (or True), or 'raise'"
        )
    return _CYCLES[value]


class Poll:
    """A source, and what it will be asked for next.

    A generator function and an iterable give one item after the other; so does a sequence, which has ``[index]`` from 0
    to an IndexError. A callable is called for each, with the number of the iteration (or a `BatchInfo`, or a
    `SampleInfo` for one sample) if it takes an argument.

    Attributes:
        epoch, iteration: of the batch that comes next; iterations are counted from the last `restart`, by the caller.
        indexed: whether the source is told which batch or sample is asked for, so that it can go on from anywhere.
    """

    def __init__(self, source: Any, *, cycle: Any = None, batch: bool = True, batch_info: bool = False):
        self.epoch = self.iteration = 0
        self._batch, self._batch_info = batch, batch_info
        self._cycle = cycle_of(cycle)
        self._iterator: Iterator[Any] | None = None
        self._samples: list[Any] = []  # of the batch that comes next, if it was begun and cannot be asked for again
        self._begin: Callable[[], Iterator[Any]] | None = None  # makes an iterator; none: the source is called
        self.indexed = False
        if _is_generator_function(source):
            _check_callable_without_arguments(source)
            self._begin = source
        elif hasattr(type(source), "__iter__") or hasattr(type(source), "__getitem__"):
            if self._cycle != "no" and inspect.isgenerator(source):  # other iterators may begin anew by iter()
                raise ArgumentTypeError(
                    f"external_source: cycle={cycle!r}: a generator such as {source!r} cannot start again: give the "
                    "generator function itself, or a collection"
                )
            self._begin = lambda: iter(source)
        elif callable(source):
            if self._cycle != "no":
                raise ArgumentError(f"external_source: cycle={cycle!r}: only an iterable can cycle, not a callable")
            self.indexed = _count_arguments(source) == 1
        else:
            raise ArgumentTypeError(
                f"external_source: source={source!r}: expected a callable, an iterable or a generator function"
            )
        self._source = source

    @property
    def restarts(self) -> bool:
        """Whether the source begins again with a new epoch; others just go on."""
        return self.indexed or self._cycle == "raise"

    @property
    def iterates(self) -> bool:
        """Whether it gives one item after the other, rather than being called for each."""
        return self._begin is not None

    def restart(self, epoch: int) -> None:
        """Begins an epoch."""
        self.epoch, self.iteration = epoch, 0
        if self._cycle == "raise":
            self._iterator = None
        self._samples = []

    def let_go(self) -> None:
        """What was taken was kept: nobody needs it here."""

    def take(self, batch_size: int, part: range | None = None) -> Any:
        """The next batch, or a list of ``batch_size`` samples, or of those of a part of them.

        Raises whatever the source does, StopIteration at its end. It is asked for the same batch again the next time.
        """
        if self._batch:
            return self._ask(BatchInfo(self.iteration, self.epoch) if self._batch_info else self.iteration)
        first = self.iteration * batch_size
        samples: list[Any] = [] if self.indexed else self._samples
        self._samples = []  # at the end nobody wants a part of a batch
        try:
            for i in (part or range(batch_size))[len(samples) :]:
                samples.append(self._ask(SampleInfo(first + i, i, self.iteration, self.epoch)))
        except StopIteration:
            raise
        except BaseException:
            self._samples = samples
            raise
        return samples

    def _ask(self, index: Any) -> Any:
        if self._begin is None:
            return self._source(index) if self.indexed else self._source()
        if self._iterator is None:
            self._iterator = iter(self._begin())
        try:
            return next(self._iterator)
        except StopIteration:
            if self._cycle != "quiet":
                raise
        self._iterator = iter(self._begin())
        return next(self._iterator)


def _is_generator_function(source: Any) -> bool:
    """Whether a call gives a generator: also that of an object with ``__call__``."""
    return inspect.isgeneratorfunction(source) or (
        callable(source) and inspect.isgeneratorfunction(type(source).__call__)
    )


def _check_callable_without_arguments(source: Callable[..., Any]) -> None:
    try:
        inspect.signature(source).bind()
    except TypeError as e:
        raise ArgumentTypeError(
            f"external_source: source={source!r}: a generator function is called without arguments: {e}"
        ) from e


def _count_arguments(source: Callable[..., Any]) -> int:
    """How many arguments the callable takes: none or one, by position, else ArgumentTypeError."""
    try:
        parameters = inspect.signature(source).parameters.values()
    except ValueError:  # a builtin that does not tell
        return 0
    known = source.keywords if isinstance(source, functools.partial) else {}
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(positional) > 1 or any(p not in positional and p.name not in known for p in parameters):
        raise ArgumentTypeError(
            f"external_source: source={source!r} takes {', '.join(map(str, parameters))}: expected no argument, or one "
            "by position that tells which batch or sample is asked for"
        )
    return len(positional)
