"""Makes ``import nvidia.dali`` give Penstock's modules."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from penstock.compat import names
from penstock.compat.module import PACKAGE, Module
from penstock.errors import UnsupportedImportError

_displaced: dict[str, ModuleType] = {}  # modules of the real package, which was imported before


class _Loader(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


class _Finder(MetaPathFinder):
    """Finds the package and what is in it, and the namespace around it where nothing else has one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        namespace = PACKAGE.partition(".")[0]
        if fullname == namespace:
            others = (one.find_spec(fullname, path, target) for one in list(sys.meta_path) if one is not self)
            return next(filter(None, others), None) or ModuleSpec(fullname, None, is_package=True)
        if f"{fullname}.".startswith(f"{PACKAGE}."):
            return _spec(fullname)
        return None


def _spec(fullname: str) -> ModuleSpec | None:
    path = fullname[len(PACKAGE) + 1 :]
    if names.is_module(path):
        return ModuleSpec(fullname, _Loader(), is_package=True)  # so that imports of names come here, too
    module, _, name = path.rpartition(".")
    if name.startswith("_"):
        raise UnsupportedImportError(f"{fullname}: what begins with an underscore is DALI's own: Penstock has it not")
    known = names.table().names
    around = any(other.startswith(f"{path}.") for other in known)  # a module of DALI's with nothing but modules
    if path not in known and not around and name not in known.get(module, {}):
        return None
    try:
        names.look_up(module, name)
    except LookupError as why:
        raise UnsupportedImportError(f"{fullname} is not supported: {why}") from None
    return None  # a name that is no module


def install() -> None:
    """From now on ``import nvidia.dali`` and all below it give Penstock's modules; nothing if that is so already.

    Call it before the script imports ``nvidia.dali``: what names got from the real package before stays as it is, and a
    warning says so. Processes that are forked have it, too; those of ``python -m penstock.compat`` have it however they
    are started.

    Example:
        >>> from penstock import compat
        >>> compat.install()
        >>> import nvidia.dali.types
        >>> nvidia.dali.types.FLOAT is types.FLOAT
        True
        >>> compat.uninstall()
    """
    if is_installed():
        return
    sys.meta_path.insert(0, _Finder())
    _displaced.update(_take_out())
    if _displaced:
        warnings.warn(
            f"{PACKAGE} was imported before penstock.compat.install(): names that were imported from it by now are "
            "still those of the real package",
            stacklevel=2,
        )


def uninstall() -> None:
    """Undoes `install`: ``import nvidia.dali`` gives the real package again, where there is one."""
    if is_installed():
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
        _take_out()
        sys.modules.update(_displaced)
        namespace, _, name = PACKAGE.partition(".")
        if PACKAGE in _displaced:
            setattr(sys.modules[namespace], name, _displaced[PACKAGE])
        _displaced.clear()
        importlib.invalidate_caches()


def is_installed() -> bool:
    """Whether ``nvidia.dali`` means Penstock."""
    return any(isinstance(finder, _Finder) for finder in sys.meta_path)


def _take_out() -> dict[str, ModuleType]:
    """Removes all that is imported of the package."""
    found = {name: module for name, module in sys.modules.items() if f"{name}.".startswith(f"{PACKAGE}.")}
    for name in found:
        del sys.modules[name]
    namespace, _, name = PACKAGE.partition(".")
    around = sys.modules.get(namespace)
    if around is not None:
        vars(around).pop(name, None)
        if not getattr(around, "__path__", None):  # the one that was made for want of another
            del sys.modules[namespace]
    return found
