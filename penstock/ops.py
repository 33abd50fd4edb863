"""Operators as objects: ``ops.Flip(horizontal=1)(images)``. Made from the registry; see `penstock.op`.

Names are those of `fn` in CamelCase, submodules included: ``ops.readers.File``, ``ops.CropMirrorNormalize``.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from penstock import _catalog
from penstock.errors import ArgumentError, ArgumentTypeError, DeviceError
from penstock.graph.constants import ConstantOp, as_node
from penstock.graph.node import DataNode, OpNode
from penstock.op import Op, check_arguments

# What every operator takes besides its own arguments.
_COMMON = ("device", "name", "preserve", "bytes_per_sample_hint")


class Operator:
    """An operator with its constant arguments; calling it makes a node."""

    schema: ClassVar[type[Op]]

    def __init__(self, *positional: Any, device: str | None = None, **arguments: Any):
        self._device = device
        self._arguments = {**_named(self.schema, positional), **arguments}

    def __call__(self, *inputs: Any, **arguments: Any) -> Any:
        """A data node, or a list of them where the operator has several outputs."""
        return call(self.schema, inputs, {"device": self._device, **self._arguments, **arguments})

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self._arguments.items())
        return f"ops.{_catalog.class_name(self.schema.name)}({given})"


def call(schema: type[Op], inputs: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
    """Makes the node, or one node per input set where an input is a list of nodes."""
    if schema.positional:
        return _node(schema, (), {**arguments, **_named(schema, inputs)})
    sets = {len(i) for i in inputs if isinstance(i, (list, tuple)) and all(isinstance(n, DataNode) for n in i)}
    if not sets or sets == {0}:
        return _node(schema, inputs, arguments)
    if len(sets) > 1:
        raise ArgumentError(f"{schema.name}: the lists of inputs have different lengths: {sorted(sets)}")
    rows = [tuple(i[k] if isinstance(i, (list, tuple)) else i for i in inputs) for k in range(sets.pop())]
    results = [_node(schema, row, arguments) for row in rows]
    return [list(r) for r in zip(*results, strict=True)] if isinstance(results[0], list) else results


def _named(schema: type[Op], values: tuple[Any, ...]) -> dict[str, Any]:
    """Arguments that were given by position, by their names."""
    if len(values) > len(schema.positional):
        few = len(schema.positional) or "no"
        raise ArgumentTypeError(f"{schema.name} takes {few} arguments by position, got {len(values)}")
    return dict(zip(schema.positional, values, strict=False))


def _node(schema: type[Op], inputs: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
    common = {k: arguments.pop(k) for k in _COMMON if k in (arguments := dict(arguments))}
    least, most = schema.num_inputs
    if not least <= len(inputs) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise ArgumentTypeError(f"{schema.name} takes {wanted} inputs, got {len(inputs)}")
    for name, argument in schema.arguments.items():
        if argument.deprecated and arguments.get(name) is not None:
            warnings.warn(f"{schema.name}: {name} is deprecated: {argument.deprecated}", DeprecationWarning, 4)
    nodes = [as_node(i) for i in inputs]
    device, nodes = _place(schema, common.get("device"), nodes)
    operator = check_arguments(schema, arguments, lambda v: isinstance(v, DataNode))
    if isinstance(operator, ConstantOp):  # data of the plan, on the CPU
        data = OpNode(operator, nodes, "cpu", common.get("name"), bool(common.get("preserve"))).outputs[0]
        return data.gpu() if device == "gpu" else data
    made = OpNode(operator, nodes, device, common.get("name"), bool(common.get("preserve")))
    return list(made.outputs) if operator.gives_list() else made.outputs[0]


def _place(schema: type[Op], asked: str | None, nodes: list[DataNode]) -> tuple[str, list[DataNode]]:
    """The device that an operator runs on, and its inputs there. Constants are copied, other data is not."""
    device = asked
    if device is None:  # where its inputs are
        on_gpu = any(n.device == "gpu" for n in nodes)
        device = "gpu" if on_gpu and "gpu" in schema.devices else schema.devices[0]
    if device not in schema.devices:
        known = " or ".join(map(repr, schema.devices))
        raise DeviceError(f"{schema.name}: device={device!r}: this operator runs on {known}")
    placed = []
    for i, node in enumerate(nodes):
        if i in schema.metadata_inputs:
            placed.append(node)
            continue
        wanted = "gpu" if device == "gpu" and i not in schema.cpu_inputs else "cpu"
        if node.device != wanted and isinstance(node.source.op, ConstantOp):
            node = node.gpu()
        if node.device != wanted:
            there = "GPU" if wanted == "gpu" else "CPU"
            raise DeviceError(
                f"{schema.name}: input {i} ({node.name!r}) is on the {node.device.upper()}, but with device={device!r} "
                f"this operator needs it on the {there}: use .{wanted}() on the input, or give another device"
            )
        placed.append(node)
    return device, placed


def _class(schema: type[Op], name: str) -> type[Operator]:
    return type(
        name, (Operator,), {"schema": schema, "__doc__": _catalog.documentation(schema), "__module__": __name__}
    )


_catalog.fill(globals(), __name__, lambda schema, name: _class(schema, _catalog.class_name(name)), _catalog.class_name)
