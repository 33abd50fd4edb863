"""How plans are cut where an operator looks at all samples of its inputs: those are made in earlier segments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from penstock import DataNode, fn
from penstock.op import Op, op, registry
from penstock.ops import call
from penstock.optimize.passes import optimize


def cut(*outputs: DataNode) -> list[tuple[str, list[str]]]:
    """The segments: where, and which operators."""
    plan = optimize(list(outputs), [])
    return [(s.where.name, [n.op.name for group in s.groups for n in group]) for s in plan.segments]


def given() -> DataNode:
    source: DataNode = fn.external_source(source=lambda: [np.zeros((2, 3), np.uint8)])
    return source


def test_a_new_segment_begins() -> None:
    flipped = fn.flip(given())
    permuted = fn.permute_batch(flipped, indices=[0])
    assert cut(fn.flip(permuted)) == [("CPU", ["flip"]), ("CPU", ["permute_batch", "flip"])]
    assert cut(permuted, fn.flip(flipped))[0] == ("CPU", ["flip", "flip"])


def test_what_is_there_needs_none() -> None:
    assert cut(fn.permute_batch(fn.permute_batch(given(), indices=[0]), indices=[0])) == [
        ("CPU", ["permute_batch"]),
        ("CPU", ["permute_batch"]),
    ]
    assert cut(fn.flip(fn.permute_batch(given(), indices=[0]))) == [("CPU", ["permute_batch", "flip"])]


def test_only_of_the_whole_batch() -> None:
    flipped = fn.flip(given())
    assert len(cut(fn.normalize(flipped))) == 1
    assert len(cut(fn.normalize(flipped, batch=True))) == 2


def test_gpus_and_cpus_take_turns() -> None:
    flipped = fn.flip(given().gpu())
    back = fn.permute_batch(flipped, indices=[0]).cpu()
    assert cut(fn.flip(fn.permute_batch(back, indices=[0]))) == [
        ("GPU", ["_to_gpu", "flip"]),
        ("GPU", ["permute_batch", "_to_cpu"]),
        ("CPU", ["permute_batch", "flip"]),
    ]


@pytest.fixture
def waiting() -> Iterator[type[Op]]:
    """An operator that reads files whose names are computed."""

    @op("_waiting_for_files", inputs=1)
    class Waiting(Op):
        io = True

    yield Waiting
    del registry.ops["_waiting_for_files"]


def test_before_files_are_read(waiting: type[Op]) -> None:
    names = fn.permute_batch(fn.flip(given()), indices=[0])
    assert cut(fn.flip(call(waiting, (names,), {}))) == [
        ("IO", ["flip"]),
        ("IO", ["permute_batch", "_waiting_for_files"]),
        ("CPU", ["flip"]),
    ]
