"""`pipeline_def`: pipelines out of functions that define graphs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from penstock.errors import ArgumentError
from penstock.graph.blame import Blame
from penstock.run.arguments import PIPELINE_AKA, unknown
from penstock.run.options import Options

if TYPE_CHECKING:
    from penstock.pipeline import Pipeline


def pipeline_def(
    fn: Callable[..., Any] | None = None, *, enable_conditionals: bool = False, **pipeline_kwargs: Any
) -> Callable[..., Any]:
    """Makes a function that defines a graph into one that makes pipelines.

    The function's own arguments come first; keyword arguments that `Pipeline` knows go to the pipeline, and override
    those given to the decorator.

    Errors: UnknownArgumentError for keyword arguments that neither the function nor `Pipeline` has.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None, seed=1)
        ... def numbers(high):
        ...     return fn.random.uniform(range=[0.0, high])
        >>> batch, = numbers(2.0).run()
        >>> len(batch)
        2
    """
    if enable_conditionals:
        raise ArgumentError(
            "pipeline_def: enable_conditionals=True: `if` on nodes is not supported; "
            "use arithmetic, such as `flag * a + (1 - flag) * b`"
        )
    if pipeline_kwargs:
        _check_names("pipeline_def", pipeline_kwargs, [])
    from penstock.pipeline import Pipeline  # whose module offers this function, too

    def decorate(define: Callable[..., Any]) -> Callable[..., Pipeline]:
        @functools.wraps(define)
        def make(*args: Any, **kwargs: Any) -> Pipeline:
            own = {k: kwargs.pop(k) for k in list(kwargs) if k in Options.names()}
            parameters = inspect.signature(define).parameters
            if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
                _check_names(getattr(define, "__name__", "the function"), kwargs, parameters)
            pipe = Pipeline(**{**pipeline_kwargs, **own})
            with pipe:
                outputs = define(*args, **kwargs)
            pipe.set_outputs(*(outputs if isinstance(outputs, (tuple, list)) else [outputs]))
            return pipe

        make._is_pipeline_def = True  # type: ignore[attr-defined]
        return make

    return decorate(fn) if fn is not None else decorate


def _check_names(function: str, given: Iterable[str], own: Iterable[str]) -> None:
    with Blame(function, what="called"):
        unknown(function, given, [*own, *sorted(Options.names())], PIPELINE_AKA)
