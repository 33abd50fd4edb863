"""Copies between the memories of CPU and GPU: what ``node.gpu()`` and ``node.cpu()`` make."""

from __future__ import annotations

from penstock.graph.node import DataNode, OpNode, makes
from penstock.op import Op, op


@op("_to_gpu", kernel="to_gpu", devices=["gpu"])
class ToGpu(Op):
    """Copies a batch to the GPU."""

    copies_to_gpu = True
    cpu_inputs = (0,)


@op("_to_cpu", kernel="to_cpu", devices=["gpu"])
class ToCpu(Op):
    """Copies a batch to the CPU."""

    host_output = True


@makes("to_gpu")
def to_gpu(data: DataNode) -> DataNode:
    """The node of the same data on the GPU."""
    if data.device == "gpu":
        return data
    return OpNode(ToGpu({}, {}), [data], "gpu", None).outputs[0]


@makes("to_cpu")
def to_cpu(data: DataNode) -> DataNode:
    """The node of the same data on the CPU."""
    if data.device == "cpu":
        return data
    return OpNode(ToCpu({}, {}), [data], "gpu", None).outputs[0]
