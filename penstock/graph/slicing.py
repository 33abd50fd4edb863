"""``node[...]``: indexing and slicing of data nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from penstock import _values
from penstock.errors import ArgumentError, ArgumentTypeError, DeviceError
from penstock.graph.blame import Blame
from penstock.graph.node import DataNode, OpNode, makes
from penstock.machine import native
from penstock.op import Contract, Op, arg, check_arguments, op

_MAX_AXES = native.MAX_DIMS


@op("_subscript", kernel="subscript", devices=["cpu", "gpu"], inputs=(1, 1 + 3 * _MAX_AXES))
class Subscript(Op):
    """The parts of a key, see ``ops/tensor/subscript.cpp``. Bounds that are nodes are further inputs."""

    setup_reads = tuple(range(1, 1 + 3 * _MAX_AXES))
    cpu_inputs = setup_reads

    kinds = arg("", "One letter per item: index, range, ellipsis or new axis.")
    names = arg("", "One letter per item: the name of a new axis, or '?'.")
    values = arg([0], "Three numbers per item: index or start, end, step.")
    inputs = arg([0], "Where each number is: -1 nowhere, 0 in `values`, else in that input.")

    def prepare(self) -> None:
        if not len(self.names) * 3 == len(self.kinds) * 3 == len(self.values) == len(self.inputs):
            raise self.wrong("kinds", f"does not fit {self.names=}, {self.values=} and {self.inputs=}")
        if self._is_window():
            self.contract = Contract.SAMPLER  # type: ignore[misc]

    def key(self, inputs: Sequence[DataNode]) -> tuple[Any, ...]:
        """What was between the brackets."""
        items: list[Any] = []
        for i, kind in enumerate(self.kinds):
            parts: list[Any] = []
            for number, source in zip(self.values[3 * i : 3 * i + 3], self.inputs[3 * i : 3 * i + 3], strict=True):
                if not -1 <= source < len(inputs):
                    raise self.wrong("inputs", f"there is no input {source}")
                parts.append(None if source < 0 else inputs[source] if source else number)
            wanted = {"i": [0], "r": [0, 1, 2], "e": [], "n": []}.get(kind)
            if wanted is None or (kind == "i" and parts[0] is None):
                raise self.wrong("kinds", f"item {i} is none of a key")
            if any(part is not None for k, part in enumerate(parts) if k not in wanted):
                raise self.wrong("inputs", f"item {i} has more numbers than it needs")
            name = self.names[i]
            newaxis = NewAxis("" if name == "?" else name) if kind == "n" else None
            items.append({"i": parts[0], "r": slice(*parts), "e": Ellipsis, "n": newaxis}[kind])
        return tuple(items)

    def _is_window(self) -> bool:
        """Whether it takes rows and columns of what may be pictures: then it can be fused with what makes them."""
        may_cut = True
        for i, kind in enumerate(self.kinds):
            start, end, step = self.inputs[3 * i : 3 * i + 3]
            may_cut = may_cut and kind == "r" and i < 2
            if kind not in "re" or (step >= 0 and (step, self.values[3 * i + 2]) != (0, 1)):
                return False
            if (start >= 0 or end >= 0) and not may_cut:
                return False
        return True


class NewAxis:
    """A new axis of extent 1 in ``node[...]``; ``newaxis("N")`` gives it a name in the layout."""

    def __init__(self, name: str = ""):
        if not isinstance(name, str) or len(name) > 1:
            raise ArgumentTypeError(f"newaxis({name!r}): expected one letter")
        self.name = name

    def __call__(self, name: str) -> NewAxis:
        """A new axis of that name."""
        return NewAxis(name)

    def __repr__(self) -> str:
        return f"newaxis({self.name!r})" if self.name else "newaxis"


newaxis = NewAxis()


@makes("subscript")
def subscript(node: DataNode, key: Any) -> DataNode:
    """The part of each sample that the key names, as ``node[key]``.

    A key has up to one item for each axis of the samples:

    - a whole number or a node of whole numbers (one per sample): that element; the axis goes away. Negative ones count
      from the end.
    - a range ``start:end:step``, where each part may be left out, or be a node; fractions are cut off, as in DALI.
      Bounds beyond the ends are moved there, as Python does. The step may be negative.
    - ``...``: all axes that are left.
    - `newaxis`, or ``newaxis("N")`` with a name: a new axis of extent 1.
    - None, as in DALI: the whole axis.

    The layout loses the names of axes that go away; it is dropped where a new axis has no name. The part is on the GPU
    if the node is; indices and bounds that are nodes are on the CPU.

    A range with a step gives what Python's does. DALI gets most elements wrong where some large tensors are taken with
    a step (``x[::2]`` of 98306 elements), and may crash where nothing is left (``x[5:2:2]``).

    Errors: ArgumentTypeError for other items; DeviceError for indices and bounds on the GPU; ArgumentError for two
    ellipses, a step of 0 and more than 12 items; OperatorError, naming axis, index and extent, where an index is out of
    range for a sample.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     images = fn.decoders.image(files, device="cpu")
        ...     return images[10:20, ::-1, 0], labels[0]
        >>> rows, labels = pipeline().run()
        >>> rows[0].shape()[0], rows[0].layout(), labels[0].shape()
        (10, 'HW', [])
    """
    with Blame(node.name):
        return _subscript(node, key)


def again(cls: type[Op], inputs: Sequence[DataNode], arguments: Mapping[str, Any]) -> Sequence[DataNode]:
    """The node that a text describes, made as the subscript was."""
    common = {name: arguments[name] for name in ("device", "name", "preserve")}
    own = {name: value for name, value in arguments.items() if name not in common}
    described = check_arguments(cls, own, lambda value: isinstance(value, DataNode))
    assert isinstance(described, Subscript)
    node = _subscript(inputs[0], described.key(inputs), common["name"]) if inputs else None
    if node is None or len(node.source.inputs) != len(inputs) or node.source.device != common["device"]:
        raise ArgumentError(f"subscript: {len(inputs)} inputs and device={common['device']!r} do not fit its key")
    node.source.preserve = common["preserve"]
    return node.source.outputs


def _subscript(node: DataNode, key: Any, name: str | None = None) -> DataNode:
    items = list(key) if isinstance(key, tuple) else [key]
    if len(items) > _MAX_AXES:
        raise ArgumentError(f"{node.name}[{key!r}]: more than {_MAX_AXES} items")
    if sum(item is Ellipsis for item in items) > 1:
        raise ArgumentError(f"{node.name}[{key!r}]: more than one ellipsis")
    inputs = [node]
    kinds, names, numbers, sources = "", "", [], []
    for item in items:
        kind, letter, parts = _item(node, item)
        kinds, names = kinds + kind, names + (letter or "?")
        for part in parts:
            number, source = _value(node, part, inputs)
            numbers.append(number)
            sources.append(source)
        if kind == "r" and sources[-1] == 0 and numbers[-1] == 0:
            raise ArgumentError(f"{node.name}[{key!r}]: the step of a range is 0")
    schema = Subscript({"kinds": kinds, "names": names, "values": numbers, "inputs": sources}, {})
    return OpNode(schema, inputs, node.device, name).outputs[0]


def _item(node: DataNode, item: Any) -> tuple[str, str, tuple[Any, Any, Any]]:
    if item is Ellipsis:
        return "e", "", (None, None, None)
    if isinstance(item, NewAxis):
        return "n", item.name, (None, None, None)
    if item is None:
        return "r", "", (None, None, None)
    if isinstance(item, slice):
        return "r", "", (item.start, item.stop, item.step)
    if type(item) is float:
        raise _refused(node, item)
    return "i", "", (item, None, None)


def _value(node: DataNode, value: Any, inputs: list[DataNode]) -> tuple[int, int]:
    """The number and where it is; a node becomes a further input."""
    if value is None:
        return 0, -1
    if isinstance(value, DataNode):
        if value.device != "cpu":
            raise DeviceError(
                f"{node.name}[...]: {value.name!r} is on the GPU: indices and bounds must be on the CPU, use .cpu()"
            )
        inputs.append(value)
        return 0, len(inputs) - 1
    try:
        return int(_values.convert("integer", value)), 0
    except (TypeError, ValueError, OverflowError):
        raise _refused(node, value) from None


def _refused(node: DataNode, value: Any) -> ArgumentTypeError:
    shown = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
    return ArgumentTypeError(f"{node.name}[...]: {shown}: expected a whole number, a range, a node, `...` or newaxis")
