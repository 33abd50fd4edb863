"""How sources of external sources get to worker processes that are not forked."""

from __future__ import annotations

import io
import pickle
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from penstock.errors import ArgumentError, ArgumentTypeError
from penstock.reducers import BY_VALUE, DaliCallbackPickler

_Function = TypeVar("_Function", bound=Callable[..., Any])


def pickle_by_value(fun: _Function) -> _Function:
    """Marks a function to be pickled with its code, rather than by its name, where workers are not forked.

    That is for functions of modules that a worker could not import, or would find changed. Lambdas, local functions
    and functions of notebooks are pickled so without it. ArgumentTypeError (a TypeError) for what is no function.

    Example:
        >>> @pickle_by_value
        ... def source(info):
        ...     return np.full(2, info.idx_in_epoch)
    """
    if not isinstance(fun, types.FunctionType):
        raise ArgumentTypeError(f"pickle_by_value: {fun!r}: expected a function")
    setattr(fun, BY_VALUE, True)
    return fun


def _dumps(value: Any) -> bytes:
    file = io.BytesIO()
    DaliCallbackPickler(file, pickle.HIGHEST_PROTOCOL).dump(value)
    return file.getvalue()


class _Loads:
    """A function with arguments: it is itself pickled, by name."""

    def __init__(self, loads: Callable[..., Any], arguments: Mapping[str, Any]):
        self._loads, self._arguments = loads, arguments

    def __call__(self, data: bytes) -> Any:
        return self._loads(data, **self._arguments)


@dataclass(frozen=True)
class Pickler:
    """What makes bytes of sources, and sources of these bytes."""

    _dumps: Callable[..., bytes] = _dumps
    loads: Callable[[bytes], Any] = pickle.loads
    _arguments: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, value: Any) -> Pickler:
        """``py_callback_pickler``: a module or object with ``dumps`` and ``loads``, such as dill or cloudpickle; or a
        tuple of one, keywords for ``dumps``, and keywords for ``loads``. Raises ArgumentError for what is none.
        """
        if value is None or isinstance(value, Pickler):
            return value or cls()
        given = list(value) if isinstance(value, (tuple, list)) else [value]
        module: Any
        module, dumps, loads = [*given, None, None, None][:3]
        if len(given) > 3 or not (hasattr(module, "dumps") and hasattr(module, "loads")):
            raise ArgumentError(
                f"Pipeline: py_callback_pickler={value!r}: expected what has dumps() and loads(), such as the module "
                "dill, or a tuple of it, keywords for dumps, and keywords for loads"
            )
        return cls(module.dumps, _Loads(module.loads, loads or {}), dumps or {})

    def dumps(self, value: Any) -> bytes:
        """A source as bytes. Raises what the pickler raises."""
        return self._dumps(value, **self._arguments)
