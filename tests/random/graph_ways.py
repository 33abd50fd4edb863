"""The ways to run a random graph, all of which must give the same, bit for bit."""

from __future__ import annotations

import json
import linecache
import operator
import os
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import penstock.experimental.dynamic as ndd
from penstock import Pipeline, fn, math, newaxis, pipeline_def, tfrecord, types
from penstock.errors import PenstockError
from penstock.pipeline.conditional.convert import convert
from tests.random import data
from tests.random.case import Branch
from tests.random.draw import FORMATS
from tests.random.dynamic import Dynamic, can_be_dynamic, draws, draws_before_reading, flat, output_of
from tests.random.graphs import ITERATIONS, Graph

Result = Sequence[Any]  # of an iteration: its outputs, or why it failed
SCOPE: dict[str, Any] = {
    **vars(data), "np": np, "operator": operator, "fn": fn, "math": math, "newaxis": newaxis, "types": types,
    "tfrecord": tfrecord,
}  # fmt: skip


def write_files(folder: Path) -> list[str]:
    """Pictures, for readers."""
    paths = [folder / f"{k}" for k in range(7)]
    for k, path in enumerate(paths):
        path.write_bytes(data.file(FORMATS[k], 40 + k, 30 + 3 * k, k).tobytes())
    return [str(path) for path in paths]


class Ways:
    """Runs graphs over these files."""

    def __init__(self, files: list[str]):
        self._scope = {**SCOPE, "FILES": files, "flat": flat}

    def sound(self, graph: Graph) -> Graph | None:
        """Without the calls that are refused, and without outputs that cannot be made: what remains can be run."""
        defined: dict[str, Any] = dict(self._scope)
        kept = []
        with _pipeline(graph):
            for value, line in zip(graph.values, graph.lines(), strict=True):
                try:
                    if isinstance(value, Branch):
                        line = f"def define():\n{textwrap.indent(line, '    ')}\n    return {value.name}\n"
                        defined[value.name] = convert(_function(line, defined))()
                    else:
                        exec(line, defined)
                    kept.append(value)
                except (PenstockError, TypeError, ValueError, NameError, LookupError, AttributeError, OverflowError):
                    defined.pop(value.name, None)
        whole = replace(graph, values=tuple(kept))
        names = {value.name for value in kept}
        good = [name for name in graph.outputs if name in names and self._runs(whole.giving(name))]
        return whole.giving(*good) if good else None

    def compare(self, graph: Graph) -> str | None:
        """What differs, and by which way; None: nothing."""
        begun = self.built(graph)
        expected = iterate(begun, graph, 0, ITERATIONS)
        text = begun.serialize()
        half = self.built(graph, num_threads=1)
        if found := _differs("run by one thread", iterate(half, graph, 0, graph.middle), expected[: graph.middle]):
            return found
        state = half.checkpoint()
        ways: dict[str, tuple[int, Callable[[], Pipeline]]] = {
            "unfused": (0, lambda: self.unfused(graph)),
            "serialized": (0, lambda: Pipeline.deserialize(text)),
            "resumed": (graph.middle, lambda: self.built(graph, seed=None, checkpoint=state)),
            "serialized and resumed": (graph.middle, lambda: Pipeline.deserialize(text, checkpoint=state)),
            "set back": (graph.middle, lambda: _loaded(begun, state)),
        }
        if found := self.compare_debug(graph, expected) or self.compare_dynamic(graph, expected):
            return found
        for way, (first, make) in ways.items():
            try:
                found = _differs(way, iterate(make(), graph, first, ITERATIONS - first), expected[first:])
            except PenstockError as error:
                found = f"{way}: {type(error).__name__}: {error}"
            if found:
                return found
        return None

    def compare_debug(self, graph: Graph, expected: list[Result]) -> str | None:
        """What differs where operators run one by one. One that fails ends an iteration early, so behind that others
        may have had other data; and what is drawn before the first reader is called cannot know its samples.
        """
        if draws_before_reading(graph):
            return None
        define = convert(_function(graph.text(), self._scope))
        make = pipeline_def(debug=True, batch_size=graph.batch, num_threads=2, device_id=_device(graph), seed=7)
        pipe = make(lambda: tuple(define()))()
        good = _before_failure(expected)
        found = _differs("debug", iterate(pipe, graph, 0, max(1, len(good)), len(good)), good)
        pipe.close()
        return found

    def compare_dynamic(self, graph: Graph, expected: list[Result]) -> str | None:
        """What differs where each iteration is Python's, computed in the end or call by call."""
        if not can_be_dynamic(graph):
            return None
        good = _before_failure(expected)
        results = []
        for mode in (ndd.EvalMode.deferred, ndd.EvalMode.sync_full):
            with mode:
                results.append(Dynamic(graph, self._scope["FILES"]).iterate(len(good)))
        if found := _differs("dynamic, call by call", results[1], results[0]):
            return found
        return None if draws(graph) else _differs("dynamic", results[0], good)

    def built(self, graph: Graph, **arguments: Any) -> Pipeline:
        """The graph's pipeline."""
        pipe = _pipeline(graph, **arguments)
        define = convert(_function(graph.text(), self._scope))
        with pipe:
            pipe.set_outputs(*define())
        pipe.build()
        return pipe

    def unfused(self, graph: Graph) -> Pipeline:
        with _without_fusion():
            return self.built(graph, prefetch_queue_depth=1)

    def _runs(self, graph: Graph) -> bool:
        try:
            return not any(isinstance(r[0], str) for r in iterate(self.built(graph), graph, 0, 1))
        except PenstockError:
            return False


def _pipeline(graph: Graph, **arguments: Any) -> Pipeline:
    device = _device(graph)
    return Pipeline(**{"batch_size": graph.batch, "num_threads": 2, "device_id": device, "seed": 7, **arguments})


def _device(graph: Graph) -> int | None:
    return 0 if graph.gpu else None


def _function(text: str, scope: dict[str, Any]) -> Callable[[], Any]:
    """What a text defines as ``define``. The text can be read again, as a file's: Python's decisions need it."""
    name = f"<graph {hash(text)}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    own = dict(scope)
    exec(compile(text, name, "exec"), own)
    made: Callable[[], Any] = own["define"]
    return made


def _loaded(pipe: Pipeline, state: str) -> Pipeline:
    """A pipeline that has run already."""
    pipe.load_state_dict(json.loads(state))
    return pipe


def _before_failure(results: list[Result]) -> list[Result]:
    failed = [k for k, result in enumerate(results) if isinstance(result[0], str)]
    return results[: failed[0]] if failed else results


def iterate(pipe: Pipeline, graph: Graph, first: int, count: int, run: int | None = None) -> list[Result]:
    """What so many iterations give, of which each is fed with samples in another order; ``run``: fewer of them."""
    fed = {source.name: [eval(text, SCOPE) for text in source.samples] for source in graph.sources()}
    for iteration in range(first, first + count):
        for name, samples in fed.items():
            pipe.feed_input(name, [samples[(k + iteration) % len(samples)] for k in range(len(samples))])
    results: list[Result] = []
    for _ in range(count if run is None else run):
        try:
            results.append([output_of(output) for output in pipe.run()])
        except PenstockError as error:
            results.append([type(error).__name__, str(error).splitlines()[0]])
    return results


def _differs(way: str, got: list[Result], expected: list[Result]) -> str | None:
    for iteration, (one, other) in enumerate(zip(got, expected, strict=True)):
        if one != other:
            which = [k for k, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]]
            return f"{way}: iteration {iteration} of what was compared, outputs {which}: {_shown(one)}, {_shown(other)}"
    return None


def _shown(result: Result) -> str:
    texts = (o if isinstance(o, str) else f"{o[0]} {o[1]!r} {[s for s, _ in o[2]]} {o[3]}" for o in result)
    return ", ".join(texts)


@contextmanager
def _without_fusion() -> Iterator[None]:
    before = os.environ.get("PENSTOCK_FUSE")
    os.environ["PENSTOCK_FUSE"] = "0"
    try:
        yield
    finally:
        del os.environ["PENSTOCK_FUSE"]
        if before is not None:
            os.environ["PENSTOCK_FUSE"] = before
