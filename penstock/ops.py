"""Operators as objects: ``ops.Flip(horizontal=1)(images)``. Made from the registry; see `penstock.op`.

Names are those of `fn` in CamelCase, submodules included: ``ops.readers.File``, ``ops.CropMirrorNormalize``.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from penstock import _catalog
from penstock.errors import ArgumentError, ArgumentTypeError, DeviceError
from penstock.graph.constants import as_node
from penstock.graph.node import DataNode, OpNode
from penstock.op import Op, check_arguments

# What every operator takes besides its own arguments.
_COMMON = ("device", "name", "preserve", "bytes_per_sample_hint")


class Operator:
    """An operator with its constant arguments; calling it makes a node."""

    schema: ClassVar[type[Op]]

    def __init__(self, *, device: str | None = None, **arguments: Any):
        self._device = device
        self._arguments = arguments

    def __call__(self, *inputs: Any, **arguments: Any) -> Any:
        """A data node, or a list of them where the operator has several outputs."""
        return call(self.schema, inputs, {"device": self._device, **self._arguments, **arguments})

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self._arguments.items())
        return f"ops.{_catalog.class_name(self.schema.name)}({given})"


def call(schema: type[Op], inputs: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
    """Makes the node, or one node per input set where an input is a list of nodes."""
    sets = {len(i) for i in inputs if isinstance(i, (list, tuple)) and all(isinstance(n, DataNode) for n in i)}
    if not sets or sets == {0}:
        return _node(schema, inputs, arguments)
    if len(sets) > 1:
        raise ArgumentError(f"{schema.name}: the lists of inputs have different lengths: {sorted(sets)}")
    rows = [tuple(i[k] if isinstance(i, (list, tuple)) else i for i in inputs) for k in range(sets.pop())]
    results = [_node(schema, row, arguments) for row in rows]
    return [list(r) for r in zip(*results, strict=True)] if isinstance(results[0], list) else results


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
    device = common.get("device") or schema.devices[0]
    if device not in schema.devices:
        known = " or ".join(map(repr, schema.devices))
        raise DeviceError(f"{schema.name}: device={device!r}: this operator runs on {known} in this build of penstock")
    operator = check_arguments(schema, arguments, lambda v: isinstance(v, DataNode))
    made = OpNode(operator, nodes, device, common.get("name"), bool(common.get("preserve")))
    return made.outputs[0] if len(made.outputs) == 1 else list(made.outputs)


def _class(schema: type[Op], name: str) -> type[Operator]:
    return type(
        name, (Operator,), {"schema": schema, "__doc__": _catalog.documentation(schema), "__module__": __name__}
    )


_catalog.fill(globals(), __name__, lambda schema, name: _class(schema, _catalog.class_name(name)), _catalog.class_name)
