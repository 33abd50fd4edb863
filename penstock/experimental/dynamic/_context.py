"""What operators run with: threads, a GPU, and the plans of calls that were made before."""

from __future__ import annotations

import os
import threading
from typing import Any, ClassVar

from penstock._values import whole_number
from penstock.eager.compute import Computer
from penstock.experimental.dynamic._entered import Entered

_MOST_THREADS_BY_DEFAULT = 8
_threads: int | None = None


def get_num_threads() -> int:
    """The threads of contexts that do not say how many: the process's processors, up to 8, or `set_num_threads`."""
    return _threads or max(1, min(len(os.sched_getaffinity(0)), _MOST_THREADS_BY_DEFAULT))


def set_num_threads(n: int) -> None:
    """Sets what `get_num_threads` says."""
    global _threads
    _threads = whole_number("set_num_threads: n", n, least=1)
    EvalContext._forget()


class EvalContext(Entered):
    """Threads and a GPU that operators run with; ``with context:`` makes it this thread's.

    Args:
        num_threads: threads that work on samples; None: `get_num_threads`.
        device_id: the GPU of operators on one; None: GPU 0.
        thread_pool: a `ThreadPool`, of which the number of threads counts.
        cuda_stream: accepted as in DALI, without an effect: plans have streams of their own.

    >>> import penstock.experimental.dynamic as ndd
    >>> with ndd.EvalContext(num_threads=2) as context:
    ...     print(ndd.EvalContext.current() is context, (ndd.tensor([1, 2]) + 1).cpu().shape)
    True (2,)
    """

    _lock: ClassVar[Any] = threading.Lock()
    _default: ClassVar[EvalContext | None] = None

    def __init__(
        self, *, num_threads: int | None = None, device_id: int | None = None, cuda_stream: Any = None,
        thread_pool: Any = None,
    ):  # fmt: skip
        num_threads = num_threads or getattr(thread_pool, "num_threads", None)
        self._num_threads = None if num_threads is None else whole_number("EvalContext: num_threads", num_threads, 1)
        self._device_id, self.cuda_stream, self.thread_pool = device_id, cuda_stream, thread_pool
        self._computer: Computer | None = None
        self._checkpoint: Any = None

    @property
    def num_threads(self) -> int:
        """Threads that work on samples."""
        return self._num_threads or get_num_threads()

    @property
    def device_id(self) -> int:
        """The number of the GPU that operators on one run on."""
        return self._device_id or 0

    @property
    def computer(self) -> Computer:
        """What computes, with the plans that it keeps."""
        if self._computer is None:
            self._computer = Computer(self.num_threads, self.device_id)
        return self._computer

    @property
    def checkpoint(self) -> Any:
        """The `checkpoint.Checkpoint` of this context."""
        if self._checkpoint is None:
            from penstock.experimental.dynamic.checkpoint import Checkpoint

            self._checkpoint = Checkpoint()
        return self._checkpoint

    @classmethod
    def default(cls) -> EvalContext:
        """The one of threads that have entered none; threads share it."""
        with cls._lock:
            if cls._default is None:
                cls._default = cls()
            return cls._default

    @classmethod
    def current(cls) -> EvalContext:
        """This thread's."""
        return cls._innermost() or cls.default()

    @classmethod
    def _forget(cls) -> None:
        with cls._lock:
            default, cls._default = cls._default, None
        if default and default._computer:
            default._computer.close()

    def evaluate_all(self) -> None:
        """Without effect: nothing is under way that nobody has asked for."""
