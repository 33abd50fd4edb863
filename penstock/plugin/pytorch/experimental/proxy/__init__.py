"""A pipeline that serves the workers of a ``torch.utils.data.DataLoader``.

A dataset's ``transform`` runs in many processes. `DALIServer.proxy` is one that only notes what it is given, so these
processes hand the samples of a batch to one pipeline, in the process that trains, whose threads do the work:

1. `DALIProxy` gives a `DALIOutputSampleRef` for each output: it stands for what the pipeline will make of the sample.
2. ``default_collate`` puts those of a batch together to a `DALIOutputBatchRef`, and sends the inputs to the server.
3. `DALIServer` runs the pipeline on batches as they come, in a thread.
4. `DALIServer.produce_data`, or `DataLoader` by itself, puts tensors into the places of the references.
"""

from penstock.plugin.pytorch.experimental.proxy.loader import DataLoader
from penstock.plugin.pytorch.experimental.proxy.references import (
    DALIOutputBatchRef,
    DALIOutputSampleRef,
    DALIPipelineRunRef,
)
from penstock.plugin.pytorch.experimental.proxy.server import DALIServer
from penstock.plugin.pytorch.experimental.proxy.transform import DALIProxy

__all__ = [
    "DALIOutputBatchRef",
    "DALIOutputSampleRef",
    "DALIPipelineRunRef",
    "DALIProxy",
    "DALIServer",
    "DataLoader",
]
