"""A random graph as a program of dynamic mode: the same text, with another `fn`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

import penstock.experimental.dynamic as ndd
from penstock import Pipeline, fn, newaxis, tfrecord, types
from penstock.errors import OperatorError
from penstock.op import registry
from penstock.tensors import TensorListGPU
from tests.random import data
from tests.random.data import several
from tests.random.graphs import Graph


def can_be_dynamic(graph: Graph) -> bool:
    """Whether it has nothing that Python's own statements are for, nor constants of definitions. An array as long as
    the batch is a batch there.
    """
    alone = any(value.text().partition("= ")[2].startswith("math.") and not value.used() for value in graph.values)
    return not (alone or graph.decides() or "types.Constant" in graph.text())


def draws(graph: Graph) -> bool:
    """Whether its results are drawn: in dynamic mode a call draws from a generator, and not by its place in a graph."""
    return _draws(graph.text())


def draws_before_reading(graph: Graph) -> bool:
    """Whether an operator above the first reader draws: in debug mode it is called before it."""
    before, reader, _ = graph.text().partition("fn.readers.")
    return bool(reader) and _draws(before)


def _draws(text: str) -> bool:
    return any(f"fn.{name}(" in text for name, cls in registry.ops.items() if cls.random)


def output_of(output: Any) -> Any:
    """What is compared of a list of tensors."""
    arrays = [np.asarray(output.as_cpu().at(i)) for i in range(len(output))]
    device = "gpu" if isinstance(output, TensorListGPU) else "cpu"
    return int(output.dtype), output.layout(), [(array.shape, array.tobytes()) for array in arrays], device


class Dynamic:
    """Runs a graph's text, iteration by iteration."""

    def __init__(self, graph: Graph, files: list[str]):
        self._graph, self._readers = graph, []  # type: ignore[var-annotated]
        self._scope = {
            **vars(data), "np": np, "math": ndd.math, "newaxis": newaxis, "types": types, "FILES": files, "flat": flat,
            "fn": _Functions(ndd, self), "operator": _Operators(), "tfrecord": tfrecord,
        }  # fmt: skip
        self._fed = {s.name: [eval(text, self._scope) for text in s.samples] for s in graph.sources()}
        exec(graph.text(), self._scope)

    def iterate(self, count: int) -> list[Any]:
        """What so many iterations give."""
        ndd.random.set_seed(3)
        return [self._run(k) for k in range(count)]

    def _run(self, iteration: int) -> list[Any]:
        self._iteration, self._read = iteration, 0
        try:
            return [output_of(ndd.as_batch(output).evaluate()._value()) for output in self._scope["define"]()]
        except OperatorError as error:  # of other random numbers than the graph's
            return [type(error).__name__]

    def fed(self, name: str, layout: str = "") -> Any:
        samples = self._fed[name]
        batch = [samples[(k + self._iteration) % len(samples)] for k in range(len(samples))]
        return ndd.batch([np.asarray(s) for s in batch], layout=layout or None)

    def read(self, function: Any, arguments: dict[str, Any]) -> Any:
        """A reader reads as in the graph, batch after batch without an end."""
        if self._read == len(self._readers):
            pipe = Pipeline(batch_size=self._graph.batch, num_threads=2, device_id=None, seed=7)
            with pipe:
                pipe.set_outputs(*several(function(**arguments)))
            self._readers.append(pipe)
        self._read += 1
        return [ndd.as_batch(output) for output in self._readers[self._read - 1].run()]

    def call(self, function: Any, inputs: Sequence[Any], arguments: dict[str, Any]) -> Any:
        sets = next((x for x in inputs if isinstance(x, (list, tuple)) and x and isinstance(x[0], ndd.Batch)), None)
        if sets is not None:  # of several batches: one call for each
            rows = [[x[k] if isinstance(x, (list, tuple)) else x for x in inputs] for k in range(len(sets))]
            return [self.call(function, row, arguments) for row in rows]
        return function(*inputs, batch_size=self._graph.batch, **arguments)


class _Functions:
    def __init__(self, module: Any, owner: Dynamic, path: str = ""):
        self._module, self._owner, self._path = module, owner, path

    def __getattr__(self, name: str) -> Any:
        path = f"{self._path}.{name}".lstrip(".")
        if path == "external_source":
            return self._owner.fed
        if path.startswith("readers."):
            return lambda **arguments: self._owner.read(getattr(fn.readers, name), arguments)
        if path == "readers":
            return _Functions(SimpleNamespace(), self._owner, path)
        found = getattr(self._module, name)
        if isinstance(found, ModuleType):  # a name that a module lacks takes it long to explain
            return _Functions(found, self._owner, path)
        return lambda *inputs, **arguments: self._owner.call(found, inputs, arguments)


class _Operators:
    def __getattr__(self, name: str) -> Any:
        if name != "getitem":
            return getattr(operator, name)
        return lambda x, key: x.slice[key] if isinstance(x, ndd.Batch) else x[key]


def flat(values: Sequence[Any]) -> list[Any]:
    """The outputs of calls, in order."""
    return [one for value in values for one in several(value)]
