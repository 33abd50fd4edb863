"""Streams and thread pools, for scripts that make some: plans here have their own, and wait for what they read."""

from __future__ import annotations

import threading
from typing import Any

from penstock._values import whole_number
from penstock.experimental.dynamic._context import get_num_threads

_default: dict[int, Any] = {}
_local = threading.local()


class Stream:
    """A CUDA stream of another library's: what has ``cuda_stream``, ``ptr`` or ``__cuda_stream__``, or its handle.

    Without one it stands for the plans' own streams.
    """

    def __init__(self, *, stream: Any = None, device_id: int | None = None):
        self.stream, self.device_id = stream, device_id or 0

    @property
    def handle(self) -> int | None:
        """Its handle; None: that of the plans' own."""
        from penstock.tensors.gpu_memory import stream_handle

        return None if self.stream is None else int(stream_handle(self.stream) or 0)

    def synchronize(self) -> None:
        """Without effect: results are there when they are given to others."""


def stream(*, stream: Any = None, device_id: int | None = None) -> Stream:
    """A `Stream`."""
    return stream if isinstance(stream, Stream) else Stream(stream=stream, device_id=device_id)


def set_default_stream(cuda_stream: Any, /, device_id: int | None = None) -> None:
    """Sets what `get_default_stream` gives."""
    _default[device_id or 0] = stream(stream=cuda_stream, device_id=device_id)


def get_default_stream(device_id: int | None = None) -> Stream:
    """The one that was set for a GPU, or one that stands for the plans' own."""
    found: Stream = _default.get(device_id or 0) or Stream(device_id=device_id)
    return found


def set_current_stream(cuda_stream: Any, /) -> None:
    """Sets what `get_current_stream` gives on this thread."""
    _local.stream = stream(stream=cuda_stream)


def get_current_stream() -> Stream:
    """The one that was set on this thread, or the default one."""
    found: Stream = getattr(_local, "stream", None) or get_default_stream()
    return found


class ThreadPool:
    """A number of threads, for `EvalContext`."""

    def __init__(self, num_threads: int | None = None, *, device_id: int | None = None):
        self.num_threads = (
            get_num_threads() if num_threads is None else whole_number("ThreadPool: num_threads", num_threads, 1)
        )
        self.device_id = device_id
