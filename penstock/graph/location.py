"""Which line of the user's code made a node."""

from __future__ import annotations

import linecache
import os
import sys
from dataclasses import dataclass
from types import FrameType, TracebackType

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@dataclass(frozen=True)
class Location:
    """A line of the user's."""

    file: str
    line: int
    function: str
    text: str | None = None  # the line itself; None: it is in that file, which a process that names it has run

    def source(self) -> str:
        """The line itself."""
        return linecache.getline(self.file, self.line).strip() if self.text is None else self.text

    def __str__(self) -> str:
        text = self.source()
        return f"{self.file}:{self.line}, in {self.function}" + (f": {text}" if text else "")


def caller() -> Location | None:
    """The innermost frame that is not of this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(PACKAGE):
            return Location(file, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back
    return None


def of_the_user(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this library in front."""
    while traceback and traceback.tb_frame.f_code.co_filename.startswith(PACKAGE):
        traceback = traceback.tb_next
    return traceback
