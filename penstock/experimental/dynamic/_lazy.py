"""What tensors and batches share: a node of a graph that grows with each call, and is computed when it is asked for."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.eager.data import EagerNode, Tensors, given
from penstock.experimental.dynamic._context import EvalContext
from penstock.experimental.dynamic._device import Device
from penstock.experimental.dynamic._dtype import DType
from penstock.experimental.dynamic._mode import EvalMode
from penstock.graph.node import DataNode, OpNode, Scope
from penstock.run.program import key_of

MOST_PENDING = 24  # calls one behind the other before they are computed unasked


class LazyNode(EagerNode):
    """A node that is wanted as long as a tensor or a batch of the user's shows it."""

    shown_by: Callable[[], object] | None = None
    size = 1  # samples
    depth = 0  # calls behind the last that is known

    @property
    def wanted(self) -> bool:  # type: ignore[override]
        """Whether somebody can still ask for it."""
        return self.shown_by is not None and self.shown_by() is not None


class Calls(Scope):
    """The scope of a call: gives what its operators make the keys of their random numbers."""

    def __init__(self, draw: Callable[[], int], size: int):
        super().__init__()
        self._draw, self._count = draw, size

    def kind_of_data(self) -> type[DataNode]:
        return LazyNode

    def note(self, node: OpNode) -> None:
        depth = 1 + max((getattr(data, "depth", 0) for data in node.sources()), default=0)
        for data in node.outputs:
            assert isinstance(data, LazyNode)
            data.size, data.depth = self._count, depth
        if node.op.random:
            node.key = key_of(node.op, 0, 0) if node.op.seed is not None and node.op.seed >= 0 else self._draw()  # type: ignore[attr-defined]


class Lazy:
    """Base of `Tensor` and `Batch`."""

    _node: EagerNode
    _count: int
    __array_ufunc__ = None  # so that `array + tensor` asks the tensor

    def _show(self, node: EagerNode, count: int) -> None:
        self._node, self._count = node, count
        self._context = EvalContext.current()
        if isinstance(node, LazyNode):
            node.shown_by = weakref.ref(self)
            if EvalMode.current().waits or node.depth >= MOST_PENDING:
                self.evaluate()

    @classmethod
    def _of(cls, node: EagerNode, count: int) -> Any:
        made = cls.__new__(cls)
        made._show(node, count)
        return made

    @classmethod
    def _known(cls, value: Tensors) -> Any:
        return cls._of(given(value), len(value))

    def evaluate(self) -> Any:
        """Computes it, where that has not happened yet, and returns it. Raises what operators raise."""
        if self._node.value is None:
            self._context.computer([self._node], self._count)
        return self

    def _value(self) -> Tensors:
        self.evaluate()
        value = self._node.value
        assert value is not None
        return value

    @property
    def device(self) -> Device:
        """Where it is, or will be."""
        return Device.CPU if self._node.device == "cpu" else Device("gpu", self._context.device_id)

    @property
    def dtype(self) -> DType:
        """The type of its elements. Computes it."""
        return DType(self._value().dtype)

    @property
    def ndim(self) -> int:
        """The number of a sample's axes. Computes it."""
        return self._value().ndim()

    @property
    def layout(self) -> str | None:
        """The names of a sample's axes; None: they have none. Computes it."""
        return self._value().layout() or None

    def cpu(self) -> Any:
        """The same on the CPU: itself, if it is there."""
        return self.to_device(Device.CPU)

    def gpu(self, index: int | None = None) -> Any:
        """The same on the GPU: itself, if it is there."""
        return self.to_device(Device("gpu", index if index is not None else self._context.device_id))

    def to_device(self, device: Any, force_copy: bool = False) -> Any:
        """The same on a device: itself, if it is there and no copy is asked for."""
        from penstock.experimental.dynamic._call import copied, moved

        made = moved(self, device)
        return copied(made) if force_copy and made is self else made

    def _repr_html_(self) -> str:
        from penstock.display import html_of

        return html_of(self)

    def _expression(self, function: Callable[..., Any], *operands: Any) -> Any:
        from penstock.experimental.dynamic._call import combine

        return combine(function, operands)

    __hash__ = object.__hash__


def _binary(function: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: Lazy, other: Any) -> Any:
        return self._expression(function, self, other)

    def reflected(self: Lazy, other: Any) -> Any:
        return self._expression(function, other, self)

    return forward, reflected


def _unary(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda self: self._expression(function, self)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift"):
    _forward, _reflected = _binary(getattr(operator, _name))
    setattr(Lazy, f"__{_name.rstrip('_')}__", _forward)
    setattr(Lazy, f"__r{_name.rstrip('_')}__", _reflected)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Lazy, f"__{_name}__", _binary(getattr(operator, _name))[0])
for _name in ("neg", "pos", "abs", "invert"):
    setattr(Lazy, f"__{_name}__", _unary(getattr(operator, _name)))


def from_python(data: Any) -> np.ndarray[Any, Any]:
    """Numbers, and lists of them, as an array: Python's integers are of 32 bits, its floats, too.

    Raises OverflowError for integers that have no room there, TypeError for what are no numbers.
    """
    array = np.asarray(data)
    plain = not hasattr(data, "dtype") and not _has_arrays(data)
    if plain and array.dtype in (np.int64, np.uint64):
        small = np.int32 if array.size == 0 or array.max() < 2**31 else np.uint32
        limits = np.iinfo(small)
        if array.size and not (limits.min <= array.min() and array.max() <= limits.max):
            raise OverflowError(f"{array.max()} has no room in 32 bits: say dtype=")
        return array.astype(small)
    if plain and array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == object:
        raise TypeError(f"{data!r}: expected numbers, or lists of as many each")
    return array


def _has_arrays(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return any(_has_arrays(item) for item in data)
    return hasattr(data, "dtype")


def pieces(data: Sequence[Any]) -> list[Any]:
    """Items, each as the engine takes it."""
    return [item if hasattr(item, "__dlpack__") or hasattr(item, "shape") else from_python(item) for item in data]
