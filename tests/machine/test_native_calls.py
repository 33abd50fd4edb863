"""What native/penstock.h says of its functions, structs and numbers, and what Python has of them: all of it."""

from __future__ import annotations

import ctypes as c
import enum
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from penstock import errors, types
from penstock.arguments.decoded import ENGINES
from penstock.augment.tensor.reductions import Reduction
from penstock.decode.jpeg_index import Indexed
from penstock.machine import native, operator_library
from penstock.optimize.plan import Where
from penstock.read.records import Format
from penstock.run import recording
from penstock.tensors import arrays
from tests.machine import c_header
from tests.programs import ROOT

OPERATORS = c_header.parse(ROOT / "penstock" / "include" / "penstock" / "operator.h")
HEADER = c_header.parse(ROOT / "native" / "penstock.h", OPERATORS.constants)
FUNCTIONS = HEADER.functions
TABLES = {"blocking": native._BLOCKING, "quick": native._QUICK}


def test_all_functions_are_known() -> None:
    assert len(FUNCTIONS) == (ROOT / "native" / "penstock.h").read_text().count("\nPS_API ") > 60
    assert native._BLOCKING.keys() | native._QUICK.keys() == FUNCTIONS.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_waits_is_called_without_the_gil(name: str) -> None:
    """What waits at times stands in both tables: the caller knows."""
    comment = FUNCTIONS[name].comment
    waits, at_times = bool(re.search(r"\bwaits\b", comment)), "waits, if" in comment
    assert (name in native._BLOCKING) == waits
    assert (name in native._QUICK) == (not waits or at_times)


STRUCTS = {
    "ps_tensor": native.Tensor, "ps_error_info": native.ErrorInfo, "ps_codec": native.Codec, "ps_answer": native.Answer,
    "ps_options": native.Options, "ps_gpu_info": native.GpuInfo, "ps_span": native.Span,
    "ps_members": native.Members, "ps_records": native.Records, "ps_passes": native.Passes, "ps_call": native.Call,
    "ps_request": native.Request,
}  # fmt: skip
OF_LIBRARIES = {
    "penstock_value": operator_library.Value, "penstock_argument": operator_library.Argument,
    "penstock_operator": operator_library.Operator,
}  # fmt: skip
SIMPLE: dict[str, Any] = {
    "void": None, "int": c.c_int, "char": c.c_char, "int32_t": c.c_int32, "uint32_t": c.c_uint32, "int64_t": c.c_int64,
    "uint64_t": c.c_uint64, "double": c.c_double, "char*": c.c_char_p, "void*": c.c_void_p, "function*": c.c_void_p,
    "penstock_operator*": c.c_void_p, "ps_gpu_compiler": native.Compiler,
}  # fmt: skip
# Of these Python gives or takes the bare address: of NumPy's memory, of texts that hold zeros, of a name that a capsule
# keeps, or of what `byref` makes.
BY_ADDRESS = {
    "ps_executor_feed_integers.2", "ps_executor_schedule.2", "ps_executor_schedule.3",
    "ps_executor_schedule_keyed.2", "ps_executor_schedule_keyed.3", "ps_dlpack_export",
    "ps_members.names", "ps_members.extensions", "ps_records.names", "ps_library_load.2", "ps_library_take.0",
    "ps_library_take.1",
}  # fmt: skip


def in_python(text: str, where: str) -> Any:
    """The type of ctypes for one of C."""
    if where in BY_ADDRESS:
        assert text.endswith("*")
        return c.c_void_p
    if text in SIMPLE:
        return SIMPLE[text]
    if text in STRUCTS or text in OF_LIBRARIES:
        return {**STRUCTS, **OF_LIBRARIES}[text]
    if array := re.fullmatch(r"(\w+)\[(\d+)\]", text):
        return in_python(array[1], where) * int(array[2])
    assert text.endswith("*"), f"{where}: {text}"
    return c.c_void_p if text[:-1] in HEADER.handles else c.POINTER(in_python(text[:-1], where))


@pytest.mark.parametrize(("table", "name"), [(table, name) for table, known in TABLES.items() for name in known])
def test_types_of_arguments_and_results(table: str, name: str) -> None:
    function = FUNCTIONS[name]
    result, arguments = TABLES[table][name]
    assert result is in_python(function.result, name)
    assert arguments == [in_python(one.type, f"{name}.{i}") for i, one in enumerate(function.parameters)]


def test_the_compiler_of_kernels_is_called_as_declared() -> None:
    (declared,) = HEADER.pointers.values()
    compiler: Any = native.Compiler
    assert compiler._restype_ is in_python(declared.result, "")
    assert list(compiler._argtypes_) == [in_python(one.type, "") for one in declared.parameters]


def test_all_structs_are_known() -> None:
    """Those of the header that have fields."""
    assert HEADER.structs.keys() == STRUCTS.keys()
    assert OF_LIBRARIES.keys() < OPERATORS.structs.keys()


@pytest.mark.parametrize("name", [*STRUCTS, *OF_LIBRARIES])
def test_fields_of_structs(name: str) -> None:
    declared = {**HEADER.structs, **OPERATORS.structs}[name]
    struct = {**STRUCTS, **OF_LIBRARIES}[name]
    assert list(struct._fields_) == [(one.name, in_python(one.type, f"{name}.{one.name}")) for one in declared]


def test_structs_lie_in_memory_as_a_compiler_lays_them(tmp_path: Path) -> None:
    structs = {**STRUCTS, **OF_LIBRARIES}
    lines = []
    for name, struct in structs.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for field, *_ in struct._fields_:
            lines.append(
                f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name}*)0)->{field}));'
            )
    body = "\n".join(lines)
    source = f'#include <stddef.h>\n#include <stdio.h>\n#include "penstock.h"\nint main(void) {{\n{body}\n}}\n'
    (tmp_path / "layout.c").write_text(source)
    program = tmp_path / "layout"
    folders = ["-I", str(ROOT / "native"), "-I", str(ROOT / "penstock")]
    subprocess.run(["cc", *folders, "-o", str(program), str(tmp_path / "layout.c")], check=True, cwd=tmp_path)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    wanted = []
    for name, struct in structs.items():
        wanted.append(f"{name} {c.sizeof(struct)}")
        for field, *_ in struct._fields_:
            place = getattr(struct, field)
            wanted.append(f"{name}.{field} {place.offset} {place.size}")
    assert printed == wanted


def test_numpy_sees_tensors_as_ctypes_does() -> None:
    fields: dict[str, Any] = dict(arrays.DESCRIPTOR.fields or {})
    places = {name: (getattr(native.Tensor, name).offset, getattr(native.Tensor, name).size) for name in fields}
    assert {name: (offset, kind.itemsize) for name, (kind, offset, *_) in fields.items()} == places
    assert arrays.DESCRIPTOR.itemsize == c.sizeof(native.Tensor)


# The C ABI's enums, and Python's of the same names.
ENUMS: dict[str, type[enum.Enum]] = {
    "ps_error_kind": errors.ErrorKind, "ps_node_flag": native.NodeFlag, "ps_where": Where, "ps_phase": recording.Phase,
    "ps_did": recording.Did, "ps_writer": recording.Writer, "ps_indexed": Indexed, "ps_reduction": Reduction,
    "ps_image_type": types.DALIImageType, "ps_interp_type": types.DALIInterpType,
    "ps_record_format": Format,
}  # fmt: skip
PREFIXES = {
    "ps_error_kind": "PS_ERROR_", "ps_node_flag": "PS_NODE_", "ps_interp_type": "PS_",
    "ps_record_format": "PS_RECORDS_",
}  # fmt: skip


def numbers(name: str) -> dict[str, int]:
    """An enum of the header's, as Python names its constants."""
    prefix = PREFIXES.get(name, f"{name.upper()}_")
    assert all(constant.startswith(prefix) for constant in HEADER.enums[name])
    return {constant.removeprefix(prefix): number for constant, number in HEADER.enums[name].items()}


def test_all_enums_are_known() -> None:
    assert HEADER.enums.keys() == ENUMS.keys() | {"ps_decoded_by"}


@pytest.mark.parametrize("name", ENUMS)
def test_enums(name: str) -> None:
    assert {one.name.upper(): one.value for one in ENUMS[name]} == numbers(name)


def test_engines_of_decoders() -> None:
    assert {engine.upper(): number for number, engine in enumerate(ENGINES)} == numbers("ps_decoded_by")


def test_all_kinds_of_errors_have_a_class() -> None:
    assert errors._CLASSES.keys() == set(errors.ErrorKind)


def test_macros() -> None:
    assert {name: getattr(native, name.removeprefix("PS_")) for name in HEADER.constants} == HEADER.constants


def test_numbers_of_the_abi_of_operators() -> None:
    """A pipeline's types have the numbers that libraries of operators know, and all others have Python's names."""
    kinds = {f"PENSTOCK_{kind.upper()}": number for number, kind in enumerate(operator_library._KINDS)}
    assert OPERATORS.enums == {
        "PENSTOCK_NO_TYPE": {
            f"PENSTOCK_{dtype.name}": dtype.value for dtype in types.DALIDataType if dtype <= types.BOOL
        },
        "PENSTOCK_OK": OPERATORS.enums["PENSTOCK_OK"],  # what functions return: C++ alone sees it
        "PENSTOCK_BOOLEAN": kinds,
        "PENSTOCK_REQUIRED": {
            "PENSTOCK_REQUIRED": operator_library._REQUIRED, "PENSTOCK_PER_SAMPLE": operator_library._PER_SAMPLE,
        },
        "PENSTOCK_GENERAL": {
            f"PENSTOCK_{name}": kind for kind, name in enumerate(("GENERAL", "PIXEL", "SAMPLER"))
        },
        "PENSTOCK_RANDOM": {"PENSTOCK_RANDOM": operator_library._RANDOM},
    }  # fmt: skip
