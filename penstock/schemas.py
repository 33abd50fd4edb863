"""What operators there are and what they take: the questions that `penstock.backend` answers by DALI's names for them.

A schema bears DALI's name: ``Resize`` is that of `fn.resize`, and ``readers__File`` that of `fn.readers.file`.
"""

from __future__ import annotations

import inspect
from typing import Any

from penstock import _catalog
from penstock.errors import UnknownArgumentError, UnknownOperatorError, UnsupportedNameError
from penstock.op import COMMON, Argument, Op, registry

_COMMON = {"bytes_per_sample_hint": "[0, ]", "preserve": "False", "seed": "-1"}  # with the default as text


class OpSchema:
    """What one operator takes; `GetSchema` finds it.

    Names of methods are DALI's. What DALI's schemas compute of a call (``CalculateOutputs`` and its kin), the nodes of
    the call tell here.
    """

    def __init__(self, name: str, operator: type[Op], declared: bool):
        self._name, self._operator, self._declared = name, operator, declared

    def __getattr__(self, name: str) -> Any:
        raise UnsupportedNameError(
            f"OpSchema.{name} is not supported: ask the nodes that a call gives, or GetArgumentNames() and its kin"
        )

    def Name(self) -> str:  # noqa: N802  # DALI's names
        """``readers__File``."""
        return self._name

    def OperatorName(self) -> str:  # noqa: N802
        """``File``, of ``readers__File``."""
        return self._name.split("__")[-1]

    def ModulePath(self) -> list[str]:  # noqa: N802
        """``["readers"]``, of ``readers__File``."""
        return self._name.split("__")[:-1]

    def AliasFor(self) -> str:  # noqa: N802
        """The name of the operator's schema, of one under an old name; else nothing."""
        return "" if self._declared else schema_name(self._operator.name)

    def IsDeprecated(self) -> bool:  # noqa: N802
        """Whether this name, or the operator, is deprecated."""
        return not self._declared or self._operator.deprecated is not None

    def DeprecatedInFavorOf(self) -> str:  # noqa: N802
        """The schema to use instead of an old name; else nothing."""
        return self.AliasFor()

    def DeprecationMessage(self) -> str:  # noqa: N802
        """What to use instead of an operator that is deprecated by any name; else nothing."""
        return self._operator.deprecated or ""

    def Dox(self) -> str:  # noqa: N802
        """The operator's documentation, without its arguments."""
        return inspect.cleandoc(self._operator.__doc__ or "")

    def IsDocHidden(self) -> bool:  # noqa: N802
        """Whether it is an old name, which is in no list of operators."""
        return not self._declared

    def IsInternal(self) -> bool:  # noqa: N802
        """Whether `fn` does not show it."""
        return any(part.startswith("_") for part in self._operator.name.split("."))

    def IsNoPrune(self) -> bool:  # noqa: N802
        """Whether it runs even if no output needs it."""
        return self._operator.preserved

    def HasRandomSeedArg(self) -> bool:  # noqa: N802
        """Whether it draws random numbers, or shuffles."""
        return "seed" in self._operator.arguments

    def MinNumInput(self) -> int:  # noqa: N802
        """How many inputs it has at least."""
        return self._operator.num_inputs[0]

    def MaxNumInput(self) -> int:  # noqa: N802
        """... and at most."""
        return self._operator.num_inputs[1]

    def GetSupportedBackends(self) -> list[str]:  # noqa: N802
        """The devices that it runs on: of "cpu", "gpu" and "mixed"."""
        return list(self._operator.devices)

    def GetInputDevice(  # noqa: N802
        self, index: int, actual_device: str | None = None, operator_device: str | None = None
    ) -> str:
        """Where an input has to be, for an operator on ``operator_device``, or on its first device."""
        device = operator_device or self._operator.devices[0]
        if index in self._operator.metadata_inputs and actual_device:
            return actual_device
        return "gpu" if device == "gpu" and index not in self._operator.cpu_inputs else "cpu"

    def GetArgumentNames(self) -> list[str]:  # noqa: N802
        """All arguments but ``device`` and ``name``, in alphabetical order."""
        return sorted({*self._operator.arguments, *_COMMON})

    def HasArgument(self, name: str) -> bool:  # noqa: N802
        """Whether it takes this argument."""
        return name in self._operator.arguments or name in _COMMON

    def IsArgumentOptional(self, name: str) -> bool:  # noqa: N802
        """Whether a call may leave it out. UnknownArgumentError, a KeyError, if there is none of that name."""
        found = self._argument(name)
        return found is None or not found.required

    def HasArgumentDefaultValue(self, name: str) -> bool:  # noqa: N802
        """Whether there is a value that stands for one which is not given."""
        found = self._argument(name)
        return found is None or (not found.required and found.default is not None)

    def GetArgumentDefaultValueString(self, name: str) -> str:  # noqa: N802
        """That value as text. UnknownArgumentError if there is none."""
        found = self._argument(name)
        if found is None:
            return _COMMON[name]
        if not self.HasArgumentDefaultValue(name):
            raise UnknownArgumentError(f"{self._name}: the argument {name!r} has no default")
        return str(found.default)

    def GetArgumentDox(self, name: str) -> str:  # noqa: N802
        """What the argument is for."""
        found = self._argument(name)
        return "An argument that every operator takes." if found is None else found.doc

    def IsTensorArgument(self, name: str) -> bool:  # noqa: N802
        """Whether it may be a node: a value for each sample."""
        found = self._argument(name)
        return found is not None and found.per_sample

    def IsDeprecatedArg(self, name: str) -> bool:  # noqa: N802
        """Whether there is something else to use instead."""
        found = self._argument(name)
        return found is not None and found.deprecated is not None

    def _argument(self, name: str) -> Argument | None:
        """None: one of those that all operators take."""
        if not self.HasArgument(name) and name not in COMMON:
            raise UnknownArgumentError(f"{self._name} has no argument {name!r}")
        return self._operator.arguments.get(name)

    def __repr__(self) -> str:
        return f"<OpSchema of {self._name}>"


def schema_name(name: str) -> str:
    """``readers.file`` -> ``readers__File``."""
    return _catalog.class_name(name).replace(".", "__")


def _all() -> dict[str, OpSchema]:
    _catalog.load()
    return {schema_name(n): OpSchema(schema_name(n), o, n == o.name) for n, o in registry.ops.items()}


def GetSchema(name: str, follow_aliases: bool = False) -> OpSchema:  # noqa: N802
    """The schema of that name; ``follow_aliases``: of an old name the operator's own.

    Raises UnknownSchemaError, which is a KeyError, if there is none.

    Example:
        >>> from penstock import backend
        >>> schema = backend.GetSchema("readers__File")
        >>> schema.MaxNumInput(), schema.IsArgumentOptional("file_root")
        (0, True)
    """
    found = TryGetSchema(name, follow_aliases)
    if found is None:
        raise UnknownSchemaError(f"Schema for operator {name!r} not registered")
    return found


def TryGetSchema(name: str, follow_aliases: bool = False) -> OpSchema | None:  # noqa: N802
    """The same, but None if there is none of that name."""
    schemas = _all()
    found = schemas.get(name)
    return schemas[found.AliasFor()] if found and follow_aliases and found.AliasFor() else found


def GetSchemaAndTarget(name: str) -> tuple[OpSchema, OpSchema]:  # noqa: N802
    """The schema of that name, and the operator's own, which is the same unless the name is an old one."""
    return GetSchema(name), GetSchema(name, follow_aliases=True)


def RegisteredCPUOps(internal_ops: bool = False) -> list[str]:  # noqa: N802
    """The schemas of operators that run on CPUs; ``internal_ops``: and of those that `fn` does not show."""
    return _on("cpu", internal_ops)


def RegisteredGPUOps(internal_ops: bool = False) -> list[str]:  # noqa: N802
    """... on GPUs."""
    return _on("gpu", internal_ops)


def RegisteredMixedOps(internal_ops: bool = False) -> list[str]:  # noqa: N802
    """... with inputs on the CPU and outputs on a GPU.

    Example:
        >>> from penstock import backend
        >>> "decoders__Image" in backend.RegisteredMixedOps()
        True
    """
    return _on("mixed", internal_ops)


def _on(device: str, internal: bool) -> list[str]:
    found = _all().items()
    return sorted(name for name, o in found if device in o.GetSupportedBackends() and (internal or not o.IsInternal()))


class UnknownSchemaError(UnknownOperatorError, KeyError):
    """There is no schema of that name."""
