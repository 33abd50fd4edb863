"""``jpeg_index=`` and ``python -m penstock index`` where things go wrong while they are at work."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from penstock.decode.jpeg_index import NAME, build_index
from penstock.machine import native
from tests.decode.pictures import write
from tests.decode.test_jpeg_index import FILES, index_of, run
from tests.faults.processes import faulty, runs, script
from tests.programs import ROOT

CUT_OFF = """
import os, sys
from penstock import errors, fn, pipeline_def

device, index, bytes_left, *files = sys.argv[1:]

@pipeline_def(batch_size=1, num_threads=1, device_id=None if device == "cpu" else 0, exec_async=False,
              exec_pipelined=False)
def pipeline(jpeg_index=None):
    encoded, _ = fn.readers.file(files=files, on_error="skip")
    return fn.decoders.image_crop(
        encoded, device=device, crop=(9, 9), crop_pos_x=1.0, crop_pos_y=1.0, on_error="skip", jpeg_index=jpeg_index)

pipe, plain = pipeline(jpeg_index=index), pipeline()
expected = plain.run()[0].as_cpu().at(0).tolist()
assert pipe.run()[0].as_cpu().at(0).tolist() == expected
os.truncate(index, int(bytes_left))
for _ in range(2):
    try:
        pipe.run()
    except errors.ReadError as error:
        print(str(error).splitlines()[0])
print(pipe.broken_samples(), pipeline().run()[0].as_cpu().at(0).tolist() == expected)
"""


@pytest.mark.parametrize("device", ["cpu", "mixed"])
@pytest.mark.parametrize("left", [0, 100])
def test_an_index_that_is_cut_off_while_it_is_in_use(
    tmp_path: Path, device: str, left: int, software_gpu: dict[str, str]
) -> None:
    """An error that names it, and no signal; nor are the pictures taken for broken, which are not."""
    files = [FILES["4:2:0"], FILES["4:4:4"]]
    index = index_of(tmp_path, files)
    out = runs(script(CUT_OFF, device, str(index), str(left), *write(tmp_path / "files", files)), 120)
    message = f"decoders.image_crop: jpeg_index='{index}': it became shorter while it was in use: build it again"
    assert out.splitlines() == [message, message, "[] True"]


def test_an_index_whose_disk_fails(tmp_path: Path) -> None:
    files = [FILES["4:2:0"], FILES["4:4:4"]]
    index = index_of(tmp_path, files)
    program = CUT_OFF.replace("os.truncate(index, int(bytes_left))", "steering.harm('index', 'read fails', 5, times=2)")
    program = program.replace("import os, sys", "import os, sys\nfrom tests.faults import steering")
    out = runs(faulty(program, "cpu", str(index), "0", *write(tmp_path / "files", files)), 120)
    message = f"decoders.image_crop: jpeg_index='{index}': it cannot be read: Input/output error"
    assert out.splitlines() == [message, message, "[] True"]


def test_a_pipe_is_no_archive(tmp_path: Path) -> None:
    write(tmp_path / "files", [FILES["gray"]])
    os.mkfifo(tmp_path / "files" / "x.tar")
    os.mkfifo(tmp_path / "files" / "y.jpg")
    out, err = run("--jpeg", tmp_path / "files")
    assert out.splitlines()[1:] == ["1 JPEG files are indexed", "2 that are no JPEG"]
    assert not err


def test_a_build_that_is_terminated_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    (name,) = write(folder, [FILES["noise"]])
    for i in range(5000):
        os.link(name, folder / f"{i}.jpg")
    command = [sys.executable, "-m", "penstock", "index", "--jpeg", str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while not any(path.name.startswith(f".{NAME}.") for path in folder.iterdir()):
        assert process.poll() is None
        assert time.monotonic() < end
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (128 + signal.SIGTERM, "", "")
    assert [path.name for path in folder.iterdir() if NAME in path.name] == []


def test_an_exception_when_a_thread_has_just_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a signal: its pool does not know and wait for the thread, and the index is not closed under it."""
    events: list[str] = []
    library, begin, begun, adding = native.blocking(), threading.Thread.start, [], threading.Event()

    class Library:
        """Is slow to add, and notes what is done."""

        def __getattr__(self, name: str) -> Any:
            def call(*arguments: Any) -> Any:
                if name == "ps_jpeg_index_add":
                    adding.set()
                    time.sleep(0.5)
                result = getattr(library, name)(*arguments)
                events.append(name)
                return result

            return call

    def start(thread: threading.Thread) -> None:
        begin(thread)
        begun.append(thread)
        assert adding.wait(60)
        raise KeyboardInterrupt

    monkeypatch.setattr(native, "blocking", Library)
    monkeypatch.setattr(threading.Thread, "start", start)
    write(tmp_path / "files", [FILES["gray"]])
    with pytest.raises(KeyboardInterrupt):
        build_index([tmp_path / "files"])
    begun[0].join()
    gc.collect()
    of_index = [name for name in events if name.startswith("ps_jpeg_index_")]  # not those of garbage of other tests
    assert of_index == ["ps_jpeg_index_create", "ps_jpeg_index_add", "ps_jpeg_index_destroy"]
    assert [path.name for path in (tmp_path / "files").iterdir() if NAME in path.name] == []
