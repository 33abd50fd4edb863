"""Constants as nodes: the same tensor for every sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import types
from penstock.errors import DeviceError
from penstock.graph.node import DataNode, OpNode
from penstock.op import REQUIRED, Op, arg, op


class ConstantOp(Op):
    """Base of operators that are data of the plan: no kernel runs."""

    array: np.ndarray[Any, Any]
    layout: str


@op("_constant", inputs=0)
class _Array(ConstantOp):
    """A tensor that is the same for every sample and iteration."""

    array = arg(REQUIRED, "The values.", kind="any", to_kernel=False)
    layout = arg("", "Names of the axes.", to_kernel=False)

    def prepare(self) -> None:
        if not isinstance(self.array, np.ndarray):
            raise self.wrong("array", "expected an array")


def constant(array: Any, layout: str | None = None, device: str | None = "cpu") -> DataNode:
    """A node that is this array in every sample."""
    if device not in (None, "cpu", "gpu"):
        raise DeviceError(f"constant: device={device!r}: expected 'cpu' or 'gpu'")
    values = np.asarray(array, order="C")  # ascontiguousarray would make scalars one-dimensional
    types.to_dali_type(values.dtype)  # refuses what no tensor can hold
    node = OpNode(_Array({"array": values, "layout": layout or ""}, {}), [], "cpu", None).outputs[0]
    return node.gpu() if device == "gpu" else node


def as_node(value: Any) -> DataNode:
    """Nodes as they are; scalars and arrays as constants."""
    if isinstance(value, DataNode):
        return value
    if isinstance(value, types.ScalarConstant):
        return constant(np.asarray(value.value, types.to_numpy_type(value.dtype)))
    array = np.asarray(value)
    if not hasattr(value, "dtype"):  # Python's numbers are 32 bits wide, as in DALI
        array = array.astype({"i": np.int32, "f": np.float32}.get(array.dtype.kind, array.dtype), copy=False)
    return constant(array)
