"""Calls: what a user gives as nodes, an operator's node, and what it gives as tensors or batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock import _catalog, _signatures, ops
from penstock.eager.compute import select
from penstock.eager.data import EagerNode, given
from penstock.errors import ArgumentError, ArgumentTypeError
from penstock.experimental.dynamic import _dtype
from penstock.experimental.dynamic._batch import Batch
from penstock.experimental.dynamic._device import Device
from penstock.experimental.dynamic._device import device as device_of
from penstock.experimental.dynamic._lazy import Calls, Lazy
from penstock.experimental.dynamic._make import as_batch, as_tensor
from penstock.experimental.dynamic._tensor import Tensor
from penstock.experimental.dynamic.random import RNG, rng_of
from penstock.graph.blame import Blame
from penstock.graph.node import DataNode
from penstock.op import Op, registry
from penstock.tensors import TensorCPU, TensorGPU, TensorListCPU, TensorListGPU

_LISTS = (TensorListCPU, TensorListGPU)
_NUMBERS = (bool, int, float, str, bytes)


def _no_numbers() -> int:
    raise AssertionError("this operator draws no random numbers")


def function_of(schema: type[Op], name: str, module: str) -> Callable[..., Any]:
    """The function of an operator, as it is called in a module."""

    def operator(
        *inputs: Any, batch_size: int | None = None, device: Any = None, rng: RNG | None = None, **arguments: Any
    ) -> Any:
        return call(schema, inputs, arguments, batch_size=batch_size, device=device, rng=rng)

    return _catalog.dress(operator, schema, name, module, _signatures.of_call(schema))


def call_named(name: str, *inputs: Any, **arguments: Any) -> Any:
    """Calls the operator of this name."""
    return call(registry.ops[name], inputs, arguments)


def call(
    schema: type[Op], inputs: Sequence[Any], arguments: Mapping[str, Any], *, batch_size: int | None = None,
    device: Any = None, rng: RNG | None = None,
) -> Any:  # fmt: skip
    """What an operator gives: tensors, or where an input, an argument or ``batch_size`` says so, batches."""
    name = schema.shown_name()
    with Blame(name):
        if rng is not None and not schema.random:
            raise ArgumentTypeError(f"{name}: rng={rng!r}: this operator draws no random numbers")
        positional = bool(schema.positional)
        data = [None if x is None else x if positional else _data(x) for x in inputs]
        named = {key: _argument(schema, key, value) for key, value in arguments.items() if value is not None}
        size = _size(name, [*data, *named.values()], batch_size)
        where = _device(schema, device, data)
        calls = Calls(rng_of(rng).key if schema.random else _no_numbers, size or 1)
        with calls:
            nodes = [
                _placed(schema, k, _node(x, size), where) if isinstance(x, Lazy) else x
                for k, x in enumerate(data) if x is not None
            ]  # fmt: skip
            values = {key: _node(v.cpu(), size) if isinstance(v, Lazy) else v for key, v in named.items()}
            if where is not None:
                values["device"] = where
            made = ops.call(schema, tuple(nodes), values)
        return _shown(made, size)


def combine(function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """An element-wise function of operands, which are numbers, arrays, tensors and batches."""
    data = [x if isinstance(x, (bool, int, float)) else _data(x) for x in operands]
    size = _size(getattr(function, "__name__", "math"), data, None)
    with Calls(_no_numbers, size or 1):
        made = function(*[_node(x, size) if isinstance(x, Lazy) else x for x in data])
    return _shown(made, size)


def subscript(of: Lazy, key: Any) -> Any:
    """A part of a tensor, or of each sample of a batch."""
    items = key if isinstance(key, tuple) else (key,)
    ranges = [(item.start, item.stop, item.step) if isinstance(item, slice) else (item,) for item in items]
    parts = [part for bounds in ranges for part in bounds]
    size = _size("slice", [of, *(part for part in parts if isinstance(part, Lazy))], None)

    def node(part: Any) -> Any:
        return _node(part.cpu(), size) if isinstance(part, Lazy) else part

    with Calls(_no_numbers, size or 1):
        taken = [
            slice(node(item.start), node(item.stop), node(item.step)) if isinstance(item, slice) else node(item)
            for item in items
        ]
        made = _node(of, size)[tuple(taken)]
    return _shown(made, size)


def moved(data: Lazy, device: Any) -> Any:
    """The same on a device."""
    wanted = device_of(device)
    if data.device.device_type == wanted.device_type:
        return data
    with Calls(_no_numbers, data._count):
        node: Any = data._node.gpu() if wanted.device_type == "gpu" else data._node.cpu()
    return type(data)._of(node, data._count)


def copied(data: Lazy) -> Any:
    """A copy on the same device, made at once."""
    return call(registry.ops["copy"], [data], {}).evaluate()


def _data(value: Any) -> Lazy:
    """An input: lists of arrays are batches, all else one tensor."""
    if isinstance(value, Lazy):
        return value
    if isinstance(value, _LISTS):
        return as_batch(value)
    if isinstance(value, (list, tuple)) and value and not isinstance(value[0], (*_NUMBERS, list, tuple)):
        return as_batch(value)
    return as_tensor(value)


def _argument(schema: type[Op], name: str, value: Any) -> Any:
    if isinstance(value, _dtype.DType):
        return value.type_id
    if isinstance(value, Device):
        return value.device_type
    argument = schema.arguments.get(name)
    if argument is None or not argument.per_sample:
        return value.item() if isinstance(value, Tensor) and value.ndim == 0 else value
    if isinstance(value, _LISTS):
        return as_batch(value)
    if isinstance(value, (TensorCPU, TensorGPU)):
        return as_tensor(value)
    return value


def _size(name: str, values: Sequence[Any], asked: int | None) -> int | None:
    sizes = {value.batch_size for value in values if isinstance(value, Batch)}
    if asked is not None:
        sizes.add(asked)
    if len(sizes) > 1:
        raise ArgumentError(f"{name}: batches of different sizes: {sorted(sizes)}")
    return sizes.pop() if sizes else None


def _device(schema: type[Op], asked: Any, data: Sequence[Any]) -> str | None:
    """The name of the device as operators take it; None: where the inputs are."""
    if asked is None:
        chosen = Device._innermost()
        on_gpu = any(isinstance(x, Lazy) and x.device.device_type == "gpu" for x in data)
        if not on_gpu and chosen is None:
            return None
        wanted = "gpu" if on_gpu or chosen == Device("gpu", chosen.device_id if chosen else None) else "cpu"
        if wanted not in schema.devices and not (wanted == "gpu" and "mixed" in schema.devices):
            return None
    else:
        wanted = device_of(asked).device_type
    return "mixed" if wanted == "gpu" and "gpu" not in schema.devices and "mixed" in schema.devices else wanted


def _placed(schema: type[Op], index: int, node: DataNode, device: str | None) -> DataNode:
    if device is None or index in schema.metadata_inputs:
        return node
    return node.gpu() if device == "gpu" and index not in schema.cpu_inputs else node.cpu()


def _node(data: Lazy, size: int | None) -> DataNode:
    """The node of an input: of a tensor among batches, one that has it in each sample."""
    if size is None or isinstance(data, Batch):
        return data._node
    return given(select(data._value(), [0] * size))


def _shown(made: Any, size: int | None) -> Any:
    if isinstance(made, DataNode):
        literal = made.source.op.literal()
        if literal is not None:
            value = TensorListCPU([literal.array] * (size or 1), literal.layout or None)
            return Tensor._known(value) if size is None else Batch._known(value)
        assert isinstance(made, EagerNode)
        return Tensor._of(made, 1) if size is None else Batch._of(made, size)
    if isinstance(made, Mapping):
        return {name: _shown(node, size) for name, node in made.items()}
    if isinstance(made, (list, tuple)):
        return tuple(_shown(node, size) for node in made)
    return made
