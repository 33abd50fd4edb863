"""Pipelines: `Pipeline`, and `pipeline_def`, which makes them of functions.

A `Pipeline` is made of parts, one module each, in the order of its life: `definition`, `running`, `looking`,
`showing`, `serialize`.
"""

from penstock.graph.node import DataNode
from penstock.pipeline.conditional.mark import do_not_convert
from penstock.pipeline.decorator import pipeline_def
from penstock.pipeline.pipeline import Pipeline
from penstock.run.options import OperatorConcurrency, StreamPolicy

__all__ = ["DataNode", "OperatorConcurrency", "Pipeline", "StreamPolicy", "do_not_convert", "pipeline_def"]
