"""Declarations of operators that come from a compiled library (docs/custom-operators.md)."""

from __future__ import annotations

import keyword
from typing import Any

from penstock import _values
from penstock.arguments.displace import DisplaceArgs
from penstock.errors import PluginError
from penstock.machine.operator_library import ArgumentOfLibrary, OperatorOfLibrary
from penstock.op import COMMON, REQUIRED, Argument, Op, arg, op


def check(found: OperatorOfLibrary) -> None:
    """PluginError for what cannot be written in a call."""
    for part in found.name.split("."):
        if keyword.iskeyword(part) or part.startswith("_"):
            raise PluginError(f"no operator can be called {found.name!r}: {part!r} is a keyword, or hidden")
    for argument in found.arguments:
        name = argument.name
        if keyword.iskeyword(name) or name in COMMON or name == "seed" or name in _names(_base(found)):
            raise PluginError(
                f"{found.name}: no argument can be called {name!r}: that is a keyword, or an argument of every operator"
            )


def declare(found: OperatorOfLibrary, library: str, kernel: str = "") -> type[Op]:
    """Registers the operator, as `penstock.op.op` does those of this package.

    ``library``: the file's name. ``kernel``: what the engine is to call it.
    """
    kernel = kernel or f"custom.{found.name}"
    found.add(kernel)
    members: dict[str, Any] = {f"given_{a.name}": _argument(a) for a in found.arguments}
    members |= {
        "__doc__": found.doc,
        "__module__": __name__,
        "library": library,
        "random": found.random,
        "setup_reads": found.setup_reads,
        "cpu_inputs": found.cpu_inputs,
    }
    if found.outputs != 1:
        members["num_outputs"] = lambda self: found.outputs
    name = "".join(part.capitalize() for part in found.name.replace(".", "_").split("_"))
    register = op(found.name, kernel=kernel, contract=found.contract, devices=found.devices, inputs=found.inputs)
    return register(type(name, (_base(found),), members))


def _base(found: OperatorOfLibrary) -> type[Op]:
    return DisplaceArgs if found.contract == "sampler" else Op


def _names(base: type[Op]) -> list[str]:
    """Of the arguments that a base has."""
    return [name for name, value in vars(base).items() if isinstance(value, Argument)]


def _argument(found: ArgumentOfLibrary) -> Any:
    default = REQUIRED if found.required else found.default
    if found.default is not None:
        default = _values.convert(found.kind, found.default)
    return arg(default, found.doc, kind=found.kind, per_sample=found.per_sample, name=found.name)
