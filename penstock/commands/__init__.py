"""The commands of ``python -m penstock``, one module each.

A module's name is the command's. It has ``HELP``, a line; ``EXAMPLES``, lines of a shell; ``arguments``, which adds its
arguments to a parser; and ``run``, which does it and gives the exit status. Modules that begin with an underscore are
shared by several.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

STATUSES = "exit status: 0 where all is well, 1 where something is wrong with the data, 2 where it is with the command"


def commands() -> Iterator[tuple[str, Any]]:
    """Their names and modules, in order."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            yield module.name, importlib.import_module(f"{__name__}.{module.name}")


def parser() -> argparse.ArgumentParser:
    """That of all commands: the namespace that it gives has ``run``."""
    whole = argparse.ArgumentParser(
        prog="python -m penstock",
        description="Penstock's tools.",
        epilog="python -m penstock COMMAND --help shows examples.",
    )
    parts = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in commands():
        part = parts.add_parser(
            name,
            help=module.HELP,
            description=inspect.getdoc(module),
            epilog=f"examples:\n{inspect.cleandoc(module.EXAMPLES)}\n\n{STATUSES}",
            formatter_class=_Formatter,
        )
        module.arguments(part)
        part.set_defaults(run=module.run)
    return whole


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Leaves the lines of texts as they are, but for a module's docstring, whose marks it takes away."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return super()._fill_text(text.replace("``", ""), width, indent)
