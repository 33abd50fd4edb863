"""External sources: sizes of batches, and whose memory they are."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from penstock import fn
from penstock.errors import (
    TensorError,
)
from tests.feed.sources import Array, assert_same, of, pipeline, step
from tests.small import numbers, ten_files, values


def test_batches_of_all_sizes() -> None:
    sizes = [3, 1, 2, 0, 3]
    pipe = pipeline(
        lambda lib: (
            lib.fn.external_source(lambda i: of(i, sizes[i])) + 1,
            lib.fn.external_source(lambda i: [np.zeros(k, np.uint8) for k in range(sizes[i])]),
            lib.fn.random.uniform(),
        )
    )
    for size in sizes[:4]:
        assert [len(o) for o in pipe.run()] == [size] * 3


def test_sources_of_different_sizes(dali: Any) -> None:
    def define(lib: Any) -> Any:
        return lib.fn.external_source(lambda: of(1, 2), name="a"), lib.fn.external_source(lambda: of(1, 3), name="b")

    ours = step(pipeline(define))
    assert_same([ours], [step(pipeline(define, dali))])
    assert "{'a': 2, 'b': 3}" in str(ours)


def test_beside_a_reader_batches_are_full(tmp_path: Any) -> None:
    files = ten_files(tmp_path)
    sizes = [3, 2, 3]

    def define(lib: Any) -> Any:
        return numbers(files), lib.fn.external_source(lambda i: of(i, sizes[i]), name="mine")

    pipe = pipeline(define, prefetch_queue_depth=1)
    assert values(pipe.run()[0]) == [0, 1, 2]
    with pytest.raises(TensorError, match=r"a reader gives batches of 3 samples, external sources \{'mine': 2\}"):
        pipe.run()
    assert [values(o) for o in pipe.run()] == [[6, 7, 8], [2, 2, 2]]  # the readers' samples go with the refused data


# Whose memory it is.


def test_data_is_copied_before_the_source_is_asked_again() -> None:
    memory = of(0)

    def source() -> Array:
        memory[:] += 1
        return memory

    pipe = pipeline(lambda lib: lib.fn.external_source(source), prefetch_queue_depth=3)
    assert [values(pipe.run()[0])[0] for _ in range(4)] == [1, 2, 3, 4]


def test_no_copy_shows_the_memory_itself() -> None:
    memory = of(0)
    pipe = pipeline(lambda lib: lib.fn.external_source(name="mine", no_copy=True))
    pipe.feed_input("mine", memory)
    (output,) = pipe.run()
    assert output.at(0).ctypes.data == memory.ctypes.data
    memory[:] = 9
    assert values(output) == [9, 9, 9]


@pytest.mark.parametrize("operator", [lambda x: x, lambda x: fn.reshape(x, shape=[-1, 1])], ids=["itself", "reshaped"])
def test_no_copy_keeps_memory_as_long_as_outputs_show_it(operator: Any) -> None:
    class Owner(np.ndarray):
        pass

    memory = np.arange(3000, dtype=np.int32).reshape(3, 1000).view(Owner)
    alive = weakref.ref(memory)
    pipe = pipeline(lambda lib: operator(lib.fn.external_source(name="mine", no_copy=True)))
    pipe.feed_input("mine", memory)
    del memory
    (output,) = pipe.run()
    sample = output.at(2)
    del output, pipe
    gc.collect()
    assert sample.ravel().tolist() == list(range(2000, 3000))
    assert alive() is not None
    del sample
    gc.collect()
    assert alive() is None


def test_memory_that_no_output_shows_is_let_go() -> None:
    class Owner(np.ndarray):
        pass

    memory = of(1).view(Owner)
    alive = weakref.ref(memory)
    pipe = pipeline(lambda lib: lib.fn.external_source(name="mine", no_copy=True) + 1)
    pipe.feed_input("mine", memory)
    del memory
    output = pipe.run()
    gc.collect()
    assert alive() is None
    assert values(output[0]) == [2, 2, 2]


def test_a_pipeline_goes_with_its_last_reference() -> None:
    pipe = pipeline(lambda lib: lib.fn.external_source(lambda i: of(i)), prefetch_queue_depth=3)
    pipe.run()
    executor = weakref.ref(pipe._built().executor)
    gc.disable()
    try:
        del pipe
        assert executor() is None
    finally:
        gc.enable()


def test_outputs_outlive_the_pipeline() -> None:
    pipe = pipeline(lambda lib: lib.fn.external_source(lambda i: of(i)))
    outputs = [pipe.run()[0] for _ in range(4)]
    pipe.close()
    del pipe
    assert [values(o)[0] for o in outputs] == [0, 1, 2, 3]
