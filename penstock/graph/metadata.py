"""What is known of data besides its elements, as data: what ``node.shape()`` and its likes make."""

from __future__ import annotations

from typing import Any

from penstock import types
from penstock.errors import DeviceError
from penstock.graph.blame import Blame
from penstock.graph.node import DataNode, OpNode, makes
from penstock.op import REQUIRED, Op, arg, check_arguments, op


class ShapeArgs(Op):
    """What `fn.shapes` and ``node.shape()`` share."""

    metadata_inputs = (0,)

    dtype = arg(
        types.INT64,
        "Type of the output.",
        choices=[types.INT32, types.UINT32, types.INT64, types.UINT64, types.FLOAT, types.FLOAT64],
    )


class PropertyArgs(Op):
    """What `fn.get_property` and ``node.property()`` share."""

    metadata_inputs = (0,)

    key = arg(
        REQUIRED,
        '"source_info": where the data comes from, such as a file\'s name; "layout": the letters of the axes.',
        kind="string",
        choices=["source_info", "layout"],
    )


@op("_shape", kernel="shapes", devices=["cpu", "gpu"])
class Shape(ShapeArgs):
    """The extents, as ``node.shape()`` gives them."""


@op("_property", kernel="get_property", devices=["cpu", "gpu"])
class Property(PropertyArgs):
    """A property, as ``node.property()`` gives it."""


@makes("shape")
def shape(data: DataNode, dtype: int | None, device: str) -> DataNode:
    """The node of the shapes."""
    return _metadata(Shape, {"dtype": dtype}, data, device)


@makes("property_of")
def property_of(data: DataNode, key: str, device: str) -> DataNode:
    """The node of a property."""
    return _metadata(Property, {"key": key}, data, device)


def _metadata(schema: type[Op], arguments: dict[str, Any], data: DataNode, device: str) -> DataNode:
    with Blame(schema.shown_name()):
        if device not in schema.devices:
            raise DeviceError(f"{schema.shown_name()}: device={device!r}: expected 'cpu' or 'gpu'")
        operator = check_arguments(schema, arguments, lambda value: isinstance(value, DataNode))
    return OpNode(operator, [data], device, None).outputs[0]
