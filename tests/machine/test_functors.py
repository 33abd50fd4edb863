"""Functors of generated kernels, which operators name with the header that has them. The macros of
native/cuda/record/functor.h have the compiler check the names; here it is that no name goes past them, and the headers.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from tests.programs import ROOT

SOURCES = {path: path.read_text() for path in (ROOT / "native").rglob("*") if path.suffix in (".h", ".cpp")}
MACROS = ROOT / "native" / "cuda" / "record" / "functor.h"


def named() -> dict[str, set[str]]:
    """The functors of each header."""
    found = defaultdict(set)
    for path, text in SOURCES.items():
        if path != MACROS:
            for functor, header in re.findall(r'\bPS_FUNCTOR(?:_TEMPLATE)?\((\w+),\s*"([^"]+)"', text):
                found[header].add(functor)
    return found


@pytest.mark.parametrize("header", sorted(named()))
def test_headers_have_the_functors_that_are_named_with_them(header: str, tmp_path: Path) -> None:
    """By itself: a kernel includes nothing else."""
    lines = [f'#include "device/{header}"', *(f"using ps::device::{functor};" for functor in sorted(named()[header]))]
    (tmp_path / "unit.cpp").write_text("\n".join(lines) + "\n")
    command = ["c++", "-std=c++20", "-fsyntax-only", "-I", str(ROOT / "penstock"), str(tmp_path / "unit.cpp")]
    compiled = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert compiled.returncode == 0, compiled.stderr


def test_all_of_them_are_found() -> None:
    """Each macro is followed by a name and a header, as the pattern above has it."""
    for path, text in SOURCES.items():
        if path != MACROS:
            used = re.findall(r"^(?!\s*//).*\bPS_FUNCTOR(?:_TEMPLATE)?\((?!\w+,\s*\"[\w/]+\.h\")", text, re.MULTILINE)
            assert not used, path
    assert sum(map(len, named().values())) > 25


def test_names_go_through_the_macros() -> None:
    """A name of a type in penstock/device as a text by itself is one that nobody checks."""
    bare = [
        f"{path.relative_to(ROOT)}:{number}"
        for path, text in SOURCES.items()
        if path not in (MACROS, MACROS.with_name("layout.h"))  # which has a macro of this kind, too
        for number, line in enumerate(text.splitlines(), 1)
        if '"ps::device::' in line.split("//")[0]
    ]
    assert not bare


def test_headers_that_kernels_include_are_there() -> None:
    for path, text in SOURCES.items():
        for header in re.findall(r'"device/([\w/]+\.h)\\?"', text):
            assert (ROOT / "penstock" / "device" / header).is_file(), f"{path.relative_to(ROOT)}: {header}"
