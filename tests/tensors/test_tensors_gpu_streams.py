"""A GPU's memory is not read before its contents are there, nor overwritten while it is still read.

``others`` is another library's stream: it waits only for what it is made to wait for. See test_tensors_gpu.py.
"""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.tensors import TensorGPU, TensorListGPU
from tests.cuda.gpu_streams import Gpu, Interface, back, look_into, take, tensor
from tests.software_gpu import libraries

SIZE = 70_000  # bytes: blocks of this size are asked for nowhere else


@pytest.fixture(scope="module")
def gpu(software_gpu: dict[str, str]) -> Gpu:
    return Gpu()


@pytest.fixture
def others(gpu: Gpu) -> int:
    return gpu.stream()


@pytest.fixture(autouse=True)
def _nothing_is_left(gpu: Gpu) -> Iterator[None]:
    gc.collect()  # what other tests left must not be freed while a stream is blocked: that may wait for the stream
    yield
    gc.collect()
    gpu.call("cuCtxSynchronize")


def filled(value: int) -> np.ndarray[Any, Any]:
    return np.full(SIZE, value, np.uint8)


def pending(gpu: Gpu, stream: int, value: int) -> TensorGPU:
    """A tensor that another library's stream is still to fill with the value."""
    memory = tensor(filled(0))
    gpu.write(stream, memory.data_ptr(), filled(value))
    return TensorGPU(Interface(memory, memory.data_ptr(), (SIZE,), stream=stream))


@pytest.mark.parametrize("how", ["as_cpu", "list", "gather", "copy", "text"])
def test_the_host_waits_for_what_is_not_there_yet(gpu: Gpu, others: int, how: str) -> None:
    look = {
        "as_cpu": lambda t: back(t),
        "list": lambda t: back(TensorListGPU([t]))[0],
        "gather": lambda t: back(TensorListGPU([t, t]).as_tensor())[1],
        "copy": lambda t: back(TensorGPU(t.__dlpack__(copy=True))),
        "text": lambda t: np.array([7] * SIZE if "[7 7 ... 7 7]" in str(t) else []),
    }[how]
    seen: list[Any] = []
    with gpu.blocked(others) as go:
        one = pending(gpu, others, 7)
        looking = threading.Thread(target=lambda: seen.append(look(one)))
        looking.start()
        looking.join(0.2)
        assert not seen
        go.set()
        looking.join()
    np.testing.assert_array_equal(seen[0], filled(7))


@pytest.mark.parametrize("expose", ["data_ptr", "interface", "dlpack"])
def test_an_address_is_given_away_when_the_data_is_there(gpu: Gpu, others: int, expose: str) -> None:
    give: Any = {
        "data_ptr": lambda t: t.data_ptr(),
        "interface": lambda t: t.__cuda_array_interface__["data"][0],
        "dlpack": lambda t: look_into(t.__dlpack__()).dl_tensor.data,
    }[expose]
    given: list[int] = []
    with gpu.blocked(others) as go:
        one = pending(gpu, others, 7)
        giving = threading.Thread(target=lambda: given.append(give(one)))
        giving.start()
        giving.join(0.2)
        assert not given
        go.set()
        giving.join()
    assert given == [one.data_ptr()]


def test_a_consumers_stream_waits_and_the_host_does_not(gpu: Gpu, others: int) -> None:
    consumer = gpu.stream()
    with gpu.blocked(others):
        one = pending(gpu, others, 7)
        capsule = one.__dlpack__(stream=consumer)
        got = gpu.read(consumer, look_into(capsule).dl_tensor.data, SIZE)
        assert (got == 0xEE).all()
    gpu.synchronize(consumer)
    np.testing.assert_array_equal(got, filled(7))


def test_no_stream_waits_where_none_is_wanted(gpu: Gpu, others: int) -> None:
    consumer = gpu.stream()
    with gpu.blocked(others):
        one = pending(gpu, others, 7)
        got = gpu.read(consumer, look_into(one.__dlpack__(stream=-1)).dl_tensor.data, SIZE)
        gpu.synchronize(consumer)
        np.testing.assert_array_equal(got, filled(0))


def addresses_given(count: int = 8) -> set[int]:
    """Those that new tensors of this size get, more than there are free blocks; they are not borrowed."""
    tensors = [tensor(filled(255)) for _ in range(count)]
    return {t._sample.data for t in tensors}


def comes_back(address: int) -> bool:
    return any(address in addresses_given(200) or time.sleep(0.02) for _ in range(100))


def lend(one: TensorGPU, way: str, stream: int) -> Any:
    """Shows the tensor to another library, in one of the ways; what that one holds then."""
    if way == "address":
        return one.data_ptr()
    if way == "interface":
        return one.__cuda_array_interface__
    if way == "joined":
        one = TensorListGPU([one, tensor(filled(4))])[0]
    capsule = one.__dlpack__(stream=stream, max_version=(1, 0) if way == "thread" else None)
    return capsule if way == "capsule" else take(capsule)


@pytest.mark.parametrize("way", ["address", "interface", "capsule", "deleter", "thread", "joined"])
def test_memory_is_not_used_again_before_other_streams_are_done_with_it(gpu: Gpu, others: int, way: str) -> None:
    one = tensor(filled(3))
    address = one.data_ptr()
    held = lend(one, way, others)
    with gpu.blocked(others):
        got = gpu.read(others, address, SIZE)
        del one
        assert address not in addresses_given()
        if way in ("deleter", "joined"):
            held.deleter(ctypes.addressof(held))
        elif way == "thread":
            thread = threading.Thread(target=held.deleter, args=(ctypes.addressof(held),))
            thread.start()
            thread.join()
        del held
        gc.collect()
        assert address not in addresses_given(16)
    gpu.synchronize(others)
    np.testing.assert_array_equal(got, filled(3))
    gpu.call("cuCtxSynchronize")
    assert comes_back(address)


def test_memory_that_was_not_borrowed_is_used_again_at_once(gpu: Gpu, others: int) -> None:
    with gpu.blocked(others):
        first = addresses_given()
        assert addresses_given(300) & first


def test_foreign_memory_is_kept_as_long_as_it_is_used() -> None:
    class Owner:
        alive = True

        def __del__(self) -> None:
            Owner.alive = False

    memory = tensor(filled(9))
    one = TensorGPU(Interface(Owner(), memory.data_ptr(), (SIZE,)))
    tensors = TensorListGPU([one, one])
    capsule = tensors[1].__dlpack__()
    for name in ("one", "tensors"):
        assert Owner.alive, name
        if name == "one":
            del one
        else:
            del tensors
        gc.collect()
    assert Owner.alive
    np.testing.assert_array_equal(back(TensorGPU(capsule)), filled(9))
    del capsule
    gc.collect()
    assert not Owner.alive


def test_a_forked_child_leaves_the_gpu_alone() -> None:
    one, capsule = tensor(filled(1)), tensor(filled(2)).__dlpack__()
    child = os.fork()
    if not child:
        del one, capsule
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(back(TensorGPU(capsule)), filled(2))
    np.testing.assert_array_equal(back(one), filled(1))


def test_a_driver_that_cannot_record_all_streams(software_gpu: dict[str, str], tmp_path: Path) -> None:
    """NVIDIA's before 12.5: the same promises are kept, and to release memory does not wait."""
    if not software_gpu:
        pytest.skip("takes a function out of the software GPU's driver")
    folder = libraries.library("libsoftcuda.so").parent
    shutil.copytree(folder, tmp_path / folder.name)
    old = tmp_path / folder.name / "libsoftcuda.so"
    old.write_bytes(old.read_bytes().replace(b"cuCtxRecordEvent", b"cuCtxRecordEvenX"))
    assert not hasattr(ctypes.CDLL(str(old)), "cuCtxRecordEvent")
    tests = "not_used_again or not_borrowed"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", tests]
    environment = {name: value for name, value in os.environ.items() if name not in software_gpu}
    environment["PENSTOCK_TEST_PROGRAMS"] = str(tmp_path)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    assert "7 passed" in done.stdout
