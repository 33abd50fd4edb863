"""Calls the functions of a plan's segments in Python, on a thread of its own.

The engine says when a batch has come to such a segment, and goes on with the function's outputs. While the thread waits
for that, it holds neither the GIL nor anything of the pipeline, which can go as if there were no thread; and closing
wakes it. Batches come in order, each is called once, and what a function raises is its iteration's failure.
"""

from __future__ import annotations

import ctypes as c
import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from penstock.errors import DeviceError, FunctionError
from penstock.feed.data import Fed, feed, room
from penstock.feed.turn import Turn
from penstock.graph.blame import warn
from penstock.graph.location import of_the_user
from penstock.machine import native
from penstock.run.batches import Batch
from penstock.run.program import Function
from penstock.tensors import TensorListCPU, TensorListGPU
from penstock.tensors.arrays import describe_extents
from penstock.tensors.samples import rows_of

GRACE = 1.0  # seconds that closing waits for a function that is being called

# Hands a batch to the engine, with a layout: for a function on the CPU or on the GPU.
Feed = Callable[[Any, str | None], Fed]
# Memory for the samples that descriptors tell of.
Room = Callable[[Any], Fed]


class _Called(Batch):
    """What a function is called with (`penstock.op.Called`). It is the engine's call until it is answered."""

    def __init__(
        self, call: native.Call, function: Function, feed: Feed, room: Room, device: int | None, threads: int
    ):  # fmt: skip
        super().__init__(native.quick())
        self.answer.batch = call.batch
        self.size, self.device, self.stream, self.threads = int(call.size), device, call.stream or None, threads
        self._function, self._feed, self._room = function, feed, room
        self._given: dict[int, Fed] = {}

    def inputs(self) -> Sequence[TensorListCPU | TensorListGPU]:
        """A list of tensors for each, of memory that lasts as long as they do."""
        return [self._input(k) for k in range(len(self._function.inputs))]

    def give(self, output: int, samples: Any) -> None:
        """Copies a batch, which goes on as this output."""
        node = self._function.node
        try:
            fed = self._feed(samples, node.op.output_layout(output))
        except (TypeError, ValueError, DeviceError) as e:
            which = f"output {output} of the function" if len(node.outputs) > 1 else "what the function returned"
            raise FunctionError(f"{which} makes no batch: {e}") from e
        if fed.size != self.size:
            raise FunctionError(f"the function returned {fed.size} samples, but was given {self.size}")
        self._given[output] = fed

    def room(self, output: int, dtype: Any, extents: Any) -> Any:
        """Memory for a batch that goes on as this output: descriptors of it, in which the caller writes."""
        samples = describe_extents(dtype, extents, self._function.node.op.output_layout(output) or "")
        self._given[output] = self._room(samples)
        return rows_of(samples)

    def outputs(self) -> list[Fed]:
        """What was given."""
        return [self._given[k] for k in range(len(self._function.node.outputs))]

    def _input(self, k: int) -> TensorListCPU | TensorListGPU:
        shown = self.show(self._function.inputs[k], self.size)
        if isinstance(shown, TensorListCPU):
            if self._function.borrowed[k]:  # the user's own, which only the iteration keeps
                shown = TensorListCPU([array.copy() for array in shown._arrays()], shown.layout() or None)
            shown._writable = False  # others may look at it, too
        return shown


class Calls:
    """The functions of a running plan.

    ``owner`` keeps the native executor, which the thread needs to the end.
    """

    def __init__(
        self, handle: c.c_void_p, owner: object, functions: dict[int, Function], device: int | None, turn: Turn,
        name: str, threads: int,
    ):  # fmt: skip
        self._handle, self._functions, self._device, self._turn = handle, functions, device, turn
        self._threads, self._pinned = threads, device is not None
        self._raised: dict[int, BaseException] = {}  # by the engine's number of the iteration
        self.thread = threading.Thread(
            target=_serve, args=(handle, owner, weakref.ref(self)), name=f"{name}-python", daemon=True
        )

    def raised(self, iteration: int) -> BaseException | None:
        """What a function raised in an iteration. That of earlier ones is forgotten."""
        found = self._raised.get(iteration)
        for number in [n for n in list(self._raised) if n < iteration]:
            self._raised.pop(number, None)
        return found

    def serve(self, call: native.Call) -> None:
        """Calls a function, and answers the engine."""
        function = self._functions[call.node]
        device = self._device if function.node.device == "gpu" else None
        give, find = functools.partial(self._fed, device), functools.partial(room, self._handle, waits=self._pinned)
        called = _Called(call, function, give, find, device, self._threads)
        self._turn.function = threading.get_ident(), function.node.name
        try:
            function.node.op.call(called)
            self._answer(call, called.outputs())
        except BaseException as error:
            self._refuse(call, error)
        finally:
            self._turn.function = None

    def _fed(self, device: int | None, samples: Any, layout: str | None) -> Fed:
        return feed(self._handle, samples, layout, device=device, copy=True, stream=None, waits=self._pinned)

    def _answer(self, call: native.Call, outputs: Sequence[Fed]) -> None:
        handles = (c.c_void_p * len(outputs))(*[fed.handle for fed in outputs])
        if native.quick().ps_executor_answer(self._handle, c.byref(call), handles, len(outputs)) < 0:
            raise FunctionError(native.last_error().message.decode(errors="replace"))

    def _refuse(self, call: native.Call, error: BaseException) -> None:
        traceback = of_the_user(error.__traceback__)  # other frames would keep the batch
        if isinstance(error, FunctionError) and not traceback:  # it was raised here
            why = str(error)
        else:
            why = f"the function raised {type(error).__name__}: {error}"
            self._raised[call.iteration] = error.with_traceback(traceback)
        native.quick().ps_executor_refuse(self._handle, c.byref(call), why.encode(errors="replace"))


def _serve(handle: c.c_void_p, owner: object, calls: weakref.ref[Calls]) -> None:
    library = native.blocking()
    while True:
        call = native.Call()
        if library.ps_executor_next_call(handle, c.byref(call)) < 0:
            return  # it is closed
        if not _serve_one(call, calls):
            return


def _serve_one(call: native.Call, calls: weakref.ref[Calls]) -> bool:
    # A function of its own: what it refers to is not to be kept while the thread waits.
    found = calls()
    if found is None:
        native.quick().ps_batch_destroy(call.batch)
        return False
    found.serve(call)
    return True


def join(thread: threading.Thread) -> None:
    """Waits for the thread of a closed engine: for the function that is being called, but not for ever."""
    if thread is threading.current_thread() or not thread.is_alive():
        return
    thread.join(GRACE)
    if thread.is_alive():
        warn(
            f"a function of the pipeline has not returned within {GRACE:g} s of closing: its thread is left to itself",
            RuntimeWarning,
        )
