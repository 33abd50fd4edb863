"""Constants as nodes: the same tensor for every sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import types
from penstock.errors import ArgumentError, DeviceError
from penstock.graph.node import DataNode, OpNode, Scope
from penstock.machine import native
from penstock.op import REQUIRED, Literal, Op, arg, op
from penstock.types.constant import constant_array, makes_nodes, scalar_array


class ConstantOp(Op):
    """Base of operators that are data of the plan: no kernel runs."""

    array: np.ndarray[Any, Any]
    layout: str

    def literal(self) -> Literal:
        return Literal(self.array, self.layout)

    def check_axes(self, axes: int) -> None:
        """Raises ArgumentError for too many axes, and unless each of them has a name, or none has."""
        if axes > native.MAX_DIMS:
            raise ArgumentError(
                f"{self.shown_name()}: {axes} axes are too many: tensors have at most {native.MAX_DIMS}"
            )
        if self.layout and not (self.layout.isascii() and len(self.layout) == axes):
            raise self.wrong("layout", f"the constant has {axes} axes, and a layout has one letter for each")


@op("_constant", inputs=0)
class _Array(ConstantOp):
    """A tensor that is the same for every sample and iteration."""

    array = arg(REQUIRED, "The values.", kind="any", to_kernel=False)
    layout = arg("", "Names of the axes.", to_kernel=False)

    def prepare(self) -> None:
        if not isinstance(self.array, np.ndarray):
            raise self.wrong("array", "expected an array")
        self.check_axes(self.array.ndim)


@makes_nodes
def constant(array: Any, layout: str | None = None, device: str | None = "cpu", name: str | None = None) -> DataNode:
    """A node that is this array in every sample."""
    if device not in (None, "cpu", "gpu"):
        raise DeviceError(f"constant: device={device!r}: expected 'cpu' or 'gpu'")
    values = np.asarray(array, order="C")  # ascontiguousarray would make scalars one-dimensional
    if layout and len(layout) != values.ndim:
        raise ArgumentError(f"Constant: layout={layout!r}: the constant has {values.ndim} axes")
    types.to_dali_type(values.dtype)  # refuses what no tensor can hold
    node = OpNode(_Array({"array": values, "layout": layout or ""}, {}), [], "cpu", name).outputs[0]
    return node.gpu() if device == "gpu" else node


def as_node(value: Any) -> DataNode:
    """Nodes as they are; numbers, arrays and lists of numbers as constants, by the rules of `types.Constant`.

    Raises TypeError for anything else, ArgumentRangeError for integers that do not fit.
    """
    if isinstance(value, DataNode):
        return value
    scope = Scope.current()
    if scope and (data := scope.as_data(value)) is not None:
        return data
    if isinstance(value, types.ScalarConstant):
        return constant(scalar_array(value))
    return constant(constant_array(value))
