"""Others' memory that was fed to a GPU is let go of where Python may run: on no thread of the engine's, without a lock.

What lets go of memory waits for nothing, whatever the GPU is at.
"""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.tensors import TensorCPU, TensorListCPU
from tests.cuda.gpu_streams import Gpu, Interface
from tests.faults.processes import faulty, runs
from tests.small import ten_files
from tests.software_gpu import libraries

COUNT, SIZE = 3, 50_000


@pytest.fixture(scope="module")
def gpu(software_gpu: dict[str, str]) -> Iterator[Gpu]:
    yield Gpu()
    gc.collect()


def batch(value: int) -> np.ndarray[Any, Any]:
    return np.full((COUNT, SIZE), value, np.uint8)


def test_others_memory_is_let_go_of_by_the_thread_that_takes_batches(gpu: Gpu) -> None:
    ends: list[tuple[int, int]] = []

    class Owner:
        def __init__(self, number: int) -> None:
            self.number, self.memory = number, TensorListCPU(batch(number))._as_gpu()

        def __del__(self) -> None:
            ends.append((self.number, threading.get_ident()))

    def source(i: int) -> Interface:
        owner = Owner(i)
        return Interface(owner, owner.memory.as_tensor().data_ptr(), (COUNT, SIZE))

    pipe = Pipeline(COUNT, 2, 0, prefetch_queue_depth=2)
    with pipe:
        pipe.set_outputs(fn.external_source(source, device="gpu", no_copy=True) + 1)
    for i in range(12):
        (out,) = pipe.run()
        assert np.unique(out.as_cpu().as_array()).tolist() == [i + 1]
    numbers = [number for number, _ in ends]
    assert numbers == sorted(numbers)
    assert len(numbers) >= 8  # and not all at the end
    pipe.close()
    del pipe, out
    gc.collect()
    assert {number for number, _ in ends} >= set(range(12))
    assert {thread for _, thread in ends} == {threading.get_ident()}


def test_a_batch_that_ends_with_a_stuck_thread_holds_no_lock(gpu: Gpu, tmp_path: Path) -> None:
    """Its owner's end wants the GIL; who has that wants the engine's lock."""
    runs(
        faulty(
            """
            import gc, sys, time, weakref
            import numpy as np
            from penstock import Pipeline, fn
            from penstock.machine import native
            from penstock.tensors import TensorListCPU
            from tests.faults import steering
            from tests.cuda.gpu_streams import Interface

            class Owner:
                pass

            def array():
                owner = Owner()
                owner.memory = TensorListCPU(np.zeros((2, 5000), np.uint8))._as_gpu()
                return Interface(owner, owner.memory.as_tensor().data_ptr(), (2, 5000)), weakref.ref(owner)

            pipe = Pipeline(2, 2, 0, prefetch_queue_depth=1)
            with pipe:
                files = fn.readers.file(files=sys.argv[1:])[0]
                pipe.set_outputs(fn.external_source(name="mine", device="gpu", no_copy=True) + 1, files)
            pipe.build()
            pipe.enable_api_check(False)
            steering.harm("/1", "read blocks", times=1)
            data, owner = array()
            pipe.feed_input("mine", data)
            pipe.schedule_run()
            del data
            steering.wait_until_blocked()
            pipe.reset()                   # the batch is left to the thread that is stuck
            pipe.run()                     # the same data: when this is taken, no other reference to the array is left
            pipe.feed_input("mine", array()[0])
            pipe.run()
            gc.collect()
            assert owner() is not None
            handle, quick = pipe._runner.executor._handle, native.quick()
            sys.setswitchinterval(1000)    # from here on this thread has the GIL
            steering.heal()
            end = time.monotonic() + 1
            while time.monotonic() < end:
                quick.ps_executor_scheduled(handle)
            sys.setswitchinterval(0.005)
            end = time.monotonic() + 20
            while owner() is not None and time.monotonic() < end:
                time.sleep(0.01)
            assert owner() is None
            """,
            *ten_files(tmp_path),
        ),
        90,
    )


def test_letting_go_of_a_batch_waits_for_nothing(gpu: Gpu) -> None:
    """And its outputs in pinned memory, which a consumer may still copy, are not used again before the GPU is done."""
    pipe = Pipeline(COUNT, 2, 0, prefetch_queue_depth=1, exec_async=False, exec_pipelined=False)
    with pipe:
        numbers = fn.cast(fn.external_source(lambda i: batch(i), layout="W") + 1, dtype=types.UINT8)
        pipe.set_outputs(numbers, numbers.gpu() + 1)
    stream, waited = gpu.stream(), []
    copy = TensorCPU(np.zeros(COUNT * SIZE, np.uint8))._as_gpu()
    outputs = pipe.run()
    address = outputs[0].data_ptr()
    go = threading.Event()
    gpu.do(stream, lambda: waited.append(go.wait(20)))
    gpu.call(
        "cuMemcpyHtoDAsync_v2", ctypes.c_uint64(copy.data_ptr()), ctypes.c_void_p(address),
        ctypes.c_size_t(COUNT * SIZE), ctypes.c_void_p(stream),
    )  # fmt: skip
    del outputs
    gc.collect()
    for _ in range(4):
        assert pipe.run()[0].data_ptr() != address
    assert not waited
    go.set()
    gpu.synchronize(stream)
    assert np.unique(np.asarray(copy.as_cpu())).tolist() == [1]
    pipe.close()


def test_a_driver_that_cannot_record_all_streams(software_gpu: dict[str, str], tmp_path: Path) -> None:
    """NVIDIA's before 12.5."""
    if not software_gpu:
        pytest.skip("takes a function out of the software GPU's driver")
    folder = libraries.library("libsoftcuda.so").parent
    shutil.copytree(folder, tmp_path / folder.name)
    old = tmp_path / folder.name / "libsoftcuda.so"
    old.write_bytes(old.read_bytes().replace(b"cuCtxRecordEvent", b"cuCtxRecordEvenX"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "waits_for_nothing"]
    environment = {name: value for name, value in os.environ.items() if name not in software_gpu}
    environment["PENSTOCK_TEST_PROGRAMS"] = str(tmp_path)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
