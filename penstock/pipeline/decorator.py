"""`pipeline_def`: pipelines out of functions that define graphs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, overload

from penstock.errors import ArgumentTypeError
from penstock.graph.blame import Blame, warn
from penstock.graph.location import caller
from penstock.graph.node import DataNode
from penstock.pipeline.arguments import PIPELINE_AKA, unknown
from penstock.pipeline.pipeline import Pipeline
from penstock.run.options import Options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from penstock.run.options import PipelineArguments

_Own = ParamSpec("_Own")
_Given = ParamSpec("_Given")


class PipelineFactory(Protocol[_Own]):
    """What `pipeline_def` makes: takes the function's own arguments, and those of `Pipeline` by keyword.

    Type checkers see keywords that neither has in calls that give those of one of them. There is no way to write "these
    keywords and those", so where the most usual of `Pipeline`'s come along, the others are checked when the call is
    made; and so are positional ones.
    """

    __name__: str

    @overload
    def __call__(self, *args: _Own.args, **kwargs: _Own.kwargs) -> Pipeline: ...
    @overload
    def __call__(self, *args: Any, **pipeline_kwargs: Unpack[PipelineArguments]) -> Pipeline: ...
    @overload
    def __call__(self, *args: Any, batch_size: int | None, **kwargs: Any) -> Pipeline: ...
    @overload
    def __call__(self, *args: Any, num_threads: int | None, **kwargs: Any) -> Pipeline: ...
    @overload
    def __call__(self, *args: Any, device_id: int | None, **kwargs: Any) -> Pipeline: ...
    @overload
    def __call__(self, *args: Any, seed: int | None, **kwargs: Any) -> Pipeline: ...


@overload
def pipeline_def(
    fn: Callable[_Given, Any],
    *,
    enable_conditionals: bool = ...,
    debug: bool = ...,
    **pipeline_kwargs: Unpack[PipelineArguments],
) -> PipelineFactory[_Given]: ...
@overload
def pipeline_def(
    fn: None = None,
    *,
    enable_conditionals: bool = ...,
    debug: bool = ...,
    **pipeline_kwargs: Unpack[PipelineArguments],
) -> Callable[[Callable[_Given, Any]], PipelineFactory[_Given]]: ...
def pipeline_def(
    fn: Callable[..., Any] | None = None,
    *,
    enable_conditionals: bool = False,
    debug: bool = False,
    **pipeline_kwargs: Any,
) -> Any:
    """Makes a function that defines a graph into one that makes pipelines.

    The function's own arguments come first; keyword arguments that `Pipeline` knows go to the pipeline, and override
    those given to the decorator. One that the function has, too, is the function's (with a warning): the decorator sets
    the pipeline's then.

    The function returns a node, a tuple or list of nodes, or constants: numbers, arrays, or a list of numbers, which is
    one output.

    With ``enable_conditionals=True`` the function may decide by what is in a node, see docs/conditionals.md: ``if``,
    ``and``, ``or``, ``not`` and ``a if b else c`` take numbers that a sample has on the CPU. Operators in a branch run
    on the samples that take it.

    With ``debug=True`` operators run when they are called: the function is called for each batch, and its nodes have
    `get`, can be printed, and be given to NumPy, see docs/debug-mode.md. The call may say it, too.

    Errors, of the call: UnknownArgumentError for keyword arguments that neither the function nor `Pipeline` has,
    ArgumentTypeError for a function that takes any (``**kwargs``), and for outputs of other types.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None, seed=1)
        ... def numbers(high):
        ...     return fn.random.uniform(range=[0.0, high])
        >>> batch, = numbers(2.0).run()
        >>> len(batch)
        2
    """
    decorated_at = caller()

    def decorate(define: Callable[..., Any]) -> Callable[..., Pipeline]:
        @functools.wraps(define)
        def make(*args: Any, **kwargs: Any) -> Pipeline:
            with Blame("pipeline_def", decorated_at, what="called"):
                unknown("pipeline_def", pipeline_kwargs, sorted(Options.names()), PIPELINE_AKA)
            debugged = debug
            if "debug" in kwargs and "debug" not in inspect.signature(define).parameters:
                debugged = bool(kwargs.pop("debug"))
            own, others = _divided(define, kwargs)
            function = _with_conditionals(define) if enable_conditionals else define
            if debugged:
                return _debugged(lambda: _listed(function(*args, **own)), {**pipeline_kwargs, **others})
            pipe = Pipeline(**{**pipeline_kwargs, **others})
            with pipe:
                outputs = function(*args, **own)
            pipe.set_outputs(*_listed(outputs))
            return pipe

        make._is_pipeline_def = True  # type: ignore[attr-defined]
        make.pipeline_arguments = dict(pipeline_kwargs)  # type: ignore[attr-defined]
        return make

    return decorate(fn) if fn is not None else decorate


def _with_conditionals(define: Callable[..., Any]) -> Callable[..., Any]:
    from penstock.pipeline.conditional.convert import convert  # with `fn`, which costs time at import

    converted: Callable[..., Any] = convert(define)
    return converted


def _debugged(define: Callable[[], tuple[Any, ...]], arguments: Mapping[str, Any]) -> Pipeline:
    from penstock.pipeline.debug import PipelineDebug  # what few need, and costs time at import

    return PipelineDebug(define, **arguments)


def _divided(define: Callable[..., Any], given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keyword arguments of a call: those of the function, and those of the pipeline."""
    name = getattr(define, "__name__", "the function")
    parameters = inspect.signature(define).parameters.values()
    with Blame(name, what="called"):
        if any(p.kind is p.VAR_KEYWORD for p in parameters):
            raise ArgumentTypeError(
                f"{name} takes any keyword (**): misspelt arguments of the pipeline would be lost in it; "
                "name each argument of a pipeline's definition"
            )
        known = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        unknown(name, given, [*known, *sorted(Options.names())], PIPELINE_AKA)
    for shadowed in known & Options.names() & set(given):
        warn(f"{name}: {shadowed}={given[shadowed]!r} goes to {name}, not to Pipeline, which has it too", UserWarning)
    own = {k: v for k, v in given.items() if k in known}
    return own, {k: v for k, v in given.items() if k not in known}


def _listed(outputs: Any) -> tuple[Any, ...]:
    """What a definition returned, as the outputs: a list of numbers is one."""
    many = isinstance(outputs, tuple) or (isinstance(outputs, list) and any(isinstance(o, DataNode) for o in outputs))
    return tuple(outputs) if many else (outputs,)
