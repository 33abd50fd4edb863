"""Operators as functions: ``images = fn.flip(images, horizontal=1)``. Made from the registry; see `penstock.op`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import _catalog, _signatures
from penstock.op import Op
from penstock.ops import call, warn_of_deprecated


def _function(schema: type[Op], name: str) -> Callable[..., Any]:
    def operator(*inputs: Any, **arguments: Any) -> Any:
        warn_of_deprecated(schema, arguments, None if name == schema.name and not schema.deprecated else f"fn.{name}")
        return call(schema, inputs, arguments)

    operator.__name__ = operator.__qualname__ = name.rpartition(".")[2]
    operator.__module__ = ".".join([__name__, *name.split(".")[:-1]])
    operator.__doc__ = _catalog.documentation(schema)
    operator.__signature__ = _signatures.of_function(schema)  # type: ignore[attr-defined]
    operator.schema = schema  # type: ignore[attr-defined]
    return operator


_catalog.fill(globals(), __name__, _function, lambda name: name)
