"""fn.external_source: what sources are asked, and when, as DALI does it; and what they raise."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.feed.sources import OURS, Array, Recorder, assert_same, of, pipeline, step
from tests.small import values

KINDS: dict[str, tuple[Callable[[Recorder], Any], dict[str, Any]]] = {
    "no argument": (lambda r: r.no_argument, {}),
    "index": (lambda r: r.index, {}),
    "argument with a default": (lambda r: r.default, {}),
    "batch_info": (lambda r: r.info, {"batch_info": True}),
    "sample": (lambda r: r.sample, {"batch": False}),
    "sample, ends within a batch": (lambda r: r.short, {"batch": False}),
    "generator function": (lambda r: r.generator, {}),
    "generator": (lambda r: r.generator(), {}),
    "generator function, raise": (lambda r: r.generator, {"cycle": "raise"}),
    "generator function, quiet": (lambda r: r.generator, {"cycle": True}),
    "list": (lambda r: [of(0), of(1), of(2)], {}),
    "list, no": (lambda r: [of(0), of(1), of(2)], {"cycle": "no"}),
    "list, quiet": (lambda r: [of(0), of(1), of(2)], {"cycle": "quiet"}),
    "list, raise": (lambda r: [of(0), of(1), of(2)], {"cycle": "raise"}),
    "list of samples": (lambda r: list(np.arange(8, dtype=np.int16).reshape(8, 1)), {"batch": False}),
    "list of samples, raise": (lambda r: list(np.arange(8.0).reshape(8, 1)), {"batch": False, "cycle": "raise"}),
    "list of samples, quiet": (lambda r: list(np.arange(8.0).reshape(8, 1)), {"batch": False, "cycle": "quiet"}),
    "array": (lambda r: np.arange(12, dtype=np.uint8).reshape(2, 3, 2), {}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_source_is_asked_as_dali_asks_it(kind: str, depth: int, dali: Any) -> None:
    make, arguments = KINDS[kind]

    def trace(library: Any) -> list[Any]:
        recorder = Recorder()
        source = make(recorder)
        pipe = pipeline(lambda lib: lib.fn.external_source(source, **arguments), library, prefetch_queue_depth=depth)
        events: list[Any] = []
        for _ in range(3):  # epochs
            for _ in range(5):
                events += [step(pipe), list(recorder.asked)]
            pipe.reset()
        return events

    assert_same(trace(OURS), trace(dali))


def test_an_iterable_that_can_be_called_is_iterated(dali: Any) -> None:
    class Both:
        def __iter__(self) -> Iterator[Array]:
            return iter([of(1), of(2)])

        def __call__(self) -> Array:
            raise AssertionError

    assert_same(*[[step(pipeline(lambda lib: lib.fn.external_source(Both()), lib))] for lib in (OURS, dali)])


def test_a_source_that_no_output_needs_is_never_asked() -> None:
    recorder = Recorder()

    def define(lib: Any) -> Any:
        lib.fn.external_source(recorder.index)
        return lib.fn.external_source(lambda: of(3))

    assert values(pipeline(define).run()[0]) == [3, 3, 3]
    assert not recorder.asked


def test_sources_start_again_together_when_one_has_ended(dali: Any) -> None:
    def trace(library: Any) -> list[Any]:
        long, short = Recorder(9), Recorder(2)

        def define(lib: Any) -> Any:
            return lib.fn.external_source(long.index), lib.fn.external_source(short.index)

        pipe = pipeline(define, library)
        events = [step(pipe) for _ in range(4)]
        pipe.reset()
        return [*events, step(pipe), long.asked, short.asked]

    assert_same(trace(OURS), trace(dali))


def test_reset_in_the_middle_loses_nothing() -> None:
    for source in (Recorder(9).generator, Recorder(9).index, Recorder(9).no_argument, [of(i) for i in range(9)]):
        pipe = pipeline(lambda lib, source=source: lib.fn.external_source(source), prefetch_queue_depth=3)
        seen = []
        for _ in range(3):
            seen += [values(pipe.run()[0])[0] for _ in range(2)]
            pipe.reset()
        assert seen == [0, 1, 2, 3, 4, 5]


def test_start_epoch_starts_sources_again_that_can() -> None:
    indexed, plain = Recorder(9), Recorder(9)

    def define(lib: Any) -> Any:
        return lib.fn.external_source(indexed.info, batch_info=True), lib.fn.external_source(plain.no_argument)

    pipe = pipeline(define, prefetch_queue_depth=3)
    pipe.run()
    pipe.start_epoch(1)
    assert [values(o)[0] for o in pipe.run()] == [0, 1]
    assert indexed.asked == [(i, 0) for i in range(3)] + [(i, 1) for i in range(3)]


# What a source may raise.


def test_what_a_source_raises_comes_out_of_run(dali: Any) -> None:
    def trace(library: Any) -> list[Any]:
        asked = []

        def source(i: int) -> Array:
            asked.append(i)
            if len(asked) == 2:
                raise KeyError("mine")
            return of(i)

        pipe = pipeline(lambda lib: lib.fn.external_source(source), library, prefetch_queue_depth=1)
        return [*[step(pipe) for _ in range(4)], asked]

    ours = trace(OURS)
    assert type(ours[1]) is KeyError
    assert "source" in [frame.name for frame in traceback.extract_tb(ours[1].__traceback__)]
    assert_same(ours, trace(dali))


def test_sources_stay_in_step_when_one_raises() -> None:
    failures = [1, 4]

    def second(i: int) -> Array:
        if i in failures:
            failures.remove(i)
            raise OSError("disk")
        return of(i)

    first = Recorder(6)
    pipe = pipeline(lambda lib: (lib.fn.external_source(first.generator), lib.fn.external_source(second)))
    seen = []
    while len(seen) < 6:
        try:
            seen.append([values(o)[0] for o in pipe.run()])
        except OSError:
            continue
    assert seen == [[i, i] for i in range(6)]
    assert not failures
