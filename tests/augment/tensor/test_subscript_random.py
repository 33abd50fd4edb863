"""node[...] with several hundred random keys, against NumPy and DALI."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, types
from penstock.graph.constants import constant
from penstock.graph.slicing import newaxis
from tests.cases import Array, random_array

SHAPES: list[tuple[int, ...]] = [(6, 7, 3), (9,), (4, 1, 5, 3), (5, 8), (2, 3, 4, 2, 3), (1, 1), (3, 0, 2)]
LAYOUTS = ["HWC", "X", "FHWC", "HW", "FDHWC", "HW", "HWC"]
DTYPES = [np.uint8, np.int16, np.float32, np.float64, np.bool_, np.int64]
KEYS_OF_EACH = 80


class Given:
    """A number of a key that a node gives."""

    def __init__(self, number: int, dtype: Any):
        self.array = np.array(number, dtype)


Item = Any  # as in a key, with Given for nodes


def random_key(random: np.random.Generator, shape: Sequence[int]) -> tuple[Item, ...]:
    """Items for some or all axes, perhaps an ellipsis, new axes and nodes among them."""

    def given(number: int) -> Any:
        how = random.integers(8)
        if how == 0:
            kinds = [np.int8, np.int16, np.int32, np.int64] + [np.uint8, np.uint32] * (number >= 0)
            return Given(number, kinds[random.integers(len(kinds))])
        return np.int64(number) if how == 1 else number

    def bound(extent: int) -> Any:
        return None if random.random() < 0.3 else given(int(random.integers(-extent - 2, extent + 3)))

    def item(extent: int) -> Item:
        if extent and random.random() < 0.35:
            return given(int(random.integers(-extent, extent)))
        step = None if random.random() < 0.5 else given(int(random.choice([-3, -2, -1, 1, 2, 3])))
        return slice(bound(extent), bound(extent), step)

    many = int(random.integers(len(shape) + 1))
    first = int(random.integers(many + 1))  # items before the ellipsis, if there is one
    with_ellipsis = random.random() < 0.4
    behind = shape[len(shape) - (many - first) :] if with_ellipsis else shape[first:many]
    items = [item(e) for e in shape[:first]] + [...] * with_ellipsis + [item(e) for e in behind]
    for _ in range(int(random.choice([0, 0, 0, 1, 2]))):
        items.insert(int(random.integers(len(items) + 1)), newaxis("N") if random.random() < 0.6 else newaxis)
    return tuple(items)


def mapped(key: tuple[Item, ...], number: Callable[[Given], Any], new: Callable[[Any], Any]) -> tuple[Any, ...]:
    def part(v: Any) -> Any:
        return number(v) if isinstance(v, Given) else v

    def item(v: Any) -> Any:
        if isinstance(v, slice):
            return slice(part(v.start), part(v.stop), part(v.step))
        return new(v) if isinstance(v, type(newaxis)) else part(v)

    return tuple(map(item, key))


def as_numpy(key: tuple[Item, ...]) -> tuple[Any, ...]:
    return mapped(key, lambda given: int(given.array), lambda _: None)


def layout_of(key: tuple[Item, ...], layout: str) -> str:
    """What is left of the layout; nothing where a new axis has no name."""
    taken = sum(item is not ... and not isinstance(item, type(newaxis)) for item in key)
    if ... not in key:
        key = (*key, ...)
    names = iter(layout)
    left = ""
    for item in key:
        if item is ...:
            left += "".join(itertools.islice(names, len(layout) - taken))
        elif isinstance(item, type(newaxis)):
            if not item.name:
                return ""
            left += item.name
        elif isinstance(item, slice):
            left += next(names)
        else:
            next(names)
    return left


def cases() -> Iterator[tuple[Array, str, list[tuple[Item, ...]]]]:
    for i, (shape, layout) in enumerate(zip(SHAPES, LAYOUTS, strict=True)):
        random = np.random.default_rng([17, i])
        yield (
            random_array(shape, DTYPES[i % len(DTYPES)]),
            layout,
            [random_key(random, shape) for _ in range(KEYS_OF_EACH)],
        )


CASES_OF_SHAPES = list(cases())


def ours(x: Array, layout: str, keys: list[tuple[Item, ...]], on_gpu: bool = False) -> Any:
    pipe = Pipeline(batch_size=1, num_threads=2, device_id=0 if on_gpu else None)
    with pipe:
        node = constant(x, layout)
        node = node.gpu() if on_gpu else node
        pipe.set_outputs(*[node[mapped(key, lambda g: constant(g.array), lambda new: new)] for key in keys])
    return [output.as_cpu() for output in pipe.run()]


def check(found: Any, x: Array, layout: str, keys: list[tuple[Item, ...]]) -> None:
    for key, output in zip(keys, found, strict=True):
        wanted = x[as_numpy(key)]
        assert output.at(0).dtype == x.dtype
        np.testing.assert_array_equal(output.at(0), wanted, err_msg=str(as_numpy(key)), strict=True)
        assert output.layout() == layout_of(key, layout), as_numpy(key)


def test_the_keys_are_of_all_kinds() -> None:
    keys = [key for *_, keys in CASES_OF_SHAPES for key in keys]
    items = list(itertools.chain.from_iterable(keys))
    slices = [item for item in items if isinstance(item, slice)]
    parts = [part for s in slices for part in (s.start, s.stop, s.step)]
    assert len(set(map(str, map(as_numpy, keys)))) > 300
    assert sum(item is ... for item in items) > 50
    assert sum(isinstance(item, type(newaxis)) for item in items) > 50
    assert sum(isinstance(item, (int, np.integer)) and item < 0 for item in items) > 50
    assert sum(isinstance(item, Given) for item in items) > 20
    assert sum(isinstance(part, Given) for part in parts) > 50
    assert sum(isinstance(s.step, int) and s.step < 0 for s in slices) > 50
    assert sum(x[as_numpy(key)].size > 0 for x, _, keys in CASES_OF_SHAPES[:6] for key in keys) > 150


@pytest.mark.parametrize(("x", "layout", "keys"), CASES_OF_SHAPES, ids=[str(s) for s in SHAPES])
def test_as_numpy(x: Array, layout: str, keys: list[tuple[Item, ...]]) -> None:
    check(ours(x, layout, keys), x, layout, keys)


@pytest.mark.usefixtures("software_gpu")
@pytest.mark.parametrize(("x", "layout", "keys"), CASES_OF_SHAPES, ids=[str(s) for s in SHAPES])
def test_as_numpy_on_the_gpu(x: Array, layout: str, keys: list[tuple[Item, ...]]) -> None:
    check(ours(x, layout, keys, on_gpu=True), x, layout, keys)


@pytest.mark.parametrize(("x", "layout", "keys"), CASES_OF_SHAPES, ids=[str(s) for s in SHAPES])
def test_as_dali(x: Array, layout: str, keys: list[tuple[Item, ...]]) -> None:
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    import nvidia.dali.fn as dali_fn

    def known(key: tuple[Item, ...]) -> bool:
        """DALI has no ellipsis, and new axes with names only where all have one. Of ranges that go against their step
        it makes gigantic ones where the step is not 1 or -1."""
        plain = as_numpy(key)
        far = any(isinstance(item, slice) and abs(item.step or 1) > 1 for item in plain)
        names = {bool(item.name) for item in key if isinstance(item, type(newaxis))}
        return ... not in key and len(names) < 2 and (x[plain].size > 0 or not far)

    keys = [key for key in keys if known(key)]
    assert len(keys) > 15
    pipe = dali.Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:

        def source(array: Array, layout: str | None = None) -> Any:
            return dali_fn.external_source(source=lambda: [array], layout=layout)

        def theirs(key: tuple[Item, ...]) -> tuple[Any, ...]:
            return mapped(key, lambda g: source(g.array), lambda n: dali.newaxis(n.name) if n.name else dali.newaxis)

        node = source(x, layout)
        pipe.set_outputs(*[node[theirs(key)] for key in keys])
    pipe.build()
    for key, found, wanted in zip(keys, ours(x, layout, keys), pipe.run(), strict=True):
        np.testing.assert_array_equal(found.at(0), np.array(wanted.at(0)), err_msg=str(as_numpy(key)), strict=True)
        assert found.layout() == wanted.layout(), as_numpy(key)


def test_numbers_of_constants() -> None:
    x = CASES_OF_SHAPES[0][0]
    (found,) = ours(x, "", [(types.Constant(2), slice(types.Constant(1), None))])
    np.testing.assert_array_equal(found.at(0), x[2, 1:])
