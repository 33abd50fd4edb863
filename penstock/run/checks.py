"""What must hold for a pipeline's nodes, and what it promises about its outputs, checked with each batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import types
from penstock._values import whole_number
from penstock.errors import ArgumentError, ArgumentRangeError, ArgumentTypeError, DeviceError, GraphError
from penstock.graph.blame import Blame, warn
from penstock.graph.constants import as_node
from penstock.graph.node import DataNode, OpNode
from penstock.machine import gpu
from penstock.optimize.plan import Plan
from penstock.tensors.samples import Samples

# How an output has what the constructor's argument of this name asks for.
_FOUND: dict[str, Callable[[Samples], Any]] = {
    "output_dtype": lambda t: t.dtype,
    "output_ndim": lambda t: t.ndim(),
    "output_layout": lambda t: t.layout(),
}


class OutputCheck:
    """The constructor's output_dtype, output_ndim and output_layout: one value for all outputs, or one per output."""

    def __init__(self, dtype: Any, ndim: Any, layout: Any):
        self._wanted = {
            "output_dtype": _each(dtype, _dtype),
            "output_ndim": _each(ndim, _ndim),
            "output_layout": _each(layout, _layout),
        }
        self._asks = any(wanted is not None for wanted in self._wanted.values())

    def of_each(self, name: str, outputs: int) -> list[Any]:
        """What an argument asks of each of so many outputs; None: nothing."""
        wanted = self._wanted[name]
        return list(wanted) if isinstance(wanted, list) else [wanted] * outputs

    def lengths(self, outputs: int) -> None:
        """Raises GraphError where an argument has one value for each of another number of outputs."""
        for name in self._wanted:
            count = len(self.of_each(name, outputs))
            if count != outputs:
                raise GraphError(f"{name} has {count} values, but the pipeline has {outputs} outputs")

    def __call__(self, outputs: Sequence[Samples]) -> None:
        if not self._asks:
            return
        for name, wanted in self._wanted.items():
            if wanted is None:
                continue
            for i, (expected, output) in enumerate(zip(self.of_each(name, len(outputs)), outputs, strict=True)):
                found = _FOUND[name](output)
                if expected is not None and found != expected:
                    raise GraphError(f"{name}: output {i} was to be {expected!r}, but is {found!r}")


def _each(wanted: Any, convert: Any) -> Any:
    if wanted is None:
        return None
    if isinstance(wanted, (list, tuple)):
        return [None if w is None else convert(w) for w in wanted]
    return convert(wanted)


def _dtype(value: Any) -> types.DALIDataType:
    if value is types.DALIDataType.NO_TYPE:
        raise ArgumentError("output_dtype=types.NO_TYPE: expected a type; None stands for any")
    try:
        return types.to_dali_type(value)
    except (TypeError, ValueError, KeyError) as e:
        raise ArgumentTypeError(f"output_dtype={value!r}: expected a type such as types.FLOAT") from e


def _ndim(value: Any) -> int:
    return whole_number("output_ndim", value, least=0)


def _layout(value: Any) -> str:
    if not isinstance(value, str):
        raise ArgumentTypeError(f"output_layout={value!r}: expected a layout such as 'HWC'")
    return str(value)


def output_node(value: Any, index: int) -> DataNode:
    """An output of a pipeline's definition, as a node: nodes, numbers, arrays, and lists of numbers.

    Raises ArgumentTypeError for all else, and ArgumentRangeError for integers that do not fit.
    """
    if isinstance(value, (list, tuple)) and any(isinstance(v, (list, tuple, DataNode)) for v in value):
        raise ArgumentTypeError(
            f"output {index} of the pipeline is {value!r}: a list inside the outputs; `*` before it makes its items "
            "outputs"
        )
    try:
        return as_node(value)
    except ArgumentRangeError as e:
        raise ArgumentRangeError(f"output {index} of the pipeline: {e}") from e
    except (TypeError, ValueError) as e:
        raise ArgumentTypeError(
            f"output {index} of the pipeline is {value!r}: expected a node, a number, an array or a list of numbers"
        ) from e


def check_names(nodes: Sequence[OpNode]) -> None:
    """Raises GraphError where two nodes have the same name."""
    names: set[str] = set()
    for node in nodes:
        if node.name in names:
            raise GraphError(f"two operators are named {node.name!r}; the second one was made at {node.location}")
        names.add(node.name)


def warn_of_unused(plan: Plan) -> None:
    """Warns of outputs of an external source that nobody uses: the source computes them in vain."""
    used = {*plan.outputs, *(data for node in plan.nodes for data in node.sources())}
    for node in plan.nodes:
        unused = [data.index for data in node.outputs if data not in used] if node.op.external else []
        if unused and len(node.outputs) > 1:
            warn(
                f"external_source {node.name!r} produces {len(node.outputs)} outputs, but of these {unused} are not "
                f"used: leave them out of its source\n  operator made at {node.location}",
                Warning,  # of DALI's category
            )


def check_scope(outputs: Sequence[DataNode], key: object) -> None:
    """Raises GraphError where outputs need a node that was made in another pipeline than that of this key."""
    seen: set[OpNode] = set()
    waiting = [output.source for output in outputs]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.made_in not in (None, key):
            raise GraphError(
                f"the operator {node.op.shown_name()} {node.name!r} belongs to another pipeline, and its nodes cannot "
                f"be used in this one\n  operator made at {node.location}"
            )
        waiting += [data.source for data in node.sources()]


def check_gpu(nodes: Sequence[OpNode], device_id: int | None) -> bool:
    """Whether any of them runs on a GPU. Raises DeviceError, about the first that does, if the GPU can't be used."""
    first = next((node for node in nodes if node.device != "cpu"), None)
    if first is None:
        return False
    with Blame(first.op.shown_name(), first.location):
        if device_id is None:
            raise DeviceError("device_id=None: operators run on a GPU, so Pipeline must say on which, such as 0")
        gpu.prepare()
        gpu.describe(device_id)
    return True
