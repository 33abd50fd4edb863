"""Processes that are interrupted, end or fork while requests are under way."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.read.stores.servers import Web
from tests.read.stores.test_faults import contents, fill

_BEFORE = """
import os, sys
from penstock import fn
from tests.read.stores.test_faults import contents, epoch, pipeline
names = sys.argv[1:]
pipe = pipeline(lambda: fn.readers.file(files=names), batch_size=4)
"""


def started(code: str, names: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore", "-c", _BEFORE + code, *names]
    root = Path(__file__).resolve().parents[3]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root)


def ended(process: subprocess.Popen[str], seconds: float = 30) -> tuple[int, str, str]:
    out, error = process.communicate(timeout=seconds)
    return process.returncode, out, error


def wait_for(web: Web, requests: int) -> None:
    until = time.monotonic() + 30
    while len(web.seen) < requests and time.monotonic() < until:
        time.sleep(0.01)
    assert len(web.seen) >= requests


def test_ctrl_c_while_a_server_is_slow(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_STORE_TIMEOUT", "30")
    names, web.pause = fill(web), 20.0
    process = started("pipe.run()", names)
    wait_for(web, 4)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    code, _, error = ended(process)
    assert "KeyboardInterrupt" in error
    assert code in (1, -signal.SIGINT, 128 + signal.SIGINT)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("pause", [0.05, 5.0])
def test_the_end_with_requests_under_way(web: Web, pause: float) -> None:
    names, web.pause = fill(web), pause
    process = started("pipe.build(); pipe.schedule_run(); import time; time.sleep(0.3); print('end')", names)
    assert ended(process)[:2] == (0, "end\n")


def test_a_forked_process_is_told(web: Web) -> None:
    names = fill(web)
    code = """
assert epoch(pipe, 4) == [contents(i) for i in range(4)]
child = os.fork()
if child == 0:
    from penstock.errors import ReadError
    try:
        pipeline(lambda: fn.readers.file(files=names), batch_size=4).run()
    except ReadError as error:
        print("forked" if "was forked" in str(error) else error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
assert epoch(pipe, 8) == [contents(i) for i in range(4, 12)]
"""
    code, out, error = ended(started(code, names))
    assert (code, out) == (0, "forked\n"), error


def test_obstore_is_not_imported_before_it_is_needed(tmp_path: Path) -> None:
    names = [str(tmp_path / f"{i}") for i in range(4)]
    for i, name in enumerate(names):
        Path(name).write_bytes(contents(i))
    code = "assert epoch(pipe, 4) == [contents(i) for i in range(4)]; assert 'obstore' not in sys.modules"
    assert ended(started(code, names))[0] == 0


def test_without_obstore_an_error_names_the_extra() -> None:
    code = """
sys.modules["obstore"] = None
for make in (lambda: fn.readers.file(files=["s3://bucket/a"]), lambda: fn.readers.numpy(file_root="gs://bucket"),
             lambda: fn.readers.mxnet(path="https://host/a")):
    try:
        pipeline(make).run()
    except Exception as error:
        assert "pip install penstock[stores]" in str(error), error
        print(type(error).__name__)
"""
    code, out, error = ended(started(code, ["nothing"]))
    assert (code, out) == (0, "ReadError\n" * 3), error
