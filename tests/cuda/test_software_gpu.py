"""The software GPU itself, called through ctypes as a driver is: it must find what a GPU would not forgive."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from ctypes import byref, c_char_p, c_float, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path

import numpy as np
import pytest

from tests.programs import ROOT
from tests.software_gpu import libraries
from tests.software_gpu.driver import Gpu, Launch, compile_kernel, nvrtc

OUT_OF_MEMORY, INVALID_VALUE, INVALID_IMAGE, INVALID_CONTEXT, INVALID_HANDLE = 2, 1, 200, 201, 400
NOT_FOUND, NOT_READY, NOT_PERMITTED = 500, 600, 800

SCALE = """
#include "device/tensor/elements.h"
struct Scale {
  const unsigned char* in;
  float* out;
  float factor;
  PS_FN void element(int64_t i) const { out[i] = ps::device::convert<float>(in[i]) * factor; }
};
PS_ELEMENT_KERNEL(Scale)
"""
# Each block adds up what it writes to its shared memory, and says what it found there before.
SHARED = """
#include "device/base/base.h"
struct Argument { int* out; int bytes; };
PS_KERNEL kernel(Argument a) {
  PS_SHARED_MEMORY(memory);
  using namespace ps::device;
  if (thread() == 0) a.out[2 * block()] = memory[0];
  sync();
  for (int i = thread(); i < a.bytes; i += threads()) memory[i] = block() + 1;
  sync();
  if (thread() != 0) return;
  int sum = 0;
  for (int i = 0; i < a.bytes; i++) sum += memory[i];
  a.out[2 * block() + 1] = sum;
}
"""


class Scale(ctypes.Structure):
    """ElementJob<Scale>."""

    _fields_ = (("count", c_int64), ("input", c_uint64), ("out", c_uint64), ("factor", c_float))


class Argument(ctypes.Structure):
    _fields_ = (("out", c_uint64), ("bytes", c_int32))


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gpu]:
    """The software GPU, with the first device's context current in this thread."""
    monkeypatch.setenv("SOFTWARE_GPUS", "2")
    device = Gpu()
    device.ok(device.cu.cuCtxPushCurrent_v2(device.contexts[0]))
    yield device
    device.cu.software_gpu_set_delay_us(0)
    device.ok(device.cu.cuCtxSynchronize())
    device.ok(device.cu.cuCtxPopCurrent_v2(byref(c_void_p())))


def run_script(body: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a script that has `gpu` and `np` in a process of its own."""
    libraries.library("libsoftcuda.so")  # or the test is skipped
    script = (
        "import ctypes\nimport numpy as np\nfrom ctypes import *\nfrom tests.software_gpu.driver import Gpu\n"
        "gpu = Gpu()\ngpu.ok(gpu.cu.cuCtxPushCurrent_v2(gpu.contexts[0]))\n"
    ) + textwrap.dedent(body)
    env = {**os.environ, "SOFTWARE_GPUS": "2", **environment}
    words = [sys.executable, "-c", script]
    return subprocess.run(words, capture_output=True, text=True, env=env, cwd=ROOT, timeout=120)


def test_a_batch_of_jobs_is_computed(gpu: Gpu, random: np.random.Generator) -> None:
    """Three samples of different sizes, the last in two blocks: uploaded, scaled, downloaded, in one stream."""
    counts, factors = [1, 1000, 3000], [2.0, 0.5, -1.0]
    stream, kernel = gpu.stream(), gpu.kernel(SCALE)
    inputs = [gpu.pinned(random.integers(0, 256, n, dtype=np.uint8)) for n in counts]
    sources, targets = [gpu.memory(n) for n in counts], [gpu.memory(4 * n) for n in counts]
    jobs = (Scale * 3)(
        *(Scale(n, s.value, t.value, f) for n, s, t, f in zip(counts, sources, targets, factors, strict=True))
    )
    packed = gpu.pinned(np.frombuffer(bytes(jobs), np.uint8))
    first_block = gpu.pinned(np.array([0, 1, 2, 4], np.int32))
    device_jobs, device_blocks = gpu.memory(packed.nbytes), gpu.memory(first_block.nbytes)

    for source, values in zip([*sources, device_jobs, device_blocks], [*inputs, packed, first_block], strict=True):
        gpu.upload(source, values, stream)
    launch = Launch(device_jobs.value, device_blocks.value, ctypes.sizeof(Scale), 3)
    gpu.ok(gpu.launch(kernel, 4, launch, stream))
    launch.jobs = launch.samples = 0  # a launch takes a copy of its argument
    outputs = [gpu.pinned(np.zeros(n, np.float32)) for n in counts]
    for values, target in zip(outputs, targets, strict=True):
        gpu.download(values, target, stream)
    gpu.ok(gpu.cu.cuStreamSynchronize(stream))

    for values, source, factor in zip(outputs, inputs, factors, strict=True):
        np.testing.assert_array_equal(values, source * np.float32(factor))
    for p in (*sources, *targets, device_jobs, device_blocks):
        gpu.ok(gpu.cu.cuMemFree_v2(p))
    gpu.ok(gpu.cu.cuStreamDestroy_v2(stream))


def test_shared_memory_is_fresh_for_each_block(gpu: Gpu) -> None:
    """A5 is memory that was not written yet; more than 48 KB must be asked for."""
    stream, kernel, out = gpu.stream(), gpu.kernel(SHARED), gpu.memory(24)
    results = gpu.pinned(np.zeros((3, 2), np.int32))
    size = 100 << 10
    assert gpu.launch(kernel, 3, Argument(out.value, size), stream, shared=size) == INVALID_VALUE
    gpu.ok(gpu.cu.cuFuncSetAttribute(kernel, 8, size))
    gpu.ok(gpu.launch(kernel, 3, Argument(out.value, size), stream, shared=size))
    gpu.download(results, out, stream)
    gpu.ok(gpu.cu.cuStreamSynchronize(stream))
    assert results.tolist() == [[0xA5, size], [0xA5, 2 * size], [0xA5, 3 * size]]
    assert gpu.cu.cuFuncSetAttribute(kernel, 8, 228 << 10) == INVALID_VALUE


def test_fresh_memory_is_full_of_a_pattern(gpu: Gpu) -> None:
    stream, found = gpu.stream(), gpu.pinned(np.zeros(5, np.uint8))
    gpu.download(found, gpu.memory(5), stream)
    gpu.ok(gpu.cu.cuStreamSynchronize(stream))
    assert found.tolist() == [0xA5] * 5


def copy_between_streams(gpu: Gpu, wait: bool) -> int:
    """Sets a byte to 7 in one stream, late, and reads it in another, which may wait for the first."""
    first, second, event = gpu.stream(), gpu.stream(), gpu.event()
    byte, seen = gpu.memory(1), gpu.pinned(np.zeros(1, np.uint8))
    gpu.ok(gpu.cu.cuMemsetD8Async(byte, 0, c_size_t(1), first))
    gpu.ok(gpu.cu.cuEventRecord(event, first))  # the later record takes its place
    gpu.ok(gpu.cu.cuStreamSynchronize(first))
    gpu.cu.software_gpu_set_delay_us(20_000)
    for value in (1, 2, 3, 4, 5, 6, 7):
        gpu.ok(gpu.cu.cuMemsetD8Async(byte, value, c_size_t(1), first))
    gpu.ok(gpu.cu.cuEventRecord(event, first))
    if wait:
        gpu.ok(gpu.cu.cuStreamWaitEvent(second, event, 0))
    gpu.download(seen, byte, second)
    gpu.ok(gpu.cu.cuCtxSynchronize())
    return int(seen[0])


def test_events_order_streams(gpu: Gpu) -> None:
    assert copy_between_streams(gpu, wait=True) == 7


def test_a_missing_wait_gives_stale_data(gpu: Gpu) -> None:
    assert copy_between_streams(gpu, wait=False) != 7


def test_streams_run_behind_the_host(gpu: Gpu) -> None:
    """What is copied is the memory as it is when the copy runs, and the host sees nothing before it waits."""
    stream, event, byte = gpu.stream(), gpu.event(), gpu.memory(1)
    value, seen = gpu.pinned(np.array([1], np.uint8)), gpu.pinned(np.zeros(1, np.uint8))
    gpu.cu.software_gpu_set_delay_us(50_000)
    gpu.upload(byte, value, stream)
    gpu.download(seen, byte, stream)
    gpu.ok(gpu.cu.cuEventRecord(event, stream))
    value[0] = 2
    assert seen[0] == 0
    assert gpu.cu.cuStreamQuery(stream) == NOT_READY
    assert gpu.cu.cuEventQuery(event) == NOT_READY
    gpu.ok(gpu.cu.cuEventSynchronize(event))
    assert seen[0] == 2
    gpu.ok(gpu.cu.cuEventQuery(event))
    gpu.ok(gpu.cu.cuStreamSynchronize(stream))
    gpu.ok(gpu.cu.cuStreamQuery(stream))


def test_an_event_of_the_context_waits_for_all_streams(gpu: Gpu) -> None:
    """Also for one that has been destroyed with work in it, and for the default streams."""
    streams, event = [gpu.stream(), gpu.stream(), c_void_p(1), c_void_p(2)], gpu.event(2)
    places = gpu.memory(len(streams))
    gpu.cu.software_gpu_set_delay_us(20_000)
    for i, stream in enumerate(streams):
        gpu.ok(gpu.cu.cuMemsetD8Async(c_void_p((places.value or 0) + i), i, c_size_t(1), stream))
    gpu.ok(gpu.cu.cuStreamDestroy_v2(streams[0]))
    gpu.ok(gpu.cu.cuCtxRecordEvent(gpu.contexts[0], event))
    assert gpu.cu.cuEventQuery(event) == NOT_READY
    gpu.cu.software_gpu_set_delay_us(0)
    gpu.ok(gpu.cu.cuEventSynchronize(event))
    seen = gpu.pinned(np.full(4, 9, np.uint8))
    gpu.download(seen, places, streams[1])
    gpu.ok(gpu.cu.cuStreamSynchronize(streams[1]))
    assert seen.tolist() == [0, 1, 2, 3]


def test_events_measure_time(gpu: Gpu) -> None:
    stream, start, end, untimed = gpu.stream(), gpu.event(), gpu.event(), gpu.event(2)
    milliseconds = c_float()
    assert gpu.cu.cuEventElapsedTime(byref(milliseconds), start, end) == INVALID_HANDLE  # not recorded
    gpu.cu.software_gpu_set_delay_us(20_000)
    for event in (start, end, untimed):
        gpu.ok(gpu.cu.cuEventRecord(event, stream))
    assert gpu.cu.cuEventElapsedTime(byref(milliseconds), start, end) == NOT_READY
    gpu.ok(gpu.cu.cuStreamSynchronize(stream))
    gpu.ok(gpu.cu.cuEventElapsedTime(byref(milliseconds), start, end))
    assert milliseconds.value >= 20
    assert gpu.cu.cuEventElapsedTime(byref(milliseconds), start, untimed) == INVALID_HANDLE


def test_memory_is_freed_after_the_work_that_uses_it(gpu: Gpu) -> None:
    stream, block = gpu.stream(), gpu.memory(8)
    seen = gpu.pinned(np.zeros(8, np.uint8))
    gpu.cu.software_gpu_set_delay_us(20_000)
    gpu.download(seen, block, stream)
    gpu.ok(gpu.cu.cuMemFree_v2(block))
    assert seen.tolist() == [0xA5] * 8
    assert gpu.cu.cuMemFree_v2(block) == INVALID_VALUE


def test_copies_are_checked_against_the_blocks(gpu: Gpu) -> None:
    cu, stream, block = gpu.cu, gpu.stream(), gpu.memory(100)
    host = np.zeros(200, np.uint8)  # not pinned: allowed
    address, on_host = block.value or 0, c_void_p(host.ctypes.data)

    def up(to: int, size: int) -> int:
        return int(cu.cuMemcpyHtoDAsync_v2(c_void_p(to), on_host, c_size_t(size), stream))

    assert up(address, 100) == up(address + 99, 1) == up(address, 0) == 0
    assert up(address, 101) == up(address + 100, 1) == up(address - 1, 1) == INVALID_VALUE
    assert up(host.ctypes.data + 100, 10) == INVALID_VALUE
    assert cu.cuMemcpyHtoDAsync_v2(block, block, c_size_t(1), stream) == INVALID_VALUE
    assert cu.cuMemcpyDtoHAsync_v2(c_void_p(address - 5), block, c_size_t(10), stream) == INVALID_VALUE
    assert cu.cuMemcpyDtoHAsync_v2(on_host, on_host, c_size_t(1), stream) == INVALID_VALUE
    assert cu.cuMemcpyDtoDAsync_v2(block, on_host, c_size_t(1), stream) == INVALID_VALUE
    assert cu.cuMemsetD8Async(on_host, 0, c_size_t(1), stream) == INVALID_VALUE
    assert cu.cuMemFreeHost(block) == cu.cuMemFree_v2(on_host) == INVALID_VALUE


def test_rectangles_are_copied(gpu: Gpu, random: np.random.Generator) -> None:
    """3 rows of 5 bytes, from (x=2, y=1) of a picture 10 bytes wide to (x=1, y=0) of one 7 bytes wide."""

    class Rect(ctypes.Structure):
        end = ("x", c_size_t), ("y", c_size_t), ("type", c_int), ("host", c_uint64), ("device", c_uint64)
        _fields_ = (
            *((f"from_{name}", kind) for name, kind in (*end, ("array", c_uint64), ("pitch", c_size_t))),
            *((f"to_{name}", kind) for name, kind in (*end, ("array", c_uint64), ("pitch", c_size_t))),
            ("width", c_size_t),
            ("height", c_size_t),
        )

    stream, target = gpu.stream(), gpu.memory(21)
    picture = gpu.pinned(random.integers(0, 256, (4, 10), dtype=np.uint8))
    seen = gpu.pinned(np.zeros((3, 7), np.uint8))
    rect = Rect(2, 1, 1, picture.ctypes.data, 0, 0, 10, 1, 0, 2, 0, target.value, 0, 7, 5, 3)
    gpu.ok(gpu.cu.cuMemcpy2DAsync_v2(byref(rect), stream))
    gpu.download(seen, target, stream)
    gpu.ok(gpu.cu.cuStreamSynchronize(stream))
    expected = np.full((3, 7), 0xA5, np.uint8)
    expected[:, 1:6] = picture[1:4, 2:7]
    np.testing.assert_array_equal(seen, expected)
    rect.height = 4  # one row too many
    assert gpu.cu.cuMemcpy2DAsync_v2(byref(rect), stream) == INVALID_VALUE


@pytest.mark.parametrize("offset", [16, -4096], ids=["behind", "before"])
def test_touching_what_lies_beside_a_block_ends_the_process(offset: int) -> None:
    body = f"""
        block = gpu.memory(16)
        print(string_at(block.value, 16).hex(), flush=True)
        string_at(block.value + {offset}, 1)
        print("unreached")
    """
    done = run_script(body)
    assert done.stdout.split() == ["a5" * 16], done.stderr
    assert done.returncode != 0
    assert "Traceback" not in done.stderr  # it is the signal of a bad access, which sanitizers turn into a status


def test_pointers_are_known(gpu: Gpu) -> None:
    def device_of(p: int) -> int | None:
        device = c_int()
        result = gpu.cu.cuPointerGetAttribute(byref(device), 9, c_void_p(p))
        return device.value if result == 0 else None

    first = gpu.memory(10).value or 0
    gpu.ok(gpu.cu.cuCtxPushCurrent_v2(gpu.contexts[1]))
    second = gpu.memory(10).value or 0
    gpu.ok(gpu.cu.cuCtxPopCurrent_v2(byref(c_void_p())))
    assert [device_of(p) for p in (first, first + 9, first + 10, second)] == [0, 0, None, 1]
    assert device_of(np.zeros(1).ctypes.data) is None


def test_work_belongs_to_the_context_of_its_stream(gpu: Gpu) -> None:
    """As CUDA has it: launches and events' records do, while copies and waits may be of other devices."""
    kernel, event, block = gpu.kernel(SCALE), gpu.event(), gpu.memory(1)
    gpu.ok(gpu.cu.cuCtxPushCurrent_v2(gpu.contexts[1]))
    other = gpu.stream()
    assert gpu.launch(kernel, 1, Launch(), other) == INVALID_HANDLE
    assert gpu.cu.cuEventRecord(event, other) == INVALID_HANDLE
    gpu.ok(gpu.cu.cuStreamWaitEvent(other, event, 0))
    gpu.ok(gpu.cu.cuMemsetD8Async(block, 0, c_size_t(1), other))
    gpu.ok(gpu.cu.cuCtxSynchronize())
    gpu.ok(gpu.cu.cuCtxPopCurrent_v2(byref(c_void_p())))


def test_what_needs_a_context_fails_without_one(gpu: Gpu) -> None:
    stream, event, block, cu, out = gpu.stream(), gpu.event(), gpu.memory(1), gpu.cu, c_void_p()
    gpu.ok(cu.cuCtxPopCurrent_v2(byref(out)))
    assert out.value == gpu.contexts[0].value
    results = {
        "pop": cu.cuCtxPopCurrent_v2(byref(out)),
        "synchronize": cu.cuCtxSynchronize(),
        "alloc": cu.cuMemAlloc_v2(byref(out), c_size_t(1)),
        "pinned": cu.cuMemHostAlloc(byref(out), c_size_t(1), 0),
        "free": cu.cuMemFree_v2(block),
        "memset": cu.cuMemsetD8Async(block, 0, c_size_t(1), stream),
        "stream": cu.cuStreamCreateWithPriority(byref(out), 1, 0),
        "wait": cu.cuStreamSynchronize(stream),
        "event": cu.cuEventCreate(byref(out), 0),
        "record": cu.cuEventRecord(event, stream),
        "module": cu.cuModuleLoadData(byref(out), b""),
    }
    query = cu.cuEventQuery(event)
    gpu.ok(cu.cuCtxPushCurrent_v2(gpu.contexts[0]))
    assert set(results.values()) == {INVALID_CONTEXT}, results
    assert query == 0  # is documented to need none


def test_handles_are_checked(gpu: Gpu) -> None:
    cu, stream, event = gpu.cu, gpu.stream(), gpu.event()
    assert cu.cuStreamSynchronize(event) == cu.cuEventQuery(stream) == INVALID_HANDLE
    assert cu.cuStreamSynchronize(c_void_p(12345)) == cu.cuStreamDestroy_v2(c_void_p(1)) == INVALID_HANDLE
    gpu.ok(cu.cuStreamDestroy_v2(stream))
    gpu.ok(cu.cuEventDestroy_v2(event))
    gpu.stream(), gpu.event()  # do not get the same handles
    assert cu.cuStreamDestroy_v2(stream) == cu.cuEventDestroy_v2(event) == INVALID_HANDLE


def test_host_functions_run_in_order_and_may_not_call_the_driver(gpu: Gpu) -> None:
    stream, byte = gpu.stream(), gpu.memory(1)
    seen, calls = gpu.pinned(np.zeros(1, np.uint8)), []

    @ctypes.CFUNCTYPE(None, c_void_p)
    def function(data: int | None) -> None:
        calls.append((data, int(seen[0]), gpu.cu.cuCtxSynchronize(), gpu.cu.cuEventQuery(None)))

    gpu.cu.software_gpu_set_delay_us(5_000)
    gpu.ok(gpu.cu.cuMemsetD8Async(byte, 3, c_size_t(1), stream))
    gpu.download(seen, byte, stream)
    gpu.ok(gpu.cu.cuLaunchHostFunc(stream, function, c_void_p(77)))
    gpu.ok(gpu.cu.cuStreamSynchronize(stream))
    assert calls == [(77, 3, NOT_PERMITTED, NOT_PERMITTED)]


def test_memory_is_limited(gpu: Gpu) -> None:
    def free_and_total() -> tuple[int, int]:
        free, total = c_size_t(), c_size_t()
        gpu.ok(gpu.cu.cuMemGetInfo_v2(byref(free), byref(total)))
        return free.value, total.value

    free, total = free_and_total()
    gpu.cu.software_gpu_set_memory(c_size_t(total - free + 1000))
    try:
        block = gpu.memory(600)
        assert free_and_total() == (400, total - free + 1000)
        assert gpu.cu.cuMemAlloc_v2(byref(c_void_p()), c_size_t(401)) == OUT_OF_MEMORY
        gpu.ok(gpu.cu.cuMemFree_v2(block))
        gpu.ok(gpu.cu.cuMemFree_v2(gpu.memory(1000)))
        assert gpu.cu.cuMemAlloc_v2(byref(c_void_p()), c_size_t(0)) == INVALID_VALUE
    finally:
        gpu.cu.software_gpu_set_memory(c_size_t(total))


def test_the_environment_sets_memory_and_delay() -> None:
    body = """
        import time
        print(gpu.cu.cuMemAlloc_v2(byref(c_void_p()), c_size_t(1001)), gpu.cu.cuMemAlloc_v2(byref(c_void_p()), 1000))
        start = time.monotonic()
        gpu.ok(gpu.cu.cuEventRecord(gpu.event(), None)), gpu.ok(gpu.cu.cuCtxSynchronize())
        print(time.monotonic() - start >= 0.1)
    """
    done = run_script(body, SOFTWARE_GPU_MEMORY="1000", SOFTWARE_GPU_DELAY_US="100000")
    assert done.stdout.split() == ["2", "0", "True"], done.stderr


def test_a_forked_process_has_no_gpu() -> None:
    body = """
        import os
        child = os.fork()
        if child == 0:
            os._exit(gpu.cu.cuCtxSynchronize())
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    not_initialized = 3
    assert run_script(body).stdout.split() == [str(not_initialized)]


def test_devices_are_described(gpu: Gpu) -> None:
    name, value = ctypes.create_string_buffer(100), c_int()
    gpu.ok(gpu.cu.cuDeviceGetName(name, 100, 1))
    assert name.value == b"Software GPU"
    for attribute, expected in {75: 9, 76: 0, 16: 8, 97: 227 * 1024}.items():
        gpu.ok(gpu.cu.cuDeviceGetAttribute(byref(value), attribute, 0))
        assert value.value == expected
    gpu.ok(gpu.cu.cuDeviceGetCount(byref(value)))
    assert value.value == 2
    assert gpu.cu.cuDeviceGetName(name, 100, 2) == 101
    assert gpu.contexts[0].value != gpu.contexts[1].value


def test_modules_and_launches_are_checked(gpu: Gpu) -> None:
    result, image, _ = compile_kernel(SCALE)
    assert result == 0
    module, out = gpu.make(gpu.cu.cuModuleLoadData, image), c_void_p()
    assert gpu.cu.cuModuleGetFunction(byref(out), module, b"no_such_kernel") == NOT_FOUND
    assert gpu.cu.cuModuleLoadData(byref(out), b"\x7fELF" + bytes(100)) == INVALID_IMAGE
    function, stream = gpu.make(gpu.cu.cuModuleGetFunction, module, b"kernel"), gpu.stream()
    assert gpu.launch(function, 1, Launch(), stream, grid_y=2) == INVALID_VALUE
    assert gpu.launch(function, 0, Launch(), stream) == INVALID_VALUE
    gpu.ok(gpu.cu.cuModuleUnload(module))
    assert gpu.launch(function, 1, Launch(), stream) == INVALID_HANDLE
    assert gpu.cu.cuModuleUnload(module) == INVALID_HANDLE


def test_modules_with_equal_names_are_apart(gpu: Gpu) -> None:
    """Two kernels with a functor of one name; the first is unloaded while its launch is still to come."""
    stream, out = gpu.stream(), gpu.memory(4)
    seen = gpu.pinned(np.zeros(4, np.uint8))
    source = '#include "device/base/base.h"\nstruct A { unsigned char* p; };\n' + (
        "template <class T> struct F { static int& n() { static int v = VALUE; return v; } };\n"
        "PS_KERNEL kernel(A a) { a.p[0] = F<A>::n(); }"
    )
    gpu.cu.software_gpu_set_delay_us(5_000)
    for i in range(4):
        module = gpu.make(gpu.cu.cuModuleLoadData, compile_kernel(source, f"-DVALUE={i}")[1])
        kernel = gpu.make(gpu.cu.cuModuleGetFunction, module, b"kernel")
        gpu.ok(gpu.launch(kernel, 1, Argument((out.value or 0) + i, 0), stream))
        gpu.ok(gpu.cu.cuModuleUnload(module))
        if i % 2:
            gpu.ok(gpu.cu.cuStreamSynchronize(stream))
    gpu.download(seen, out, stream)
    gpu.ok(gpu.cu.cuStreamSynchronize(stream))
    assert seen.tolist() == list(range(4))


def test_the_compilers_message_is_in_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    result, _, log = compile_kernel("#include <device/base/base.h>\nPS_KERNEL kernel(int) {\n  undeclared = 1; }")
    assert result == 6
    assert "test.cu:3" in log
    assert "undeclared" in log
    nvrtc().nvrtcGetErrorString.restype = c_char_p
    assert compile_kernel(SCALE)[0] == 0
    assert list(tmp_path.iterdir()) == []  # nothing is left behind


def test_errors_have_names(gpu: Gpu) -> None:
    text = c_char_p()
    gpu.ok(gpu.cu.cuGetErrorName(INVALID_CONTEXT, byref(text)))
    assert text.value == b"CUDA_ERROR_INVALID_CONTEXT"
    assert gpu.cu.cuGetErrorString(99999, byref(text)) == INVALID_VALUE


def test_penstock_gets_this_driver(software_gpu: dict[str, str]) -> None:
    """Unless there is a real one, whose environment is left as it was."""
    if not software_gpu:
        assert libraries.has_real_gpu() or os.environ["PENSTOCK_TEST_REAL_GPU"] == "1"
        return
    assert os.environ["PENSTOCK_CUDA_DRIVER"] == software_gpu["PENSTOCK_CUDA_DRIVER"]
    count = c_int()
    driver = ctypes.CDLL(os.environ["PENSTOCK_CUDA_DRIVER"])
    assert driver.cuInit(0) == driver.cuDeviceGetCount(byref(count)) == 0
    assert count.value == 2
    assert ctypes.CDLL(os.environ["PENSTOCK_NVRTC"]).nvrtcVersion(byref(count), byref(count)) == 0
