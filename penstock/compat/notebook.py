"""Runs the code of a notebook, cell by cell, without Jupyter."""

from __future__ import annotations

import ast
import json
import linecache
import os
import subprocess
from typing import Any

from penstock.errors import ArgumentError


class NotRunnableError(ArgumentError):
    """What is to be run cannot be."""


_PLOTS = ("%matplotlib", "%pylab", "%config")  # say how pictures are shown in a browser


def run(path: str, namespace: dict[str, Any]) -> None:
    """Runs all cells with code in this namespace.

    Lines that begin with ``!`` are given to the shell, and magics that are about showing plots are passed over; plots
    are drawn without a screen. Raises NotRunnableError for other magics, of which IPython alone knows what they do, and
    for what is no notebook.
    """
    os.environ.setdefault("MPLBACKEND", "agg")
    for number, text in enumerate(_cells(path), 1):
        name = f"{path}, cell {number}"
        code = text if _is_python(text) else "\n".join(_line(line, name) for line in text.split("\n"))
        linecache.cache[name] = len(code), None, code.splitlines(keepends=True), name  # for tracebacks, conditionals
        exec(compile(code, name, "exec", dont_inherit=True), namespace)


def _cells(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            cells = json.load(file)["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except OSError as e:
        raise NotRunnableError(f"penstock.compat cannot read {path}: {e.strerror}") from e
    except (ValueError, KeyError, TypeError) as e:
        raise NotRunnableError(f"penstock.compat: {path} is no notebook of format 4: {e!r}") from e


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _line(line: str, where: str) -> str:
    """The line as Python."""
    bare = line.lstrip()
    indent = line[: len(line) - len(bare)]
    if bare.startswith("!"):
        return f"{indent}__import__({__name__!r}, fromlist=['']).shell({bare[1:]!r})"
    if bare.startswith(_PLOTS):
        return f"{indent}pass"
    if bare.startswith("%") and not indent:
        raise NotRunnableError(f"{where}: {bare!r} is IPython's: run it in Jupyter, or remove the line")
    return line


def shell(command: str) -> None:
    """What a notebook's ``!command`` does; like it, it fails quietly."""
    subprocess.run(command, shell=True, check=False)
