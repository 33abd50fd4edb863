"""What external sources take and refuse, and how they are fed, as DALI's do."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from penstock.errors import ArgumentError, ArgumentTypeError
from tests.feed.sources import OURS, Array, assert_same, of, pipeline, step

# What a source may be.


def keywords(**arguments: Any) -> Array:
    return of(1)


def keyword_only(*, scale: int = 1) -> Array:
    return of(scale)


def index_and_keyword_only(i: int, *, scale: int = 1) -> Array:
    return of(i * scale)


@pytest.mark.parametrize("source", [keywords, keyword_only, index_and_keyword_only])
def test_sources_are_called_with_one_argument_by_position_at_most(source: Any, dali: Any) -> None:
    for lib in (OURS, dali):
        with pytest.raises(TypeError):
            pipeline(lambda lib: lib.fn.external_source(source), lib)


def test_partial_objects_are_sources() -> None:
    """DALI refuses them."""
    pipe = pipeline(lambda lib: lib.fn.external_source(functools.partial(index_and_keyword_only, scale=5)))
    assert [pipe.run()[0].as_array()[0, 0] for _ in range(3)] == [0, 5, 10]


def test_generator_functions_with_defaults(dali: Any) -> None:
    def generator(count: int = 2) -> Iterator[Array]:
        yield from map(of, range(count))

    traces = []
    for lib in (OURS, dali):
        pipe = pipeline(lambda lib: lib.fn.external_source(generator), lib)
        traces.append([step(pipe) for _ in range(3)])
    assert_same(*traces)


@pytest.mark.parametrize("cycle", [None, "raise", "quiet"])
def test_datasets_of_the_map_style(cycle: Any, dali: Any) -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch's datasets")
    from torch.utils.data import Dataset, Subset, TensorDataset

    class Pictures(Dataset):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return 6

        def __getitem__(self, index: int) -> tuple[Array, int]:
            if index >= len(self):
                raise IndexError(index)
            return np.full((2, index + 1, 3), index, np.uint8), np.int32(index)

    class Arrays(Dataset):  # type: ignore[type-arg]
        """Of NumPy: DALI takes tensors only where PyTorch has CUDA."""

        def __init__(self, dataset: Any) -> None:
            self.dataset = dataset

        def __getitem__(self, index: int) -> tuple[Array, ...]:
            return tuple(np.asarray(part) for part in self.dataset[index])

    tensors = TensorDataset(torch.arange(12).reshape(6, 2), torch.arange(6.0))
    for dataset in (Pictures(), tensors, Subset(tensors, [5, 3, 1])):
        traces = []
        for lib in (OURS, dali):
            source = dataset if lib is OURS else Arrays(dataset)
            pipe = pipeline(lambda lib, d=source: lib.fn.external_source(d, 2, batch=False, cycle=cycle), lib)
            steps = [step(pipe) for _ in range(4)]
            pipe.reset()
            traces.append([*steps, step(pipe)])
        assert_same(*traces)


# Several outputs.


def test_each_of_several_outputs_without_a_source_is_fed_by_itself(dali: Any) -> None:
    traces = []
    for lib in (OURS, dali):
        pipe = lib.Pipeline(3, 1, None, prefetch_queue_depth=1)
        with pipe:
            operator = lib.ops.ExternalSource(num_outputs=3, layout=["HW", "H"])
            first, second, third = operator()
            pipe.set_outputs(first, second + 1, third)
        for node, value in ((first, np.zeros((3, 2, 2), np.uint8)), (second, of(5)), (third, of(7))):
            pipe.feed_input(node, value)
        traces.append([step(pipe)])
    assert_same(*traces)


def test_several_outputs_without_a_source_have_no_common_name(dali: Any) -> None:
    for lib in (OURS, dali):
        with pytest.raises((ValueError, RuntimeError)):
            pipeline(lambda lib: lib.ops.ExternalSource(num_outputs=2)(name="mine"), lib)
        with pytest.raises(ValueError, match="num_outputs"):
            pipeline(lambda lib: lib.fn.external_source(num_outputs=2), lib)


@pytest.mark.parametrize("used", [[1], [0, 2], [0, 1, 2]])
def test_unused_outputs_are_warned_of(used: list[int], dali: Any) -> None:
    for lib in (OURS, dali):

        def define(lib: Any) -> Any:
            outputs = lib.fn.external_source(lambda: (of(0), of(1), of(2)), num_outputs=3)
            return [outputs[k] + 1 for k in used]

        pipe = pipeline(define, lib)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            pipe.build()
        texts = [str(w.message) for w in caught if "produces 3 outputs" in str(w.message)]
        assert len(texts) == int(len(used) < 3)
        assert all(str(k) in text for text in texts for k in {0, 1, 2} - set(used))
        assert [o.as_array()[0, 0] for o in pipe.run()] == [k + 1 for k in used]


# Layouts of what is fed.


@pytest.mark.parametrize("given", [None, "", "H", "W"])
@pytest.mark.parametrize("own", [None, "H", "W"])
@pytest.mark.parametrize("declared", [None, "H"])
def test_layouts_of_what_is_fed(declared: Any, own: Any, given: Any, dali: Any) -> None:
    traces: list[Any] = []
    for lib in (OURS, dali):
        pipe = pipeline(lambda lib: lib.fn.external_source(name="mine", layout=declared), lib, prefetch_queue_depth=1)
        data = lib.tensors.TensorListCPU(of(1), own) if own else of(1)
        try:
            pipe.feed_input("mine", data, layout=given)
            traces.append([step(pipe)])
        except RuntimeError as e:
            traces.append([e])
    assert_same(*traces)


def test_a_sources_own_layout_gives_way_to_the_declared_one(dali: Any) -> None:
    traces = []
    for lib in (OURS, dali):
        data = lib.tensors.TensorListCPU(of(1), "W")
        traces.append([step(pipeline(lambda lib, d=data: lib.fn.external_source(lambda: d, layout="H"), lib))])
    assert_same(*traces)


# Classes of errors.


def test_layout_and_ndim_that_differ(dali: Any) -> None:
    for lib in (OURS, dali):
        with pytest.raises(RuntimeError):
            pipeline(lambda lib: lib.fn.external_source(lambda: of(1), layout="HWC", ndim=2), lib).build()


def test_generators_cannot_begin_anew(dali: Any) -> None:
    for lib in (OURS, dali):
        with pytest.raises(TypeError):
            pipeline(lambda lib: lib.fn.external_source((of(i) for i in range(3)), cycle="raise"), lib)
    assert issubclass(ArgumentTypeError, ArgumentError)
