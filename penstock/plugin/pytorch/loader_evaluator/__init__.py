"""Is training slow because of its data? `LoaderEvaluator` tells."""

from penstock.plugin.pytorch.loader_evaluator.loader import LoaderEvaluator

__all__ = ["LoaderEvaluator"]
