"""Pipelines that run for TensorFlow: made of a pipeline anew, fed, and their outputs as tensors of the wanted kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from penstock.errors import OperatorError
from penstock.frameworks import TensorFlow
from penstock.pipeline import Pipeline
from penstock.plugin.arrays import dense

Feeds = Iterator[Mapping[str, Any]]


def batches(pipe: Pipeline, feeds: Feeds | None) -> Iterator[Sequence[Any]]:
    """The outputs of a pipeline, until its sources end; ``feeds`` has what its inputs are fed, batch after batch."""
    if feeds is None:
        while True:
            try:
                yield pipe.run()
            except StopIteration:
                pipe.reset()
                return
    running, depth = 0, pipe.input_feed_count(pipe.fed_inputs()[0])
    for batch in feeds:
        pipe.schedule_run(**batch)
        running += 1
        if running == depth:
            if (outputs := _taken(pipe)) is None:
                return
            yield outputs
            running -= 1
    while running and (outputs := _taken(pipe)) is not None:
        yield outputs
        running -= 1


def _taken(pipe: Pipeline) -> Sequence[Any] | None:
    """The next batch; None: a source in Python has ended."""
    try:
        outputs = pipe.share_outputs()
    except StopIteration:
        return None
    pipe.release_outputs()
    return outputs


def tensor(number: int, output: Any, dtype: Any, shape: Any) -> Any:
    """An output as a tensor of this type and shape. OperatorError where it has another one."""
    found = dense(TensorFlow(), str(number), output)
    if found.dtype != dtype:
        raise OperatorError(f"output {number} of the pipeline is {found.dtype.name}, but {dtype.name} was asked for")
    wanted = tf.TensorShape(shape)
    if wanted.is_compatible_with(found.shape):
        return found
    return tf.reshape(found, _squeezed(number, tuple(found.shape), wanted))


def _squeezed(number: int, found: tuple[int, ...], wanted: Any) -> list[int]:
    """The shape without as many axes of one element as are too many."""
    left, rank = list(found), wanted.rank
    for axis in reversed(range(len(found))):
        if len(left) > rank and found[axis] == 1 and not _fits(left, wanted):
            del left[axis]
    if not _fits(left, wanted):
        raise OperatorError(f"output {number} of the pipeline has the shape {found}, but {wanted} was asked for")
    return left


def _fits(shape: Sequence[int], wanted: Any) -> bool:
    return bool(wanted.is_compatible_with(shape))


def together(datasets: Mapping[str, Callable[[], Iterable[Any]]]) -> Feeds:
    """What inputs are fed: of each of the iterables the next batch, until one ends."""
    iterators = {name: iter(make()) for name, make in datasets.items()}
    while True:
        batch = {}
        for name, iterator in iterators.items():
            try:
                batch[name] = next(iterator)
            except StopIteration:
                return
        sizes = [len(items) for items in batch.values()]
        yield {name: items[: min(sizes)] for name, items in batch.items()}
        if min(sizes) < max(sizes):
            return
