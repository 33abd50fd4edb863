"""Telling how far something is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


class Progress:
    """A line of a terminal that tells how far something is, once it takes longer than a second."""

    def __init__(self, text: Callable[[float, float], str]):
        self._text, self._begin, self._terminal = text, time.monotonic(), sys.stderr.isatty()

    def _is_shown(self) -> bool:
        return self._terminal and time.monotonic() > self._begin + 1

    def show(self, done: float, of: float) -> None:
        """So much is done, of so much."""
        if self._is_shown():
            print(f"\r{bar(done, of)} {self._text(done, of)}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """It is over."""
        if self._is_shown():
            print(file=sys.stderr)


def bar(done: float, of: float) -> str:
    """``[####    ]``."""
    width = int(40 * min(done, of) / max(of, 1e-9))
    return f"[{'#' * width}{' ' * (40 - width)}]"
