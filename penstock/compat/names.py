"""What DALI's modules have, and what of it is here."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from penstock.compat.reasons import reason
from penstock.errors import PenstockError

OWN = "penstock"


class Table(NamedTuple):
    """What tools/dali_modules.py has written."""

    version: str
    names: dict[str, dict[str, str]]  # of modules below the package, by path: their names, and where they come from
    also: dict[str, list[str]]  # of "module:name": the modules that show it as well


@cache
def table() -> Table:
    """DALI's modules and names. The package itself is the module ``""``."""
    head, *lines = (Path(__file__).parent / "dali_names.txt").read_text().splitlines()
    names: dict[str, dict[str, str]] = {}
    also: dict[str, list[str]] = {}
    for line in lines:
        module, *found = line.split()
        module = module.strip(".")
        names[module] = {name: origin for name, _, origin in (one.partition("=") for one in found)}
        for one in found:
            name, is_origin, origin = one.partition("=")
            if is_origin and origin.endswith(f":{name}"):
                also.setdefault(origin, []).append(module)
            names[module][name] = origin if is_origin and origin else ("." if is_origin else "")
    return Table(head.split()[2].rstrip(","), names, also)


def is_module(path: str) -> bool:
    """Whether there is such a module here: one of DALI's of which something is, or one of ours beside them, such as
    older plugins.
    """
    known = table().names
    if path.partition(".")[0] not in known[""] and path:
        return False
    try:
        if counterpart(path) is not None:
            return True
    except ImportError:  # it needs what is not installed, as its import is going to say
        return True
    return any(_is_here(path, name) for name, origin in known.get(path, {}).items() if not origin)


def _is_here(module: str, name: str) -> bool:
    try:
        look_up(module, name)
    except LookupError:
        return False
    return True


def counterpart(path: str) -> ModuleType | None:
    """Our module of that name; None: there is none. Raises ImportError where it needs what is not installed."""
    path = ".".join(part for part in path.split(".") if part != "hidden")  # as DALI groups names that it does not show
    full = f"{OWN}.{path}".rstrip(".")
    try:
        return importlib.import_module(full)
    except ModuleNotFoundError as error:
        if not f"{full}.".startswith(f"{error.name}."):
            raise
    parent, _, name = path.rpartition(".")  # it may be one that another module names
    found = getattr(counterpart(parent), name, None) if path else None
    return found if isinstance(found, ModuleType) else None


def look_up(module: str, name: str) -> Any:
    """What a name of a module is here. Raises LookupError where there is nothing, with the reason as its text."""
    said = why(module, name)
    for where, called in _places(module, name):
        try:
            return getattr(counterpart(where), called)
        except (AttributeError, ImportError) as error:
            said = said or (str(error) if isinstance(error, PenstockError) else None)
    if said is None:
        known = name in table().names.get(module, {})
        said = "Penstock does not have it" if known else f"DALI {table().version} does not have it, nor has Penstock"
    raise LookupError(said)


def why(module: str, name: str) -> str | None:
    """Why a name of a module is not supported, if it is not: the reason that is given for it where it comes from."""
    origin = table().names.get(module, {}).get(name, "").replace(":", ".")
    return reason(f"{module}.{name}".lstrip(".")) or reason(origin.strip("."))


def _places(module: str, name: str) -> Iterator[tuple[str, str]]:
    """Where the name may be: in our module, in that from which DALI's has it, and in those which have it from there."""
    yield module, name
    origin = table().names.get(module, {}).get(name, "")
    place, _, called = origin.partition(":")
    if called:
        yield place, called
    for other in table().also.get(origin or f"{module}:{name}", ()):
        yield other, name


def other_module(module: str, name: str) -> str | None:
    """The path of the module that DALI's module calls so; "" is the package, and None: it calls none so."""
    origin = table().names.get(module, {}).get(name)
    if origin is None or ":" in origin:
        return None
    path = f"{module}.{name}".lstrip(".") if not origin else origin.strip(".")
    return path if path in table().names and is_module(path) else None
