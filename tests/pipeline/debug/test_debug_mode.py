"""`pipeline_def(debug=True)`: operators run when they are called, with a pipeline's results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn, pipeline_def, types
from penstock.errors import GraphError, NodeContentsError, OperatorError, PenstockError, TensorError
from penstock.tensors import TensorListCPU, TensorListGPU
from tools.photographs import Style, photograph

OPTIONS: dict[str, Any] = {"batch_size": 3, "num_threads": 2, "device_id": None, "seed": 9}


def assert_same(found: Any, expected: Any) -> None:
    found, expected = found.as_cpu(), expected.as_cpu()
    assert (found.dtype, found.layout(), found.shape()) == (expected.dtype, expected.layout(), expected.shape())
    for k in range(len(expected)):
        assert found.at(k).tobytes() == expected.at(k).tobytes(), f"sample {k}"


def both(define: Any, iterations: int = 3, **options: Any) -> None:
    """Runs a definition with and without debug mode: all outputs are the same."""
    pipes = [pipeline_def(debug=debug, **{**OPTIONS, **options})(define)() for debug in (False, True)]
    for _ in range(iterations):
        for expected, found in zip(*(pipe.run() for pipe in pipes), strict=True):
            assert_same(found, expected)


@pytest.fixture
def photos(tmp_path: Path) -> str:
    """Seven, in two classes."""
    for k in range(7):
        folder = tmp_path / f"class {k % 2}"
        folder.mkdir(exist_ok=True)
        picture = photograph(("cat", "coffee", "rocket")[k % 3], k, Style(50 + k, 40, kilobytes=(1, 6)))
        (folder / f"{k}.jpg").write_bytes(picture)
    return str(tmp_path)


def test_as_in_a_graph(photos: str) -> None:
    """Readers, random numbers drawn before the reader is called, arguments that are drawn, metadata, arithmetic."""

    def define() -> Any:
        mirror = fn.random.coin_flip()
        jpegs, labels = fn.readers.file(file_root=photos, random_shuffle=True, name="Reader")
        images = fn.decoders.image_random_crop(jpegs)
        images = fn.resize(images, size=fn.random.uniform(range=[20.0, 40.0], shape=[2]))
        normal = fn.crop_mirror_normalize(images, mirror=mirror, crop=[16, 16])
        return normal, labels * 2 + 1, images.shape(), images[3:9, ::2, 0], fn.permute_batch(labels, indices=[2, 0, 1])

    both(define, 5)


@pytest.mark.parametrize("seeds", [{}, {"seed": 3}])
def test_conditionals(photos: str, seeds: dict[str, int]) -> None:
    def define() -> Any:
        jpegs, labels = fn.readers.file(file_root=photos)
        images = fn.decoders.image(jpegs)
        extra = fn.cast(0, dtype=types.FLOAT)
        if fn.random.coin_flip(dtype=types.BOOL, **seeds):
            if labels[0] > 0:
                images = fn.rotate(images, angle=fn.random.uniform(range=[-40.0, 40.0]))
                extra = fn.random.normal()
            else:
                images = 255 - images
                images = fn.cast(images, dtype=types.UINT8)
        else:
            images = fn.flip(images)
        return images, extra, not labels[0]

    pipes = [
        pipeline_def(debug=debug, enable_conditionals=True, **OPTIONS)(define)() for debug in (False, True)
    ]  # fmt: skip
    for _ in range(6):
        for expected, found in zip(*(pipe.run() for pipe in pipes), strict=True):
            assert_same(found, expected)


@pytest.mark.parametrize("least", [0.5, 2.0])
def test_conditions_of_random_numbers(least: float) -> None:
    """They wait to be drawn until a branch needs them; with ``least=2.0`` no sample takes one of the branches."""

    def define() -> Any:
        x = fn.external_source(lambda: np.arange(24, dtype=np.uint8).reshape(6, 4), layout="W")
        first, second = fn.random.uniform(range=[0.0, 1.0]), fn.random.uniform(range=[0.0, 1.0])
        if not first >= least or second >= 0.6:
            y = x
        else:
            y = fn.pad(x, align=8) if second >= 0.3 else fn.slice(x, [1], [2], axes=[0])
        return y, x + x if first >= least and second >= 0.2 else x

    options = {**OPTIONS, "batch_size": 6}
    pipes = [pipeline_def(debug=debug, enable_conditionals=True, **options)(define)() for debug in (False, True)]
    for _ in range(6):
        for expected, found in zip(*(pipe.run() for pipe in pipes), strict=True):
            assert_same(found, expected)


def test_split_and_merge_by_hand() -> None:
    def define() -> Any:
        x = fn.external_source(lambda i: np.int32([3, -1, 4]) * (1 - 2 * (i % 2)))
        positive = x > 0
        yes, no = fn._conditional.split(x, predicate=positive)
        drawn = fn.random.uniform(dtype=types.INT32, range=[0, 100])
        return yes + drawn, fn._conditional.merge(x, -no, predicate=positive)

    both(define)


def test_contents_can_be_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    @pipeline_def(debug=True, **OPTIONS)
    def pipeline() -> Any:
        x = fn.external_source(lambda: [np.arange(k + 1, dtype=np.int16) for k in range(3)], layout="W")
        assert isinstance(x.get(), TensorListCPU)
        assert x.get().shape() == [(1,), (2,), (3,)]
        assert len(x) == 3
        drawn = fn.random.uniform()
        assert np.asarray(drawn).shape == (3,)
        assert np.array_equal(np.asarray(drawn), drawn.get().as_array())
        print(x * 2)
        return x, drawn

    _, drawn = pipeline().run()
    shown = capsys.readouterr().out
    assert "DataNodeDebug" in shown
    assert "[0 2 4]" in shown
    assert drawn.shape() == [()] * 3


def test_data_from_elsewhere() -> None:
    torch = pytest.importorskip("torch")

    @pipeline_def(debug=True, **OPTIONS)
    def pipeline() -> Any:
        x = fn.external_source(lambda: np.arange(12, dtype=np.float32).reshape(3, 2, 2))
        there = x.get().as_array()
        lists = fn.cast([a * 2 for a in there], dtype=types.FLOAT)  # a list of arrays is a batch
        arrays = fn.cast(there * 2, dtype=types.FLOAT)  # and so is an array that is as long as the batch
        tensors = fn.cast(torch.from_numpy(there) * 2, dtype=types.FLOAT)
        whole = fn.copy(TensorListCPU(there * 2))
        return x + TensorListCPU(there), lists, arrays, tensors, whole, fn.copy(np.zeros(5)), 7

    *same, constant, seven = pipeline().run()
    for output in same:
        assert output.as_array().ravel().tolist() == list(range(0, 24, 2))
    assert constant.shape() == [(5,)] * 3
    assert seven.as_array().tolist() == [7, 7, 7]


def test_errors_are_at_the_users_line() -> None:
    reached = []

    @pipeline_def(debug=True, **OPTIONS)
    def pipeline() -> Any:
        x = fn.external_source(lambda: np.zeros((3, 4), np.uint8))
        try:
            fn.decoders.image(x)
        except OperatorError as error:
            reached.append(error)
        return fn.crop(x, crop=[1, 1])

    with pytest.raises(PenstockError, match=r"crop: .*") as caught:
        pipeline().run()
    assert "return fn.crop(x, crop=[1, 1])" in str(caught.value)
    assert "fn.decoders.image(x)" in str(reached[0])
    assert any(entry.name == "pipeline" for entry in caught.traceback)  # raised while the definition ran


def test_feeding_by_name() -> None:
    @pipeline_def(debug=True, **OPTIONS)
    def pipeline() -> Any:
        return fn.external_source(name="numbers") + 1

    pipe = pipeline()
    pipe.feed_input("numbers", np.array([1, 2]))  # before the first batch, which may be smaller
    assert pipe.run()[0].as_array().tolist() == [2, 3]
    assert pipe.run(numbers=np.array([4, 5, 6]))[0].as_array().tolist() == [5, 6, 7]
    with pytest.raises(GraphError, match="no input named 'letters'"):
        pipe.feed_input("letters", np.array([1]))


def test_a_source_that_ends() -> None:
    @pipeline_def(debug=True, **OPTIONS)
    def pipeline() -> Any:
        return fn.external_source([np.full(3, k) for k in range(2)], cycle="raise")

    pipe = pipeline()
    for _ in range(2):
        assert [pipe.run()[0].at(0).item() for _ in range(2)] == [0, 1]
        with pytest.raises(StopIteration):
            pipe.run()
        pipe.reset()


def test_what_is_not_possible(photos: str) -> None:
    @pipeline_def(debug=True, **OPTIONS)
    def pipeline() -> Any:
        return fn.readers.file(file_root=photos, name="Reader")[1]

    pipe = pipeline()
    pipe.build()  # which does nothing
    for refused in (pipe.serialize, pipe.checkpoint, pipe.schedule_run, pipe.explain, pipe.__enter__):
        with pytest.raises(GraphError, match="debug=True"):
            refused()
    with pytest.raises(GraphError, match="first batch"):
        pipe.epoch_size("Reader")
    pipe.run()
    assert pipe.epoch_size("Reader") == 7

    calls: list[Any] = []

    @pipeline_def(debug=True, **OPTIONS)
    def changing() -> Any:
        calls.append(None)
        x = fn.external_source(lambda: np.zeros((3, 4, 4, 1), np.uint8), layout="HWC")
        return fn.flip(x) if len(calls) == 1 else fn.rotate(x, angle=10)

    pipe = changing()
    pipe.run()
    with pytest.raises(GraphError, match=r"rotate: .* the same operators.*'flip'"):
        pipe.run()

    @pipeline_def(debug=True, **OPTIONS)
    def sizes() -> Any:
        return fn.external_source(lambda: np.zeros(3)), fn.external_source(lambda: np.zeros(2))

    with pytest.raises(TensorError, match="2 samples"):
        sizes().run()

    @pipeline_def(debug=True, **OPTIONS)
    def loops() -> Any:
        return list(fn.external_source(lambda: np.zeros(3)))

    with pytest.raises(NodeContentsError, match="iterated"):
        loops().run()


def test_the_call_may_say_it() -> None:
    @pipeline_def(**OPTIONS)
    def pipeline() -> Any:
        x = fn.external_source(lambda: np.zeros(3))
        seen.append(type(x).__name__)
        return x

    seen: list[str] = []
    pipeline(debug=True).run()
    pipeline(debug=False).run()
    assert seen == ["DataNodeDebug", "DataNode"]


def test_on_a_gpu(software_gpu: object, photos: str) -> None:
    def define() -> Any:
        jpegs, labels = fn.readers.file(file_root=photos)
        images = fn.decoders.image(jpegs).gpu()
        small = fn.resize(images, size=[8, 9])
        return fn.flip(small), small.cpu() + 1, labels.gpu()

    both(define, 2, device_id=0)

    @pipeline_def(debug=True, **{**OPTIONS, "device_id": 0})
    def pipeline() -> Any:
        x = fn.external_source(lambda: np.float32([1, 2, 3])).gpu()
        assert isinstance(x.get(), TensorListGPU)
        return x.get() * 1 if False else fn.copy(x.get()), x * 2

    copy, doubled = pipeline().run()
    assert copy.as_cpu().as_array().tolist() == [1, 2, 3]
    assert doubled.as_cpu().as_array().tolist() == [2, 4, 6]
