"""Operators of the user's where there is no C++ compiler: Numba compiles what the class has in Python.

The table is that of penstock/include/penstock/operator.h, and the parameters are the fields of the functor in C++,
which the GPU's compiler gets as ever.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.custom import cpp
from penstock.custom.definition import Definition, Kind, Parameter
from penstock.custom.numba_loop import address_as_pointer
from penstock.errors import ArgumentError, PluginError
from penstock.frameworks import package
from penstock.machine.operator_library import Argument, Library, Operator, Value

_KINDS = {Kind.BOOL: 0, Kind.INT: 1, Kind.FLOAT: 2, Kind.INTS: 5, Kind.FLOATS: 6}  # PENSTOCK_BOOLEAN ...
_FIELDS = {Kind.BOOL: c.c_bool, Kind.INT: c.c_int, Kind.FLOAT: c.c_float, Kind.INTS: c.c_int, Kind.FLOATS: c.c_float}
_TYPES = {
    Kind.BOOL: "np.bool_", Kind.INT: "np.int32", Kind.FLOAT: "np.float32", Kind.INTS: "np.int32",
    Kind.FLOATS: "np.float32",
}  # fmt: skip
_PIXEL, _SAMPLER = 1, 2
_REQUIRED, _PER_SAMPLE, _RANDOM = 1, 2, 1
_WRONG_INPUT = 2
_kept: list[Any] = []  # tables and functions, for as long as the process lives


def library(definition: Definition, table_name: str) -> Library:
    """The table of an operator. Raises PluginError where it has nothing for Numba."""
    if definition.python is None or "setup" in definition.texts or definition.form == "run":
        what = "no member `python`" if definition.python is None else "a setup or a run in C++"
        raise PluginError(
            f"{definition.name}: there is no C++ compiler, and Numba cannot take its place: the operator has {what}. "
            "Install a compiler (on Debian: apt install g++), or set CXX to its command"
        )
    for p in definition.parameters:
        if p.kind not in _KINDS or (p.default is None and not p.required):
            raise PluginError(
                f"{definition.name}: {p.name}: without a C++ compiler an argument is a number with a default"
            )
    return _table(definition, table_name, _compiled(definition))


def _fields(definition: Definition) -> type[c.Structure]:
    """The functor as C++ lays it out."""
    kinds: dict[Kind, Any] = _FIELDS
    fields = [(p.name, kinds[p.kind] * p.count if p.count else kinds[p.kind]) for p in definition.parameters]
    fields += [("width", c.c_float), ("height", c.c_float)] if definition.form == "where" else []
    return type("Fields", (c.Structure,), {"_fields_": fields or [("unused", c.c_int)]})


def _compiled(definition: Definition) -> dict[str, Any]:
    """``setup``, and ``row`` or ``positions``."""
    numba = package("numba", "numba")
    fields = _fields(definition)
    namespace = {
        "at": address_as_pointer(numba), "carray": numba.carray, "np": np,
        "function": numba.njit(definition.python),
    }  # fmt: skip
    exec(_setup(definition, fields) + _row(definition, fields), namespace)
    kinds = numba.types
    row = [kinds.intp] * 4 if definition.form != "where" else [kinds.intp, *[kinds.int64] * 3, kinds.intp, kinds.intp]
    try:
        return {
            "setup": numba.cfunc(kinds.int32(kinds.intp, kinds.intp, kinds.intp))(namespace["setup"]),
            "row": numba.cfunc(kinds.void(*row))(namespace["row"]),
        }
    except numba.core.errors.NumbaError as e:
        raise ArgumentError(f"{definition.name}: Numba cannot compile its python: {e}") from e


def _at(fields: type[c.Structure], name: str, index: int = 0) -> int:
    found = getattr(fields, name)
    return int(found.offset + index * (4 if found.size >= 4 else 1))


def _setup(definition: Definition, fields: type[c.Structure]) -> str:
    """Python of the function that writes the parameters: of the structs' members, each of 8 bytes."""
    lines = [
        "def setup(self, sample, error):",
        "    members = carray(at(sample), 10, np.int64)",
        f"    values = carray(at(members[8]), {max(len(definition.parameters), 1)}, np.int64)",
        "    params = members[9]",
        "    inputs = carray(at(members[6]), 1, np.int64)",
        "    dtype = carray(at(inputs[0] + 4), 1, np.int32)[0]",
    ]
    if definition.takes:
        lines += [
            f"    if dtype not in ({', '.join(str(int(t)) for t in definition.takes)},):",
            f"        return {_WRONG_INPUT}",
        ]
    for i, p in enumerate(definition.parameters):
        real = p.kind in (Kind.FLOAT, Kind.FLOATS)
        lines += [f"    value = carray(at(values[{i}]), 6, np.int64)"]
        lines += [f"    if value[2] != {p.count or 1}:", f"        return {_WRONG_INPUT}"]
        for k in range(p.count or 1):
            element = f"carray(at(value[{4 if real else 3}]), {p.count or 1}, np.{'float64' if real else 'int64'})[{k}]"
            lines.append(f"    carray(at(params + {_at(fields, p.name, k)}), 1, {_TYPES[p.kind]})[0] = {element}")
    if definition.form == "where":
        lines.append("    shape = carray(at(inputs[0] + 16), 2, np.int64)")
        for k, name in enumerate(("height", "width")):
            lines.append(f"    carray(at(params + {_at(fields, name)}), 1, np.float32)[0] = shape[{k}]")
    if definition.gives is not None:
        lines += ["    outputs = carray(at(members[7]), 1, np.int64)"]
        lines += [f"    carray(at(outputs[0] + 4), 1, np.int32)[0] = {int(definition.gives)}"]
    return "\n".join([*lines, "    return 0", ""])


def _row(definition: Definition, fields: type[c.Structure]) -> str:
    def read(p: Parameter) -> str:
        parts = [f"carray(at(params + {_at(fields, p.name, k)}), 1, {_TYPES[p.kind]})[0]" for k in range(p.count or 1)]
        return f"({', '.join(parts)},)" if p.count else parts[0]

    names = [p.name for p in definition.parameters]
    known = [f"    {p.name} = {read(p)}" for p in definition.parameters]
    arguments = ", ".join(f"{name}={name}" for name in names)
    more = f", {arguments}" if names else ""
    if definition.form == "where":
        for name in ("width", "height"):
            known.append(f"    {name} = carray(at(params + {_at(fields, name)}), 1, np.float32)[0]")
        body = [
            "def row(params, x, y, n, to_x, to_y):", *known,
            "    xs = carray(at(to_x), (n,), np.float32)", "    ys = carray(at(to_y), (n,), np.float32)",
            "    for i in range(n):",
            "        middle_x, middle_y = np.float32(x + i) + np.float32(0.5), np.float32(y) + np.float32(0.5)",
            f"        xs[i], ys[i] = function(middle_x, middle_y, width, height{more})",
        ]  # fmt: skip
    else:
        width = definition.channels or 1
        given = (
            "in_[i]"
            if width == 1
            else f"out[{width} * i:{width} * i + {width}], in_[{width} * i:{width} * i + {width}]"
        )
        call = f"function({given}{more})"
        body = [
            "def row(params, source, target, n):", *known,
            f"    in_ = carray(at(source), (n * {width},), np.float32)",
            f"    out = carray(at(target), (n * {width},), np.float32)",
            "    for i in range(n):", f"        out[i] = {call}" if width == 1 else f"        {call}",
        ]  # fmt: skip
    return "\n".join([*body, ""])


def _table(definition: Definition, table_name: str, functions: dict[str, Callable[..., Any]]) -> Library:
    arguments = [_argument(p) for p in definition.parameters]
    fields = _fields(definition)
    row = c.cast(functions["row"].address, c.c_void_p)  # type: ignore[attr-defined]
    shared = cpp.functor_text(definition)
    moves = definition.form == "where"
    operator = Operator(
        size=c.sizeof(Operator), kind=_SAMPLER if moves else _PIXEL, name=table_name.encode(),
        doc=definition.doc.encode(), flags=_RANDOM * definition.random, least_inputs=1, most_inputs=1, num_outputs=1,
        num_arguments=len(arguments), params_bytes=c.sizeof(fields), params_align=c.alignment(fields),
        arguments=(c.POINTER(Argument) * max(len(arguments), 1))(*map(c.pointer, arguments)),
        setup=c.cast(functions["setup"].address, c.c_void_p),  # type: ignore[attr-defined]
        channels=definition.channels, row=None if moves else row, positions=row if moves else None,
        device_source=shared and shared.encode(), device_type=shared and b"Functor",
    )  # fmt: skip
    operators = (c.POINTER(Operator) * 1)(c.pointer(operator))
    library = Library(abi=1, size=c.sizeof(Library), num_operators=1, operators=operators)
    _kept.append((functions, arguments, operator, operators, library))
    return library


def _argument(p: Parameter) -> Argument:
    argument = Argument(
        size=c.sizeof(Argument), kind=_KINDS[p.kind], flags=_PER_SAMPLE | _REQUIRED * p.required, name=p.name.encode(),
        doc=p.doc.encode(),
    )  # fmt: skip
    if not p.required:
        numbers = p.default if p.count else [p.default]
        real = p.kind in (Kind.FLOAT, Kind.FLOATS)
        array = ((c.c_double if real else c.c_int64) * len(numbers))(*numbers)
        value = Value(size=c.sizeof(Value), given=1, name=p.name.encode(), count=len(numbers))
        setattr(value, "numbers" if real else "integers", array)
        argument.default_value = c.pointer(value)
        _kept.append(value)
    return argument
