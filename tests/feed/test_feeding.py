"""External sources that are fed: feed_input, run(name=batch), iter_setup."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from penstock import Pipeline, fn
from penstock.errors import (
    ArgumentTypeError,
    GraphError,
    NoDataError,
    StoppedError,
    TensorError,
    UnknownArgumentError,
)
from tests.feed.sources import OURS, assert_same, named, of, pipeline, step
from tests.small import values


def test_what_is_fed_comes_out_in_order(dali: Any) -> None:
    def trace(lib: Any) -> list[Any]:
        pipe = pipeline(named, lib)
        pipe.build()
        for i in range(3):
            pipe.feed_input("mine", of(i))
        return [step(pipe) for _ in range(3)]

    assert_same(trace(OURS), trace(dali))


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_one_batch_may_be_fed_at_a_time(depth: int) -> None:
    pipe = pipeline(named, prefetch_queue_depth=depth)
    for i in range(5):
        pipe.feed_input("mine", of(i))
        assert values(pipe.run()[0]) == [i] * 3


def test_nothing_was_fed(dali: Any) -> None:
    assert_same(*[[step(pipeline(named, lib))] for lib in (OURS, dali)])
    pipe = pipeline(named)
    with pytest.raises(NoDataError, match=r"'mine' has no data.*feed_input\('mine', batch\)"):
        pipe.run()
    with pytest.raises(NoDataError):
        pipeline(named).schedule_run()
    pipe.feed_input("mine", of(7))
    assert values(pipe.run()[0]) == [7, 7, 7]


def test_feeding_by_node_and_with_a_layout() -> None:
    pipe = Pipeline(3, 1, None)
    with pipe:
        node = fn.external_source()
        drawn = fn.random.uniform()
        pipe.set_outputs(node, drawn)
    pipe.feed_input(node, of(1))
    pipe.feed_input(node, of(2), layout="X")
    assert [pipe.run()[0].layout() for _ in range(2)] == ["", "X"]
    with pytest.raises(TensorError, match="the layout 'XYZ' names 3 axes"):
        pipe.feed_input(node, of(3), "XYZ")
    with pytest.raises(UnknownArgumentError, match="no input named '__Uniform_1'; there are: '__ExternalSource_0'"):
        pipe.feed_input(drawn, of(1))
    with pytest.raises(ArgumentTypeError, match="expected the name of an input, or its node"):
        pipe.feed_input(5, of(1))  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="nobody"):
        pipe.feed_input("nobody", of(1))


def test_a_source_cannot_be_fed_besides(dali: Any) -> None:
    for lib, error in ((OURS, GraphError), (dali, RuntimeError)):
        pipe = pipeline(lambda lib: lib.fn.external_source(lambda: of(1), name="mine"), lib)
        with pytest.raises(error):
            pipe.feed_input("mine", of(2))


def two(lib: Any) -> Any:
    return lib.fn.external_source(name="x"), lib.fn.external_source(name="y") * 2


@pytest.mark.parametrize("depth", [1, 2])
def test_run_with_inputs(depth: int) -> None:
    pipe = pipeline(two, prefetch_queue_depth=depth)
    for i in range(3):
        assert [values(o)[0] for o in pipe.run(x=of(i), y=of(i + 1))] == [i, 2 * i + 2]
    with pytest.raises(NoDataError, match="'y' has no data"):
        pipe.run(x=of(0))
    with pytest.raises(UnknownArgumentError, match="no input named 'z'; there are: 'x', 'y'"):
        pipe.run(x=of(0), y=of(0), z=of(0))
    assert [values(o)[0] for o in pipe.run(x=of(7), y=of(8))] == [7, 16]  # nothing of the failed calls is left
    pipe.feed_input("y", of(5))
    assert [values(o)[0] for o in pipe.run(x=of(3))] == [3, 10]


def test_input_feed_count(dali: Any) -> None:
    for depth in (1, 2, 5):
        counts = [pipeline(named, lib, prefetch_queue_depth=depth).input_feed_count("mine") for lib in (OURS, dali)]
        assert counts == [depth, depth]
    with pytest.raises(KeyError, match="nobody"):
        pipeline(named).input_feed_count("nobody")


def test_iter_setup_feeds_and_ends(dali: Any) -> None:
    def trace(lib: Any) -> list[Any]:
        events: list[Any] = []

        class Own(lib.Pipeline):  # type: ignore[misc, name-defined]
            number = 0

            def define_graph(self) -> Any:
                self.node = lib.ops.ExternalSource()()
                return self.node

            def iter_setup(self) -> None:
                events.append(self.number)
                if self.number == 3:
                    raise StopIteration
                self.feed_input(self.node, of(self.number))
                self.number += 1

        pipe = Own(3, 1, None)
        for _ in range(2):
            events += [step(pipe) for _ in range(5)]
            pipe.number = 0
            pipe.reset()
        return events

    assert_same(trace(OURS), trace(dali))


def test_repeat_last() -> None:
    pipe = pipeline(lambda lib: lib.fn.external_source(name="mine", repeat_last=True))
    with pytest.raises(NoDataError):
        pipe.run()
    seen = []
    for fed in (3, None, None, 4, None, 5):
        if fed is not None:
            pipe.feed_input("mine", of(fed))
        seen.append(values(pipe.run()[0])[0])
    assert seen == [3, 3, 3, 4, 4, 5]


def test_blocking_waits_for_another_thread() -> None:
    pipe = pipeline(lambda lib: lib.fn.external_source(name="mine", blocking=True))
    pipe.build()
    waiting = threading.Event()

    def feed() -> None:
        waiting.wait()
        for i in range(3):
            time.sleep(0.05)
            pipe.feed_input("mine", of(i))

    thread = threading.Thread(target=feed)
    thread.start()
    waiting.set()
    assert [values(pipe.run()[0])[0] for _ in range(3)] == [0, 1, 2]
    thread.join()


def test_closing_ends_the_wait_for_data() -> None:
    pipe = pipeline(lambda lib: lib.fn.external_source(name="mine", blocking=True))
    pipe.build()
    timer = threading.Timer(0.2, pipe.close)
    timer.start()
    with pytest.raises(StoppedError, match="closed while it waited"):
        pipe.run()
    timer.join()
    with pytest.raises(GraphError, match="closed"):
        pipe.feed_input("mine", of(1))
