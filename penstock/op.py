"""The one declaration of an operator, from which everything else is made.

    @op("flip", contract="sampler")
    class Flip(Op):
        \"\"\"Flips pictures ...\"\"\"

        horizontal = arg(1, "Flips left to right.", per_sample=True)

`fn`, `ops`, argument checks, the docs and the type stubs come from it; the C++ side is
``native/ops/geometry/flip.cpp``. A class inherits the arguments of its bases, so groups of arguments that several
operators share are plain classes of `arg`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from penstock import _values, types
from penstock._suggest import suggestion
from penstock.errors import ArgumentError, ArgumentRangeError, ArgumentTypeError, DeviceError, UnknownArgumentError


class Contract(enum.Enum):
    """What an operator is to the optimizer, which matches these and never names of operators."""

    SOURCE = "source"  # gives a picture's rows: decoders
    SAMPLER = "sampler"  # where an output pixel comes from: crop, flip, resize
    PIXEL = "pixel"  # each pixel by itself
    STORE = "store"  # ends a row pipeline: writes another layout
    OPAQUE = "opaque"  # runs alone


@dataclass(frozen=True)
class Argument:
    """One argument of an operator."""

    name: str
    default: Any
    doc: str
    kind: str  # a name in penstock._values.KINDS
    per_sample: bool = False
    required: bool = False
    choices: tuple[Any, ...] | None = None
    unused: str | None = None  # why it is accepted without an effect
    deprecated: str | None = None  # what to use instead
    to_kernel: bool = True
    only_given: bool = False  # the kernel is told of it only where it is given
    aka: tuple[str, ...] = ()  # what else people call it, for suggestions
    attribute: str = ""  # of the operator's instance that holds the value


@dataclass(frozen=True)
class Fixed:
    """An argument of the kernel that users of this operator do not have."""

    value: Any


REQUIRED = object()


def arg(
    default: Any,
    doc: str,
    *,
    kind: str | None = None,
    per_sample: bool = False,
    choices: Sequence[Any] | None = None,
    unused: str | None = None,
    deprecated: str | None = None,
    to_kernel: bool = True,
    only_given: bool = False,
    aka: Sequence[str] = (),
    name: str = "",
) -> Any:
    """Declares an argument. Its ``kind`` follows from the default where there is one; REQUIRED has none.

    ``unused`` says why DALI's argument of this name has nothing left to change; it is then accepted and checked.
    The kernel must read all arguments, by their names, and no others: otherwise the pipeline is not built. But for
    ``to_kernel=False``: the declaration's own Python uses it, the kernel does not. ``only_given``: the kernel gets the
    default as all others, unless what matters is whether the argument was given. ``name``: what users call it, where
    that is not the attribute's name. ``aka``: what users call it who think of another library, or mistake it: errors
    then suggest the right name.
    """
    kind = kind or _values.kind_of(default)
    return Argument(
        name,
        None if default is REQUIRED else default,
        doc,
        kind,
        per_sample,
        default is REQUIRED,
        None if choices is None else tuple(choices),
        unused,
        deprecated,
        to_kernel and unused is None,
        only_given,
        tuple(aka),
    )


def fixed(value: Any) -> Any:
    """Declares what a kernel reads that several operators share, where this operator's users have no such argument.

    ``value``: what it is then; None: not given. A class that inherits it may have an argument of that name.
    """
    return Fixed(value)


class Literal(NamedTuple):
    """A tensor that is the same in every sample."""

    array: np.ndarray[Any, Any]
    layout: str


class Done(Protocol):
    """How many files each of several has done, of one operator's."""

    @property
    def operator(self) -> str:
        """Its name."""

    @property
    def files(self) -> Mapping[str, int]:
        """Of each; ``"cpu"`` is the CPU."""

    def since(self, before: Any) -> Any:
        """What was done since then."""

    def __str__(self) -> str: ...


class Chosen(Protocol):
    """What does a node's work, of several that can (`penstock.decode.engines`)."""

    def arguments(self) -> dict[str, Any]:
        """The arguments that the kernel gets for it."""

    def leaves_planes(self) -> bool:
        """Whether it decodes on the GPU, and the kernel that reads its pictures may make their pixels."""

    def warn_of_missing(self) -> None:
        """Warns, once in a process, where a library is missing."""

    def notes(self) -> list[str]:
        """Lines for `Pipeline.explain`."""

    def done(self, operator: str, counts: Sequence[int]) -> Done:
        """What the engine's counts of the node say (`ps_executor_decoder_stats`)."""


class Called(Protocol):
    """The batch that a Python function is called with (`penstock.run.calls`)."""

    size: int  # samples
    device: int | None  # of functions on a GPU: its number
    stream: int | None  # on a GPU: the handle of the CUDA stream in which the pipeline's own work goes on
    threads: int  # that the pipeline works with

    def inputs(self) -> Sequence[Any]:
        """A list of tensors for each; they show memory that must not be written."""

    def give(self, output: int, samples: Any) -> None:
        """Copies a batch, which goes on as this output; FunctionError where it makes none."""

    def room(self, output: int, dtype: Any, extents: Any) -> Any:
        """Memory of the host for a batch that goes on as this output, and that the caller writes to: rows of
        `penstock.tensors.arrays.DESCRIPTOR`, for samples of a type of NumPy's and of these extents, a row for each.
        """


class Op:
    """Base of all declarations. An instance holds one node's arguments as attributes: constants, or None.

    Arguments given as nodes (one value per sample) are in ``tensors``.
    """

    name: ClassVar[str]
    kernel: ClassVar[str]
    contract: ClassVar[Contract] = Contract.OPAQUE
    devices: ClassVar[tuple[str, ...]] = ("cpu",)
    num_inputs: ClassVar[tuple[int, int]] = (1, 1)  # least and most
    early: ClassVar[bool] = False  # computed while shapes are found: what reads files
    setup_reads: ClassVar[tuple[int, ...]] = ()  # inputs whose values (not only shapes) decide the output's shape
    library: ClassVar[str | None] = None  # of custom operators: the name of the file that they come from
    alias: ClassVar[bool] = False  # the output is the input's memory under another shape
    batchwise: bool = False  # looks at all samples of its inputs
    input_count: int = 0  # of this node; known when its outputs are asked for
    splits: ClassVar[bool] = False  # outputs 0 and 1 are of the samples for which `predicate` is true, and false
    merges: ClassVar[bool] = False  # inputs 0 and 1 are; the output is of all
    mixes: ClassVar[bool] = False  # its samples may be of several types or numbers of axes, which a batch may not be
    python_on: ClassVar[tuple[str, ...]] = ()  # devices on which what it computes is Python: `call`, for a whole batch
    preserved: ClassVar[bool] = False  # runs even if no output needs it
    stage: ClassVar[str] = "augment"  # of the way of data: "read", "decode" or "augment"
    io: ClassVar[bool] = False  # waits for files: gets threads that may wait
    random: ClassVar[bool] = False  # draws random numbers: has the argument `seed`
    host_output: ClassVar[bool] = False  # runs on the GPU, but writes to the CPU's memory
    cpu_inputs: ClassVar[tuple[int, ...]] = ()  # inputs that are on the CPU, whatever the operator's device is
    metadata_inputs: ClassVar[tuple[int, ...]] = ()  # inputs of which type and shape count alone: on either device
    tiled: ClassVar[bool] = False  # each output pixel needs many of the input: a kernel has at most one such stage
    scattered: ClassVar[bool] = False  # ... and those of a rectangle are not a rectangle of the input
    on_error: Any = "raise"  # what becomes of samples that it finds broken: of readers and decoders, an argument
    external: ClassVar[bool] = False  # an input of the pipeline: no kernel, its values are given with each iteration
    no_copy: Any = False  # of such inputs: the values may lie in memory of the user's
    positional: ClassVar[tuple[str, ...]] = ()  # arguments that calls may give by position
    fed: ClassVar[bool] = False  # a `penstock.read.base.Reader`: each iteration gets the indices of its samples
    copied_to_gpu: ClassVar[bool] = False  # with device="gpu" it runs on the CPU, and its outputs are copied
    copies_to_gpu: ClassVar[bool] = False  # it is that copy
    on_host: ClassVar[bool] = False  # its own node is on the CPU, whatever its device is: what is behind it runs there
    device: str = "cpu"  # that was asked for; known when the node is made
    lazy_init: Any = False  # nothing is to be opened before the pipeline first runs: of readers, an argument
    deprecated: ClassVar[str | None] = None  # what to use instead of this operator
    of_class: ClassVar[Mapping[str, Any]] = {}  # what its class in `ops` has besides
    arguments: ClassVar[dict[str, Argument]] = {}
    fixed: ClassVar[dict[str, Any]] = {}  # by name: what the kernel is told besides
    constants: dict[str, Any]  # arguments as they were given, converted

    def __init__(self, values: dict[str, Any], tensors: dict[str, Any]):
        self.constants = values
        self.given = frozenset(values) | frozenset(tensors)
        self.tensors = tensors
        for name, argument in self.arguments.items():
            setattr(self, argument.attribute, values.get(name, None if name in tensors else argument.default))
        self.prepare()

    @classmethod
    def shown_name(cls) -> str:
        """Its name as errors say it: that of operators which `fn` does not have begins with an underscore."""
        return cls.name.lstrip("_")

    @property
    def in_python(self) -> bool:
        """Whether what this node computes is Python."""
        return self.device in self.python_on

    def prepare(self) -> None:
        """Checks what concerns several arguments at once, and completes them."""

    def num_outputs(self) -> int:
        """How many outputs this node has."""
        return 1

    def gives_list(self) -> bool:
        """Whether a call returns a list of nodes."""
        return self.num_outputs() != 1

    def arranged(self, outputs: Sequence[Any]) -> Any:
        """What a call returns, of the nodes of the outputs."""
        return list(outputs) if self.gives_list() else outputs[0]

    def behind(self, outputs: list[Any], make: Callable[..., list[Any]]) -> list[Any]:
        """What the call returns, given the node's outputs: of a reader whose bytes are not what users want yet, those
        of the operators that parse them. ``make(name, inputs, **arguments)`` makes the nodes of such a one.
        """
        return outputs

    @classmethod
    def parts(cls, given: dict[str, Any]) -> list[dict[str, Any]] | None:
        """The arguments of several nodes that the call of an object of `ops` makes; None: it makes one."""
        return None

    def kernel_arguments(self) -> dict[str, Any]:
        """The constants that the kernel's Spec gets, by name: all that it reads; None: not given."""
        found = dict(self.fixed)
        for name, argument in self.arguments.items():
            if argument.to_kernel and name not in self.tensors:
                told = name in self.given or not argument.only_given
                found[name] = getattr(self, argument.attribute) if told else None
        return found

    def literal(self) -> Literal | None:
        """What the node is, if it is data of the plan, for which no kernel runs."""
        return None

    def chosen(self, device: str) -> Chosen | None:
        """What does the work on this device, where there is a choice."""
        return None

    def notes(self) -> list[str]:
        """Lines for `Pipeline.explain`: what does its work, where that is none of the library's own code."""
        return []

    def writes_to_gpu(self) -> bool:
        """Whether it can write its outputs to the GPU's memory itself: asked where they would be copied there."""
        return False

    def call(self, batch: Called) -> None:
        """With ``python_on``: gives each output its samples. On a thread of the pipeline's own."""
        raise NotImplementedError

    def output_layout(self, index: int) -> str | None:
        """With ``python_on``: the layout of an output; None: what the batch has itself."""
        return None

    def wrong(self, argument: str, problem: str) -> ArgumentError:
        """An error about one argument, naming operator and value."""
        return ArgumentError(f"{self.shown_name()}: {argument}={getattr(self, argument, None)!r}: {problem}")

    def twice(self, old: str, new: str) -> ArgumentTypeError:
        """An error about an argument that is given by its old name and by its new one; a TypeError as in Python."""
        return ArgumentTypeError(f"{self.name}: {old}={getattr(self, old)!r}: cannot be given together with {new}")


@dataclass
class Registry:
    """All operators by their name in `fn`, dots included."""

    ops: dict[str, type[Op]] = field(default_factory=dict)
    classes: dict[str, type[Op]] = field(default_factory=dict)  # old names that `ops` alone has

    def add(self, name: str, cls: type[Op]) -> None:
        if name in self.ops:
            raise ArgumentError(f"operator {name!r} is declared twice: {self.ops[name]!r} and {cls!r}")
        self.ops[name] = cls

    def public(self) -> dict[str, type[Op]]:
        """Those that `fn` has, by the names they were declared with, in order: no old names, none that it hides."""
        return {name: cls for name, cls in sorted(self.ops.items()) if name == cls.name and not name.startswith("_")}


registry = Registry()
_Cls = TypeVar("_Cls", bound=type[Op])


def op(
    name: str,
    *,
    kernel: str = "",
    contract: str = "opaque",
    devices: Sequence[str] = ("cpu",),
    inputs: int | tuple[int, int] = 1,
    legacy: Sequence[str] = (),
    legacy_classes: Sequence[str] = (),
    deprecated: str | None = None,
) -> Callable[[_Cls], _Cls]:
    """Registers a declaration under its `fn` name, and under ``legacy`` names that old scripts use.

    ``legacy_classes``: names in `ops` from before there was `fn`. ``deprecated``: what to use instead, in any case.
    """

    def register(cls: _Cls) -> _Cls:
        found: dict[str, Argument] = {}
        fixed: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            for key, value in vars(base).items():
                if isinstance(value, Argument):
                    name_of = value.name or key
                    found[name_of] = Argument(**{**vars(value), "name": name_of, "attribute": key})
                    fixed.pop(name_of, None)
                elif isinstance(value, Fixed):
                    fixed[key] = value.value
                    found.pop(key, None)
        if cls.random:
            found["seed"] = Argument(
                "seed",
                -1,
                "Seed of this operator's random numbers; -1: from the pipeline's.",
                "integer",
                to_kernel=False,
                attribute="seed",
            )
        cls.arguments, cls.fixed = found, fixed
        cls.name, cls.kernel, cls.contract = name, kernel or name, Contract(contract)
        cls.devices = tuple(devices)
        cls.num_inputs = (inputs, inputs) if isinstance(inputs, int) else inputs
        cls.deprecated = deprecated
        registry.add(name, cls)
        for old in legacy:
            registry.add(old, cls)
        registry.classes.update(dict.fromkeys(legacy_classes, cls))
        return cls

    return register


# What every operator takes besides its own arguments.
COMMON = ("device", "name", "preserve", "bytes_per_sample_hint")


def is_common(cls: type[Op], name: str) -> bool:
    """Whether the argument is what every operator takes, and not its own: ``seed``, too, where it changes nothing."""
    return name not in cls.arguments and (name in COMMON or name == "seed")


IsNode = Callable[[Any], bool]


def check_arguments(cls: type[Op], given: dict[str, Any], is_node: IsNode) -> Op:
    """The operator's instance for these arguments; every mistake is an error that names operator, argument, value."""
    values, tensors = check_given(cls, given, is_node)
    for name, argument in cls.arguments.items():
        if argument.required and name not in values and name not in tensors:
            # A TypeError as for any function of Python's; so DALI's classes in Python, its others raise a RuntimeError.
            raise ArgumentTypeError(f"{cls.shown_name()}: the argument {name!r} is required: {argument.doc}")
    return cls(values, tensors)


def check_given(cls: type[Op], given: dict[str, Any], is_node: IsNode) -> tuple[dict[str, Any], dict[str, Any]]:
    """These arguments, which may not be all, each by itself: constants and nodes."""
    shown = cls.shown_name()
    values: dict[str, Any] = {}
    tensors: dict[str, Any] = {}
    for name, value in given.items():
        argument = cls.arguments.get(name)
        if argument is None:
            raise _unknown(cls, name)
        if value is None or _leaves_type_open(argument, value):
            continue
        if is_node(value):
            if value.device != "cpu":
                raise DeviceError(
                    f"{shown}: {name} is on the GPU ({value.name!r}): arguments must be on the CPU, use .cpu()"
                )
            if not argument.per_sample:
                raise ArgumentTypeError(f"{shown}: {name} must be a constant, not a node (one value per sample)")
            tensors[name] = value
        else:
            values[name] = _converted(cls, argument, value, is_node)
    return values, tensors


def _leaves_type_open(argument: Argument, value: Any) -> bool:
    """NO_TYPE, for an argument that is not needed, says that it is not given: so scripts write out DALI's default."""
    return (
        argument.kind == "dtype"
        and argument.default is None
        and not argument.required
        and isinstance(value, int)
        and value == types.NO_TYPE
    )


def _unknown(cls: type[Op], name: str) -> UnknownArgumentError:
    hint = suggestion(name, [*cls.arguments, *COMMON], {a.name: a.aka for a in cls.arguments.values()})
    known = f"It has: {', '.join(sorted(cls.arguments))}" if cls.arguments else "It has none of its own"
    return UnknownArgumentError(f"{cls.shown_name()} has no argument {name!r}.{hint} {known}")


def _converted(cls: type[Op], argument: Argument, value: Any, is_node: IsNode) -> Any:
    try:
        converted = _values.convert(argument.kind, value)
    except (TypeError, ValueError, OverflowError) as e:
        choices = ", ".join(map(repr, argument.choices or ()))
        expected = f"one of {choices}" if choices else _values.describe(argument.kind)
        expected += ", or a node with one value per sample" * argument.per_sample
        hint = "; it is too large" if isinstance(e, OverflowError) else ""
        if isinstance(value, (list, tuple)) and any(map(is_node, value)):
            hint = "; fn.stack makes one node of several" if argument.per_sample else "; it must be constant"
        wrong = ArgumentRangeError if isinstance(e, OverflowError) else ArgumentTypeError
        raise wrong(f"{cls.shown_name()}: {argument.name}={value!r}: expected {expected}{hint}") from e
    if argument.choices is not None and converted not in argument.choices:
        accepted = ", ".join(map(repr, argument.choices))
        raise ArgumentError(f"{cls.shown_name()}: {argument.name}={value!r}: expected one of {accepted}")
    return converted
