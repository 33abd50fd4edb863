"""What native/penstock.h says of its functions, and what Python's table of them has."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from penstock.machine import native
from tests.programs import ROOT

HEADER = (ROOT / "native" / "penstock.h").read_text()
# The declaration, and the comment behind it on its last line.
DECLARED = re.findall(r"^PS_API\s[^;]*?\b(ps_\w+)\(([^;]*)\);[ \t]*(?:/\*(.*?)\*/)?", HEADER, re.MULTILINE | re.DOTALL)
FUNCTIONS = {name: (re.sub(r"\s+", " ", arguments), comment) for name, arguments, comment in DECLARED}


def parameters(text: str) -> int:
    """How many there are; those of a function that is one of them do not count."""
    text = re.sub(r"\(\*(\w+)\)\([^)]*\)", r"\1", text)
    return 0 if text == "void" else text.count(",") + 1


def test_all_functions_are_known() -> None:
    assert len(FUNCTIONS) == HEADER.count("\nPS_API ") > 60
    assert native._BLOCKING.keys() | native._QUICK.keys() == FUNCTIONS.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_waits_is_called_without_the_gil(name: str) -> None:
    """What waits at times stands in both tables: the caller knows."""
    comment = FUNCTIONS[name][1]
    waits, at_times = bool(re.search(r"\bwaits\b", comment)), "waits, if" in comment
    assert (name in native._BLOCKING) == waits
    assert (name in native._QUICK) == (not waits or at_times)


@pytest.mark.parametrize("table", [native._BLOCKING, native._QUICK], ids=["blocking", "quick"])
def test_numbers_of_arguments(table: dict[str, tuple[Any, list[Any]]]) -> None:
    assert {name: len(arguments) for name, (_, arguments) in table.items()} == {
        name: parameters(FUNCTIONS[name][0]) for name in table
    }


STRUCTS = {
    "ps_tensor": native.Tensor, "ps_error_info": native.ErrorInfo, "ps_codec": native.Codec, "ps_answer": native.Answer,
    "ps_options": native.Options, "ps_gpu_info": native.GpuInfo, "ps_span": native.Span,
    "ps_members": native.Members, "ps_passes": native.Passes, "ps_call": native.Call,
}  # fmt: skip


def test_all_structs_are_known() -> None:
    """Those of the header that have fields."""
    declared = set(re.findall(r"^} (ps_\w+);", HEADER, re.MULTILINE))
    assert declared == STRUCTS.keys()


def test_structs_lie_in_memory_as_a_compiler_lays_them(tmp_path: Path) -> None:
    lines = []
    for name, struct in STRUCTS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for field, *_ in struct._fields_:
            lines.append(
                f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name}*)0)->{field}));'
            )
    body = "\n".join(lines)
    source = f'#include <stddef.h>\n#include <stdio.h>\n#include "penstock.h"\nint main(void) {{\n{body}\n}}\n'
    (tmp_path / "layout.c").write_text(source)
    program = tmp_path / "layout"
    subprocess.run(
        ["cc", "-I", str(ROOT / "native"), "-o", str(program), str(tmp_path / "layout.c")], check=True, cwd=tmp_path
    )
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    wanted = []
    for name, struct in STRUCTS.items():
        wanted.append(f"{name} {ctypes.sizeof(struct)}")
        for field, *_ in struct._fields_:
            place = getattr(struct, field)
            wanted.append(f"{name}.{field} {place.offset} {place.size}")
    assert printed == wanted


def test_versions_are_the_same() -> None:
    assert f"#define PS_ABI_VERSION {native.ABI_VERSION}\n" in HEADER
