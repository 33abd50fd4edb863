"""`fn.external_source` and its class, by the name of the module that some scripts for DALI import them from."""

from __future__ import annotations

from penstock import fn, ops

__all__ = ["ExternalSource", "external_source"]

# Both modules make their names when they are asked for them, which mypy does not see.
ExternalSource = getattr(ops, "ExternalSource")  # noqa: B009
external_source = getattr(fn, "external_source")  # noqa: B009
