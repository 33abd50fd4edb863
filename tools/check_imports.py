"""Checks that imports point one way: a module may import from its own layer and from those above it in LAYERS.

The layers are the two ways through the library (see CONTRIBUTING.md): of data, read -> decode -> augment -> framework,
and of the graph, graph -> optimize -> run. Imports under `if TYPE_CHECKING:` do not count.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Folders and modules of penstock/, and of native/; one line each is one layer. A new one has to be given its place.
PYTHON = """
errors types _loader
_values op
read
decode
augment
custom
_catalog
tensors
graph
optimize
run
ops
fn math pipeline
__init__
plugin
compat
"""
NATIVE = """
core rows
decode
run
abi penstock
"""


def layers(text: str) -> dict[str, int]:
    return {name: number for number, line in enumerate(text.strip().splitlines()) for name in line.split()}


def _python_imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, module) of all imports that run."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "penstock":
            yield from ((node.lineno, f"penstock.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""
        else:
            yield from _python_imports(node)


def python_edges() -> Iterator[tuple[Path, int, str]]:
    for path in (ROOT / "penstock").rglob("*.py"):
        for line, module in _python_imports(ast.parse(path.read_text())):
            first, *rest = module.split(".")
            if first == "penstock":
                yield path, line, rest[0] if rest else "__init__"


def native_edges() -> Iterator[tuple[Path, int, str]]:
    for path in sorted((ROOT / "native").rglob("*")):
        if path.suffix in (".h", ".cpp"):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if found := re.match(r'\s*#include "([^"/.]+)', line):
                    yield path, number, found[1]


def mistakes(edges: Iterator[tuple[Path, int, str]], base: Path, order: dict[str, int]) -> Iterator[str]:
    for path, line, target in edges:
        inside = path.relative_to(base)
        source = inside.parts[0] if len(inside.parts) > 1 else inside.stem
        where = f"{path.relative_to(ROOT)}:{line}"
        for name in (source, target):
            if name not in order and name not in ("kernels",):
                yield f"{where}: {name!r} has no layer in tools/check_imports.py"
                break
        else:
            if order.get(source, len(order)) < order.get(target, 0):
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
