"""Sources of three batches of two samples, 0 1 | 2 3 | 4 5, of all kinds; and what iterators make of them."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np

import penstock
from penstock.plugin import pytorch

Array = np.ndarray[Any, Any]
Trace = list[Any]  # epochs; or the exception that came instead of one

OURS = SimpleNamespace(Pipeline=penstock.Pipeline, fn=penstock.fn, plugin=pytorch)
BATCH, BATCHES = 2, 3
MANY = 9  # batches of an epoch that has no end


def batch(i: int) -> Array:
    return np.arange(BATCH * i, BATCH * (i + 1), dtype=np.int32).reshape(BATCH, 1)


def sample(i: int) -> Array:
    return np.int32([i])


class Items:
    """An iterator that begins anew by iter()."""

    def __init__(self, item: Callable[[int], Array] = batch, count: int = BATCHES):
        self.item, self.count, self.at = item, count, 0

    def __iter__(self) -> Items:
        self.at = 0
        return self

    def __next__(self) -> Array:
        if self.at >= self.count:
            raise StopIteration
        self.at += 1
        return self.item(self.at - 1)


class Reviving(Items):
    """An iterator that begins anew by itself, once it has said that it is at its end."""

    def __next__(self) -> Array:
        try:
            return super().__next__()
        except StopIteration:
            self.at = 0
            raise


class Sequence:
    """What has an item for each index, as datasets of the map style have."""

    def __init__(self, item: Callable[[int], Array], count: int):
        self.item, self.count = item, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Array:
        if index >= self.count:
            raise IndexError(index)
        return self.item(index)


def generator() -> Iterator[Array]:
    yield from map(batch, range(BATCHES))


def sample_generator() -> Iterator[Array]:
    yield from map(sample, range(BATCH * BATCHES))


class CallableGenerator:
    def __call__(self) -> Iterator[Array]:
        return (yield from generator())


def stopping(i: int, item: Callable[[int], Array], count: int) -> Array:
    if i >= count:
        raise StopIteration
    return item(i)


def by_index(i: int) -> Array:
    return stopping(i, batch, BATCHES)


def by_batch_info(info: Any) -> Array:
    return stopping(info.iteration, batch, BATCHES)


def by_sample_info(info: Any) -> Array:
    assert info.idx_in_epoch == info.iteration * BATCH + info.idx_in_batch
    return stopping(info.idx_in_epoch, sample, BATCH * BATCHES)


def samples(count: int = BATCH * BATCHES) -> list[Array]:
    return [sample(i) for i in range(count)]


# By name: a function that makes the source, arguments of external_source, and whether it is a collection.
KINDS: dict[str, tuple[Callable[[], Any], dict[str, Any], bool]] = {
    "list": (lambda: [batch(i) for i in range(BATCHES)], {}, True),
    "items": (Items, {}, True),
    "reviving": (Reviving, {}, True),
    "generator function": (lambda: generator, {}, True),
    "callable generator": (CallableGenerator, {}, True),
    "partial generator": (lambda: functools.partial(generator), {}, True),
    "list iterator": (lambda: iter([batch(i) for i in range(BATCHES)]), {}, True),
    "sequence": (lambda: Sequence(batch, BATCHES), {}, True),
    "samples": (samples, {"batch": False}, True),
    "items of samples": (lambda: Items(sample, BATCH * BATCHES), {"batch": False}, True),
    "generated samples": (lambda: sample_generator, {"batch": False}, True),
    "sequence of samples": (lambda: Sequence(sample, BATCH * BATCHES), {"batch": False}, True),
    "half a batch more": (lambda: samples(BATCH * BATCHES + 1), {"batch": False}, True),
    "no argument": (lambda: Reviving().__next__, {}, False),
    "index": (lambda: by_index, {}, False),
    "batch info": (lambda: by_batch_info, {"batch_info": True}, False),
    "sample info": (lambda: by_sample_info, {"batch": False}, False),
}
CYCLES = [None, "no", "raise", "quiet"]
SOURCES = [(kind, cycle) for kind, (_, _, collection) in KINDS.items() for cycle in (CYCLES if collection else [None])]


def pipeline(lib: Any, kind: str, cycle: Any, depth: int, **arguments: Any) -> Any:
    make, options, _ = KINDS[kind]
    pipe = lib.Pipeline(BATCH, 1, None, prefetch_queue_depth=depth, **arguments)
    with pipe:
        pipe.set_outputs(lib.fn.external_source(make(), cycle=cycle, **options))
    return pipe


def epochs(
    lib: Any, pipes: Any, count: int, reset: str, policy: str = "FILL", names: Any = ("n",), **options: Any
) -> Trace:
    """What each of so many epochs gives. ``reset``: "auto", "call" (of reset() behind each loop) or "loop" alone."""
    logging.disable(logging.WARNING)
    found: Trace = []
    try:
        iterator = lib.plugin.DALIGenericIterator(
            pipes,
            list(names),
            auto_reset=reset == "auto",
            last_batch_policy=lib.plugin.LastBatchPolicy[policy],
            **options,
        )
        for _ in range(count):
            loop = islice(iterator, MANY)
            found.append([[d["n"].flatten().tolist() for d in batch] for batch in loop])
            if len(found[-1]) == MANY:  # has no end
                break
            if reset == "call":
                iterator.reset()
    except StopIteration:  # out of DALI's reset(), where a source has no batch for DROP to drop
        found += [[]] * (count - len(found))
    except Exception as e:
        found.append(e)
    finally:
        logging.disable(logging.NOTSET)
    return found
