"""Operators as objects: ``ops.Flip(horizontal=1)(images)``. Made from the registry; see `penstock.op`.

Names are those of `fn` in CamelCase, submodules included: ``ops.readers.File``, ``ops.CropMirrorNormalize``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from penstock import _catalog, _signatures, schemas
from penstock.errors import ArgumentError, ArgumentRangeError, ArgumentTypeError, DeviceError
from penstock.graph.blame import Blame, warn
from penstock.graph.constants import as_node
from penstock.graph.node import DataNode, OpNode, Scope
from penstock.op import Op, check_arguments, check_given, is_common, registry


class Operator:
    """An operator with its constant arguments; calling it makes a node.

    The call's arguments override the constructor's; None overrides nothing.
    """

    schema: ClassVar[type[Op]]
    old_name: ClassVar[str | None] = None  # of a class that is deprecated
    __signature__ = _signatures.ClassAndObject()

    def __init__(self, *positional: Any, device: str | None = None, **arguments: Any):
        with Blame(self.schema.shown_name()):
            self._device = device
            self._arguments = {**_named(self.schema, positional), **arguments}
            own = {k: v for k, v in self._arguments.items() if not is_common(self.schema, k)}
            check_given(self.schema, own, _is_node)
        warn_of_deprecated(self.schema, arguments)

    def __call__(self, *inputs: Any, **arguments: Any) -> Any:
        """A data node, or a list of them where the operator has several outputs."""
        warn_of_deprecated(self.schema, arguments, self.old_name)
        given = {name: value for name, value in arguments.items() if value is not None}
        given = {"device": self._device, **self._arguments, **given}
        parts = self.schema.parts(given)
        return call(self.schema, inputs, given) if parts is None else [call(self.schema, (), part) for part in parts]

    @property
    def device(self) -> str:
        """Where it runs: the constructor's argument, or where that is None, what it begins with."""
        return self._device or self.schema.devices[0]

    @property
    def preserve(self) -> bool:
        """Whether its nodes are kept even if no output needs them: the constructor's argument."""
        return bool(self._arguments.get("preserve"))

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self._arguments.items())
        return f"ops.{_catalog.class_name(self.schema.name)}({given})"


def warn_of_deprecated(schema: type[Op], arguments: dict[str, Any], old_name: str | None = None) -> None:
    """Warns of arguments that are deprecated, and of the operator if it was called by ``old_name``."""
    if arguments.get("seed") is not None and "seed" not in schema.arguments:
        warn(f"{schema.name}: seed is deprecated: leave it out, this operator draws no random numbers")
    if old_name is not None:
        warn(f"{old_name} is deprecated: {schema.deprecated or f'use fn.{schema.name}'}")
    for name in arguments:
        argument = schema.arguments.get(name)
        if argument is not None and argument.deprecated and arguments[name] is not None:
            warn(f"{schema.name}: {name} is deprecated: {argument.deprecated}")


def call(schema: type[Op], inputs: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
    """Makes the node, or one node per input set where an input is a list of several nodes."""
    with Blame(schema.shown_name()):
        return _call(schema, inputs, arguments)


def _call(schema: type[Op], inputs: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
    if schema.positional:
        return _node(schema, (), {**arguments, **_named(schema, inputs)})
    sets = {len(i) for i in inputs if isinstance(i, (list, tuple)) and all(isinstance(n, DataNode) for n in i)}
    if not sets or sets == {0}:
        return _node(schema, inputs, arguments)
    if len(sets) > 1:
        raise ArgumentError(f"{schema.name}: the lists of inputs have different lengths: {sorted(sets)}")
    rows = [tuple(i[k] if isinstance(i, (list, tuple)) else i for i in inputs) for k in range(sets.pop())]
    results = [_node(schema, row, arguments) for row in rows]
    if len(results) == 1:
        return results[0]
    return [list(r) for r in zip(*results, strict=True)] if isinstance(results[0], list) else results


def _named(schema: type[Op], values: tuple[Any, ...]) -> dict[str, Any]:
    """Arguments that were given by position, by their names."""
    if len(values) > len(schema.positional):
        few = len(schema.positional) or "no"
        raise ArgumentTypeError(f"{schema.name} takes {few} arguments by position, got {len(values)}")
    return dict(zip(schema.positional, values, strict=False))


def make(schema: type[Op], inputs: Sequence[DataNode], arguments: Mapping[str, Any]) -> Sequence[DataNode]:
    """The outputs of one node, whose inputs and arguments are where it needs them: no more is made than that."""
    return _made(schema, tuple(inputs), dict(arguments))[1]


def _node(schema: type[Op], inputs: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
    """What a call returns."""
    operator, made, device = _made(schema, inputs, arguments)
    outputs = operator.behind(made, _behind)
    if operator.copied_to_gpu and device == "gpu":
        outputs = [output.gpu() for output in outputs]
    return operator.arranged(outputs)


def _behind(name: str, inputs: Sequence[DataNode], **arguments: Any) -> list[DataNode]:
    return list(make(registry.ops[name], inputs, arguments))


def _made(schema: type[Op], inputs: tuple[Any, ...], arguments: dict[str, Any]) -> tuple[Op, list[DataNode], str]:
    """The operator, the nodes of its own outputs, and the device that was asked for."""
    common = {k: v for k, v in arguments.items() if is_common(schema, k)}
    arguments = {k: v for k, v in arguments.items() if k not in common}
    name = common.get("name")
    if not (name is None or isinstance(name, str)):
        raise ArgumentTypeError(f"{schema.name}: name={name!r}: expected a string")
    least, most = schema.num_inputs
    if not least <= len(inputs) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise ArgumentTypeError(f"{schema.name} takes {wanted} input{'s' * (most != 1)}, got {len(inputs)}")
    nodes = [_input(schema, k, value) for k, value in enumerate(inputs)]
    device, nodes = _place(schema, common.get("device"), nodes)
    if scope := Scope.current():
        own = schema.arguments
        tensors = {name: value for name, value in arguments.items() if name in own and own[name].per_sample}
        known = {name: scope.as_data(value, arrays=False) for name, value in tensors.items()}
        arguments.update((name, data) for name, data in known.items() if data is not None)
    operator = check_arguments(schema, arguments, _is_node)
    operator.input_count = len(nodes)
    operator.device = device
    if operator.literal() is not None:  # data of the plan, on the CPU
        data = OpNode(operator, nodes, "cpu", name, bool(common.get("preserve"))).outputs[0]
        return operator, [data.gpu() if device == "gpu" else data], device
    there = "cpu" if operator.copied_to_gpu or operator.on_host else device
    made = OpNode(operator, nodes, there, name, bool(common.get("preserve")) or operator.preserved)
    return operator, list(made.outputs), device


def _is_node(value: Any) -> bool:
    return isinstance(value, DataNode)


def _input(schema: type[Op], index: int, value: Any) -> DataNode:
    try:
        return as_node(value)
    except ArgumentRangeError as e:
        raise ArgumentRangeError(f"{schema.name}: input {index}: {e}") from e
    except (TypeError, ValueError) as e:
        hint = "; reshape lists of nodes into one list, or use fn.stack" if isinstance(value, (list, tuple)) else ""
        raise ArgumentTypeError(
            f"{schema.name}: input {index} is {value!r}: expected a node, a number or an array of numbers{hint}"
        ) from e


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
        if node.device != wanted and node.source.op.literal() is not None:
            node = node.gpu()
        if node.device != wanted:
            there = "GPU" if wanted == "gpu" else "CPU"
            raise DeviceError(
                f"{schema.name}: input {i} ({node.name!r}) is on the {node.device.upper()}, but with device={device!r} "
                f"this operator needs it on the {there}: use .{wanted}() on the input, or give another device"
            )
        placed.append(node)
    return device, placed


def class_of(schema: type[Op], name: str, class_name: str, module: str = __name__) -> type[Operator]:
    """The class of an operator by one of its names, as it is called in a module."""
    old = name not in (schema.name, schema.shown_name()) or schema.deprecated
    members = {
        **schema.of_class,
        "schema": schema,
        "old_name": f"ops.{class_name}" if old else None,
        "__module__": module,
    }
    return type(class_name.rpartition(".")[2], (Operator,), {**members, "__doc__": _catalog.documentation(schema)})


class _Composed:
    """Operators that are called one after the other."""

    def __init__(self, op_list: Sequence[Any]):
        self._operators = [one for part in op_list for one in getattr(part, "_operators", [part])]

    def __call__(self, *inputs: Any, **arguments: Any) -> Any:
        given: Any = list(inputs)
        for operator in self._operators:
            given = operator(*_on_device_of(operator, given), **arguments)
            arguments = {}
            given = list(given) if isinstance(given, (list, tuple)) else [given]
        return given[0] if len(given) == 1 else given


def Compose(op_list: Sequence[Callable[..., Any]]) -> Callable[..., Any]:  # noqa: N802  # DALI's name
    """One callable that calls operators in turn, each with the outputs of the one before.

    Inputs on the CPU are copied to the GPU where an operator with ``device="gpu"`` wants them there. Arguments of the
    call go to the first operator.

    Errors: ArgumentError for an empty list; and what the operators raise.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     both = ops.Compose([ops.Cast(dtype=types.FLOAT), ops.reductions.Sum()])
        ...     return both(np.uint8([1, 2, 3]))
        >>> pipeline().run()[0].as_array().tolist()
        [6.0]
    """
    if not op_list:
        raise ArgumentError("ops.Compose: op_list=[]: expected at least one operator")
    return op_list[0] if len(op_list) == 1 else _Composed(op_list)


def _on_device_of(operator: Any, inputs: list[Any]) -> list[Any]:
    if not (isinstance(operator, Operator) and operator.device == "gpu"):
        return inputs
    there = {*operator.schema.cpu_inputs, *operator.schema.metadata_inputs}
    return [
        node.gpu() if k not in there and isinstance(node, DataNode) and node.device == "cpu" else node
        for k, node in enumerate(inputs)
    ]


def cpu_ops() -> set[str]:
    """Operators that run on CPUs, by the names of their schemas: ``"Resize"``, ``"readers__File"``."""
    return set(schemas.RegisteredCPUOps())


def gpu_ops() -> set[str]:
    """Operators that run on GPUs."""
    return set(schemas.RegisteredGPUOps())


def mixed_ops() -> set[str]:
    """Operators with inputs on the CPU and outputs on a GPU."""
    return set(schemas.RegisteredMixedOps())


_catalog.fill(
    globals(), __name__, lambda schema, name: class_of(schema, name, _catalog.class_name(name)), _catalog.class_name
)
for _name, _schema in registry.classes.items():
    _catalog.put_more(__name__, _name, partial(class_of, _schema, _name, _name))
