"""Hands a plan to the native library, node by node."""

from __future__ import annotations

import ctypes as c
import enum
import hashlib
from typing import Any, NamedTuple

import numpy as np

from penstock import types
from penstock.errors import PenstockError, from_native
from penstock.graph.blame import Blame
from penstock.graph.node import DataNode, OpNode
from penstock.machine import native
from penstock.machine.native import NodeFlag
from penstock.op import Chosen, Literal
from penstock.optimize.plan import Plan, Scope

_PYTHON = "python_function"  # the kernel of all nodes whose work is Python


class Function(NamedTuple):
    """A node in Python."""

    node: OpNode
    inputs: list[int]  # values
    borrowed: list[bool]  # which of these may lie in memory of the user's


class Program:
    """A native plan and what its numbers mean here."""

    def __init__(self, plan: Plan, seed: int, device: int | None = None):
        self.nodes: list[OpNode] = []  # by native number
        self.readers: list[tuple[OpNode, int]] = []  # and the value that tells them which samples
        self.inputs: list[tuple[OpNode, list[int]]] = []  # of the pipeline, and their values
        self.outputs: list[int] = []  # their values
        self.called: dict[int, Function] = {}  # in Python, by native number
        self.draws: list[str] = []  # operators that draw random numbers, in the order by which these are told apart
        self.chosen: dict[OpNode, Chosen] = {}  # what does a node's work, where there is a choice
        self._library = native.quick()
        self._handle: Any = self._library.ps_plan_create()
        self._values: dict[DataNode, int] = {}
        self._scopes: dict[Scope, int] = {}
        self._device = device
        try:
            self._build(plan, seed)
        except BaseException:
            self._library.ps_plan_destroy(self._handle)
            raise

    def take(self) -> Any:
        """The native handle, which is the caller's from then on."""
        handle, self._handle = self._handle, None
        return handle

    def shown(self, plan: Plan) -> frozenset[int]:
        """The values of inputs whose memory outputs show."""
        origins = map(self._origin, plan.outputs)
        return frozenset(self._values[data] for data in origins if data.source.op.external)

    @staticmethod
    def _origin(data: DataNode) -> DataNode:
        """The value whose memory this one shows: itself, unless an alias made it."""
        while data.source.op.alias:
            data = data.source.inputs[0]
        return data

    def failure(self) -> PenstockError:
        """The exception for this thread's last native failure."""
        return self.exception(native.last_error())

    def exception(self, info: native.ErrorInfo) -> PenstockError:
        """The exception for a native failure."""
        node = self.nodes[info.node] if 0 <= info.node < len(self.nodes) else None
        return from_native(
            info.kind,
            info.message.decode(errors="replace"),
            node.op.name if node else None,
            info.sample if info.sample >= 0 and node else None,
            info.source.decode(errors="surrogateescape") or None,
            str(node.location) if node and node.location else None,
        )

    def _build(self, plan: Plan, seed: int) -> None:
        order: dict[OpNode, int] = {}
        for node in plan.nodes:
            if literal := node.op.literal():
                self._values[node.outputs[0]] = self._constant(literal)
                continue
            if node.op.external:
                self._external(node)
                continue
            if node in plan.spared:
                self._values[node.outputs[0]] = self._values[plan.spared[node].outputs[0]]
                continue
            order[node] = len(self.nodes)
            self._add(plan, node, seed)
            if node.op.splits:
                for data in node.outputs:
                    limit = self._scope(plan.scope(data))
                    self._check(self._library.ps_plan_limit(self._handle, self._values[data], limit))
        for segment in plan.segments:
            flat = [order[n] for group in segment.groups for n in group]
            sizes = [len(group) for group in segment.groups]
            self._check(
                self._library.ps_plan_segment(
                    self._handle, native.ints(flat), native.ints(sizes), len(sizes), segment.where.value
                )
            )
        self.outputs = [self._values[o] for o in plan.outputs]
        self._check(self._library.ps_plan_outputs(self._handle, native.ints(self.outputs), len(self.outputs)))

    def _constant(self, literal: Literal) -> int:
        tensor = _described(literal.array, literal.layout)
        return self._check(self._library.ps_plan_constant(self._handle, c.byref(tensor)))

    def _external(self, node: OpNode) -> None:
        on_gpu = int(node.device == "gpu")
        values = [self._check(self._library.ps_plan_source(self._handle, on_gpu)) for _ in node.outputs]
        self._values.update(zip(node.outputs, values, strict=True))
        self.inputs.append((node, values))

    def _scope(self, scope: Scope | None) -> int:
        """Its native number."""
        if scope is None:
            return -1
        if scope not in self._scopes:
            parent, predicate = self._scope(scope.parent), self._values[scope.predicate]
            self._scopes[scope] = self._check(
                self._library.ps_plan_scope(self._handle, parent, predicate, int(scope.wanted))
            )
        return self._scopes[scope]

    def _add(self, plan: Plan, node: OpNode, seed: int) -> None:
        op = node.op
        early, scope = node in plan.early, self._scope(plan.scopes.get(node))
        device = "gpu" if node in plan.spared.values() else node.device
        inputs = [self._values[i] for i in node.inputs]
        if op.fed:
            inputs.insert(0, self._check(self._library.ps_plan_source(self._handle, 0)))
            self.readers.append((node, inputs[0]))
        arguments = {} if op.in_python else op.kernel_arguments()
        with Blame(op.name, node.location):
            chosen = op.chosen(node.device)
        if chosen:
            self.chosen[node] = chosen
            arguments |= chosen.arguments()
        for name, value in arguments.items():
            self._argument(name.encode(), value)
        if device != "cpu":
            self._library.ps_node_device(self._handle, device.encode(), self._device)
        for name, data in op.tensors.items():
            self._check(self._library.ps_arg_value(self._handle, name.encode(), self._values[data]))
        flags = NodeFlag.EARLY * early | NodeFlag.ALIAS * op.alias | NodeFlag.IO * (op.io and node.device == "cpu")
        flags |= NodeFlag.HOST_OUTPUT * op.host_output | NodeFlag.BATCHWISE * op.batchwise
        flags |= NodeFlag.TOLERANT * (op.on_error != "raise")
        flags |= NodeFlag.MIXES * (op.merges or op.mixes)
        flags |= NodeFlag.DEVICE_OUTPUT * (device == "gpu" and (op.in_python or node.device == "cpu"))
        if op.in_python:
            borrowed = [self._origin(data).source.op.no_copy for data in node.inputs]
            self.called[len(self.nodes)] = Function(node, inputs, borrowed)
        self.nodes.append(node)
        first = self._library.ps_plan_node(
            self._handle,
            (_PYTHON if op.in_python else op.kernel).encode(),
            native.ints(inputs),
            len(inputs),
            len(node.outputs),
            self._key(node, seed),
            flags,
            scope,
        )
        if first < 0:
            raise native.failure(op.name, str(node.location) if node.location else None)
        for output in node.outputs:
            self._values[output] = first + output.index

    def _key(self, node: OpNode, seed: int) -> int:
        """The key of its random numbers: of its own seed, or of the pipeline's and its rank among those that draw."""
        op: Any = node.op
        if not op.random:
            return 0
        has_own = op.seed is not None and op.seed >= 0
        key = key_of(op, seed, len(self.draws)) if node.key is None else node.key
        self.draws.append(f"{op.name} with seed {op.seed}" if has_own else op.name)
        return key

    def _argument(self, name: bytes, value: Any) -> None:
        lib, plan = self._library, self._handle
        if value is None:
            lib.ps_arg_none(plan, name)
            return
        if isinstance(value, bytes):
            lib.ps_arg_bytes(plan, name, value, len(value))
            return
        if isinstance(value, np.ndarray):
            table = np.ascontiguousarray(value)
            self._check(lib.ps_arg_table(plan, name, c.byref(_described(table))))
            return
        items = list(value) if isinstance(value, (list, tuple)) else [value]
        if items and isinstance(items[0], str):
            texts = (c.c_char_p * len(items))(*[t.encode(errors="surrogateescape") for t in items])
            lib.ps_arg_strings(plan, name, texts, len(items))
        elif all(isinstance(v, (bool, int, np.integer, enum.IntEnum)) for v in items):
            lib.ps_arg_integers(plan, name, native.integers([int(v) for v in items]), len(items))
        else:
            lib.ps_arg_numbers(plan, name, (c.c_double * len(items))(*items), len(items))

    def _check(self, result: int) -> int:
        if result < 0:
            raise self.failure()
        return result


def key_of(op: Any, seed: int, rank: int) -> int:
    """The key of random numbers: of the operator's own seed, or the pipeline's and its rank among those that draw."""
    own = op.seed
    text = f"seed {own}" if own is not None and own >= 0 else f"pipeline {seed} operator {rank}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _described(array: np.ndarray[Any, Any], layout: str = "") -> native.Tensor:
    tensor = native.Tensor(
        data=array.ctypes.data, dtype=int(types.to_dali_type(array.dtype)), ndim=array.ndim, source=None,
        layout=layout.encode(),
    )  # fmt: skip
    tensor.shape[: array.ndim] = array.shape
    return tensor
