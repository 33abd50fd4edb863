"""External sources: checkpoints and iterators."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.plugin.pytorch import DALIGenericIterator
from tests.faults.interrupts import interrupted_at
from tests.feed.sources import OURS, Array, Recorder, assert_same, of, pipeline, step

# Checkpoints.


def test_checkpoint_goes_on_with_the_batch_that_is_next(dali: Any) -> None:
    traces = []
    for lib in (OURS, dali):
        first, second = Recorder(9), Recorder(9)
        pipe = pipeline(lambda lib, r=first: lib.fn.external_source(r.index), lib, enable_checkpointing=True)
        for _ in range(3):
            pipe.run()
        state = pipe.checkpoint()
        resumed = pipeline(
            lambda lib, r=second: lib.fn.external_source(r.index), lib, enable_checkpointing=True, checkpoint=state
        )
        traces.append([step(resumed), step(resumed), second.asked])
    assert_same(*traces)


def test_checkpoint_counts_epochs_and_samples() -> None:
    first, second = Recorder(2), Recorder(2)
    pipe = pipeline(lambda lib: lib.fn.external_source(first.sample, batch=False), prefetch_queue_depth=1)
    for _ in range(2):
        pipe.run()
    with pytest.raises(StopIteration):
        pipe.run()
    pipe.reset()
    pipe.run()
    state = pipe.checkpoint()
    resumed = pipeline(lambda lib: lib.fn.external_source(second.sample, batch=False), checkpoint=state)
    resumed.run()
    assert second.asked[:3] == [(3, 0, 1, 1), (4, 1, 1, 1), (5, 2, 1, 1)]


def test_checkpoint_warns_of_sources_that_cannot_be_told() -> None:
    pipe = pipeline(lambda lib: lib.fn.external_source(Recorder(9).generator, name="mine"))
    pipe.run()
    with pytest.warns(UserWarning, match="the source of 'mine' cannot be told where to go on"):
        pipe.checkpoint()


# Ctrl-C.


def test_ctrl_c_at_any_line_of_a_reset_at_the_end() -> None:
    """The next epoch is the next, whether reset() was called once more or not."""
    recorder = Recorder(2)
    pipe = pipeline(lambda lib: lib.fn.external_source(recorder.info, batch_info=True), prefetch_queue_depth=1)
    outcome, line, epoch = "interrupted", 0, 0
    while outcome == "interrupted":
        line += 1
        assert [int(pipe.run()[0].at(0)[0]) for _ in range(2)] == [0, 1], f"line {line}"
        assert recorder.asked[-1] == (1, epoch), f"line {line}"
        with pytest.raises(StopIteration):
            pipe.run()
        outcome = interrupted_at(line, pipe.reset)
        if outcome == "interrupted":
            pipe.reset()
        epoch += 1
    assert line > 10


# Iterators.


@pytest.mark.parametrize("cycle", [None, "raise", "quiet"])
@pytest.mark.parametrize("auto_reset", [False, True])
def test_iterators_end_an_epoch_where_the_source_does(cycle: Any, auto_reset: bool, dali: Any) -> None:
    from nvidia.dali.plugin.pytorch import DALIGenericIterator as DaliIterator

    def trace(lib: Any, iterate: Any) -> list[Any]:
        batches = [of(0), of(1), of(2)[:2]]
        pipe = pipeline(lambda lib: lib.fn.external_source(batches, cycle=cycle), lib)
        iterator = iterate(pipe, ["x"], auto_reset=auto_reset)
        epochs = []
        for _ in range(3):
            epoch = []
            for batch in iterator:
                epoch.append(batch[0]["x"].flatten().tolist())
                if len(epoch) == 6:
                    break
            epochs.append(epoch)
            if not auto_reset:
                iterator.reset()
        return epochs

    assert trace(OURS, DALIGenericIterator) == trace(dali, DaliIterator)


def test_each_loop_over_an_iterator_is_an_epoch() -> None:
    recorder = Recorder(3)
    iterator = DALIGenericIterator(pipeline(lambda lib: lib.fn.external_source(recorder.index)), ["x"])
    for _ in iterator:
        break
    assert [int(batch[0]["x"][0]) for batch in iterator] == [0, 1, 2]
    assert [int(batch[0]["x"][0]) for batch in iterator] == [0, 1, 2]


def test_what_a_source_raises_comes_out_of_an_iterator() -> None:
    def source(i: int) -> Array:
        if i == 2:
            raise KeyError("mine")
        return of(i)

    iterator = DALIGenericIterator(
        pipeline(lambda lib: lib.fn.external_source(source), prefetch_queue_depth=1), ["x"], prepare_first_batch=False
    )
    with pytest.raises(KeyError, match="mine"):
        for _ in iterator:
            pass
