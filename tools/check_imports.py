"""Checks that imports point one way: a module may import from its own room and from those above it in the lists below.

The rooms are the two ways through the library (see CONTRIBUTING.md): of data, read -> decode -> augment -> framework,
and of the graph, graph -> optimize -> run. All imports count, those inside functions and for type checkers, too, and
so do includes of C++; those of penstock/device, which the GPU's compiler gets, may name nothing else, nor may those of
penstock/include, which compilers of others' get.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Folders and modules of penstock/, and of native/ with penstock/device: a room is one of them, or what lies in it.
PYTHON = """
_version
errors
types
_settings
frameworks
machine
_document
_suggest
_values
display
op
_signatures
graph
tensors
arguments
reducers
pickling
read
stores
feed
decode
augment
custom
_catalog
schemas
optimize
run
ops
fn
math
page
eager
pipeline
auto_aug
data_node
external_source
plugin
plugin_manager
define
python_function_plugin
tfrecord
sysconfig
backend
backend_impl
insight
experimental
compat
__init__
commands
__main__
"""
NATIVE = """
include
penstock
device.base
device.picture
device.tensor
device.gather
device.random
device.geometry
device.jpeg
device.color
device.filter
device.boxes
device.noise
device.audio
device.custom
device.video
core
video
read
rows
decode.jpeg
decode
decode.video
cuda.driver
cuda.memory
cuda.storage
cuda.record
cuda.flow
cuda.decode
ops.arguments
ops.gather
ops.transfer
ops.geometry
ops.color
ops.filter
ops.noise
ops.tensor
ops.audio
ops.custom
ops
run
abi
"""


def layers(text: str) -> dict[str, int]:
    return {name: number for number, name in enumerate(text.split())}


def layer(module: str, order: dict[str, int]) -> int | None:
    """That of the longest name in the order which the module is, or lies in."""
    parts = module.split(".")
    found = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((order[name] for name in found if name in order), None)


def _python_imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, module) of all imports, those by name (`importlib.import_module("penstock.ops")`) among them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            folder = (ROOT / node.module.replace(".", "/")).is_dir()  # its names may be modules of their own
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}" if folder else node.module
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from ((node.lineno, ast.literal_eval(a)) for a in node.args[:1] if isinstance(a, ast.Constant))


def python_edges() -> Iterator[tuple[Path, int, str]]:
    for path in (ROOT / "penstock").rglob("*.py"):
        for line, module in _python_imports(ast.parse(path.read_text())):
            if module == "penstock" or module.startswith("penstock."):
                yield path, line, module.removeprefix("penstock").removeprefix(".") or "__init__"


def native_edges() -> Iterator[tuple[Path, int, str]]:
    folders = (ROOT / "native", ROOT / "penstock" / "device", ROOT / "penstock" / "include")
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        if path.suffix in (".h", ".hpp", ".cpp"):
            for number, text in enumerate(path.read_text().splitlines(), 1):
                if found := re.match(r'\s*#include "([^".]+)', text):
                    own = path.is_relative_to(ROOT / "penstock" / "include")  # whose folder is one of the compiler's
                    yield path, number, _room(Path("include" if own else "", found[1]))


def _room(file: Path) -> str:
    """The folder of a file of C++: beside it there may be a file of that name."""
    return ".".join(file.parts[:-1]) or file.stem


def mistakes(edges: Iterator[tuple[Path, int, str]], base: Path, order: dict[str, int]) -> Iterator[str]:
    for path, line, target in edges:
        inside = path.relative_to(base if path.is_relative_to(base) else ROOT / "penstock")
        python = ".".join(inside.with_suffix("").parts).removesuffix(".__init__")
        source = python if path.suffix == ".py" else _room(inside)
        where = f"{path.relative_to(ROOT)}:{line}"
        mine, its = layer(source, order), layer(target, order)
        if mine is None or its is None:
            yield f"{where}: {source if mine is None else target!r} has no layer in tools/check_imports.py"
        elif mine < its:
            yield f"{where}: {source} may not import {target}, which comes after it"


def main() -> int:
    found: Sequence[str] = [
        *mistakes(python_edges(), ROOT / "penstock", layers(PYTHON)),
        *mistakes(native_edges(), ROOT / "native", layers(NATIVE)),
    ]
    print("\n".join(sorted(set(found))), end="\n" if found else "", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
