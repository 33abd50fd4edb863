"""The software GPU's libraries, called through ctypes as a driver and a compiler are."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_int32, c_size_t, c_uint64, c_void_p
from typing import Any

import numpy as np

from tests.programs import ROOT
from tests.software_gpu import libraries

HEADERS = ROOT / "penstock"


class Launch(ctypes.Structure):
    """ps::device::Launch, the argument of every kernel of Penstock."""

    _fields_ = (("jobs", c_uint64), ("first_block", c_uint64), ("stride", c_int32), ("samples", c_int32))


def nvrtc() -> Any:
    return ctypes.CDLL(str(libraries.library("libsoftnvrtc.so")))


def compile_kernel(source: str, *options: str) -> tuple[int, bytes, str]:
    """(result, image, log) of NVRTC's functions."""
    library, program, size = nvrtc(), c_void_p(), c_size_t()
    assert library.nvrtcCreateProgram(byref(program), source.encode(), b"test.cu", 0, None, None) == 0
    words = [f"-I{HEADERS}", "--gpu-architecture=sm_90", "--fmad=false", *options]
    result = library.nvrtcCompileProgram(program, len(words), (c_char_p * len(words))(*map(str.encode, words)))
    assert library.nvrtcGetProgramLogSize(program, byref(size)) == 0
    log = ctypes.create_string_buffer(size.value)
    assert library.nvrtcGetProgramLog(program, log) == 0
    image = b""
    if result == 0:
        assert library.nvrtcGetCUBINSize(program, byref(size)) == 0
        buffer = ctypes.create_string_buffer(size.value)
        assert library.nvrtcGetCUBIN(program, buffer) == 0
        image = buffer.raw
    assert library.nvrtcDestroyProgram(byref(program)) == 0
    assert not program
    return result, image, log.value.decode()


class Gpu:
    """The driver's functions; those that are not tested for their errors raise AssertionError when they fail."""

    def __init__(self) -> None:
        self.cu = ctypes.CDLL(str(libraries.library("libsoftcuda.so")))
        self.ok(self.cu.cuInit(0))
        self.contexts = [self.make(self.cu.cuDevicePrimaryCtxRetain, device) for device in (0, 1)]

    def ok(self, result: int) -> None:
        assert result == 0, result

    def make(self, function: Any, *arguments: Any) -> c_void_p:
        handle = c_void_p()
        self.ok(function(byref(handle), *arguments))
        return handle

    def stream(self) -> c_void_p:
        return self.make(self.cu.cuStreamCreateWithPriority, 1, 0)

    def event(self, flags: int = 0) -> c_void_p:
        return self.make(self.cu.cuEventCreate, flags)

    def memory(self, size: int) -> c_void_p:
        return self.make(self.cu.cuMemAlloc_v2, c_size_t(size))

    def pinned(self, array: np.ndarray) -> np.ndarray:
        """A copy in pinned memory, which stays until the process ends."""
        data = self.make(self.cu.cuMemHostAlloc, c_size_t(array.nbytes), 0)
        copy = np.frombuffer((ctypes.c_char * array.nbytes).from_address(data.value or 0), array.dtype)
        copy = copy.reshape(array.shape)
        copy[...] = array
        return copy

    def upload(self, to: c_void_p, array: np.ndarray, stream: c_void_p) -> None:
        self.ok(self.cu.cuMemcpyHtoDAsync_v2(to, c_void_p(array.ctypes.data), c_size_t(array.nbytes), stream))

    def download(self, array: np.ndarray, source: c_void_p, stream: c_void_p) -> None:
        self.ok(self.cu.cuMemcpyDtoHAsync_v2(c_void_p(array.ctypes.data), source, c_size_t(array.nbytes), stream))

    def kernel(self, source: str) -> c_void_p:
        result, image, log = compile_kernel(source)
        assert result == 0, log
        return self.make(self.cu.cuModuleGetFunction, self.make(self.cu.cuModuleLoadData, image), b"kernel")

    def launch(self, kernel: c_void_p, blocks: int, argument: ctypes.Structure, stream: c_void_p, **more: int) -> int:
        grid = blocks, more.get("grid_y", 1), 1
        arguments = (c_void_p * 1)(ctypes.addressof(argument))
        shared = more.get("shared", 0)
        return int(self.cu.cuLaunchKernel(kernel, *grid, 256, 1, 1, shared, stream, arguments, None))
