"""Values that some samples of a batch do not have: what splits and merges make, beside DALI's conditionals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, errors, fn, pipeline_def, types
from tests.small import made, numbers, ten_files

dali = pytest.importorskip("nvidia.dali")

BATCH = 7


def pictures(iteration: int) -> list[np.ndarray[Any, Any]]:
    """Of shapes of their own; all values differ."""
    return [(np.arange(60 * (k + 1)).reshape(4, -1, 3) + 31 * k + iteration).astype(np.uint8) for k in range(BATCH)]


def flags(iteration: int) -> list[np.ndarray[Any, Any]]:
    """Some, all or none."""
    return [np.array([(k * 5 + iteration) % 3 == 0, True, False][iteration % 3]) for k in range(BATCH)]


def others(iteration: int) -> list[np.ndarray[Any, Any]]:
    return [np.array((k + iteration) % 2 == 0) for k in range(BATCH)]


# What becomes of a picture, a flag and another one, in terms of `fn` and of its types: a list of outputs.
Graph = Callable[[Any, Any, Any, Any, Any], list[Any]]


def halves(fn: Any, t: Any, x: Any, p: Any, q: Any) -> list[Any]:
    return list(fn._conditional.split(x, predicate=p))


def back_again(fn: Any, t: Any, x: Any, p: Any, q: Any) -> list[Any]:
    return [fn._conditional.merge(*fn._conditional.split(x, predicate=p), predicate=p)]


def work_in_both(fn: Any, t: Any, x: Any, p: Any, q: Any) -> list[Any]:
    yes, no = fn._conditional.split(x, predicate=p)
    yes = fn.flip(fn.crop(fn.brightness(yes, brightness=0.5), crop=(2, 3)), horizontal=1)
    no = fn.flip(no, vertical=1)
    return [fn._conditional.merge(yes, no, predicate=p), yes]


def nested(fn: Any, t: Any, x: Any, p: Any, q: Any) -> list[Any]:
    yes, no = fn._conditional.split(x, predicate=p)
    inner, _ = fn._conditional.split(q, predicate=p)
    first, second = fn._conditional.split(yes, predicate=inner)
    one = t.Constant(np.uint8(1))
    return [fn._conditional.merge(fn._conditional.merge(first + one, second * one, predicate=inner), no, predicate=p)]


def arguments(fn: Any, t: Any, x: Any, p: Any, q: Any) -> list[Any]:
    """Of a shape and an argument that only some samples have."""
    yes, no = fn._conditional.split(x, predicate=p)
    width = fn.cast(yes.shape()[1], dtype=t.FLOAT)
    return [fn._conditional.merge(fn.crop(yes, crop_w=width // 2, crop_h=2.0), no[0:2], predicate=p)]


def whole_branch(fn: Any, t: Any, x: Any, p: Any, q: Any) -> list[Any]:
    """What looks at all samples looks at those of its branch."""
    yes, no = fn._conditional.split(fn.crop(x, crop=(4, 5)), predicate=p)
    yes = fn.normalize(yes, batch=True)
    return [yes, fn._conditional.merge(yes, fn.cast(no, dtype=t.FLOAT), predicate=p)]


def in_python(fn: Any, t: Any, x: Any, p: Any, q: Any) -> list[Any]:
    yes, no = fn._conditional.split(x, predicate=p)
    yes = fn.python_function(yes, function=lambda a: a[::-1] // 2, output_layouts="HWC")
    return [fn._conditional.merge(yes, no + t.Constant(np.uint8(1)), predicate=p)]


GRAPHS: list[Graph] = [halves, back_again, work_in_both, nested, arguments, whole_branch, in_python]


def defined(fn: Any, types: Any, pipe: Any, graph: Graph, copied: Callable[[Any], Any] = lambda x: x) -> Any:
    with pipe:
        x = fn.external_source(source=pictures, layout="HWC", batch=True)
        p, q = fn.external_source(source=flags, batch=True), fn.external_source(source=others, batch=True)
        pipe.set_outputs(*graph(fn, types, copied(x), p, q))
    return pipe


def assert_alike(mine: Any, wanted: Any, tolerance: float = 0) -> None:
    assert len(mine) == len(wanted)
    for i in range(len(wanted)):
        found, expected = mine.at(i), wanted.at(i)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("graph", GRAPHS)
def test_as_dali_does(graph: Graph) -> None:
    ours = defined(fn, types, Pipeline(BATCH, 2, None), graph)
    theirs = defined(dali.fn, dali.types, dali.Pipeline(BATCH, 2, None), graph)
    for _ in range(6):
        for mine, wanted in zip(ours.run(), theirs.run(), strict=True):
            assert_alike(mine, wanted, 1e-5 if graph is whole_branch else 0)


@pytest.mark.parametrize("graph", [g for g in GRAPHS if g not in (arguments, in_python)])
def test_on_a_gpu(graph: Graph, software_gpu: dict[str, str]) -> None:
    cpu = defined(fn, types, Pipeline(BATCH, 2, None), graph)
    gpu = defined(fn, types, Pipeline(BATCH, 2, 0), graph, lambda x: x.gpu())
    for _ in range(6):
        for mine, wanted in zip(gpu.run(), cpu.run(), strict=True):
            assert_alike(mine.as_cpu(), wanted, 1e-4 if graph is whole_branch else 0)


@pytest.mark.parametrize("graph", GRAPHS)
def test_without_fusion(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    fused = defined(fn, types, Pipeline(BATCH, 2, None), graph)
    fused.build()
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    plain = defined(fn, types, Pipeline(BATCH, 2, None), graph)
    for _ in range(3):
        for mine, wanted in zip(fused.run(), plain.run(), strict=True):
            assert_alike(mine, wanted)


def test_chains_are_fused_within_a_branch() -> None:
    pipe = defined(fn, types, Pipeline(BATCH, 2, None), work_in_both)
    assert "brightness → crop → flip, of samples for which" in pipe.explain()


@pytest.mark.parametrize("device", ["cpu", "mixed"])
def test_decoders_decode_what_takes_their_branch(device: str, photographs: Path, software_gpu: dict[str, str]) -> None:
    @pipeline_def(batch_size=8, num_threads=2, device_id=0, seed=5)
    def pipeline(branches: bool) -> Any:
        files, labels = fn.readers.file(file_root=photographs)
        odd = (labels % 2 == 1)[0]
        if not branches:
            images = fn.decoders.image(files, device=device)
            return fn.flip(images, horizontal=odd), odd
        yes, no = fn._conditional.split(files, predicate=odd)
        yes = fn.flip(fn.decoders.image(yes, device=device), horizontal=1)
        return fn._conditional.merge(yes, fn.decoders.image(no, device=device), predicate=odd), odd

    branches, whole = pipeline(True), pipeline(False)
    for _ in range(3):
        mine, wanted = branches.run()[0].as_cpu(), whole.run()[0].as_cpu()
        assert_alike(mine, wanted)
        assert mine.source_info() == wanted.source_info()


def test_random_numbers_are_those_of_the_samples(tmp_path: Path) -> None:
    """A sample draws what it would draw in the whole batch."""
    files = ten_files(tmp_path)

    def define(branches: bool) -> Any:
        number = numbers(files)
        even = (number % 2 == 0)[0]
        if not branches:
            return number, fn.random.uniform(number, seed=7)
        yes, no = fn._conditional.split(number, predicate=even)
        drawn = fn._conditional.merge(fn.random.uniform(yes, seed=7), fn.random.uniform(no, seed=7), predicate=even)
        return number, drawn

    branches, whole = made(lambda: define(True)), made(lambda: define(False))
    for _ in range(5):
        for mine, wanted in zip(branches.run(), whole.run(), strict=True):
            np.testing.assert_array_equal(mine.as_array(), wanted.as_array())


def test_samples_may_change_places_within_a_branch() -> None:
    def define() -> Any:
        x = fn.external_source(lambda: np.int32([0, 1, 2, 3]))
        most = x != 1
        yes, no = fn._conditional.split(x, predicate=most)
        yes = fn.permute_batch(yes, indices=[2, 0, 1])
        return yes, fn._conditional.merge(yes, no * 10, predicate=most)

    yes, merged = made(define).run()
    assert yes.as_array().tolist() == [3, 0, 2]
    assert merged.as_array().tolist() == [3, 10, 0, 2]


def test_whole_batches_go_along() -> None:
    """Operators read what all samples have, too, and take theirs of it."""

    def define() -> Any:
        x = fn.external_source(lambda: np.int32([1, -2, 3, -4]))
        positive = x > 0
        yes, no = fn._conditional.split(x, predicate=positive)
        return yes * x, fn._conditional.merge(yes, types.Constant(0), predicate=positive), no + no

    outputs = made(define).run()
    assert [output.as_array().tolist() for output in outputs] == [[1, 9], [1, 0, 3, 0], [-4, -8]]


def test_branches_cannot_be_mixed() -> None:
    x = fn.external_source(lambda: np.int32([1, 2, 3, 4]))
    large = x > 2
    yes, no = fn._conditional.split(x, predicate=large)
    other, _ = fn._conditional.split(x, predicate=x > 3)
    wrong = [
        (lambda: yes + no, r"its inputs are of different branches"),
        (lambda: yes + other, r"its inputs are of different branches"),
        (lambda: fn._conditional.merge(no, yes, predicate=large), r"merge: input 0 is not of a branch for which"),
        (lambda: fn._conditional.merge(yes, other, predicate=large), r"merge: input \d is not of a branch"),
    ]
    for define, text in wrong:
        with pytest.raises(errors.GraphError, match=text):
            made(define).build()


def test_pipelines_with_branches_are_serialized() -> None:
    def define() -> Any:
        x = fn.random.uniform(range=[-1.0, 1.0], seed=4)
        positive = x > 0
        yes, no = fn._conditional.split(x, predicate=positive)
        return fn._conditional.merge(yes * 2.0, no, predicate=positive)

    first = made(define)
    again = Pipeline.deserialize(first.serialize())
    np.testing.assert_array_equal(first.run()[0].as_array(), again.run()[0].as_array())


def test_errors_name_the_sample_of_the_batch(tmp_path: Path) -> None:
    """Not its place in the branch."""
    (tmp_path / "text").write_bytes(b"no picture")

    def define() -> Any:
        files, numbers = fn.readers.file(files=[str(tmp_path / "text")] * 4, labels=[0, 1, 2, 3])
        _, late = fn._conditional.split(files, predicate=(numbers < 2)[0])
        return fn.decoders.image(late)

    with pytest.raises(errors.DecodeError) as caught:
        made(define).run()
    assert caught.value.sample == 2
