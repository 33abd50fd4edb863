"""Element-wise functions: what Python's operators on nodes, and `penstock.math`, make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock import types
from penstock.errors import ArgumentError, ArgumentRangeError, ArgumentTypeError, DeviceError
from penstock.graph.blame import Blame
from penstock.graph.constants import as_node
from penstock.graph.node import DataNode, OpNode, Scope, makes
from penstock.op import REQUIRED, Op, arg, check_arguments, op
from penstock.types.constant import check_fits


@op("_arithmetic", kernel="arithmetic", contract="pixel", devices=["cpu", "gpu"], inputs=(1, 3))
class Arithmetic(Op):
    """One element-wise function of one to three operands.

    Shapes are broadcast as in NumPy. Types are promoted as in DALI (`promote` in
    native/ops/tensor/arithmetic/types.h); float16 works too: it takes part as the narrowest float, and is computed in
    float32.

    Output: the shape that the operands' shapes make; the longest of their layouts, if it names all axes.

    Errors: OperatorError for shapes or layouts that do not fit, types that the function does not take, and integer
    division by zero. A GPU can't report the latter: there the quotient is 0, and the remainder the dividend.
    """

    function = arg(REQUIRED, "Its name, as in ops/tensor/arithmetic/functions.h.", kind="string")
    order = arg(REQUIRED, "Which input each operand is.", kind="integers")
    on_gpu = arg(0, "How many inputs, the first ones, are in the GPU's memory.")

    def prepare(self) -> None:
        # Errors and plans call the node what the user wrote: "add", "sqrt".
        self.name = self.function  # type: ignore[misc]


@makes("expression")
def expression(function: str, *operands: Any) -> DataNode:
    """The node of a function of these operands, at least one of which is a node.

    The others are numbers or arrays. Numbers have the types that `types.Constant` gives them: Python's bools, ints
    and floats are BOOL, INT32 and FLOAT; 64-bit arrays become 32-bit ones.

    Raises ArgumentTypeError for operands that are none of these, ArgumentRangeError for integers that do not fit.
    """
    with Blame(function):
        return _expression(function, operands)


def again(cls: type[Op], inputs: Sequence[DataNode], arguments: Mapping[str, Any]) -> Sequence[DataNode]:
    """The node that a text describes, made as the expression was."""
    common = {name: arguments[name] for name in ("device", "name", "preserve")}
    own = {name: value for name, value in arguments.items() if name not in common}
    described = check_arguments(cls, own, lambda value: isinstance(value, DataNode))
    assert isinstance(described, Arithmetic)
    if sorted(described.order) != list(range(len(inputs))) or described.function == "plus":
        raise ArgumentError(f"{described.function}: order={described.order!r}: expected each of {len(inputs)} inputs")
    node = _expression(described.function, [inputs[k] for k in described.order], common["name"])
    if node.source.device != common["device"]:
        raise DeviceError(f"{described.function}: device={common['device']!r}: its inputs say {node.source.device!r}")
    node.source.preserve = common["preserve"]
    return node.source.outputs


def _expression(function: str, operands: Sequence[Any], name: str | None = None) -> DataNode:
    values = [_operand(function, operand) for operand in operands]
    if not any(isinstance(value, DataNode) for value in values):
        raise ArgumentTypeError(f"{function}: all operands are numbers, so there is nothing to compute in a pipeline")
    if function == "plus":
        node: DataNode = values[0]
        return node
    nodes = [as_node(value) for value in values]
    # On the GPU if one operand is there; the others' values go there with the kernel's arguments.
    on_gpu = sum(node.device == "gpu" for node in nodes)
    device = "gpu" if on_gpu else "cpu"
    # The first node there leads: if it is a picture, this node can be fused with what makes it.
    order = sorted(
        range(len(nodes)), key=lambda k: (nodes[k].device != device, nodes[k].source.op.literal() is not None)
    )
    arguments = {"function": function, "order": [order.index(k) for k in range(len(nodes))], "on_gpu": on_gpu}
    return OpNode(Arithmetic(arguments, {}), [nodes[k] for k in order], device, name).outputs[0]


def _operand(function: str, value: Any) -> Any:
    """A node, an array being that of a constant, or a number."""
    if isinstance(value, types.ScalarConstant):
        check_fits(value)  # elsewhere it becomes the nearest number, as in DALI
    if isinstance(value, (DataNode, types.ScalarConstant)):
        return value
    scope = Scope.current()
    if scope and (data := scope.as_data(value, arrays=False)) is not None:
        return data
    try:
        return types.Constant(value)
    except ArgumentRangeError as e:
        raise ArgumentRangeError(f"{function}: {e}") from e
    except TypeError as e:
        raise ArgumentTypeError(
            f"{function}: an operand is a node, a number or an array of numbers, not {value!r}"
        ) from e
