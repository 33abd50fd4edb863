"""Debug mode: a pipeline whose operators run one by one, while its definition runs."""

from penstock.pipeline.debug.node import DataNodeDebug as DataNodeDebug
from penstock.pipeline.debug.pipeline import PipelineDebug as PipelineDebug
