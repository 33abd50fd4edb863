"""Random graphs, each run in several ways that must agree to the last bit.

As it is compiled, with fusion; without; by one thread; in debug mode and in dynamic mode; serialized and made anew;
resumed from a checkpoint at a random iteration; serialized and resumed; set back to the checkpoint after it has run. On
a GPU, which may be one in software, too.

`./dev test random --graphs 3000` runs that many, and `./dev test random` takes as long as it is told, with
PENSTOCK_RANDOM_SECONDS, _SEED and _PARTS as in test_random.py; without these a minute at most.
"""

from __future__ import annotations

import faulthandler
import json
import math
import os
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from penstock import Pipeline
from tests.random.case import Call
from tests.random.graph_ways import Ways, write_files
from tests.random.graphs import Graph, draw

NUMBER = int(os.environ.get("PENSTOCK_RANDOM_GRAPHS", "0"))  # of graphs, however long they take
PARTS = int(os.environ.get("PENSTOCK_RANDOM_PARTS", "2"))
SECONDS = math.inf if NUMBER else min(float(os.environ.get("PENSTOCK_RANDOM_SECONDS", "15")), 1800)
GRAPHS = -(-NUMBER // PARTS) or float(os.environ.get("PENSTOCK_RANDOM_CASES", "600"))
SEED = int(os.environ.get("PENSTOCK_RANDOM_SEED", "1"))
# Each graph on the GPU in software needs kernels, which take its compiler a second each.
ON_GPU = 0.1
LEAST = {False: 8, True: 3}  # that are tried in any case, on the CPU and on a GPU: a machine may be busy


@pytest.mark.parametrize("part", range(PARTS))
def test_all_ways_agree(part: int, tmp_path: Path) -> None:
    counts, functions = search(part, SECONDS, GRAPHS, tmp_path)
    assert counts["graphs"] > 4 * counts["refused"]
    assert len(functions) > 20


@pytest.mark.parametrize("part", range(PARTS))
def test_all_ways_agree_on_a_gpu(part: int, tmp_path: Path, software_gpu: dict[str, str]) -> None:
    counts, functions = search(part, SECONDS / 2, max(4, ON_GPU * GRAPHS), tmp_path, gpu=True)
    assert counts["graphs"] > counts["refused"]
    assert {".gpu", "fn.decoders.image"} & functions


def search(part: int, seconds: float, most: float, folder: Path, gpu: bool = False) -> tuple[Counter[str], set[str]]:
    """How many graphs could be run, and what they were made of. Fails for one of which two ways differ."""
    ways, counts, functions = Ways(write_files(folder)), Counter[str](), set[str]()
    until, number = time.monotonic() + seconds, part
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        while number < part + most * PARTS and (time.monotonic() < until or sum(counts.values()) < LEAST[gpu]):
            if NUMBER:  # a graph that hangs is told, but all of them may take hours
                faulthandler.dump_traceback_later(600, exit=True)
            graph = ways.sound(draw(SEED, number, gpu))
            counts["graphs" if graph else "refused"] += 1
            if graph:
                found = ways.compare(graph)
                assert found is None, f"graph {number} of seed {SEED}: {found}\n\n{graph}"
                functions |= graph.functions()
            number += PARTS
    print(f"{sum(counts.values())} graphs, {counts['refused']} refused, of {len(functions)} functions")
    return counts, functions


@pytest.mark.parametrize("way", ["serialize", "checkpoint"])
def test_a_difference_is_found(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another seed in the text, or in the state."""
    ways = Ways(write_files(tmp_path))
    original = getattr(Pipeline, way)

    def changed(pipe: Pipeline) -> object:
        text = original(pipe)
        return (
            json.dumps({**json.loads(text), "seed": 8})
            if way == "checkpoint"
            else text.replace(b'"seed": 7', b'"seed": 8')
        )

    values = (Call("v0", "fn.random.uniform"), Call("v1", "fn.random.normal", (), (("seed", "3"),)))
    graph = Graph(values, 2, ("v0", "v1"))
    assert ways.sound(graph) == graph
    assert ways.compare(graph) is None
    monkeypatch.setattr(Pipeline, way, changed)
    assert (ways.compare(graph) or "").startswith("serialized: iteration 0" if way == "serialize" else "resumed: ")
