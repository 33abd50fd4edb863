"""What must hold for a pipeline's nodes, and what it promises about its outputs, checked with each batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import types
from penstock._values import whole_number
from penstock.errors import ArgumentError, ArgumentTypeError, DeviceError, GraphError
from penstock.graph.blame import Blame, warn
from penstock.graph.constants import as_node
from penstock.graph.node import DataNode, OpNode
from penstock.optimize.plan import Plan
from penstock.run import gpu
from penstock.tensors.samples import Samples

# The argument's name, what it asks for, and where an output has it.
_Wanted = tuple[str, Any, Callable[[Samples], Any]]


class OutputCheck:
    """The constructor's output_dtype, output_ndim and output_layout: one value for all outputs, or one per output."""

    def __init__(self, dtype: Any, ndim: Any, layout: Any):
        self._wanted: list[_Wanted] = []
        if dtype is not None:
            self._wanted.append(("output_dtype", _each(dtype, _dtype), lambda t: t.dtype))
        if ndim is not None:
            self._wanted.append(("output_ndim", _each(ndim, _ndim), lambda t: t.ndim()))
        if layout is not None:
            self._wanted.append(("output_layout", _each(layout, str), lambda t: t.layout()))

    def __call__(self, outputs: Sequence[Samples]) -> None:
        for name, wanted, get in self._wanted:
            if isinstance(wanted, list) and len(wanted) != len(outputs):
                raise ArgumentError(f"{name} has {len(wanted)} values, but the pipeline has {len(outputs)} outputs")
            for i, output in enumerate(outputs):
                expected = wanted[i] if isinstance(wanted, list) else wanted
                if expected is not None and get(output) != expected:
                    raise GraphError(f"{name}: output {i} was to be {expected!r}, but is {get(output)!r}")


def _each(wanted: Any, convert: Any) -> Any:
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


def output_node(value: Any, index: int) -> DataNode:
    """An output of a pipeline's definition, as a node."""
    if isinstance(value, (list, tuple, dict, str)) or value is None:
        raise ArgumentTypeError(f"output {index} of the pipeline is {value!r}: expected a node or a constant array")
    return as_node(value)


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
