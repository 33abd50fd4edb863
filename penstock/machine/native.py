"""The C ABI of native/penstock.h as ctypes sees it; tests/machine/test_native_calls.py compares them.

Calls that may wait go through ``blocking`` and give up the GIL; all others go through ``quick`` and keep it: they
return at once, and winning the GIL back from a busy main thread can take 5 ms.
"""

from __future__ import annotations

import ctypes as c
import enum
from functools import cache
from typing import Any

from penstock.errors import NativeLibraryError, PenstockError, from_native
from penstock.machine import loader

ABI_VERSION = 17
MAX_DIMS = 12
DECODER_STATS = 12
CONTIGUOUS, UNIFORM = 1, 2
DLPACK_VERSIONED, DLPACK_COPIED = 1, 2


class NodeFlag(enum.IntFlag):
    """What `ps_plan_node` is told of a node."""

    EARLY = 1
    ALIAS = 2
    IO = 4
    HOST_OUTPUT = 8
    BATCHWISE = 16
    TOLERANT = 32
    DEVICE_OUTPUT = 64
    MIXES = 128


class Tensor(c.Structure):
    """``ps_tensor``: one sample of one value."""

    _fields_ = [
        ("data", c.c_void_p),
        ("dtype", c.c_int32),
        ("ndim", c.c_int32),
        ("shape", c.c_int64 * MAX_DIMS),
        ("layout", c.c_char * 16),
        ("source", c.c_char_p),
    ]


class ErrorInfo(c.Structure):
    """``ps_error_info``: why this thread's last call failed."""

    _fields_ = [
        ("kind", c.c_int32),
        ("node", c.c_int32),
        ("sample", c.c_int32),
        ("message", c.c_char_p),
        ("source", c.c_char_p),
    ]


class Codec(c.Structure):
    """``ps_codec``: a picture format."""

    _fields_ = [
        ("name", c.c_char_p),
        ("patterns", c.c_char_p),
        ("library", c.c_char_p),
        ("sample", c.c_void_p),
        ("sample_bytes", c.c_int64),
    ]


class Members(c.Structure):
    """``ps_members``: the files of an archive."""

    _fields_ = [
        ("files", c.c_int64),
        ("samples", c.c_int64),
        ("offsets", c.POINTER(c.c_int64)),
        ("bytes", c.POINTER(c.c_int64)),
        ("sample", c.POINTER(c.c_int64)),
        ("extension", c.POINTER(c.c_int32)),
        ("names", c.c_void_p),
        ("names_bytes", c.c_int64),
        ("extensions", c.c_void_p),
        ("extensions_bytes", c.c_int64),
    ]


class Records(c.Structure):
    """``ps_records``: where the records of a file lie."""

    _fields_ = [
        ("records", c.c_int64),
        ("offsets", c.POINTER(c.c_int64)),
        ("bytes", c.POINTER(c.c_int64)),
        ("names", c.c_void_p),
        ("names_bytes", c.c_int64),
    ]


class Request(c.Structure):
    """``ps_request``: what a reader wants of an object store."""

    _fields_ = [("id", c.c_int64), ("begin", c.c_int64), ("bytes", c.c_int64), ("name", c.c_char_p)]


class Answer(c.Structure):
    """``ps_answer``: 0 (not yet), 1 (a batch) or -1 (it failed)."""

    _fields_ = [("state", c.c_int32), ("batch", c.c_void_p)]


class Call(c.Structure):
    """``ps_call``: what a segment in Python wants called."""

    _fields_ = [
        ("node", c.c_int32),
        ("size", c.c_int32),
        ("iteration", c.c_int64),
        ("start_ns", c.c_int64),
        ("stream", c.c_uint64),
        ("batch", c.c_void_p),
    ]


class Options(c.Structure):
    """``ps_options``: how an executor runs."""

    _fields_ = [
        ("threads", c.c_int32),
        ("io_threads", c.c_int32),
        ("depth", c.c_int32),
        ("gpu_depth", c.c_int32),
        ("device", c.c_int32),
        ("stream_priority", c.c_int32),
        ("num_cpus", c.c_int32),
        ("cpus", c.POINTER(c.c_int32)),
        ("name", c.c_char_p),
        ("read_timeout", c.c_double),
    ]


class GpuInfo(c.Structure):
    """``ps_gpu_info``: what a GPU is, and this process's memory of it."""

    _fields_ = [
        ("arch", c.c_int32),
        ("multiprocessors", c.c_int32),
        ("memory_held", c.c_int64),
        ("memory_peak", c.c_int64),
        ("pinned_held", c.c_int64),
        ("pinned_peak", c.c_int64),
        ("name", c.c_char * 256),
        ("bus", c.c_char * 32),
    ]


class Span(c.Structure):
    """``ps_span``: what a thread of the engine did, and when."""

    _fields_ = [
        ("start_ns", c.c_int64),
        ("end_ns", c.c_int64),
        ("batch", c.c_int64),
        ("thread", c.c_int32),
        ("did", c.c_int32),
        ("at", c.c_int32),
        ("sample", c.c_int32),
    ]


class Passes(c.Structure):
    """``ps_passes``: how many samples a group took in one pass, or node by node, and why; or a reader, straight from
    files.
    """

    _fields_ = [("node", c.c_int32), ("misfit", c.c_int32), ("samples", c.c_int64), ("why", c.c_char_p)]


Compiler = c.CFUNCTYPE(None, c.c_char_p, c.c_int, c.c_void_p)

_i32p, _i64p = c.POINTER(c.c_int32), c.POINTER(c.c_int64)
_tensors = c.POINTER(Tensor)
_memory = c.c_void_p  # ps_gpu_memory*
_BLOCKING: dict[str, tuple[Any, list[Any]]] = {
    "ps_executor_create": (c.c_int, [c.c_void_p, c.POINTER(Options), c.POINTER(c.c_void_p)]),
    "ps_gpu_count": (c.c_int, []),
    "ps_gpu_describe": (c.c_int, [c.c_int, c.POINTER(GpuInfo)]),
    "ps_gpu_release_unused": (c.c_int, [c.c_int]),
    "ps_gpu_preallocate": (c.c_int, [c.c_int, c.c_int64, c.c_int64]),
    "ps_gpu_check_image_codec": (c.c_int, []),
    "ps_gpu_open_storage": (c.c_int, []),
    "ps_gpu_close_storage": (None, []),
    "ps_gpu_set_compiler": (None, [Compiler]),
    "ps_library_load": (c.c_int, [c.c_char_p, c.c_int, c.c_void_p]),
    "ps_executor_close": (c.c_int, [c.c_void_p]),
    "ps_executor_destroy": (c.c_int, [c.POINTER(c.c_void_p)]),
    "ps_executor_next_call": (c.c_int, [c.c_void_p, c.POINTER(Call)]),
    "ps_executor_wait": (None, [c.c_void_p, c.c_int, c.c_int, c.POINTER(Answer)]),
    "ps_executor_cancel": (c.c_int, [c.c_void_p]),
    "ps_executor_release_unused": (c.c_int, [c.c_void_p]),
    "ps_jpeg_index_create": (c.c_void_p, [c.c_char_p]),
    "ps_jpeg_index_add": (c.c_int, [c.c_void_p, c.c_char_p, _i64p, c.c_int, _i32p]),
    "ps_jpeg_index_finish": (c.c_int, [c.c_void_p]),
    "ps_jpeg_index_destroy": (None, [c.c_void_p]),
    "ps_video_index_make": (c.c_void_p, [c.c_char_p, c.POINTER(c.c_void_p), _i64p]),
    "ps_video_libraries": (c.c_char_p, []),
    "ps_fed_host": (c.c_void_p, [c.c_void_p, _tensors, c.c_int, c.c_int]),
    "ps_fed_room": (c.c_void_p, [c.c_void_p, _tensors, c.c_int]),
    "ps_archive_read": (c.c_void_p, [c.c_char_p, c.c_int, c.POINTER(Members)]),
    "ps_record_table_read": (c.c_void_p, [c.c_char_p, c.c_int, c.POINTER(Records)]),
    "ps_stores_take": (c.c_int, [c.POINTER(Request)]),
    "ps_contents_read": (c.c_void_p, [c.c_char_p, c.POINTER(c.c_void_p), _i64p]),
    "ps_fed_device": (c.c_void_p, [c.c_void_p, _tensors, c.c_int, c.c_int, c.c_uint64, c.c_int]),
    "ps_fed_upload": (c.c_void_p, [c.c_int, _tensors, c.c_int]),
    "ps_gpu_borrow": (_memory, [c.c_int, c.POINTER(c.c_uint64), c.c_void_p, c.c_void_p]),
    "ps_gpu_upload": (_memory, [c.c_int, _tensors, c.c_int, c.POINTER(c.c_void_p)]),
    "ps_gpu_gather": (_memory, [_memory, _tensors, c.c_int, c.POINTER(c.c_void_p)]),
    "ps_gpu_download": (c.c_int, [_memory, _tensors, c.c_int, c.c_void_p]),
    "ps_gpu_copy_out": (c.c_int, [_memory, _tensors, c.c_int, c.c_void_p, c.c_uint64, c.c_int]),
    "ps_gpu_wait": (c.c_int, [_memory]),
    "ps_gpu_copy_stream": (c.c_int, [c.c_int, c.POINTER(c.c_uint64)]),
    "ps_gpu_device_at": (c.c_int, [c.c_void_p]),
}
_QUICK: dict[str, tuple[Any, list[Any]]] = {
    "ps_library_take": (c.c_int, [c.c_void_p, c.c_void_p]),
    "ps_abi_version": (c.c_int, []),
    "ps_isa": (c.c_char_p, []),
    "ps_error": (None, [c.POINTER(ErrorInfo)]),
    "ps_plan_create": (c.c_void_p, []),
    "ps_plan_destroy": (None, [c.c_void_p]),
    "ps_plan_source": (c.c_int, [c.c_void_p, c.c_int]),
    "ps_plan_constant": (c.c_int, [c.c_void_p, _tensors]),
    "ps_arg_integers": (c.c_int, [c.c_void_p, c.c_char_p, _i64p, c.c_int]),
    "ps_arg_numbers": (c.c_int, [c.c_void_p, c.c_char_p, c.POINTER(c.c_double), c.c_int]),
    "ps_arg_strings": (c.c_int, [c.c_void_p, c.c_char_p, c.POINTER(c.c_char_p), c.c_int]),
    "ps_arg_bytes": (c.c_int, [c.c_void_p, c.c_char_p, c.c_char_p, c.c_int64]),
    "ps_arg_table": (c.c_int, [c.c_void_p, c.c_char_p, _tensors]),
    "ps_arg_value": (c.c_int, [c.c_void_p, c.c_char_p, c.c_int]),
    "ps_arg_none": (c.c_int, [c.c_void_p, c.c_char_p]),
    "ps_node_device": (c.c_int, [c.c_void_p, c.c_char_p, c.c_int]),
    "ps_plan_node": (c.c_int, [c.c_void_p, c.c_char_p, _i32p, c.c_int, c.c_int, c.c_uint64, c.c_int, c.c_int]),
    "ps_plan_scope": (c.c_int, [c.c_void_p, c.c_int, c.c_int, c.c_int]),
    "ps_plan_limit": (c.c_int, [c.c_void_p, c.c_int, c.c_int]),
    "ps_plan_segment": (c.c_int, [c.c_void_p, _i32p, _i32p, c.c_int, c.c_int]),
    "ps_plan_outputs": (c.c_int, [c.c_void_p, _i32p, c.c_int]),
    "ps_fed_host": (c.c_void_p, [c.c_void_p, _tensors, c.c_int, c.c_int]),
    "ps_fed_room": (c.c_void_p, [c.c_void_p, _tensors, c.c_int]),
    "ps_fed_destroy": (None, [c.c_void_p]),
    "ps_executor_feed": (c.c_int, [c.c_void_p, c.c_int, c.c_void_p]),
    "ps_executor_feed_integers": (c.c_int, [c.c_void_p, c.c_int, c.c_void_p, c.c_int]),
    "ps_executor_schedule": (c.c_int, [c.c_void_p, c.c_int, c.c_void_p, c.c_void_p]),
    "ps_executor_schedule_counted": (c.c_int, [c.c_void_p, c.c_int, c.c_int64]),
    "ps_executor_schedule_keyed": (c.c_int, [c.c_void_p, c.c_int, c.c_void_p, c.c_void_p, c.POINTER(c.c_uint64)]),
    "ps_executor_answer": (c.c_int, [c.c_void_p, c.POINTER(Call), c.POINTER(c.c_void_p), c.c_int]),
    "ps_executor_refuse": (c.c_int, [c.c_void_p, c.POINTER(Call), c.c_char_p]),
    "ps_executor_scheduled": (c.c_int64, [c.c_void_p]),
    "ps_executor_node_stats": (c.c_int, [c.c_void_p, _i64p, c.c_int]),
    "ps_executor_thread_stats": (c.c_int, [c.c_void_p, _i64p, c.c_int]),
    "ps_executor_record": (c.c_int, [c.c_void_p, c.c_int]),
    "ps_executor_spans": (c.c_int, [c.c_void_p, c.POINTER(Span), c.c_int]),
    "ps_executor_spans_lost": (c.c_int64, [c.c_void_p]),
    "ps_executor_passes": (c.c_int, [c.c_void_p, c.POINTER(Passes), c.c_int]),
    "ps_executor_reads": (c.c_int, [c.c_void_p, c.POINTER(Passes), c.c_int]),
    "ps_executor_stage_stats": (c.c_int, [c.c_void_p, _i64p, c.c_int]),
    "ps_executor_decoder_stats": (c.c_int, [c.c_void_p, _i64p, c.c_int]),
    "ps_executor_memory": (c.c_int, [c.c_void_p, _i64p, _i64p]),
    "ps_executor_stream": (c.c_uint64, [c.c_void_p]),
    "ps_executor_kernels": (c.c_int, [c.c_void_p, c.POINTER(c.c_char_p), c.c_int]),
    "ps_video_index_check": (c.c_int, [c.c_void_p, c.c_int64]),
    "ps_video_index_destroy": (None, [c.c_void_p]),
    "ps_archive_destroy": (None, [c.c_void_p]),
    "ps_record_table_destroy": (None, [c.c_void_p]),
    "ps_contents_destroy": (None, [c.c_void_p]),
    "ps_stores_open": (c.c_int, []),
    "ps_stores_close": (None, []),
    "ps_stores_released": (c.c_int64, []),
    "ps_stores_answer": (c.c_int, [c.c_int64, c.c_void_p, c.c_int64, c.c_int64, c.c_char_p]),
    "ps_stores_refuse": (None, [c.c_int64, c.c_char_p, c.c_int]),
    "ps_stores_note": (None, [c.c_char_p, c.c_int64, c.c_char_p]),
    "ps_stores_cache": (c.c_int, [c.c_char_p, c.c_int64]),
    "ps_memory_file": (c.c_int, [c.c_char_p, c.c_void_p, c.c_int64]),
    "ps_decode_set_max_pixels": (None, [c.c_int64]),
    "ps_decode_set_library": (c.c_int, [c.c_char_p, c.c_char_p]),
    "ps_decode_codecs": (c.c_int, [c.POINTER(Codec), c.c_int]),
    "ps_library_add": (c.c_int, [c.c_void_p, c.c_char_p]),
    "ps_gpu_set_library": (c.c_int, [c.c_char_p, c.c_char_p]),
    "ps_gpu_headers": (c.c_char_p, []),
    "ps_gpu_compiled": (None, [c.c_void_p, c.c_char_p, c.c_int64, c.c_char_p]),
    "ps_batch_size": (c.c_int, [c.c_void_p, c.c_int]),
    "ps_batch_samples": (c.c_int, [c.c_void_p, c.c_int, _tensors]),
    "ps_batch_show": (c.c_int64, [c.c_void_p, c.c_int, c.c_int, _tensors]),
    "ps_batch_broken_samples": (c.c_int, [c.c_void_p, c.POINTER(ErrorInfo), c.c_int]),
    "ps_batch_destroy": (None, [c.c_void_p]),
    "ps_batch_device": (c.c_int, [c.c_void_p, c.c_int]),
    "ps_gpu_of_batch": (_memory, [c.c_void_p, c.c_int]),
    "ps_gpu_join": (_memory, [c.POINTER(_memory), c.c_int]),
    "ps_gpu_passed": (c.c_int, [_memory]),
    "ps_gpu_order": (c.c_int, [_memory, c.c_uint64]),
    "ps_gpu_lend": (c.c_int, [_memory]),
    "ps_gpu_destroy": (None, [_memory]),
    "ps_dlpack_export": (c.c_void_p, [_memory, _tensors, c.c_int, c.POINTER(c.c_void_p)]),
    "ps_dlpack_capsule_destructor": (None, [c.c_void_p]),
    "ps_capsules_lend": (c.c_int, [c.c_void_p, _tensors, c.c_int, c.c_void_p]),
    "ps_capsules_take": (c.c_void_p, [c.c_void_p, _tensors]),
    "ps_capsules_destroy": (None, [c.c_void_p]),
}


def _typed(library: c.CDLL, functions: dict[str, tuple[Any, list[Any]]]) -> c.CDLL:
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


@cache
def blocking() -> c.CDLL:
    """The library for calls that may wait."""
    _checked()
    return _typed(loader.library(), _BLOCKING)


@cache
def quick() -> c.CDLL:
    """The library for calls that return at once."""
    return _typed(_checked(), _QUICK)


@cache
def _checked() -> c.PyDLL:
    library = loader.quick_library()
    if library.ps_abi_version() != ABI_VERSION:  # before its functions are looked for: an older one lacks some
        raise NativeLibraryError(
            f"{loader.library_path()} has ABI {library.ps_abi_version()}, but this penstock needs {ABI_VERSION}: "
            "build it again (./dev build)"
        )
    return library


def last_error() -> ErrorInfo:
    """Why the calling thread's last native call failed."""
    info = ErrorInfo()
    quick().ps_error(c.byref(info))
    return info


def failure(operator: str | None = None, location: str | None = None) -> PenstockError:
    """The exception for it, about that operator."""
    info = last_error()
    return from_native(info.kind, info.message.decode(errors="replace"), operator, location=location)


def integers(values: Any) -> Any:
    """A C array of int64."""
    return (c.c_int64 * len(values))(*values)


def ints(values: Any) -> Any:
    """A C array of int32."""
    return (c.c_int32 * len(values))(*values)
