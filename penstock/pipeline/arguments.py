"""Names and types of the arguments of functions with signatures of their own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ParamSpec, TypeVar

from penstock._suggest import suggestion
from penstock.errors import UnknownArgumentError
from penstock.graph.blame import Blame

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")

# What else people call the arguments of `Pipeline`.
PIPELINE_AKA: Mapping[str, Sequence[str]] = {
    "batch_size": ("max_batch_size", "bs", "batch", "minibatch_size"),
    "num_threads": ("threads", "workers", "num_workers", "nthreads", "cpu_threads"),
    "device_id": ("gpu", "device", "gpu_id", "local_rank", "cuda_device"),
    "prefetch_queue_depth": ("prefetch", "queue_depth", "prefetch_factor"),
    "seed": ("random_seed", "rng"),
}

# Likewise those of the iterators of `penstock.plugin`.
ITERATOR_AKA: Mapping[str, Sequence[str]] = {
    "pipelines": ("pipe", "pipeline", "pipes"),
    "output_map": ("names", "outputs", "output_names"),
    "size": ("epoch_size", "num_samples", "length"),
    "reader_name": ("reader", "name"),
    "last_batch_policy": ("drop_last", "stop_at_epoch", "last_batch"),
}


def unknown(function: str, names: Iterable[str], known: Sequence[str], aka: Mapping[str, Sequence[str]]) -> None:
    """Raises UnknownArgumentError for the first of these names that is not known."""
    for name in names:
        if name not in known:
            hint = suggestion(name, known, aka)
            raise UnknownArgumentError(f"{function} has no argument {name!r}.{hint} It has: {', '.join(known)}")


def named(
    function: str, aka: Mapping[str, Sequence[str]]
) -> Callable[[Callable[_Given, _Result]], Callable[_Given, _Result]]:
    """A method whose errors name ``function`` and the user's line, and that suggests names for unknown arguments.

    Without a name it is that of the object's class.
    """

    def decorate(method: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
        known = list(inspect.signature(method).parameters)[1:]

        @functools.wraps(method)
        def checked(*args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
            name = function or type(args[0]).__name__
            with Blame(name, what="called"):
                unknown(name, kwargs, known, aka)
                return method(*args, **kwargs)

        return checked

    return decorate
