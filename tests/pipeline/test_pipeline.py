"""Pipeline and pipeline_def: the ways to define, to run and to ask."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, ops, pipeline_def, types
from penstock.errors import (
    ArgumentError,
    GraphError,
)
from tests.small import made, numbers, ten_files, values


@pytest.fixture
def ten(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


# The ways to define a pipeline.


def test_pipeline_def_gives_a_function_that_makes_pipelines(ten: list[str]) -> None:
    @pipeline_def(batch_size=3, num_threads=1, device_id=None, seed=5)
    def simple(files: list[str], shift: int = 0) -> Any:
        """Says what it does."""
        return numbers(files), fn.random.uniform(range=[shift, shift + 1])

    pipe = simple(ten, shift=7, batch_size=5)
    assert simple.__doc__ == "Says what it does."
    assert simple.__name__ == "simple"
    assert (pipe.max_batch_size, pipe.num_threads, pipe.seed) == (5, 1, 5)
    labels, drawn = pipe.run()
    assert values(labels) == [0, 1, 2, 3, 4]
    assert all(7 <= v < 8 for v in values(drawn))
    assert simple(ten).run()[0].shape() == [(1,)] * 3


def test_pipeline_def_without_parentheses(ten: list[str]) -> None:
    @pipeline_def
    def simple() -> Any:
        return numbers(ten)

    assert values(simple(batch_size=2, num_threads=1, device_id=None).run()[0]) == [0, 1]


def test_subclass_with_define_graph(ten: list[str]) -> None:
    class Own(Pipeline):
        def __init__(self, batch_size: int):
            super().__init__(batch_size, 1, None)
            self.read = ops.readers.File(files=ten[3:5])

        def define_graph(self) -> Any:
            files, labels = self.read()
            return labels, files

    labels, files = Own(2).run()
    assert values(labels) == [0, 1]
    assert files.at(1).tolist() == [4] * 5


def test_context_manager_and_current(ten: list[str]) -> None:
    outer, inner = (Pipeline(batch_size=2, num_threads=1, device_id=None) for _ in range(2))
    assert Pipeline.current() is None
    with outer:
        assert Pipeline.current() is outer
        with inner:
            assert Pipeline.current() is inner
            inner.set_outputs(numbers(ten))
        assert Pipeline.current() is outer
        outer.set_outputs(numbers(ten, shard_id=1, num_shards=2))
    assert Pipeline.current() is None
    assert values(inner.run()[0]) == [0, 1]
    assert values(outer.run()[0]) == [5, 6]


def test_push_and_pop_current() -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    Pipeline.push_current(pipe)
    assert Pipeline.current() is pipe
    Pipeline.pop_current()
    assert Pipeline.current() is None
    with pytest.raises(GraphError, match="no pipeline is current"):
        Pipeline.pop_current()


def test_the_current_pipeline_is_forgotten_after_an_error() -> None:
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def wrong() -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        wrong()
    assert Pipeline.current() is None


def test_outputs_may_be_constants_and_repeated(ten: list[str]) -> None:
    def define() -> Any:
        labels = numbers(ten)
        return labels, np.float32([1, 2]), labels, 3, types.Constant(np.zeros((2, 2), np.uint8), layout="HW")

    first, array, again, number, picture = made(define).run()
    assert values(first) == values(again) == [0, 1, 2, 3]
    assert array.as_array().tolist() == [[1, 2]] * 4
    assert number.as_array().tolist() == [3] * 4
    assert (picture.layout(), picture.shape()) == ("HW", [(2, 2)] * 4)


def test_lists_of_inputs_make_lists_of_outputs(ten: list[str]) -> None:
    def define() -> Any:
        labels = numbers(ten)
        return fn.cast([labels, labels, labels], dtype=types.INT16)

    outputs = made(define).run()
    assert [values(o) for o in outputs] == [[0, 1, 2, 3]] * 3
    assert {o.dtype for o in outputs} == {types.INT16}


# Running.


def test_run_goes_through_epochs(ten: list[str]) -> None:
    pipe = made(lambda: numbers(ten))
    assert [values(pipe.run()[0]) for _ in range(5)] == [
        [0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1], [2, 3, 4, 5], [6, 7, 8, 9],
    ]  # fmt: skip


def test_schedule_share_and_release(ten: list[str]) -> None:
    pipe = made(lambda: numbers(ten))
    assert pipe.empty()
    pipe.schedule_run()  # fills the prefetch queue
    assert not pipe.empty()
    first = pipe.share_outputs()
    pipe.release_outputs()
    pipe.schedule_run()  # from now on, one at a time
    second = pipe.share_outputs()
    pipe.release_outputs()
    third = pipe.share_outputs()
    assert [values(o[0]) for o in (first, second, third)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1]]
    assert pipe.empty()
    with pytest.raises(GraphError, match="no iteration is scheduled"):
        pipe.share_outputs()


def test_run_refuses_inputs(ten: list[str]) -> None:
    with pytest.raises(ArgumentError, match="no input named 'images'"):
        made(lambda: numbers(ten)).run(images=[1])


def test_reset_loses_nothing(ten: list[str]) -> None:
    pipe = made(lambda: numbers(ten), prefetch_queue_depth=4)
    assert values(pipe.run()[0]) == [0, 1, 2, 3]
    pipe.reset()
    assert pipe.empty()
    assert values(pipe.run()[0]) == [4, 5, 6, 7]
    made(lambda: numbers(ten)).reset()  # before anything ran


def test_random_numbers_follow_a_reset() -> None:
    plain, reset = (made(lambda: fn.random.uniform()) for _ in range(2))
    wanted = [values(plain.run()[0]) for _ in range(3)]
    found = []
    for _ in range(3):
        found.append(values(reset.run()[0]))
        reset.reset()
    assert found == wanted


def test_closed_pipelines_say_so(ten: list[str]) -> None:
    pipe = made(lambda: numbers(ten))
    kept = pipe.run()
    pipe.close()
    pipe.close()
    assert values(kept[0]) == [0, 1, 2, 3]
    with pytest.raises(GraphError, match="closed"):
        pipe.run()


# What can be asked.


def test_epoch_size_and_meta(ten: list[str]) -> None:
    def define() -> Any:
        first = numbers(ten)
        return first, numbers(ten, name="Third", num_shards=3, shard_id=1, pad_last_batch=True, stick_to_shard=True)

    pipe = made(define)
    assert pipe.epoch_size("Reader") == 10
    assert pipe.epoch_size() == {"Reader": 10, "Third": 12}
    assert pipe.reader_meta("Third") == {
        "epoch_size": 10,
        "epoch_size_padded": 12,
        "number_of_shards": 3,
        "shard_id": 1,
        "pad_last_batch": 1,
        "stick_to_shard": 1,
    }
    assert pipe.reader_meta() == {name: pipe.reader_meta(name) for name in ("Reader", "Third")}
    for ask in (pipe.epoch_size, pipe.reader_meta):
        with pytest.raises(ArgumentError, match="no reader named 'reader'; there are: Reader, Third"):
            ask("reader")


@pytest.mark.parametrize("reader", [{}, {"sampler": [1, 2]}])
def test_questions_about_a_reader_that_make_no_sense(reader: dict[str, Any], ten: list[str]) -> None:
    pipe = made(lambda: numbers(ten, **reader))
    asked = (pipe.reader_meta, pipe.reader_order, pipe.reader_position, lambda name: pipe.set_last_batch(name, "drop"))
    for ask in asked:
        with pytest.raises(ArgumentError, match="no reader named 'Raeder'; there are: Reader"):
            ask("Raeder")
    with pytest.raises(ArgumentError, match="last_batch='dorp' is none of"):
        pipe.set_last_batch("Reader", "dorp")


def test_reader_meta_is_dalis(ten: list[str]) -> None:
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    arguments = {"num_shards": 3, "shard_id": 1, "pad_last_batch": True}
    theirs = dali.Pipeline(4, 1, None)
    with theirs:
        theirs.set_outputs(dali.fn.readers.file(files=ten, name="Reader", **arguments)[1])
    theirs.build()
    own = made(lambda: numbers(ten, **arguments))
    assert own.reader_meta("Reader") == theirs.reader_meta("Reader")
    assert own.epoch_size("Reader") == theirs.epoch_size("Reader")


def test_statistics(ten: list[str]) -> None:
    pipe = made(lambda: (numbers(ten), fn.random.normal(shape=[1000], name="Noise")), prefetch_queue_depth=1)
    for _ in range(3):
        pipe.run()
    found = pipe.statistics()
    assert found["operators"]["Noise"]["operator"] == "random.normal"
    assert found["operators"]["Noise"]["samples"] == 12
    assert found["operators"]["Noise"]["run_s"] > 0
    assert found["operators"]["Reader"]["samples"] == 12
    assert all(0 <= t["busy_s"] <= t["total_s"] for t in found["threads"])
    assert found["memory"]["peak"] >= found["memory"]["held"] >= 4 * 4 * 1000


def test_explain_names_operators_in_order(photographs: Path) -> None:
    def define() -> Any:
        files, _ = fn.readers.file(file_root=str(photographs), name="Reader")
        return fn.cast(fn.decoders.image(files), dtype=types.FLOAT)

    text = made(define).explain()
    assert re.search(r"readers\.file 'Reader'.*decoders\.image → cast", text, re.DOTALL)
    assert "in one pass over rows" in text


def test_fusion_can_be_switched_off(photographs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    pipe = made(lambda: fn.cast(fn.decoders.image(fn.readers.file(file_root=str(photographs))[0]), dtype=types.FLOAT))
    assert "→" not in pipe.explain()


@pytest.mark.parametrize("arguments", [{}, {"show_tensors": True}, {"use_colors": True}, {"show_ids": True}])
def test_save_graph_to_dot_file(arguments: dict[str, bool], ten: list[str], tmp_path: Path) -> None:
    pipe = made(lambda: fn.cast(numbers(ten), dtype=types.FLOAT, name='The "cast"'))
    pipe.save_graph_to_dot_file(tmp_path / "graph.dot", **arguments)
    text = (tmp_path / "graph.dot").read_text()
    assert text.startswith("digraph")
    assert text.count("{") == text.count("}")
    assert "readers.file" in text
    assert 'The \\"cast\\"' in text
    assert ("ellipse" in text) == ("show_tensors" in arguments)
    assert ("fillcolor" in text) == ("use_colors" in arguments)


def test_repr(ten: list[str]) -> None:
    pipe = made(lambda: numbers(ten))
    assert "batch_size=4, num_threads=2, not built" in repr(pipe)
    pipe.build()
    assert repr(pipe).endswith("built>")
    assert "not built" not in repr(pipe)


def test_attributes(ten: list[str]) -> None:
    pipe = made(lambda: (numbers(ten), numbers(ten, name="Other")))
    assert not hasattr(pipe, "no_such_attribute")
    assert pipe.num_outputs == 2
    assert pipe.batch_size == pipe.max_batch_size == 4
