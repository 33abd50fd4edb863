"""Computes nodes: a cache of small plans, each of which is an engine that waits for its next batch."""

from __future__ import annotations

import ctypes as c
import threading
from collections import OrderedDict
from collections.abc import Collection, Hashable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from penstock.eager import plans
from penstock.eager.data import EagerNode, Rows, Tensors, leaves, pending
from penstock.errors import ArgumentError, GraphError, PenstockError, from_native
from penstock.feed.data import feed
from penstock.feed.turn import Turn
from penstock.graph.node import DataNode, OpNode
from penstock.machine import native
from penstock.optimize.plan import Plan
from penstock.run.batches import Batch
from penstock.run.engine import Engine
from penstock.tensors import TensorListCPU
from penstock.tensors.arrays import addresses

_POLL_MS = 100  # how soon Ctrl-C is noticed while waiting
PLANS_KEPT = 64
_ALIKE = 4  # plans that differ in numbers alone, before one is made that has the numbers as inputs

Array = np.ndarray[Any, Any]


class Small(Engine):
    """An engine that runs a plan once at a time, for inputs that are there.

    Attributes:
        takes_numbers: whether `plans.numbers_of`, in which plans that are alike differ, are inputs: the last ones.
    """

    def __init__(
        self, plan: Plan, sources: Sequence[OpNode], threads: int, device: int | None, takes_numbers: bool
    ):  # fmt: skip
        self.takes_numbers = takes_numbers
        super().__init__(
            plan, threads=threads, io_threads=threads, depth=1, gpu_depth=1, device=device, stream_priority=0, cpus=(),
            seed=0, name="eager", turn=Turn(),
        )  # fmt: skip
        self._shown = self.program.shown(plan)
        numbers = {node: values[0] for node, values in self.program.inputs}
        self._inputs = [(numbers.get(node), node.device) for node in sources]
        self._runs = 0
        if self.calls:
            self.calls.thread.start()

    def handed_out(self) -> int:
        return self._runs

    def __call__(
        self, values: Sequence[Tensors], size: int, ids: Array, epochs: Array, keys: Sequence[int],
        nodes: Sequence[OpNode], gpu_too: bool,
    ) -> list[Tensors]:  # fmt: skip
        """The outputs. ``nodes``: those of the plan that the call made, in order, of which errors tell the lines."""
        self.check_process()
        library, batch = self._quick, Batch(self._quick)
        kept = []
        for value, (number, device) in zip(values, self._inputs, strict=True):
            if number is None:
                continue
            on = self._device if device == "gpu" else None
            fed = feed(self._handle, value, None, device=on, copy=False, stream=None)
            self._check(library.ps_executor_feed(self._handle, number, fed.handle), nodes)
            kept.append((number, fed))
        numbers = (c.c_uint64 * len(keys))(*keys)
        done = library.ps_executor_schedule_keyed(self._handle, size, *addresses([ids, epochs]), numbers)
        self._check(done, nodes)
        self._wait(batch.answer, nodes, gpu_too)
        self._runs += 1
        batch.kept = [fed for number, fed in kept if number in self._shown]
        return [batch.show(value, size) for value in self.program.outputs]

    def _wait(self, answer: native.Answer, nodes: Sequence[OpNode], gpu_too: bool) -> None:
        try:
            while not answer.state:
                self._blocking.ps_executor_wait(self._handle, _POLL_MS, gpu_too, c.byref(answer))
        except BaseException:  # Ctrl-C: what was scheduled is not to be the next call's
            self._blocking.ps_executor_cancel(self._handle)
            raise
        self._check(answer.state, nodes)

    def _check(self, result: int, nodes: Sequence[OpNode]) -> None:
        if result >= 0:
            return
        info = native.last_error()
        node = nodes[info.node] if 0 <= info.node < len(nodes) else None
        failure = from_native(
            info.kind, info.message.decode(errors="replace"), node.op.name if node else None,
            info.sample if info.sample >= 0 and node else None,
            info.source.decode(errors="surrogateescape") or None,
            str(node.location) if node and node.location else None,
        )  # fmt: skip
        failure.__cause__ = self.calls.raised(self._runs) if self.calls else None
        self._runs += 1
        raise failure


class Computer:
    """Computes what is asked for, with so many threads and on this GPU.

    Plans are kept, those that were used last: a call that was made before costs no plan. Threads take turns.
    """

    def __init__(self, threads: int, device: int | None):
        self._threads, self._device = threads, device
        self._kept: OrderedDict[tuple[Hashable, Hashable], Small] = OrderedDict()
        self._lock = threading.RLock()

    def __call__(
        self, wanted: Sequence[EagerNode], size: int, ids: Array | None = None, epochs: Array | None = None,
        gpu_too: bool = True,
    ) -> None:  # fmt: skip
        """Has these nodes know their contents, and the wanted ones of what they are made of.

        Raises what operators raise, naming the line that made the operator.

        Args:
            wanted: nodes of the same batch.
            size: samples of the whole batch.
            ids: of each sample, and ``epochs``: what random numbers go by; None: the samples' places in the batch.
            gpu_too: wait for the GPU.
        """
        with self._lock:
            self._compute(wanted, size, ids, epochs, gpu_too)

    def _compute(
        self, wanted: Sequence[EagerNode], size: int, ids: Array | None, epochs: Array | None, gpu_too: bool
    ) -> None:
        nodes = pending(list(wanted))
        if not nodes:
            return
        asked: set[int] = {id(data) for data in wanted}
        outputs: list[EagerNode] = [
            data for node in nodes for data in node.outputs
            if isinstance(data, EagerNode) and (id(data) in asked or data.wanted)
        ]  # fmt: skip
        given = leaves(nodes)
        rows = _common_rows(given)
        values = [_some(leaf, rows) for leaf in given]
        count = size if rows is None else len(rows)
        ids = _of_rows(np.arange(size) if ids is None else ids, rows)
        epochs = _of_rows(np.zeros(size) if epochs is None else epochs, rows)
        engine = self._engine(nodes, given, outputs)
        if engine.takes_numbers:
            values += [TensorListCPU(np.full(count, number)) for number in plans.numbers_of(nodes).values()]
        keys = [node.key or 0 for node in nodes]
        try:
            results = engine(values, count, ids, epochs, keys, nodes, gpu_too)
        except GraphError:
            raise
        except PenstockError as failure:
            raise failure.with_traceback(None) from failure.__cause__
        for data, value in zip(outputs, results, strict=True):
            data.know(value, rows)
        for node in nodes:
            if all(getattr(data, "value", None) is not None for data in node.outputs):
                node.inputs, node.op.tensors = [], {}  # which would keep all that it was made of

    def _engine(self, nodes: list[OpNode], given: Sequence[EagerNode], wanted: Sequence[DataNode]) -> Small:
        try:
            kind, numbers = plans.key(nodes, given, wanted)
            for key in ((kind, numbers), (kind, None)):
                found = self._kept.get(key)
                if found is not None and not found.closed:
                    self._kept.move_to_end(key)
                    return found
        except TypeError:  # a constant that has no hash
            return self._made(nodes, given, wanted)
        made = None
        if numbers and sum(kind == other for other, _ in self._kept) >= _ALIKE:
            with suppress(ArgumentError):  # an operator that needs constants
                made = self._made(nodes, given, wanted, plans.numbers_of(nodes))
        made = made or self._made(nodes, given, wanted)
        self._kept[kind, None if made.takes_numbers else numbers] = made
        if len(self._kept) > PLANS_KEPT:
            self._kept.popitem(last=False)[1].close()
        return made

    def _made(
        self, nodes: list[OpNode], given: Sequence[EagerNode], wanted: Sequence[DataNode],
        numbers: Collection[plans.Place] = (),
    ) -> Small:  # fmt: skip
        plan, sources = plans.make(nodes, given, wanted, numbers)
        on_gpu = any(node.device != "cpu" for node in plan.nodes)
        return Small(plan, sources, self._threads, self._device if on_gpu else None, bool(numbers))

    def __len__(self) -> int:
        return len(self._kept)

    def close(self) -> None:
        """Stops all threads."""
        with self._lock:
            while self._kept:
                self._kept.popitem()[1].close()


def _common_rows(given: Sequence[EagerNode]) -> Rows | None:
    """The samples that all of these have: those of the innermost branch."""
    some = [leaf.rows for leaf in given if leaf.rows is not None]
    return min(some, key=len) if some else None


def _some(leaf: EagerNode, rows: Rows | None) -> Tensors:
    assert leaf.value is not None
    if rows is None or leaf.rows == rows:
        return leaf.value
    places = rows if leaf.rows is None else [leaf.rows.index(row) for row in rows]
    return select(leaf.value, places)


def select(value: Tensors, places: Sequence[int]) -> Tensors:
    """These samples of a batch, of the same memory."""
    if not places:
        return value[:0]
    return type(value)([value[place] for place in places])


def _of_rows(numbers: Array, rows: Rows | None) -> Array:
    return np.ascontiguousarray(numbers if rows is None else numbers[list(rows)], np.int64)
