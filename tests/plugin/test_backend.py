"""An unknown framework: one `Backend` makes its arrays inputs, and iterators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn, frameworks, types
from penstock.errors import OperatorError
from penstock.frameworks import Backend, backend_of, backends
from penstock.plugin.base import BaseIterator, LastBatchPolicy
from penstock.tensors.gpu_memory import stream_handle
from tests.small import made, numbers, ten_files


class Block:
    """An array whose elements are kept in the order of its last axis."""

    __module__ = "blocks.arrays"

    def __init__(self, values: Any, dense: bool = True):
        self.values, self.dense = np.asarray(values), dense

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, key: Any) -> Block:
        return Block(self.values[key])

    def __dlpack__(self, **arguments: Any) -> Any:
        assert self.dense, "the library must ask for a dense one"
        return self.values.__dlpack__(**arguments)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()


class Stream:
    __module__ = "blocks.streams"
    number = 77


class Blocks(Backend):
    name = "Blocks"
    module = distribution = "blocks"

    def dense(self, array: Any) -> Any:
        return Block(array.values)

    def stream_handle(self, stream: Any) -> Any:
        return stream.number

    def array(self, tensor: Any) -> Any:
        return Block(np.from_dlpack(tensor))

    def empty(self, like: Any, device: int) -> Any:
        return like[:0]


class BlockIterator(BaseIterator[Block]):
    backend = Blocks()


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frameworks, "_backends", dict(frameworks._backends))
    frameworks.register(Blocks())


def test_it_is_known_by_its_module() -> None:
    assert isinstance(backend_of(Block([1])), Blocks)
    assert backend_of(np.zeros(1)) is None
    names = [b.name for b in backends()]
    assert names[:2] == ["PyTorch", "CuPy"]
    assert names[-1] == "Blocks"


def test_its_arrays_are_inputs() -> None:
    arrays = [Block(np.float32([[i, 1]]), dense=False) for i in range(3)]
    pipe = made(lambda: fn.external_source(lambda: arrays) * 2, batch_size=3)
    assert pipe.run()[0].as_array().tolist() == [[[2 * i, 2]] for i in range(3)]


def test_its_streams_have_handles() -> None:
    assert stream_handle(Stream()) == 77


def test_its_iterators_have_the_epochs_of_all(tmp_path: Path) -> None:
    files = ten_files(tmp_path)
    it = BlockIterator(
        made(lambda: numbers(files), batch_size=4), ["n"], reader_name="Reader", auto_reset=True,
        last_batch_policy=LastBatchPolicy.PARTIAL,
    )  # fmt: skip
    for _ in range(2):
        epoch = [batch[0]["n"] for batch in it]
        assert all(isinstance(block, Block) for block in epoch)
        assert [block.values.ravel().tolist() for block in epoch] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_a_pipeline_without_samples_left_has_empty_arrays(tmp_path: Path) -> None:
    files = ten_files(tmp_path)[:3]
    pipes = [made(lambda: numbers(files, shard_id=i, num_shards=2), batch_size=1) for i in range(2)]  # noqa: B023
    it = BlockIterator(pipes, ["n"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL)
    counts = [[len(part["n"]) for part in batch] for batch in it]
    assert sum(map(sum, counts)) == 3
    assert sorted(counts[-1]) == [0, 1]


def test_samples_of_several_shapes_are_no_array() -> None:
    pipe = made(lambda: fn.random.uniform(shape=fn.random.uniform(range=(1, 9), dtype=types.INT32)), batch_size=8)
    with pytest.raises(OperatorError, match="'x' cannot be one tensor"):
        next(BlockIterator(pipe, ["x"]))


def test_what_a_backend_does_not_say_is_an_error() -> None:
    plain = type("Plain", (Backend,), {"name": "Plain"})()
    for ask in (lambda: plain.array(None), lambda: plain.empty(None, 0), lambda: plain.stream_handle(None)):
        with pytest.raises(TypeError, match="Plain"):
            ask()
    assert plain.facts(None) is None
    assert plain.stream(0) is None
