"""Random numbers on the GPU: the CPU's, for the same seed, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import DataNode, Pipeline, fn, types
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, per_sample

pytestmark = pytest.mark.usefixtures("software_gpu")

Make = Callable[[str], DataNode]  # gets the device


def draw(make: Make, device: str, batches: int = 2, batch_size: int = 3) -> list[Array]:
    """All samples of some batches."""
    pipe = Pipeline(batch_size=batch_size, num_threads=2, device_id=0, seed=11)
    with pipe:
        node = make(device)
        assert node.device == device
        pipe.set_outputs(node)
    return [np.array(a) for _ in range(batches) for a in pipe.run()[0].as_cpu()]


DRAWS: dict[str, Make] = {
    "uniform": lambda d: fn.random.uniform(device=d, shape=[10]),
    "uniform-one": lambda d: fn.random.uniform(device=d),
    "uniform-many": lambda d: fn.random.uniform(device=d, shape=[3, 20_001], range=[0, 7]),
    "uniform-half": lambda d: fn.random.uniform(device=d, shape=[1001], dtype=types.FLOAT16, range=[0.1, 0.7]),
    "uniform-double": lambda d: fn.random.uniform(device=d, shape=[1001], dtype=types.FLOAT64),
    "uniform-integer": lambda d: fn.random.uniform(device=d, shape=[1001], dtype=types.INT16, range=[-30, 5.5]),
    "uniform-saturates": lambda d: fn.random.uniform(device=d, shape=[1001], dtype=types.UINT8, range=[-300, 300]),
    "uniform-long": lambda d: fn.random.uniform(device=d, shape=[1001], dtype=types.INT64, range=[-1e18, 1e18]),
    "values": lambda d: fn.random.uniform(device=d, shape=[1001], values=[1, 2.5, 300]),
    "values-integer": lambda d: fn.random.uniform(device=d, shape=[7], values=[1, 2.5, 300], dtype=types.UINT8),
    "normal": lambda d: fn.random.normal(device=d, shape=[20_001]),
    "normal-double": lambda d: fn.random.normal(device=d, shape=[20_001], dtype=types.FLOAT64, mean=3, stddev=2),
    "normal-half": lambda d: fn.random.normal(device=d, shape=[1001], dtype=types.FLOAT16),
    "normal-integer": lambda d: fn.random.normal(device=d, shape=[1001], dtype=types.INT8, stddev=50),
    "flip": lambda d: fn.random.coin_flip(device=d, shape=[10_001], probability=0.3),
    "flip-flags": lambda d: fn.random.coin_flip(device=d, shape=[11], dtype=types.BOOL),
    "flip-half": lambda d: fn.random.coin_flip(device=d, shape=[11], dtype=types.FLOAT16),
    "nothing": lambda d: fn.random.uniform(device=d, shape=[4, 0]),
}


@pytest.mark.parametrize("name", list(DRAWS))
def test_numbers_are_the_cpus(name: str) -> None:
    found, wanted = (draw(DRAWS[name], device) for device in ("gpu", "cpu"))
    assert len({a.tobytes() for a in wanted}) > 1 or not wanted[0].size  # samples differ, or this would show little
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tobytes() == b.tobytes()


def test_arguments_and_shapes_per_sample() -> None:
    shapes = per_sample([(2, 3), (401, 10), (0, 5)])
    ends = per_sample([(0.0, 1.0), (5.0, 6.0), (-2.0, 7.0)])
    lists = per_sample([(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)])
    chance = per_sample([0.0, 0.5, 1.0])
    makers: list[Make] = [
        lambda d: fn.random.uniform(device=d, shape=shapes.node(), range=ends.node()),
        lambda d: fn.random.uniform(device=d, shape=shapes.node(), values=lists.node()),
        lambda d: fn.random.coin_flip(device=d, shape=shapes.node(), probability=chance.node()),
        lambda d: fn.random.normal(device=d, shape=[9], mean=chance.node(), stddev=chance.node()),
    ]
    for make in makers:
        for a, b in zip(draw(make, "gpu"), draw(make, "cpu"), strict=True):
            assert a.shape == b.shape
            assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("of", ["cpu", "gpu"])
def test_the_input_that_tells_the_shape_is_on_either_device(of: str, device: str) -> None:
    like = np.zeros((3, 5), np.uint8)
    found = draw(lambda d: fn.random.uniform(constant(like, device=of), device=d, seed=4), device)
    wanted = draw(lambda d: fn.random.uniform(device=d, shape=[3, 5], seed=4), "cpu")
    assert [a.tobytes() for a in found] == [a.tobytes() for a in wanted]


def test_the_device_is_the_inputs() -> None:
    assert fn.random.normal(constant(np.zeros(3), device="gpu")).device == "gpu"
    assert fn.random.normal(constant(np.zeros(3))).device == "cpu"
    assert fn.random.normal().device == "cpu"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"range": [2, 1]}, r"random\.uniform: range=\[2.0+, 1.0+\]"),
        ({"values": []}, r"random\.uniform: values is empty"),
        ({"shape": [2, -1]}, r"random\.uniform: .*negative extent"),
    ],
)
def test_mistakes_are_named(arguments: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        draw(lambda d: fn.random.uniform(device=d, **arguments), "gpu")
