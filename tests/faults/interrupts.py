"""Ctrl-C, between any two lines of the modules that must stand it."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

MODULES = (
    "penstock/pipeline.py", "penstock/plugin/base.py", "penstock/plugin/pytorch.py", "penstock/read/order.py",
    "penstock/run/broken.py", "penstock/run/executor.py", "penstock/run/inputs.py", "penstock/run/program.py",
    "penstock/run/readers.py", "penstock/run/runner.py",
)  # fmt: skip


def interrupted_at(line: int, run: Callable[[], Any]) -> Any:
    """What ``run`` gives, or "interrupted": Ctrl-C comes before the so-manyth line of these modules."""
    seen = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal seen
        # Python itself swallows what is raised in __del__.
        if not frame.f_code.co_filename.endswith(MODULES) or frame.f_code.co_name == "__del__":
            return None
        # The end of a `with` is a line, too, but a signal does not come between it and __exit__.
        text = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        if event == "line" and "with " not in text:
            seen += 1
            if seen == line:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        return run()
    except KeyboardInterrupt:
        return "interrupted"
    finally:
        sys.settrace(None)
