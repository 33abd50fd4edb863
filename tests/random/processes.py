"""The processes that cases run in: a library that crashes or hangs ends its own, and the next case gets a new one."""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.random.outcome import Outcome

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 60.0  # seconds that a case may take; the first one of a process imports the library


class Library:
    """One library in a process of its own, which is there when it is needed."""

    def __init__(self, name: str, **environment: str):
        self.name = name
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        # Several processes run on each core: BLAS's threads would only wait there, and keep it busy.
        self._environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment, "PYTHONPATH": path}
        self._process: subprocess.Popen[bytes] | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None  # what it writes; it is killed, and leaves that

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    def send(self, text: str) -> None:
        if self._process is None:
            words = [sys.executable, "-m", "tests.random.worker", self.name]
            pipe = subprocess.PIPE
            self._scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
            environment = {**self._environment, "TMPDIR": self._scratch.name}
            self._process = subprocess.Popen(words, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, bufsize=0)
        assert self._process.stdin is not None
        self._process.stdin.write(pickle.dumps(text))

    def receive(self) -> Any:
        """The answer; an Outcome that tells how the process died, where it has."""
        assert self._process is not None
        assert self._process.stdout is not None
        until, read = time.monotonic() + LONGEST, bytearray()  # hundreds of megabytes, for some
        while len(read) < 8 or len(read) < 8 + int.from_bytes(read[:8], "little"):
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                self.stop()
                return Outcome(died=f"hangs for {LONGEST:g} s")
            part = os.read(self._process.stdout.fileno(), 1 << 20)
            if not part:
                status = self._process.wait()
                self.stop()
                return Outcome(died=f"ends by signal {-status}" if status < 0 else f"exits with {status}")
            read += part
        return pickle.loads(read[8:])

    def ask(self, text: str) -> Any:
        self.send(text)
        return self.receive()


def unfused() -> Library:
    """This library, with each operator run alone."""
    return Library("penstock", PENSTOCK_FUSE="0")


def both(dali: Library, ours: Library, text: str) -> tuple[Outcome, Outcome]:
    """At the same time."""
    dali.send(text)
    ours.send(text)
    return dali.receive(), ours.receive()
