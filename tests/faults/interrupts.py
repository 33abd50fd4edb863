"""Ctrl-C, between any two lines of the modules that must stand it."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import penstock

MODULES = tuple(
    f"penstock/{name}.py"
    for name in (
        "pipeline/pipeline", "pipeline/definition", "pipeline/running", "pipeline/looking", "plugin/base",
        "plugin/pytorch/__init__", "read/order", "run/broken", "run/engine", "run/executor", "run/program",
        "run/readers", "run/runner", "feed/inputs", "feed/poll", "feed/turn", "feed/ahead", "feed/workers/pool",
        "feed/workers/processes", "feed/workers/threads", "feed/workers/delivery", "feed/workers/arena",
    )
)  # fmt: skip
assert all((Path(penstock.__path__[0]).parent / name).is_file() for name in MODULES)


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
