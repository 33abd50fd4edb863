"""Ctrl-C, between any two lines of the modules that must stand it."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

MODULES = (
    "penstock/pipeline.py", "penstock/plugin/base.py", "penstock/plugin/pytorch.py", "penstock/read/order.py",
    "penstock/run/broken.py", "penstock/run/engine.py", "penstock/run/executor.py", "penstock/feed/inputs.py",
    "penstock/run/program.py",
    "penstock/run/readers.py", "penstock/run/runner.py", "penstock/feed/poll.py", "penstock/run/turn.py",
)  # fmt: skip


def called_at(line: int, run: Callable[[], Any], handler: Callable[[], Any]) -> tuple[bool, Any]:
    """Whether a handler was called, before the so-manyth line of these modules, and what ``run`` gives."""
    seen = 0
    called = False

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal seen, called
        # Python itself swallows what is raised in __del__.
        if not frame.f_code.co_filename.endswith(MODULES) or frame.f_code.co_name == "__del__":
            return None
        # The end of a `with` is a line, too, but a signal does not come between it and __exit__.
        text = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        if event == "line" and "with " not in text:
            seen += 1
            if seen == line:
                called = True
                handler()
        return trace

    sys.settrace(trace)
    try:
        result = run()
        return called, result
    finally:
        sys.settrace(None)


def interrupted_at(line: int, run: Callable[[], Any]) -> Any:
    """What ``run`` gives, or "interrupted": Ctrl-C comes before the so-manyth line of these modules."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    try:
        return called_at(line, run, interrupt)[1]
    except KeyboardInterrupt:
        return "interrupted"
