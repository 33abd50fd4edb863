"""Packages that are imported when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from penstock.errors import MissingPackageError


def package(module: str, extra: str) -> Any:
    """The module; MissingPackageError, which names this package's extra that brings it, where it is not there."""
    try:
        return importlib.import_module(module)
    except ImportError as e:
        missing = MissingPackageError(f"{module} cannot be imported ({e}): pip install penstock[{extra}]")
        missing.name = e.name or module
        raise missing from e
