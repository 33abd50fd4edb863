"""The modules that scripts for DALI get."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from penstock.compat import names
from penstock.errors import UnsupportedNameError

PACKAGE = "nvidia.dali"


class Module(ModuleType):
    """A module of DALI's, which shows what Penstock's of the same name has."""

    def __init__(self, name: str):
        own = names.counterpart(_path(name))
        super().__init__(name, getattr(own, "__doc__", None))
        if getattr(own, "__file__", None):
            self.__file__ = own.__file__  # type: ignore[union-attr]
        if not _path(name):
            self.__version__ = names.table().version

    def __getattr__(self, name: str) -> Any:
        path = _path(self.__name__)
        if name == "__all__":
            return [name for name in dir(self) if not name.startswith("_")]
        if name.startswith("_"):
            raise UnsupportedNameError(f"{self.__name__} has no {name!r}: such names are DALI's own")
        other = names.other_module(path, name)
        if other is not None:
            try:
                return importlib.import_module(f"{PACKAGE}.{other}".rstrip("."))
            except ImportError as error:  # of a framework, say
                raise UnsupportedNameError(f"{self.__name__}.{name} cannot be imported: {error}") from error
        try:
            return names.look_up(path, name)
        except LookupError as why:
            raise UnsupportedNameError(f"{self.__name__}.{name} is not supported: {why}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        """The import of a module makes it an attribute of what it lies in, which may have a function of that name."""
        path = _path(self.__name__)
        if isinstance(value, Module) and ":" in names.table().names.get(path, {}).get(name, ""):
            return
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        path = _path(self.__name__)
        own = names.counterpart(path)
        listed = getattr(own, "__all__", None) or [name for name in dir(own) if own is not None and name[:1] != "_"]
        dalis = [name for name in names.table().names.get(path, ()) if names.other_module(path, name) is not None]
        dalis += [name for name in names.table().names.get(path, ()) if name not in dalis and hasattr(self, name)]
        return sorted({*listed, *dalis, *(name for name in vars(self) if name.startswith("__"))})

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        """In another process, to which sources of external sources go, it is to be this module, too."""
        return imported, (self.__name__,)


def imported(name: str) -> ModuleType:
    """The module of that name, with Penstock behind it."""
    from penstock.compat.finder import install

    install()
    return importlib.import_module(name)


def _path(name: str) -> str:
    return name[len(PACKAGE) + 1 :]
