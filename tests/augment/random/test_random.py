"""fn.random: distributions by their moments and by Kolmogorov-Smirnov tests, and on what the numbers depend.

Seeds are fixed, so each run sees the same numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import DataNode, Pipeline, fn, ops, types
from penstock.errors import ArgumentError, OperatorError
from tests.cases import Array, case, per_sample, pictures, samples

SHAPES = per_sample([(2, 3), (4, 1), (0, 5)])

CASES = [
    case("random.uniform"),
    case("random.uniform", range=[0, 10], dtype=types.INT32, shape=[50]),
    case("random.uniform", range=per_sample([(0.0, 1.0), (5.0, 6.0), (-2.0, 7.0)]), shape=SHAPES),
    case("random.uniform", values=[1.5, 2.5, 7], shape=4, dtype=types.FLOAT64),
    case("random.uniform", values=per_sample([(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)])),
    case("random.uniform", pictures("HW")),
    case("random.normal"),
    case("random.normal", pictures("HW"), mean=per_sample([1.0, 2.0, 3.0]), stddev=per_sample([0.0, 1.0, 2.0])),
    case("random.normal", shape=SHAPES, stddev=3, dtype=types.INT8),
    case("random.coin_flip"),
    case("random.coin_flip", shape=[7], probability=per_sample([0.0, 0.5, 1.0]), dtype=types.BOOL),
    case("random.coin_flip", pictures("HW"), dtype=types.UINT8),
    case("random.beta"),
    case(
        "random.beta",
        alpha=per_sample([0.1, 1.0, 9.0]),
        beta=per_sample([2.0, 1.0, 0.5]),
        dtype=types.FLOAT64,
        shape=[9],
    ),
    case("random.beta", pictures("HW"), alpha=2),
    case("random.choice", per_sample([5, 1, 200])),
    case("random.choice", per_sample([5, 1, 200], np.uint8), shape=[6]),
    case("random.choice", samples([[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]]), p=[0.25, 0.75], shape=SHAPES),
    case("random.choice", pictures("FHWC"), shape=[3]),
    case("random.choice", pictures("FHWC")),
    case("random.choice", samples([[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]]), p=0.5, shape=SHAPES),
    case("random.choice", per_sample([2, 2, 2]), p=per_sample([0.5, 0.5, 0.5])),
    case("random.choice", pictures("FHWC"), shape=[2, 2]),
    case("random.choice", samples([[1], [2, 3]]), pictures("HW", count=2)),
]


def draw(
    make: Callable[[], DataNode], *, batch_size: int = 1, batches: int = 1, seed: int = 5, threads: int = 1
) -> Array:
    """All samples of some batches."""
    pipe = Pipeline(batch_size=batch_size, num_threads=threads, device_id=None, seed=seed)
    with pipe:
        pipe.set_outputs(make())
    return np.concatenate([pipe.run()[0].as_array() for _ in range(batches)])


N = 40_000


def assert_distributed(drawn: Array, cdf: Callable[[Array], Array]) -> None:
    """Kolmogorov-Smirnov: passes by 999 of 1000 generators that are right, and here by the one seed that is used."""
    x = np.sort(drawn.ravel().astype(np.float64))
    n = len(x)
    steps = np.arange(n + 1) / n
    distance = max(np.max(steps[1:] - cdf(x)), np.max(cdf(x) - steps[:-1]))
    assert distance < 1.95 / math.sqrt(n)


def normal_cdf(x: Array, mean: float = 0, stddev: float = 1) -> Array:
    return np.array([0.5 * math.erfc((mean - v) / stddev / math.sqrt(2)) for v in x])


def beta_cdf(alpha: float, beta: float) -> Callable[[Array], Array]:
    """By integration over quantile-spaced points: substituting t = sin² makes the ends harmless."""
    angle = np.linspace(0, math.pi / 2, 400_001)
    middle = (angle[1:] + angle[:-1]) / 2
    steps = np.sin(middle) ** (2 * alpha - 1) * np.cos(middle) ** (2 * beta - 1)
    total = np.concatenate([[0], np.cumsum(steps)]) / steps.sum()
    return lambda x: np.interp(np.arcsin(np.sqrt(x)), angle, total)


@pytest.mark.parametrize("dtype", [types.FLOAT, types.FLOAT64, types.FLOAT16])
def test_uniform(dtype: types.DALIDataType) -> None:
    drawn = draw(lambda: fn.random.uniform(range=[-3, 5], shape=[N], dtype=dtype))
    assert drawn.dtype == types.to_numpy_type(dtype)
    assert drawn.min() >= -3
    assert drawn.max() < 5
    if dtype != types.FLOAT16:  # it has too few numbers for the test
        assert_distributed(drawn, lambda x: (x + 3) / 8)
        assert len(np.unique(drawn)) > 0.99 * N


def test_uniform_never_reaches_its_end() -> None:
    end = float(np.nextafter(np.float32(1), np.float32(2)))
    assert set(draw(lambda: fn.random.uniform(range=[1, end], shape=[100])).ravel()) == {1.0}
    half_end = 1 + 2.0**-10
    assert draw(lambda: fn.random.uniform(range=[1, half_end], shape=[1000], dtype=types.FLOAT16)).max() < half_end


@pytest.mark.parametrize(("interval", "low", "high"), [((-3, 2), -3, 2), ((0.6, 4.9), 0, 4), ((0.6, 0.9), 0, 0)])
def test_uniform_integers_halve_the_ends(interval: tuple[float, float], low: int, high: int) -> None:
    drawn = draw(lambda: fn.random.uniform(range=interval, shape=[N], dtype=types.INT32))
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == list(range(low, high + 1))
    if high > low:
        expected = np.full(high - low + 1, N / (high - low))
        expected[[0, -1]] /= 2
        assert np.abs(counts - expected).max() < 4 * math.sqrt(N / (high - low))


def test_uniform_integers_stay_within_their_type() -> None:
    drawn = draw(lambda: fn.random.uniform(range=[-300, 300], shape=[N], dtype=types.UINT8))
    assert (drawn.min(), drawn.max()) == (0, 255)


def test_uniform_values() -> None:
    drawn = draw(lambda: fn.random.uniform(values=[1, 2.5, 300], shape=[N]))
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [1, 2.5, 300]
    assert np.abs(counts / N - 1 / 3).max() < 0.01
    assert set(draw(lambda: fn.random.uniform(values=[1, 2.5, 300], shape=[99], dtype=types.UINT8)).ravel()) == {
        1,
        3,
        255,
    }


def test_normal() -> None:
    drawn = draw(lambda: fn.random.normal(mean=7, stddev=2, shape=[N]))
    assert_distributed(drawn, lambda x: normal_cdf(x, 7, 2))
    x = (drawn.astype(np.float64) - 7) / 2
    assert abs((x**3).mean()) < 4 * math.sqrt(15 / N)
    assert abs((x**4).mean() - 3) < 4 * math.sqrt(96 / N)
    neighbours = np.corrcoef(x[0, 0::2], x[0, 1::2])[0, 1]  # both halves of one Box-Muller step
    assert abs(neighbours) < 4 / math.sqrt(N / 2)


def test_normal_integers_are_rounded() -> None:
    drawn = draw(lambda: fn.random.normal(shape=[N], dtype=types.INT32))
    share = (drawn == 0).mean()
    assert abs(share - 0.3829) < 0.01


@pytest.mark.parametrize("probability", [0.0, 0.1, 0.5, 1.0])
def test_coin_flip(probability: float) -> None:
    drawn = draw(lambda: fn.random.coin_flip(probability=probability, shape=[N]))
    assert set(np.unique(drawn)) <= {0, 1}
    assert abs(drawn.mean() - probability) <= 4 * math.sqrt(probability * (1 - probability) / N)


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (0.5, 0.5), (0.2, 3), (2, 5), (40, 0.7)])
def test_beta(alpha: float, beta: float) -> None:
    drawn = draw(lambda: fn.random.beta(alpha=alpha, beta=beta, shape=[N], dtype=types.FLOAT64))
    assert_distributed(drawn, beta_cdf(alpha, beta))


@pytest.mark.parametrize("parameter", [1e6, 1e12, 1e15, 1e17, 1e25])
def test_beta_of_huge_parameters_is_normal(parameter: float) -> None:
    drawn = draw(lambda: fn.random.beta(alpha=parameter, beta=parameter, shape=[N], dtype=types.FLOAT64))
    assert_distributed((drawn - 0.5) * math.sqrt(4 * (2 * parameter + 1)), normal_cdf)


def test_beta_of_tiny_parameters_is_zero_or_one() -> None:
    drawn = draw(lambda: fn.random.beta(alpha=1e-5, beta=2e-5, shape=[N]))
    assert np.isfinite(drawn).all()
    assert abs(drawn.mean() - 1 / 3) < 0.02
    assert ((drawn < 1e-3) | (drawn > 1 - 1e-3)).mean() > 0.999


def test_choice() -> None:
    values, counts = np.unique(draw(lambda: fn.random.choice(6, shape=[N])), return_counts=True)
    assert values.tolist() == [0, 1, 2, 3, 4, 5]
    assert np.abs(counts / N - 1 / 6).max() < 0.01
    p = [0.1, 0.0, 0.6, 0.3]
    drawn = draw(lambda: fn.random.choice([10, 20, 30, 40], p=p, shape=[N]))
    assert np.abs([(drawn == v).mean() - q for v, q in zip((10, 20, 30, 40), p, strict=True)]).max() < 0.01
    assert 20 not in drawn
    drawn = draw(lambda: fn.random.choice([10, 20, 30, 40], p=0.25, shape=[N]))
    assert np.abs([(drawn == v).mean() - 0.25 for v in (10, 20, 30, 40)]).max() < 0.01


def test_choice_takes_whole_rows() -> None:
    table = np.arange(24, dtype=np.int16).reshape(4, 2, 3)
    drawn = draw(lambda: fn.random.choice(table, shape=[100]))[0]
    assert drawn.dtype == np.int16
    assert {row.tobytes() for row in drawn} == {row.tobytes() for row in table}


def test_numbers_depend_on_seed_operator_epoch_and_sample_alone(tmp_path: Path) -> None:
    for name in "abcdef":
        (tmp_path / name).write_bytes(b"x")

    def make() -> DataNode:
        files, _ = fn.readers.file(file_root=str(tmp_path), files=list("abcdef"))
        return fn.random.uniform(files, shape=None)

    two_epochs = draw(make, batch_size=1, batches=12)
    assert len(np.unique(two_epochs)) == 12
    assert np.array_equal(draw(make, batch_size=4, batches=3, threads=3), two_epochs)
    assert np.array_equal(draw(make, batch_size=6, batches=2, threads=2), two_epochs)
    assert not np.isin(draw(make, batch_size=6, seed=6), two_epochs).any()


def test_operators_differ_unless_they_have_the_same_seed() -> None:
    pipe = Pipeline(batch_size=8, num_threads=1, device_id=None, seed=5)
    with pipe:
        pipe.set_outputs(*[fn.random.uniform() for _ in range(2)], *[fn.random.uniform(seed=9) for _ in range(2)])
    a, b, c, d = (o.as_array() for o in pipe.run())
    assert not np.isin(a, b).any()
    assert np.array_equal(c, d)
    assert np.array_equal(draw(lambda: fn.random.uniform(seed=9), batch_size=8, seed=77), c)


def test_old_names() -> None:
    for make in (
        fn.uniform,
        fn.coin_flip,
        fn.normal_distribution,
        ops.Uniform(),
        ops.CoinFlip(),
        ops.NormalDistribution(),
    ):
        assert draw(make, batch_size=3).shape == (3,)
    assert np.array_equal(draw(lambda: ops.Uniform(range=(2, 3))()), draw(lambda: fn.random.uniform(range=[2, 3])))


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: fn.random.uniform(range=[2, 1]), r"random.uniform: range=\[2.0+, 1.0+\]"),
        (lambda: fn.random.uniform(range=[1]), r"range=\[1.0+, 1.0+\]"),
        (lambda: fn.random.uniform(range=[1, 2, 3]), "expected 1 or 2 values, got 3"),
        (lambda: fn.random.uniform(range=[-math.inf, 1]), "expected two numbers"),
        (lambda: fn.random.uniform(values=[]), "values is empty"),
        (lambda: fn.random.uniform(shape=[2, -1]), "negative extent"),
        (lambda: fn.random.uniform(shape=[1] * 13), "shape has 13 elements"),
        (lambda: fn.random.normal(np.zeros(3), shape=[3]), "the shape is given twice"),
        (lambda: fn.random.beta(alpha=0), "alpha=0.0+: expected a number above 0"),
        (lambda: fn.random.beta(beta=math.nan), "beta=-?nan: expected"),
        (lambda: fn.random.choice(0), "at least 1 element to choose from, got 0"),
        (lambda: fn.random.choice(-3), "got -3"),
        (lambda: fn.random.choice(2.0), "the input is one FLOAT"),
        (lambda: fn.random.choice([1, 2, 3], p=[0.5, 0.5]), "p has 2 probabilities for 3 elements"),
        (lambda: fn.random.choice([1, 2], p=[1]), "add up to 2.0"),
        (lambda: fn.random.choice([1, 2], p=[0.5, 0.6]), "add up to 1.1"),
        (lambda: fn.random.choice([1, 2], p=[-1, 2]), r"p\[0\]=-1.0+: expected 0 to 1"),
        (lambda: fn.random.choice([1, 2], np.zeros(3), shape=[3]), "the shape is given twice"),
    ],
)
def test_mistakes_are_named(make: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        draw(make)


def test_beta_is_a_float() -> None:
    with pytest.raises(ArgumentError, match=r"random\.beta: dtype=.*INT32"):
        fn.random.beta(dtype=types.INT32)
