"""Pipelines that a server of models finds by itself, and serializes before it runs them."""

from __future__ import annotations

import os
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from penstock.errors import ArgumentTypeError, GraphError

__all__ = ["autoserialize", "invoke_autoserialize", "marked"]

_Factory = TypeVar("_Factory")


def autoserialize(dali_pipeline: _Factory) -> _Factory:
    """Marks the one function under ``@pipeline_def`` of a model that `invoke_autoserialize` serializes.

    Returns the same function. Raises ArgumentTypeError (a TypeError) for one that is not under ``@pipeline_def``.

    Example:
        >>> from penstock.plugin.triton import autoserialize
        >>> @autoserialize
        ... @pipeline_def(batch_size=8, num_threads=1, device_id=None)
        ... def model():
        ...     return fn.decoders.image(fn.external_source(name="INPUT"))
        >>> len(model().serialize()) > 0
        True
    """
    if not getattr(dali_pipeline, "_is_pipeline_def", False):
        raise ArgumentTypeError("Only `@pipeline_def` can be decorated with `@triton.autoserialize`.")
    dali_pipeline._is_autoserialize = True  # type: ignore[attr-defined]
    return dali_pipeline


def invoke_autoserialize(head_module: ModuleType, filename: str | os.PathLike[str]) -> None:
    """Finds the function that `autoserialize` has marked, in a module or in one that it knows, calls it without
    arguments, and writes what `Pipeline.serialize` gives of the pipeline to a file.

    Modules are looked through as they are: nothing is imported. Raises GraphError (a RuntimeError) where no function is
    marked, or more than one, and what the definition and `Pipeline.serialize` raise.

    Example:
        >>> import types
        >>> from penstock.plugin.triton import autoserialize, invoke_autoserialize
        >>> model = types.ModuleType("model")
        >>> @autoserialize
        ... @pipeline_def(batch_size=8, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.external_source(name="INPUT") * 2
        >>> model.pipeline = pipeline
        >>> invoke_autoserialize(model, folder + "/model.dali")
    """
    marked(head_module)().serialize(filename=filename)


def marked(head_module: ModuleType) -> Any:
    """The one function that `autoserialize` has marked, in a module or in one that it knows. GraphError: not one."""
    found = _marked(head_module)
    if len(found) != 1:
        names = ", ".join(f"{one.__module__}.{one.__qualname__}" for one in found) or "none"
        raise GraphError(
            f"Precisely one autoserialize function must exist in the module {head_module.__name__!r}. "
            f"Found {len(found)}: {names}"
        )
    return found[0]


def _marked(head_module: ModuleType) -> list[Any]:
    """Each function once, however often it was imported."""
    found: dict[int, Any] = {}
    waiting, seen = [head_module], {id(head_module)}
    while waiting:
        for member in list(vars(waiting.pop()).values()):
            if isinstance(member, ModuleType) and id(member) not in seen:
                seen.add(id(member))
                waiting.append(member)
            elif isinstance(member, FunctionType) and vars(member).get("_is_autoserialize") is True:
                found[id(member)] = member
    return list(found.values())
