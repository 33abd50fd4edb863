"""Iterators for JAX that can be looked ahead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="needs JAX")

from penstock import fn  # noqa: E402
from penstock.errors import GraphError, OperatorError  # noqa: E402
from penstock.plugin.base import LastBatchPolicy  # noqa: E402
from penstock.plugin.jax import DALIGenericPeekableIterator, peekable_data_iterator  # noqa: E402
from tests.small import made, numbers, ten_files  # noqa: E402


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


def n(batch: Any) -> list[int]:
    return np.ravel(batch["n"]).tolist()


def test_peeking_takes_nothing(files: list[str]) -> None:
    it = peekable_data_iterator(lambda: numbers(files), output_map=["n"], reader_name="Reader")(batch_size=5)
    for _ in range(2):
        seen = []
        while True:
            try:
                peeked = [n(it.peek()), n(it.peek_async().result()), n(it.peek())]
            except StopIteration:
                break
            assert peeked == [n(next(it))] * 3
            seen += peeked[0]
        assert seen == list(range(10))
        it.reset()


def test_a_loop_begins_with_what_was_peeked_at(files: list[str]) -> None:
    it = DALIGenericPeekableIterator(made(lambda: numbers(files)), ["n"], reader_name="Reader")
    assert it.element_spec["n"].shape == (4, 1)
    assert it.element_spec["n"].dtype == np.int32
    assert n(next(iter(it))) == [0, 1, 2, 3]
    it.peek()
    assert n(next(iter(it))) == [0, 1, 2, 3]  # a new epoch


def test_what_fills_the_last_batch(files: list[str]) -> None:
    def flags(pads: bool, **options: Any) -> list[list[bool]]:
        pipe = made(lambda: numbers(files, pad_last_batch=pads))
        it = DALIGenericPeekableIterator(pipe, ["n"], reader_name="Reader", **options)
        return [it.is_nonpadding.tolist() for _ in range(2) for _ in it]

    full, last = [True] * 4, [True, True, False, False]
    assert flags(True) == [full, full, last] * 2
    assert flags(False) == [full, full, last, full, full]  # the second epoch has the other eight
    assert flags(False, last_batch_policy=LastBatchPolicy.DROP) == [full] * 4


def test_what_fills_it_where_size_says_how_long_it_is() -> None:
    pipe = made(lambda: fn.external_source(lambda: np.zeros((4, 1))))
    it = DALIGenericPeekableIterator(pipe, ["n"], size=10, last_batch_padded=True)
    assert [it.is_nonpadding.sum() for _ in it] == [4, 4, 2]
    endless = DALIGenericPeekableIterator(pipe, ["n"])
    next(endless)
    assert endless.is_nonpadding.tolist() == [True] * 4


def test_checkpoints_are_of_what_was_taken(files: list[str]) -> None:
    def iterator(**options: Any) -> Any:
        pipe = made(lambda: numbers(files), enable_checkpointing=True, **options)
        return DALIGenericPeekableIterator(pipe, ["n"], reader_name="Reader")

    it = iterator(batch_size=2)
    next(it)
    (state,) = it.checkpoints()
    it.peek()
    with pytest.raises(GraphError, match="take it by next"):
        it.state_dict()
    assert n(next(iterator(batch_size=2, checkpoint=state))) == [2, 3]
    assert n(next(it)) == [2, 3]
    it.peek()
    it.load_state_dict(iterator(batch_size=2).state_dict())
    assert n(it.peek()) == [0, 1]


def test_other_shapes_are_an_error() -> None:
    shapes = iter([(2, 3), (2, 3), (2, 4)])
    pipe = made(lambda: fn.external_source(lambda: np.zeros(next(shapes))), batch_size=2, prefetch_queue_depth=1)
    it = DALIGenericPeekableIterator(pipe, ["n"])
    assert next(it)["n"].shape == (2, 3)
    next(it)
    with pytest.raises(OperatorError, match="shape or type of the output changed between iterations") as raised:
        it.peek()
    assert isinstance(raised.value, ValueError)
