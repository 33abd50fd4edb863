"""fn.permute_batch, whatever makes its input and whatever reads its output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import OperatorError
from tests.cases import Array, case, per_sample, pictures, samples

ORDERS = ([2, 0, 1], [0, 0, 0], [0, 1, 2], [1, 1, 0])


def permuted(xs: list[Array], indices: Any) -> list[Array]:
    return [xs[int(i)] for i in indices]


CASES = [
    case("permute_batch", x, reference=permuted, whole_batch=True, indices=indices)
    for x in (pictures(), samples([[1, 2, 3], [4, 5], []], dtype=np.float32))
    for order in ORDERS
    for indices in (order, per_sample(order))
]
INPUTS = [np.full((i + 1, 4, 3), 10 * i, np.uint8) for i in range(5)]


def run(make: Callable[[Any], Any], count: int = 5, device: str | None = None) -> list[list[Array]]:
    """The outputs of two iterations."""
    pipe = Pipeline(batch_size=count, num_threads=2, device_id=None if device is None else 0)
    with pipe:
        given = fn.external_source(source=lambda: INPUTS[:count], layout="HWC")
        made = make(given if device is None else given.gpu())
        pipe.set_outputs(*(made if isinstance(made, tuple) else (made,)))
    for _ in range(2):
        outputs = [o.as_cpu() for o in pipe.run()]
    return [[np.array(o.at(i)) for i in range(count)] for o in outputs]


def assert_order(found: list[Array], order: list[int]) -> None:
    assert [f.shape[0] for f in found] == [i + 1 for i in order]
    for array, i in zip(found, order, strict=True):
        assert np.array_equal(array, INPUTS[i])


@pytest.fixture(params=[None, pytest.param("gpu", id="on the software GPU")])
def device(request: pytest.FixtureRequest) -> str | None:
    if request.param and not request.getfixturevalue("software_gpu"):
        pytest.skip("needs a GPU, or the one in software")
    return request.param  # type: ignore[no-any-return]


ORDER = [4, 1, 1, 0, 3]


def test_what_was_computed_before(device: str | None) -> None:
    """All samples are made before the first one is looked at."""
    (found,) = run(lambda x: fn.permute_batch(fn.flip(fn.flip(x)), indices=ORDER), device=device)
    assert_order(found, ORDER)


def test_what_is_computed_after(device: str | None) -> None:
    (found,) = run(lambda x: fn.flip(fn.permute_batch(x, indices=ORDER)), device=device)
    assert_order(found, ORDER)


def test_one_after_the_other(device: str | None) -> None:
    twice = [ORDER[i] for i in ORDER]

    def make(x: Any) -> Any:
        once = fn.permute_batch(fn.flip(x), indices=ORDER)
        return once, fn.permute_batch(once, indices=ORDER), fn.permute_batch(fn.flip(once), indices=ORDER)

    first, second, third = run(make, device=device)
    assert_order(first, ORDER)
    assert_order(second, twice)
    assert_order(third, twice)


def test_aliases_above_and_below(device: str | None) -> None:
    def make(x: Any) -> Any:
        return fn.squeeze(fn.permute_batch(fn.expand_dims(fn.flip(x), axes=0), indices=ORDER), axes=[0])

    (found,) = run(make, device=device)
    assert_order(found, ORDER)


@pytest.mark.parametrize("device", ["gpu"], indirect=True)
def test_onto_the_gpu_and_back(device: str) -> None:
    (found,) = run(lambda x: fn.permute_batch(x.cpu(), indices=ORDER).gpu(), device=device)
    assert_order(found, ORDER)


def test_arguments_can_be_permuted() -> None:
    """What decides shapes is computed while these are found: of that, too, all samples are there first."""

    def make(x: Any) -> Any:
        rows = fn.permute_batch(fn.reductions.sum(x[:, 0, 0] * 0 + 1), indices=[4, 3, 2, 1, 0])
        return fn.full(np.uint8(1), shape=fn.cast(rows, dtype=types.INT32))

    (found,) = run(make)
    assert [f.shape for f in found] == [(5,), (4,), (3,), (2,), (1,)]


def test_samples_lie_apart() -> None:
    pipe = Pipeline(batch_size=3, num_threads=1, device_id=None)
    with pipe:
        numbers = fn.external_source(source=lambda: [np.float32([i, i]) for i in range(3)])
        pipe.set_outputs(fn.permute_batch(numbers + 0, indices=[2, 0, 1]))
    (output,) = pipe.run()
    assert output.as_array().tolist() == [[2, 2], [0, 0], [1, 1]]


@pytest.mark.parametrize(
    ("indices", "problem"),
    [
        ([0, 1, 2, 3, 5], "indices: 5 is no sample of a batch of 5; expected 0 to 4"),
        ([0, 1, 2, 3, -1], "indices: -1 is no sample"),
        ([0, 1], "indices has 2 elements, but the batch has 5 samples"),
    ],
)
def test_wrong_indices(indices: list[int], problem: str) -> None:
    with pytest.raises(OperatorError, match=f"permute_batch: .*{problem}"):
        run(lambda x: fn.permute_batch(x, indices=indices))


def test_one_index_per_sample() -> None:
    with pytest.raises(OperatorError, match="indices has 2 elements for one sample; expected 1"):
        run(lambda x: fn.permute_batch(x, indices=fn.external_source(source=lambda: [np.int32([0, 1])] * 5)))
