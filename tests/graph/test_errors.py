"""The tree of exceptions: who catches what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, errors, fn
from penstock.graph.node import DataNode


def node(value: Any, layout: str = "") -> DataNode:
    return fn.external_source(lambda: [np.asarray(value)], layout=layout or None)  # type: ignore[no-any-return]


def raised(make: Callable[[], Any]) -> BaseException:
    """What defining or running a pipeline of these outputs raises."""

    def run() -> None:
        pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(make())
        pipe.run()

    with pytest.raises(errors.PenstockError) as caught:
        run()
    return caught.value


def is_one_of(error: BaseException, *classes: type[BaseException]) -> bool:
    return all(isinstance(error, cls) for cls in classes)


def test_arguments() -> None:
    """DALI finds them when it builds the pipeline, and raises RuntimeError."""
    error = raised(lambda: fn.one_hot(node(1), num_classes=3, axis_name="CD"))
    assert is_one_of(error, errors.ArgumentError, ValueError, RuntimeError)
    error = raised(lambda: fn.random.beta(alpha="some", beta=1.0))  # type: ignore[arg-type]
    assert is_one_of(error, errors.ArgumentTypeError, TypeError, ValueError, RuntimeError)
    error = raised(lambda: fn.flip(node(np.zeros((2, 2, 3))), horizon=1))  # type: ignore[call-arg]
    assert is_one_of(error, errors.UnknownArgumentError, TypeError, KeyError, RuntimeError)


@pytest.mark.parametrize("ask", [bool, len, iter, lambda x: min(x, x), lambda x: x in (1, x)])
def test_what_is_in_a_node(ask: Callable[[Any], Any]) -> None:
    error = raised(lambda: ask(fn.random.uniform(range=[0, 1]) > 0.5))
    assert is_one_of(error, errors.NodeContentsError, errors.GraphError, TypeError, RuntimeError)


@pytest.mark.parametrize(
    "make",
    [
        lambda: fn.crop(node(np.zeros((4, 4, 3)), "ABC"), crop=[2, 2]),
        lambda: fn.rotate(node(np.zeros((3, 4, 4), np.uint8), "CHW"), angle=5.0),
        lambda: fn.resize(node(np.zeros((4, 4), np.uint8), "XY"), size=[5, 5]),
        lambda: fn.paste(node(np.zeros((5, 6, 7, 8), np.uint8)), ratio=2, fill_value=0),
        lambda: fn.gaussian_blur(node(np.zeros((2, 2, 3, 3), np.uint8), "HFWC"), sigma=1.0),
        lambda: node(np.zeros((2, 3)), "AB") + node(np.zeros((2, 3)), "CD"),
        lambda: fn.reshape(node(np.zeros(6)), shape=[2, 3], layout="ABC"),
    ],
)
def test_layouts(make: Callable[[], Any]) -> None:
    assert is_one_of(raised(make), errors.LayoutError, errors.OperatorError, ValueError, RuntimeError)


@pytest.mark.parametrize(
    "make",
    [
        lambda: fn.reductions.sum(node(np.zeros((2, 2))), axes=[-100]),
        lambda: fn.slice(node(np.zeros((2, 2))), start=[0], end=[1], axes=[7]),
        lambda: fn.stack(node([1]), node([2]), axis=5),
        lambda: fn.one_hot(node(np.zeros((2, 2), np.int32)), num_classes=3, axis=9),
        lambda: node([1, 2, 3])[5],
        lambda: node([1, 2, 3])[0, 0],
        lambda: fn.permute_batch(node([1, 2, 3]), indices=[1]),
    ],
)
def test_axes_and_elements(make: Callable[[], Any]) -> None:
    assert is_one_of(raised(make), errors.AxisError, errors.OperatorError, IndexError, ValueError, RuntimeError)


@pytest.mark.parametrize(
    "make",
    [
        lambda: node([1, 2]) // node([1, 0]),
        lambda: node(np.ones(2, np.float32)) & node([1, 0]),
        lambda: fn.paste(node(np.zeros((5, 6, 3), np.uint8)), ratio=node(np.float32(0.5)), fill_value=0),
        lambda: fn.cat(node([1]), node([1.0])),
    ],
)
def test_other_samples(make: Callable[[], Any]) -> None:
    error = raised(make)
    assert is_one_of(error, errors.InputError, errors.OperatorError, ValueError, RuntimeError)
    assert not isinstance(error, IndexError)
