"""Operators as functions: ``images = fn.flip(images, horizontal=1)``. Made from the registry; see `penstock.op`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import _catalog, _signatures
from penstock.op import Op
from penstock.ops import call, warn_of_deprecated


def function_of(schema: type[Op], name: str, module: str = __name__) -> Callable[..., Any]:
    """The function of an operator, as it is called in a module."""
    old = name not in (schema.name, schema.shown_name()) or schema.deprecated

    def operator(*inputs: Any, **arguments: Any) -> Any:
        warn_of_deprecated(schema, arguments, f"fn.{name}" if old else None)
        return call(schema, inputs, arguments)

    operator.__name__ = operator.__qualname__ = name.rpartition(".")[2]
    operator.__module__ = ".".join([module, *name.split(".")[:-1]])
    operator.__doc__ = _catalog.documentation(schema)
    operator.__signature__ = _signatures.of_function(schema)  # type: ignore[attr-defined]
    operator.schema = schema  # type: ignore[attr-defined]
    return operator


_catalog.fill(globals(), __name__, function_of, lambda name: name)
