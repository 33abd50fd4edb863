"""The graph: operator nodes, and the data nodes between them, which users combine by Python's operators."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from penstock.errors import NodeContentsError
from penstock.graph.branch import Branch, taken_here
from penstock.graph.location import Location, caller
from penstock.op import Op

_count = itertools.count()
_Maker = TypeVar("_Maker", bound=Callable[..., "DataNode"])
_makers: dict[str, Callable[..., DataNode]] = {}


def makes(what: str) -> Callable[[_Maker], _Maker]:
    """Has methods of nodes call this function, which makes a node of an operator: operators know nodes, and nodes none
    of them. All such functions are in modules that the package imports.
    """

    def note(maker: _Maker) -> _Maker:
        _makers[what] = maker
        return maker

    return note


def _made(what: str, *given: Any) -> DataNode:
    return _makers[what](*given)


class OpNode:
    """One use of an operator: its arguments, inputs and outputs, and where the user wrote it."""

    def __init__(self, op: Op, inputs: list[DataNode], device: str, name: str | None, preserve: bool = False):
        self.op = op
        if Branch.stack():
            inputs = [taken_here(node) for node in inputs]
            op.tensors = {name: taken_here(node) for name, node in op.tensors.items()}
        self.inputs = inputs
        self.device = device
        self.preserve = preserve
        self.number = next(_count)  # nodes can only use older ones, so this is a topological order
        self.location: Location | None = caller()
        self.made_in: object = None  # the key of the scope that it was made in, if there was one
        self.key: int | None = None  # of its random numbers; None: its seed says, or its place in the plan
        self.name = name or self._default_name()
        many = op.num_outputs()
        names = [self.name] if many == 1 else [f"{self.name}[{i}]" for i in range(many)]
        there = "cpu" if device == "cpu" or op.host_output else "gpu"
        scope = Scope.current()
        kind = scope.kind_of_data() if scope else DataNode
        self.outputs = [kind(self, i, names[i], there) for i in range(many)]
        Scope.add(self)

    def _default_name(self) -> str:
        scope = Scope.current()
        number = len(scope.nodes) if scope else self.number
        return f"__{type(self.op).__name__}_{number}"

    def sources(self) -> list[DataNode]:
        """All nodes that this one reads: inputs, then arguments."""
        return self.inputs + list(self.op.tensors.values())

    def __repr__(self) -> str:
        return f"<{self.op.name} {self.name!r} made at {self.location}>"


class Scope:
    """What is being defined: nodes made inside ``with scope:`` are recorded in it."""

    _active: ClassVar[threading.local] = threading.local()

    def __init__(self) -> None:
        self.nodes: list[OpNode] = []
        self._key = object()  # which its nodes hold: holding the scope itself would keep it alive

    @classmethod
    def _stack(cls) -> list[Scope]:
        if not hasattr(cls._active, "stack"):
            cls._active.stack = []
        return cls._active.stack  # type: ignore[no-any-return]

    @classmethod
    def current(cls) -> Scope | None:
        """The innermost scope of this thread."""
        stack = cls._stack()
        return stack[-1] if stack else None

    @classmethod
    def add(cls, node: OpNode) -> None:
        """Notes a node in the innermost scope, if there is one."""
        scope = cls.current()
        if scope is not None:
            node.made_in = scope._key
            scope.note(node)

    def note(self, node: OpNode) -> None:
        """Takes a node that was made in this scope."""
        self.nodes.append(node)

    def kind_of_data(self) -> type[DataNode]:
        """The class of what its nodes give."""
        return DataNode

    def as_data(self, value: Any, arrays: bool = True) -> DataNode | None:
        """The node of a batch that is known now, where there may be such; None: it is none, or a constant.

        ``arrays``: whether an array may be one, its samples along the first axis.
        """
        return None

    def __enter__(self) -> Scope:
        self._stack().append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack().remove(self)


def _expression(name: str, *operands: Any) -> DataNode:
    return _made("expression", name, *operands)


def _reflected(name: str, left: Any, node: DataNode) -> DataNode:
    """Of an operator whose left operand leaves it to the node: NumPy's scalars count as Python's numbers there.

    So they do in DALI, where NumPy converts them before it asks the node. ``node + np.int8(1)`` keeps the type.
    """
    if getattr(left, "ndim", None) == 0 and hasattr(left, "item"):
        left = left.item()
    return _expression(name, left, node)


class DataNode:
    """A value that a pipeline will have: one tensor per sample of the batch.

    Arithmetic, comparison and bit operators make new nodes, with scalars, NumPy arrays or other nodes; ``node[...]``
    slices. There is no truth value: a node's contents are known only when the pipeline runs.

    >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    ... def pipeline():
    ...     files, labels = fn.readers.file(file_root=photos)
    ...     images = fn.decoders.image(files, device="cpu")
    ...     return images.shape(), images.source_info()
    >>> shapes, names = pipeline().run()
    >>> shapes.at(0).tolist(), bytes(names.at(0)).decode().endswith(".jpg")
    ([375, 500, 3], True)
    """

    __array_ufunc__ = None  # so that `array + node` asks the node

    def __init__(self, source: OpNode, index: int, name: str, device: str):
        self.source = source
        self.index = index
        self.name = name
        self.device = device
        self.branches = Branch.stack()  # whose samples it has, outermost first

    def __repr__(self) -> str:
        return f"DataNode(name={self.name!r}, device={self.device!r}, operator={self.source.op.name!r})"

    __str__ = __repr__

    def gpu(self) -> DataNode:
        """The same data on the GPU: a copy, unless it is there."""
        return _made("to_gpu", self)

    def cpu(self) -> DataNode:
        """The same data on the CPU: a copy, unless it is there."""
        return _made("to_cpu", self)

    def shape(self, *, dtype: int | None = None, device: str = "cpu") -> DataNode:
        """The shapes that the samples will have: for each sample one axis of its extents, of INT64 or ``dtype``.

        The elements are not looked at: nothing is decoded or copied from the GPU for it. ``device``: where the result
        is. Raises ArgumentError for types other than INT32, UINT32, INT64, UINT64, FLOAT and FLOAT64.
        """
        return _made("shape", self, dtype, device)

    def property(self, key: str, *, device: str = "cpu") -> DataNode:
        """A property of each sample as the bytes of a text, UINT8 of one axis: "source_info" or "layout".

        ``device``: where the result is. Raises ArgumentError for other keys.
        """
        return _made("property_of", self, key, device)

    def source_info(self, *, device: str = "cpu") -> DataNode:
        """Where each sample comes from, such as a file's name: the property "source_info"."""
        return self.property("source_info", device=device)

    def __add__(self, other: Any) -> DataNode:
        return _expression("add", self, other)

    def __radd__(self, other: Any) -> DataNode:
        return _reflected("add", other, self)

    def __sub__(self, other: Any) -> DataNode:
        return _expression("sub", self, other)

    def __rsub__(self, other: Any) -> DataNode:
        return _reflected("sub", other, self)

    def __mul__(self, other: Any) -> DataNode:
        return _expression("mul", self, other)

    def __rmul__(self, other: Any) -> DataNode:
        return _reflected("mul", other, self)

    def __truediv__(self, other: Any) -> DataNode:
        return _expression("fdiv", self, other)

    def __rtruediv__(self, other: Any) -> DataNode:
        return _reflected("fdiv", other, self)

    def __floordiv__(self, other: Any) -> DataNode:
        return _expression("div", self, other)

    def __rfloordiv__(self, other: Any) -> DataNode:
        return _reflected("div", other, self)

    def __mod__(self, other: Any) -> DataNode:
        return _expression("mod", self, other)

    def __rmod__(self, other: Any) -> DataNode:
        return _reflected("mod", other, self)

    def __pow__(self, other: Any) -> DataNode:
        return _expression("pow", self, other)

    def __rpow__(self, other: Any) -> DataNode:
        return _reflected("pow", other, self)

    def __neg__(self) -> DataNode:
        return _expression("minus", self)

    def __pos__(self) -> DataNode:
        return _expression("plus", self)

    def __abs__(self) -> DataNode:
        return _expression("abs", self)

    def __invert__(self) -> DataNode:
        return _expression("bitnot", self)

    def __eq__(self, other: object) -> DataNode:  # type: ignore[override]
        return _expression("eq", self, other)

    def __ne__(self, other: object) -> DataNode:  # type: ignore[override]
        return _expression("neq", self, other)

    def __lt__(self, other: Any) -> DataNode:
        return _expression("lt", self, other)

    def __le__(self, other: Any) -> DataNode:
        return _expression("leq", self, other)

    def __gt__(self, other: Any) -> DataNode:
        return _expression("gt", self, other)

    def __ge__(self, other: Any) -> DataNode:
        return _expression("geq", self, other)

    def __and__(self, other: Any) -> DataNode:
        return _expression("bitand", self, other)

    def __rand__(self, other: Any) -> DataNode:
        return _reflected("bitand", other, self)

    def __or__(self, other: Any) -> DataNode:
        return _expression("bitor", self, other)

    def __ror__(self, other: Any) -> DataNode:
        return _reflected("bitor", other, self)

    def __xor__(self, other: Any) -> DataNode:
        return _expression("bitxor", self, other)

    def __rxor__(self, other: Any) -> DataNode:
        return _reflected("bitxor", other, self)

    def __lshift__(self, other: Any) -> DataNode:
        return _expression("lshift", self, other)

    def __rlshift__(self, other: Any) -> DataNode:
        return _reflected("lshift", other, self)

    def __rshift__(self, other: Any) -> DataNode:
        return _expression("rshift", self, other)

    def __rrshift__(self, other: Any) -> DataNode:
        return _reflected("rshift", other, self)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise NodeContentsError(
            f"{self.name} has no truth value while the pipeline is being defined: its contents differ from sample to "
            "sample. With pipeline_def(enable_conditionals=True) `if`, `and`, `or` and `not` take nodes; loops, and "
            "functions that are written elsewhere, do not"
        )

    def __iter__(self) -> Any:
        raise NodeContentsError(f"{self.name} cannot be iterated while the pipeline is being defined")

    def __len__(self) -> int:
        raise NodeContentsError(f"{self.name} has no length while the pipeline is being defined")

    def __getitem__(self, key: Any) -> DataNode:
        return _made("subscript", self, key)
