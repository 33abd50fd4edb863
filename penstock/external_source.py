"""`fn.external_source` and its class, by the name of the module that some scripts for DALI import them from."""

from __future__ import annotations

from penstock import fn, ops

__all__ = ["ExternalSource", "external_source"]

ExternalSource = vars(ops)["ExternalSource"]
external_source = vars(fn)["external_source"]
