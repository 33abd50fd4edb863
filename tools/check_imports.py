"""Checks that imports point one way: a module may import from its own room and from those above it in the lists below.

The rooms are the two ways through the library (see CONTRIBUTING.md): of data, read -> decode -> augment -> framework,
and of the graph, graph -> optimize -> run. Includes of C++ are checked likewise; those of penstock/device, which the
GPU's compiler gets, may name nothing else. Imports under `if TYPE_CHECKING:` do not count.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Folders and modules of penstock/, and of native/ with penstock/device; one line each is one layer.
PYTHON = """
errors
types _settings
machine frameworks
_document _suggest _values op
_signatures
graph
tensors
read
windows
feed
decode
augment
_catalog
optimize
run
ops
fn math pipeline pipeline_def backend
backend_impl data_node
__init__
plugin
insight
__main__
"""
NATIVE = """
device
core
rows
decode
cuda.driver
cuda.memory
cuda.record
cuda.decode
ops.arguments
ops.gather
ops
run
penstock
abi
"""
# Imports that break the order on purpose, inside functions.
ALLOWED = {
    ("types.constant", "graph.constants"): "a constant of several elements is a node",
    ("run.options", "pipeline"): "the options are the constructor's arguments, which are written only there",
}


def layers(text: str) -> dict[str, int]:
    return {name: number for number, line in enumerate(text.strip().splitlines()) for name in line.split()}


def layer(module: str, order: dict[str, int]) -> int | None:
    """That of the longest name in the order which the module is, or lies in."""
    parts = module.split(".")
    found = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((order[name] for name in found if name in order), None)


def _python_imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, module) of all imports that run."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            folder = (ROOT / node.module.replace(".", "/")).is_dir()  # its names may be modules of their own
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}" if folder else node.module
        else:
            yield from _python_imports(node)


def python_edges() -> Iterator[tuple[Path, int, str]]:
    for path in (ROOT / "penstock").rglob("*.py"):
        for line, module in _python_imports(ast.parse(path.read_text())):
            if module == "penstock" or module.startswith("penstock."):
                yield path, line, module.removeprefix("penstock").removeprefix(".") or "__init__"


def native_edges() -> Iterator[tuple[Path, int, str]]:
    for path in sorted([*(ROOT / "native").rglob("*"), *(ROOT / "penstock" / "device").rglob("*")]):
        if path.suffix in (".h", ".cpp"):
            for number, text in enumerate(path.read_text().splitlines(), 1):
                if found := re.match(r'\s*#include "([^".]+)', text):
                    yield path, number, found[1].replace("/", ".")


def mistakes(edges: Iterator[tuple[Path, int, str]], base: Path, order: dict[str, int]) -> Iterator[str]:
    for path, line, target in edges:
        inside = path.relative_to(base if path.is_relative_to(base) else ROOT / "penstock")
        source = ".".join(inside.with_suffix("").parts).removesuffix(".__init__")
        where = f"{path.relative_to(ROOT)}:{line}"
        if (source, target.removesuffix(f".{target.rpartition('.')[2]}")) in ALLOWED:
            continue
        mine, its = layer(source, order), layer(target, order)
        if mine is None or its is None:
            yield f"{where}: {source if mine is None else target!r} has no layer in tools/check_imports.py"
        elif mine < its and (source, target) not in ALLOWED:
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
