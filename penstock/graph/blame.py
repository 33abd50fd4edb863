"""Errors and warnings that name the user's line."""

from __future__ import annotations

import sys
import warnings
from types import TracebackType

from penstock.errors import PenstockError
from penstock.graph.location import PACKAGE, Location, caller


class Blame:
    """Inside ``with Blame("resize"):`` the project's errors say which operator they are about, and the user's line.

    That is the line given as ``location``, or else the one that is being run.
    """

    def __init__(self, operator: str, location: Location | None = None, what: str = "operator made"):
        self.operator, self.location, self.what = operator, location, what

    def __enter__(self) -> Blame:
        return self

    def __exit__(
        self, cls: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, PenstockError):
            error.blame(self.operator, self.location or caller(), self.what)


def warn(text: str, category: type[Warning] = DeprecationWarning) -> None:
    """A warning about the user's line, so that Python's filters show it in scripts, and once for each line."""
    level, frame = 1, sys._getframe()
    while frame.f_code.co_filename.startswith(PACKAGE) and frame.f_back:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
