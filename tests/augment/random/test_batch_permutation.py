"""fn.batch_permutation: indices for fn.permute_batch."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from penstock import Pipeline, fn
from tests.augment.drawing import draw
from tests.cases import Array, case

CASES = [
    case("batch_permutation", whole_batch=True),
    case("batch_permutation", whole_batch=True, no_fixed_points=True),
    case("batch_permutation", whole_batch=True, allow_repetitions=True, no_fixed_points=True),
]


def permutations(size: int, batches: int, **arguments: bool) -> Array:
    return draw(lambda: fn.batch_permutation(**arguments), batch_size=size, batches=batches).reshape(batches, size)


def assert_equally_often(drawn: Array, kinds: int) -> None:
    """Each row is one of so many kinds, and none much more often than others."""
    counts = Counter(map(tuple, drawn.tolist()))
    assert len(counts) == kinds
    mean = len(drawn) / kinds
    assert all(abs(count - mean) < 5 * math.sqrt(mean) for count in counts.values())


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_all_permutations(size: int) -> None:
    drawn = permutations(size, 3000)
    assert (np.sort(drawn) == np.arange(size)).all()
    assert_equally_often(drawn, math.factorial(size))


@pytest.mark.parametrize(("size", "kinds"), [(2, 1), (3, 2), (4, 9)])
def test_all_that_leave_nothing_in_its_place(size: int, kinds: int) -> None:
    drawn = permutations(size, 3000, no_fixed_points=True)
    assert (np.sort(drawn) == np.arange(size)).all()
    assert (drawn != np.arange(size)).all()
    assert_equally_often(drawn, kinds)


@pytest.mark.parametrize(("moves", "kinds"), [(False, 27), (True, 8)])
def test_repetitions(moves: bool, kinds: int) -> None:
    drawn = permutations(3, 3000, allow_repetitions=True, no_fixed_points=moves)
    assert not moves or (drawn != np.arange(3)).all()
    assert_equally_often(drawn, kinds)


@pytest.mark.parametrize("repetitions", [False, True])
def test_one_sample_stays(repetitions: bool) -> None:
    assert not permutations(1, 5, no_fixed_points=True, allow_repetitions=repetitions).any()


def test_large_batches_on_several_threads() -> None:
    for moves in (False, True):
        found = [
            draw(lambda: fn.batch_permutation(no_fixed_points=moves), batch_size=500, batches=3, threads=threads)  # noqa: B023
            for threads in (1, 4)
        ]
        np.testing.assert_array_equal(*found)
        each = found[0].reshape(3, 500)
        assert (np.sort(each) == np.arange(500)).all()
        assert len({row.tobytes() for row in each}) == 3


def test_seeds() -> None:
    first, second, other = (draw(fn.batch_permutation, batch_size=50, seed=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


def test_it_permutes_a_batch() -> None:
    pipe = Pipeline(batch_size=6, num_threads=2, device_id=None, seed=3)
    with pipe:
        order = fn.batch_permutation()
        numbers = fn.external_source(lambda: list(np.int32([[10], [11], [12], [13], [14], [15]])))
        pipe.set_outputs(order, fn.permute_batch(numbers, indices=order))
    for _ in range(3):
        indices, found = (np.array(output.as_array()).ravel() for output in pipe.run())
        assert found.tolist() == (indices + 10).tolist()
