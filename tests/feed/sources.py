"""Small pipelines with external sources, here and in DALI, and sources that note what they are asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

import penstock
from penstock import Pipeline, fn, ops, types

Array = np.ndarray[Any, Any]
OURS = SimpleNamespace(Pipeline=Pipeline, fn=fn, ops=ops, types=types, tensors=penstock.tensors)


def pipeline(define: Callable[[Any], Any], library: Any = OURS, **arguments: Any) -> Any:
    """A pipeline of 3 samples of what ``define(library)`` returns."""
    pipe = library.Pipeline(**{"batch_size": 3, "num_threads": 2, "device_id": None, "seed": 1, **arguments})
    with pipe:
        outputs = define(library)
        pipe.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    return pipe


def of(value: int, count: int = 3) -> Array:
    """A batch of this number."""
    return np.full((count, 1), value, np.int32)


def step(pipe: Any) -> Any:
    """What a run gives: layout, type and values of each output; or what it raises."""
    try:
        return [(o.layout(), int(o.dtype), [np.array(o.at(i)).tolist() for i in range(len(o))]) for o in pipe.run()]
    except Exception as e:
        return e


def assert_same(ours: list[Any], theirs: list[Any]) -> None:
    """Equal, or exceptions that who catches DALI's catches."""
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        if isinstance(b, Exception):
            assert isinstance(a, type(b)), f"{a!r} instead of {b!r}"
        else:
            assert a == b


def named(lib: Any) -> Any:
    """An external source that is fed."""
    return lib.fn.external_source(name="mine")


class Recorder:
    """Sources of all kinds, which end after ``count`` batches, and note what they are asked for."""

    def __init__(self, count: int = 3):
        self.count, self.asked = count, []  # type: int, list[Any]

    def _give(self, what: Any, batch: int) -> Array:
        self.asked.append(what)
        if batch >= self.count:
            raise StopIteration
        return of(batch)

    def no_argument(self) -> Array:
        return self._give("-", len(self.asked))

    def index(self, i: int) -> Array:
        return self._give(i, i)

    def default(self, i: int = 77) -> Array:
        return self._give(i, i)

    def info(self, info: Any) -> Array:
        return self._give((info.iteration, info.epoch_idx), info.iteration)

    def sample(self, info: Any) -> Array:
        what = (info.idx_in_epoch, info.idx_in_batch, info.iteration, info.epoch_idx)
        return self._give(what, info.iteration)[0]

    def short(self, info: Any) -> Array:
        """Ends within a batch."""
        return self._give(info.idx_in_epoch, info.idx_in_epoch // 2)[0]

    def generator(self) -> Iterator[Array]:
        for i in range(self.count):
            yield self._give("next", i)
