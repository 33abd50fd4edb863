"""Runs the steps of ./dev quietly: one line each, the full output in a log, shown only when a step fails."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_TTY = sys.stdout.isatty()


class StepError(Exception):
    """A step failed; the message says which and how."""


def note(text: str) -> None:
    print(text, flush=True)


def _status(text: str) -> None:
    if _TTY:
        width = os.get_terminal_size().columns - 1
        print(f"\r\x1b[K{text[:width]}", end="", flush=True)


def _what_failed(lines: list[str]) -> list[str]:
    """Of a build: the first failure and not what came of it. Else the end of the log."""
    first = next((number for number, line in enumerate(lines) if line.startswith("FAILED:")), None)
    return lines[-40:] if first is None else [line for line in lines[first + 2 :] if "required from" not in line][:25]


def step(title: str, command: Sequence[str | Path], log: Path, env: Mapping[str, str] | None = None) -> None:
    """Runs a command under a title. Its output goes to ``log``; on a terminal its last line is shown meanwhile."""
    start = time.monotonic()
    if not _TTY:
        note(f"- {title} ...")
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w") as file:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=dict(env) if env is not None else None,
        )
        assert process.stdout
        try:
            for line in process.stdout:
                file.write(line)
                _status(f"- {title}: {line.strip()}")
            code = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
    seconds = time.monotonic() - start
    if code:
        _status("")
        note("\n".join(_what_failed(log.read_text(errors="replace").splitlines())))
        shown = " ".join(str(word) for word in command)
        raise StepError(f"{title}: failed with status {code} after {seconds:.0f} s\n  command: {shown}\n  log: {log}")
    if _TTY:
        _status("")
        if seconds >= 1:  # a step with nothing to do leaves no trace
            note(f"- {title}: {seconds:.0f} s")
