"""Random graphs, each run in several ways that must agree to the last bit.

As it is compiled, with fusion; without; serialized and made anew; resumed from a checkpoint in the middle; serialized
and resumed; set back to the checkpoint after it has run. `./dev test random` takes as long as it is told, with
PENSTOCK_RANDOM_SECONDS, _SEED and _PARTS as in test_random.py; without these a minute at most.
"""

from __future__ import annotations

import json
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

SECONDS = min(float(os.environ.get("PENSTOCK_RANDOM_SECONDS", "20")), 1800)
GRAPHS = float(os.environ.get("PENSTOCK_RANDOM_CASES", "600"))
SEED = int(os.environ.get("PENSTOCK_RANDOM_SEED", "1"))
PARTS = int(os.environ.get("PENSTOCK_RANDOM_PARTS", "2"))


@pytest.mark.parametrize("part", range(PARTS))
def test_all_ways_agree(part: int, tmp_path: Path) -> None:
    ways, counts, operators = Ways(write_files(tmp_path)), Counter[str](), Counter[str]()
    until, number = time.monotonic() + SECONDS, part
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        while time.monotonic() < until and number < part + GRAPHS * PARTS:
            graph = ways.sound(draw(SEED, number))
            counts["graphs" if graph else "refused"] += 1
            if graph:
                found = ways.compare(graph)
                assert found is None, f"graph {number} of seed {SEED}: {found}\n\n{graph}"
                operators.update(getattr(value, "function", "external_source") for value in graph.values)
            number += PARTS
    print(f"{sum(counts.values())} graphs, {counts['refused']} refused, of {len(operators)} operators")
    assert counts["graphs"] > min(SECONDS, GRAPHS / 4)
    assert counts["graphs"] > 4 * counts["refused"]
    assert len(operators) > 25


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
