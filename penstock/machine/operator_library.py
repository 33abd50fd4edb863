"""Libraries of operators that others have compiled: loads them, and says what they declare.

The structs are those of penstock/include/penstock/operator.h, as the native library has checked and completed them.
"""

from __future__ import annotations

import ctypes as c
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.errors import PluginError
from penstock.machine import native

_HEADER = "penstock/operator.hpp (docs/custom-operators.md)"
_MAX_INPUTS = 64
_KINDS = ("boolean", "integer", "number", "string", "dtype", "integers", "numbers", "strings")
_REQUIRED, _PER_SAMPLE = 1, 2
_CONTRACTS = ("opaque", "pixel", "sampler")  # by kind
_RANDOM = 1


class Value(c.Structure):
    """The value of an argument."""

    _fields_ = [
        ("size", c.c_uint32),
        ("given", c.c_int32),
        ("name", c.c_char_p),
        ("count", c.c_int64),
        ("integers", c.POINTER(c.c_int64)),
        ("numbers", c.POINTER(c.c_double)),
        ("strings", c.POINTER(c.c_char_p)),
    ]


class Argument(c.Structure):
    """An argument of an operator."""

    _fields_ = [
        ("size", c.c_uint32),
        ("kind", c.c_int32),
        ("flags", c.c_uint32),
        ("reserved", c.c_uint32),
        ("name", c.c_char_p),
        ("doc", c.c_char_p),
        ("default_value", c.POINTER(Value)),
    ]


class Operator(c.Structure):
    """An operator."""

    _fields_ = [
        ("size", c.c_uint32),
        ("kind", c.c_int32),
        ("name", c.c_char_p),
        ("doc", c.c_char_p),
        ("flags", c.c_uint32),
        ("least_inputs", c.c_int32),
        ("most_inputs", c.c_int32),
        ("num_outputs", c.c_int32),
        ("num_arguments", c.c_int32),
        ("params_bytes", c.c_uint32),
        ("arguments", c.POINTER(c.POINTER(Argument))),
        ("setup_reads", c.c_uint64),
        ("cpu_inputs", c.c_uint64),
        ("create", c.c_void_p),
        ("destroy", c.c_void_p),
        ("setup", c.c_void_p),
        ("run", c.c_void_p),
        ("run_gpu", c.c_void_p),
        ("channels", c.c_int32),
        ("params_align", c.c_uint32),
        ("row", c.c_void_p),
        ("device_source", c.c_char_p),
        ("device_type", c.c_char_p),
        ("positions", c.c_void_p),
    ]


class Library(c.Structure):
    """A library's table."""

    _fields_ = [
        ("abi", c.c_uint32),
        ("size", c.c_uint32),
        ("num_operators", c.c_int32),
        ("reserved", c.c_int32),
        ("operators", c.POINTER(c.POINTER(Operator))),
    ]


@dataclass(frozen=True)
class ArgumentOfLibrary:
    """An argument as the library declares it; ``kind`` is a name in `penstock._values.KINDS`."""

    name: str
    doc: str
    kind: str
    required: bool
    per_sample: bool
    default: Any  # None: there is none


@dataclass(frozen=True)
class OperatorOfLibrary:
    """An operator as the library declares it."""

    name: str
    doc: str
    contract: str  # as `penstock.op.Contract` has it
    devices: tuple[str, ...]
    inputs: tuple[int, int]  # least and most
    outputs: int
    random: bool
    setup_reads: tuple[int, ...]
    cpu_inputs: tuple[int, ...]
    arguments: tuple[ArgumentOfLibrary, ...]
    handle: Any

    def add(self, kernel: str) -> None:
        """Has the engine know it by this name."""
        if native.quick().ps_library_add(self.handle, kernel.encode()) < 0:
            raise native.failure()


def load(path: str, global_symbols: bool) -> list[OperatorOfLibrary]:
    """What a library has; it stays loaded. PluginError where it cannot be loaded, or its table is wrong."""
    table = c.POINTER(c.POINTER(Operator))()
    count = native.blocking().ps_library_load(path.encode(errors="surrogateescape"), global_symbols, c.byref(table))
    if count < 0:
        reason = native.last_error().message.decode(errors="replace")
        if _is_dalis(path):
            reason = f"it is a plug-in of DALI, which DALI alone can load: write its operators anew against {_HEADER}"
        raise PluginError(reason if reason.startswith(path) else f"{path}: {reason}")
    return [_operator(table[i]) for i in range(count)]


def take(library: Any) -> list[OperatorOfLibrary]:
    """The same of a ``penstock_library`` in memory, a struct of ctypes, which must stay until the process ends."""
    table = c.POINTER(c.POINTER(Operator))()
    count = native.quick().ps_library_take(c.byref(library), c.byref(table))
    if count < 0:
        raise PluginError(native.last_error().message.decode(errors="replace"))
    return [_operator(table[i]) for i in range(count)]


def _is_dalis(path: str) -> bool:
    """Whether it uses DALI's C++ symbols."""
    try:
        return os.path.isfile(path) and b"_ZN4dali" in Path(path).read_bytes()
    except OSError:
        return False


def _operator(handle: Any) -> OperatorOfLibrary:
    found = handle.contents
    contract = _CONTRACTS[found.kind]
    on_cpu, on_gpu = (found.run, found.run_gpu) if contract == "opaque" else (True, found.device_source)
    return OperatorOfLibrary(
        found.name.decode(),
        found.doc.decode(errors="replace"),
        contract,
        ("cpu",) * bool(on_cpu) + ("gpu",) * bool(on_gpu),
        (found.least_inputs, found.most_inputs),
        found.num_outputs,
        bool(found.flags & _RANDOM),
        _bits(found.setup_reads),
        _bits(found.cpu_inputs),
        tuple(_argument(found.arguments[i].contents) for i in range(found.num_arguments)),
        c.cast(handle, c.c_void_p),
    )


def _bits(number: int) -> tuple[int, ...]:
    return tuple(i for i in range(_MAX_INPUTS) if number >> i & 1)


def _argument(found: Any) -> ArgumentOfLibrary:
    kind = _KINDS[found.kind]
    return ArgumentOfLibrary(
        found.name.decode(),
        found.doc.decode(errors="replace"),
        kind,
        bool(found.flags & _REQUIRED),
        bool(found.flags & _PER_SAMPLE),
        _default(kind, found.default_value.contents) if found.default_value else None,
    )


def _default(kind: str, value: Any) -> Any:
    if kind.startswith("string"):
        values: list[Any] = [value.strings[i].decode(errors="replace") for i in range(value.count)]
    else:
        array = value.numbers if kind.startswith("number") else value.integers
        values = [array[i] for i in range(value.count)]
    return values if kind.endswith("s") else values[0]
