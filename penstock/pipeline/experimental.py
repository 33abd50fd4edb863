"""`pipeline_def`, by the name of the module that scripts import it from which were written when it was new."""

from __future__ import annotations

from penstock.pipeline.decorator import pipeline_def

__all__ = ["pipeline_def"]
