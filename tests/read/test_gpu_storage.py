"""GPUDirect Storage: when it is taken, what it leaves behind, and in what order it writes to the GPU's memory."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn
from penstock.arguments import gpu_storage
from penstock.errors import ReadError
from penstock.machine import native
from tests.programs import ROOT
from tests.read.cufile import CuFile, arrays, large, on_gpu, reads, write
from tests.small import made


def test_ten_thousand_files_leave_nothing_behind(cufile: CuFile, tmp_path: Path) -> None:
    """Files are registered while they are read, so no more at a time than there are threads."""
    names = write(tmp_path, [large("f4", 200, 100) for _ in range(4)])
    before, open_files = cufile.counts(), len(list(Path("/proc/self/fd").iterdir()))
    pipe = on_gpu(names * 2500, 100)
    for _ in range(100):
        pipe.run()
    now = cufile.counts()
    assert now.registered - before.registered >= 10_000
    assert now.most_files <= 4
    assert now.buffers <= 2
    pipe.close()
    assert cufile.counts()[1:3] == (0, 0)
    assert len(list(Path("/proc/self/fd").iterdir())) <= open_files + 2


def test_memory_is_not_written_while_the_gpu_still_reads_it(
    cufile: CuFile, tmp_path: Path, software_gpu: dict[str, str]
) -> None:
    """Kernels are late, so that batches are read while those before them are still being worked on."""
    driver = ctypes.CDLL(software_gpu["PENSTOCK_CUDA_DRIVER"])
    wanted = [np.full((200, 100), i, np.int32) for i in range(12)]
    names = write(tmp_path, wanted)

    def define() -> Any:
        return fn.readers.numpy(device="gpu", files=names) + 1

    pipe = made(define, batch_size=2, device_id=0, prefetch_queue_depth=3)
    driver.software_gpu_set_delay_us(3000)
    try:
        batches = [pipe.run()[0] for _ in range(30)]  # kept for a while, and looked at late
        for k, batch in enumerate(batches):
            for i, found in enumerate(batch.as_cpu()):
                np.testing.assert_array_equal(np.array(found), wanted[(2 * k + i) % 12] + 1)
        for k in range(30, 60):
            (batch,) = pipe.run()
            for i, found in enumerate(batch.as_cpu()):
                np.testing.assert_array_equal(np.array(found), wanted[(2 * k + i) % 12] + 1)
    finally:
        driver.software_gpu_set_delay_us(0)
    assert reads(pipe).copied == {}
    pipe.close()


def test_a_budget_of_memory_is_kept_to(cufile: CuFile, tmp_path: Path, software_gpu: dict[str, str]) -> None:
    """Batches wait for memory as those of operators on the GPU do, and whole pages land in less of it."""
    script = f"""
import numpy as np, penstock
from penstock import fn, Pipeline
for i in range(8): np.save({str(tmp_path)!r} + f"/{{i}}.npy", np.full((512, 512), i, np.float32))
pipe = Pipeline(batch_size=2, num_threads=2, device_id=0)
with pipe: pipe.set_outputs(fn.readers.numpy(device="gpu", file_root={str(tmp_path)!r}, name="Reader") + 0)
pipe.build()
for k in range(40):
    (batch,) = pipe.run()
    found = [int(np.array(one)[0, 0]) for one in batch.as_cpu()]
    assert found == [(2 * k) % 8, (2 * k + 1) % 8], found
    del batch
(reads,) = pipe._built().executor.reads().values()
print(reads)
"""
    environment = {**software_gpu, "PENSTOCK_GDS": "on", "PENSTOCK_DEVICE_MEMORY": "16M"}
    said = _run(script, environment)
    assert "by cuFile" in said


def _run(script: str, environment: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **environment}, cwd=ROOT, capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


_ENDS = """
import ctypes, gc, os, sys
import numpy as np
from penstock import fn, Pipeline
np.save(sys.argv[1] + "/x.npy", np.zeros((200, 200)))
def made():
    pipe = Pipeline(batch_size=2, num_threads=2, device_id=0)
    with pipe: pipe.set_outputs(fn.readers.numpy(device="gpu", file_root=sys.argv[1]))
    pipe.build()
    pipe.run()
    return pipe
pipe = made()
"""


@pytest.mark.parametrize(
    "end",
    [
        "",
        "pipe.close()",
        "other = made(); pipe.close()",
        "del pipe; gc.collect(); pipe = made()",
        "child = os.fork()\nif child: assert os.waitpid(child, 0)[1] == 0",
        "sys.exit(0)",
    ],
)
def test_the_driver_is_closed_when_the_process_ends(software_gpu: dict[str, str], tmp_path: Path, end: str) -> None:
    """Once, with nothing registered: else the software GPU's ends the process."""
    if not software_gpu:
        pytest.skip("a real cuFile does not tell what it does")
    script = (
        "import atexit, os\nmain = os.getpid()\n"
        "def ended():\n"
        "    counts = CuFile(os.environ['PENSTOCK_CUFILE']).counts()\n"
        "    if os.getpid() == main: print(list(counts[:3]), counts.opened)\n"
        "atexit.register(ended)\n"
        "from tests.read.cufile import CuFile\n"  # what it imports ends before
        + f"import sys\nsys.argv = ['', {str(tmp_path)!r}]\n"
        + _ENDS
        + end
    )
    assert _run(script, {**software_gpu, "PENSTOCK_GDS": "on"}) == "[0, 0, 0] 1\n"


@pytest.mark.parametrize(
    ("setting", "kernel", "direct", "by_cufile", "why"),
    [
        ("auto", True, "1", True, "GPUDirect Storage"),
        ("auto", False, "1", False, "this machine has no GPUDirect Storage: neither nvidia-fs nor P2PDMA of a GPU"),
        ("auto", True, "0", False, "cuFile says that GPUDirect Storage is not set up here"),
        ("on", False, "0", True, "in its compatibility mode"),
        ("on", True, "1", True, "PENSTOCK_GDS=on, GPUDirect Storage"),
        ("off", True, "1", False, "PENSTOCK_GDS=off"),
    ],
)
def test_when_it_is_taken(
    closed: CuFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, kernel: bool, direct: str,
    by_cufile: bool, why: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("PENSTOCK_GDS", setting)
    monkeypatch.setenv("SOFTWARE_CUFILE_DIRECT", direct)
    monkeypatch.setattr(gpu_storage, "_MODULE", tmp_path if kernel else tmp_path / "none")
    monkeypatch.setattr(gpu_storage, "_DEVICES", tmp_path)
    array = large("f4", 200, 100)
    pipe = on_gpu(write(tmp_path, [array]), 1)
    np.testing.assert_array_equal(arrays(pipe)[0], array)
    assert why in pipe.explain()
    assert ("by cuFile" in pipe.explain()) == by_cufile
    pipe.close()


def test_p2pdma_without_the_module(closed: CuFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a GPU: NVMe controllers may have such memory, too."""
    monkeypatch.setenv("PENSTOCK_GDS", "auto")
    monkeypatch.setattr(gpu_storage, "_MODULE", tmp_path / "none")
    monkeypatch.setattr(gpu_storage, "_DEVICES", tmp_path)
    for bus, vendor in [("0000:01:00.0", "0x144d"), ("0000:02:00.0", "0x10de")]:
        assert not gpu_storage.choose().by_cufile
        (tmp_path / bus / "p2pmem").mkdir(parents=True)
        (tmp_path / bus / "vendor").write_text(f"{vendor}\n")
    assert gpu_storage.choose().by_cufile
    assert gpu_storage.kernel_support() == "P2PDMA with 0000:02:00.0"


def test_a_driver_that_does_not_open(closed: CuFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTWARE_CUFILE_CLOSED", "5007")
    gpu_storage._warn.cache_clear()
    array = large("f4", 200, 100)
    pipe = on_gpu(write(tmp_path, [array]), 1)
    with pytest.warns(UserWarning, match="cuFile's driver does not open: this platform is not supported"):
        pipe.build()
    np.testing.assert_array_equal(arrays(pipe)[0], array)
    assert "PENSTOCK_GDS=on, but cuFile's driver does not open" in pipe.explain()
    assert "_to_gpu" in pipe.explain()
    pipe.close()


def test_a_driver_that_is_closed_meanwhile(closed: CuFile, tmp_path: Path) -> None:
    """As at the end of a process in which a thread of another pipeline still reads."""
    array = large("f4", 200, 100)
    pipe = on_gpu(write(tmp_path, [array]), 1, register_buffers=False)
    pipe.build()
    native.blocking().ps_gpu_close_storage()
    for _ in range(4):
        np.testing.assert_array_equal(arrays(pipe)[0], array)
    assert "cuFile's driver is closed" in reads(pipe).copied
    pipe.close()


def test_a_system_on_which_cufile_would_hang(
    software_gpu: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_GDS", "on")
    monkeypatch.delenv("PENSTOCK_CUFILE", raising=False)
    monkeypatch.setattr(gpu_storage.libraries, "found", lambda name: True)
    monkeypatch.setattr(gpu_storage, "_MODULES", tmp_path / "none")
    gpu_storage._warn.cache_clear()
    with pytest.warns(UserWarning, match="this system has no /proc/modules"):
        assert not gpu_storage.choose().by_cufile


@pytest.mark.usefixtures("software_gpu")
@pytest.mark.filterwarnings("ignore:PENSTOCK_GDS=on, but")
@pytest.mark.parametrize("register_buffers", [True, False])
@pytest.mark.parametrize("use_o_direct", [True, False])
def test_whatever_cufile_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, register_buffers: bool, use_o_direct: bool
) -> None:
    """A real one, too, on a machine with a GPU."""
    monkeypatch.setenv("PENSTOCK_GDS", "on")
    wanted = [large("f4", 300, 1000 * (i + 1) + i) for i in range(5)]
    pipe = on_gpu(write(tmp_path, wanted), 5, register_buffers=register_buffers, use_o_direct=use_o_direct)
    for _ in range(3):
        for found, array in zip(arrays(pipe), wanted, strict=True):
            np.testing.assert_array_equal(found, array)
    pipe.close()


def test_where_there_is_no_cufile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(gpu_storage.libraries, "found", lambda name: False)
    monkeypatch.setattr(gpu_storage, "_MODULE", tmp_path)
    monkeypatch.setenv("PENSTOCK_GDS", "auto")
    assert "pip install 'penstock[gds]' brings it" in gpu_storage.choose().why


def test_a_file_that_does_not_answer(cufile: CuFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit on time holds for cuFile, too; and its thread comes back later."""
    monkeypatch.setenv("PENSTOCK_READ_TIMEOUT", "0.5")
    pipe = on_gpu(write(tmp_path, [large("f4", 200, 100)]), 1)
    cufile.hang(1500)
    with pytest.raises(ReadError, match="has not answered for"):
        pipe.run()
    cufile.hang(0)
    pipe.close()
    time.sleep(1.5)  # until the thread that was left to itself is gone
