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

    return _catalog.dress(operator, schema, name, module, _signatures.of_function(schema))


_catalog.fill(globals(), __name__, function_of, lambda name: name)
