"""`LastBatchPolicy`, by the name of the module that old scripts import it from."""

from __future__ import annotations

from penstock.plugin.base import LastBatchPolicy

__all__ = ["LastBatchPolicy"]
