"""Turns the registry into modules: finds all declarations, nests dotted names, writes the docstrings."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from penstock._suggest import suggestion
from penstock.errors import PluginError, UnknownOperatorError
from penstock.op import Op, registry

# Folders whose modules declare operators, one each.
_FOLDERS = ("read", "decode", "augment", "custom")


@cache
def load() -> None:
    """Imports every declaration."""
    for folder in _FOLDERS:
        try:
            package = importlib.import_module(f"penstock.{folder}")
        except ModuleNotFoundError:
            continue
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            importlib.import_module(module.name)


# As DALI's classes have them.
_SPELLED = {
    "bbox": "BBox",
    "coco": "COCO",
    "dl": "DL",
    "mfcc": "MFCC",
    "mxnet": "MXNet",
    "rms": "RMS",
    "roi": "ROI",
    "ssd": "SSD",
    "tfrecord": "TFRecord",
}


def class_name(name: str) -> str:
    """``crop_mirror_normalize`` -> ``CropMirrorNormalize``; dots stay."""
    *folders, last = name.split(".")
    return ".".join([*folders, "".join(_SPELLED.get(part, part[:1].upper() + part[1:]) for part in last.split("_"))])


class _Lazy:
    """A module's objects of operators: each is made when it is first asked for, which most are not.

    Args:
        namespace: the module's own names.
        missing: what comes of names that it does not have.
    """

    def __init__(self, namespace: dict[str, Any], missing: Callable[[str], Any]):
        self.missing = missing
        self._namespace = namespace
        self._waiting: dict[str, Callable[[], Any]] = {}
        namespace["__getattr__"], namespace["__dir__"] = self._made, self._names

    def put(self, name: str, make: Callable[[], Any]) -> None:
        self._waiting[name] = make
        self._namespace.pop(name, None)  # of an operator that is defined anew

    def group(self, name: str, path: str, missing: Callable[[str], Any]) -> None:
        """Lets a submodule have such objects, too: one of the package's own, or one that is made here."""
        if path not in sys.modules:
            sys.modules[path] = self._namespace[name] = ModuleType(path, f"Operators of the group {name!r}.")
        _lazy[path] = _Lazy(vars(sys.modules[path]), missing)

    def has(self, name: str) -> bool:
        return name in self._namespace or name in self._waiting

    def _made(self, name: str) -> Any:
        if name == "__all__":
            return [name for name in self._names() if not name.startswith("_")]
        if name not in self._waiting:
            return self.missing(name)
        return self._namespace.setdefault(name, self._waiting[name]())  # of two threads' that of the first

    def _names(self) -> list[str]:
        return sorted({*self._namespace, *self._waiting})


_lazy: dict[str, _Lazy] = {}  # by the module's name


class _Filled(NamedTuple):
    """A module whose names are those of operators."""

    module: str
    make: Callable[[type[Op], str], Any]
    rename: Callable[[str], str]
    of: Callable[[type[Op], str], bool]

    def put(self, schema: type[Op], name: str) -> None:
        if not self.of(schema, name):
            return
        *folders, last = name.split(".")
        path = self.module
        for folder in folders:
            outer, path = path, f"{path}.{folder}"
            if path not in _lazy:
                _lazy[outer].group(folder, path, _missing(path, folder, self.rename))
        _lazy[path].put(self.rename(last), lambda: self.make(schema, name))

    def taken(self, name: str) -> bool:
        """Whether there is something of that name, or one of its groups is none."""
        *folders, last = name.split(".")
        path = self.module
        for folder in folders:
            if not _lazy[path].has(folder):
                return False
            path = f"{path}.{folder}"
            if path not in _lazy:
                return True
        return _lazy[path].has(self.rename(last))


_filled: list[_Filled] = []


def fill(
    namespace: dict[str, Any], module: str, make: Callable[[type[Op], str], Any], rename: Callable[[str], str],
    of: Callable[[type[Op], str], bool] = lambda schema, name: True,
) -> None:  # fmt: skip
    """Puts one object per operator into a module's namespace, dotted names into submodules of it.

    ``make`` gets an operator and one of its names, with all dots; ``of`` says which of these the module has.
    """
    load()
    missing = _missing(module, "", rename)
    if module in _lazy:
        _lazy[module].missing = missing
    else:
        _lazy[module] = _Lazy(namespace, missing)
    filled = _Filled(module, make, rename, of)
    for name, schema in registry.ops.items():
        if not name.rpartition(".")[2].startswith("_"):
            filled.put(schema, name)
    _filled.append(filled)


def check_free(name: str, others: Sequence[str]) -> None:
    """PluginError unless an operator may have this name, beside all that there are and the ``others``."""
    for known in (*registry.ops, *others):
        if name == known or known.startswith(f"{name}.") or name.startswith(f"{known}."):
            library = registry.ops[known].library if known in registry.ops else None
            of = f", of {library}" if library else ""
            raise PluginError(f"there cannot be an operator {name!r}: there is one {known!r}{of}")
    for filled in _filled:
        if filled.taken(name):
            raise PluginError(f"there cannot be an operator {name!r}: {filled.module} has something of that name")


def put(schema: type[Op]) -> None:
    """Puts an operator into the modules that are filled by now."""
    for filled in _filled:
        filled.put(schema, schema.name)


def put_more(module: str, name: str, make: Callable[[], Any]) -> None:
    """Puts one object more into a module that is filled."""
    _lazy[module].put(name, make)


def _missing(module: str, group: str, rename: Callable[[str], str]) -> Callable[[str], Any]:
    """What a module does for names that it does not have: an error with a suggestion."""

    def missing(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        full = f"{group}.{name}" if group else name
        if _is_only_dalis(full):
            raise UnknownOperatorError(f"{module} has no operator {name!r} yet, which DALI has.")
        known = [rename(full) for full in registry.public()]
        nearby = [full for full in known if full.rpartition(".")[0] == group]
        # People swap the words, and write groups as prefixes.
        aka = {full: ["_".join(parts), "_".join(parts[::-1])] for full in known if len(parts := full.split(".")) > 1}
        hint = (group and suggestion(name, nearby)) or suggestion(name, known, aka)
        raise UnknownOperatorError(f"{module} has no operator {name!r}.{hint}")

    return missing


def _is_only_dalis(name: str) -> bool:
    """Whether DALI has an operator or a group of this name, in `fn` or in `ops`, and this library has not."""
    plain = name.replace("_", "").lower()
    dalis, ours = (Path(__file__).parent / "dali_operators.txt").read_text().split(), registry.ops
    theirs = [known.replace("_", "") for known in dalis if known not in ours]
    return any(known == plain or known.startswith(plain + ".") for known in theirs)


def dress(function: Any, schema: type[Op], name: str, module: str, signature: Any) -> Callable[..., Any]:
    """Has a function look like the operator's that it calls, as it is called in a module."""
    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__module__ = ".".join([module, *name.split(".")[:-1]])
    function.__doc__ = documentation(schema)
    function.__signature__ = signature
    function.schema = schema
    return function  # type: ignore[no-any-return]


def documentation(schema: type[Op]) -> str:
    """The operator's docstring, followed by its arguments."""
    lines = [inspect.cleandoc(schema.__doc__ or ""), "", "Args:"]
    for a in sorted(schema.arguments.values(), key=lambda a: (not a.required, a.name)):
        notes = [a.kind]
        if a.per_sample:
            notes.append("or a node")
        notes.append("required" if a.required else f"default {a.default!r}")
        text = a.doc + (f" Without effect here: {a.unused}" if a.unused else "")
        text += f" Deprecated: {a.deprecated}." if a.deprecated else ""
        lines.append(_wrapped(f"{a.name} ({', '.join(notes)}): {text}"))
    return "\n".join(lines)


@cache
def _wrapped(text: str) -> str:
    """An argument's paragraph. Many operators have the same, and all are in two modules: not to wrap them each time
    halves the time that it takes to import `penstock.fn`.
    """
    return textwrap.fill(text, 110, initial_indent="    ", subsequent_indent="        ")
