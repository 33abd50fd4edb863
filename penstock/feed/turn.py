"""Who uses a pipeline: one thread at a time, and not a second time from within, as a signal handler might.

What only looks (checkpoints, positions, figures), what is fed, and closing need no turn. They go by what the turn's
holder publishes with one assignment, and by locks of the engine's own.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from penstock.errors import GraphError

PATIENCE = 60.0  # seconds that a source may take while other threads wait for the pipeline: it may wait for them
_LOOK = 1.0  # how often that is looked at

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class Turn:
    """A lock that Ctrl-C cannot leave locked, and that says what is wrong where it would never be free.

    Attributes:
        asking: which external source the thread that holds the lock asks, and a counter of such calls.
        function: the thread that calls a function of the pipeline's now, and the name of that operator.
    """

    def __init__(self) -> None:
        self.lock: Any = threading.RLock()
        self._pid = os.getpid()
        self.asking: tuple[str, int] | None = None
        self.function: tuple[int, str] | None = None

    def pause(self, wait: Callable[[], object]) -> None:
        """Waits, and lets others have the turn meanwhile."""
        self.lock.release()
        try:
            wait()
        finally:
            self.lock.acquire()

    def wait(self, name: str) -> None:
        """Locks it, when other threads have done; GraphError if that would never be."""
        if os.getpid() != self._pid:
            raise GraphError(f"{name}: another process, of which this one is a fork, was in the middle of a call")
        asked, since = self.asking, time.monotonic()
        while not self.lock.acquire(timeout=min(_LOOK, PATIENCE)):
            now = time.monotonic()
            if asked is None or self.asking != asked:
                asked, since = self.asking, now
            elif now - since >= PATIENCE:
                raise GraphError(
                    f"{name}: the source of external_source {asked[0]!r} is being asked by this pipeline, on another "
                    f"thread, for {now - since:.0f} s. If it waits for this call, neither can ever end: a source must "
                    "not use its own pipeline"
                )

    def is_within(self) -> bool:
        """Whether this thread has the turn, or calls a function for which the one who has it may be waiting."""
        called = self.function
        return bool(self.lock._is_owned()) or (called is not None and called[0] == threading.get_ident())

    def refused(self, name: str) -> GraphError:
        """What a second call from within gets."""
        if self.function and self.function[0] == threading.get_ident():
            return GraphError(
                f"{name}: the function of {self.function[1]!r} is being called by this pipeline: it must not use the "
                "pipeline itself"
            )
        if self.asking:
            return GraphError(
                f"{name}: the source of external_source {self.asking[0]!r} is being asked by this pipeline: it must "
                "not use the pipeline itself"
            )
        return GraphError(
            f"{name}: this thread is in the middle of another call of the same pipeline. A signal handler may call "
            "checkpoint(), close(), empty() and what else only looks; the rest must wait until that call is over"
        )


class _Turned(Protocol):
    _turn: Turn


_Self = TypeVar("_Self", bound=_Turned)


def in_turn(
    method: Callable[Concatenate[_Self, _Given], _Result],
) -> Callable[Concatenate[_Self, _Given], _Result]:
    """A method that uses the pipeline: threads take turns at such ones. They must not call each other."""
    name = f"{method.__name__.lstrip('_')}()"

    @functools.wraps(method)
    def call(self: _Self, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        turn = self._turn
        lock = turn.lock
        if lock._is_owned() or (turn.function is not None and turn.is_within()):
            raise turn.refused(name)
        try:
            if not lock.acquire(False):
                turn.wait(name)
            with lock:  # nothing comes between this and its end; in between, it is locked twice
                lock.release()
                turn.asking = None
                return method(self, *args, **kwargs)
        except BaseException:
            if lock._is_owned():  # Ctrl-C came before the `with`
                lock.release()
            raise

    return call  # type: ignore[return-value]  # the first argument has a name
