"""What `explain` and `profile` say of groups that are meant to be one pass over the data: how many samples were."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import DataNode, Pipeline, fn, types
from penstock.run.passes import Passes

FRAMES, PICTURE = (2, 20, 30, 3), (20, 30, 3)
NO_PICTURE = "the input is not one picture (height, width, channels)"


def pipeline(
    shapes: Sequence[Any], layout: str, define: Callable[[DataNode], DataNode], device: str = "cpu"
) -> tuple[Pipeline, list[Any]]:
    """A pipeline over samples of these shapes, which comes back, too."""
    samples = [np.random.default_rng(i).integers(0, 256, shape, np.uint8) for i, shape in enumerate(shapes)]
    pipe = Pipeline(len(shapes), 2, None if device == "cpu" else 0, prefetch_queue_depth=1)
    with pipe:
        images = fn.external_source(source=lambda: samples, layout=layout)
        pipe.set_outputs(define(images.gpu() if device == "gpu" else images))
    return pipe, samples


def cropped(images: DataNode) -> DataNode:
    images = fn.crop(images, crop=(10, 16), out_of_bounds_policy="pad")
    return fn.crop_mirror_normalize(images, mean=[100.0], std=[2.0], output_layout="HWC" if images else "")


def resized(images: DataNode) -> DataNode:
    return fn.cast(fn.brightness(fn.resize(images, size=(8, 9)), brightness=0.5), dtype=types.FLOAT)


def passes_of(pipe: Pipeline) -> Passes:
    [passes] = pipe._built().executor.passes().values()
    return passes


def notes(pipe: Pipeline) -> list[str]:
    return [line.strip() for line in pipe.explain().splitlines() if "so far" in line]


def test_before_the_first_batch_nothing_is_said() -> None:
    pipe, _ = pipeline([PICTURE] * 3, "HWC", resized)
    pipe.build()
    assert "resize → brightness → cast" in pipe.explain()
    assert notes(pipe) == []


def test_pictures_go_through_in_one_pass() -> None:
    pipe, _ = pipeline([PICTURE] * 3, "HWC", resized)
    pipe.run()
    found = passes_of(pipe)
    assert found.apart == {}
    assert found.together in (3, 6)  # another batch may be under way
    assert notes(pipe) == [f"so far: {found.together} samples in one pass"] or found.together == 3
    pipe.close()
    assert "so far" not in pipe.explain()


def test_frames_do_not() -> None:
    pipe, _ = pipeline([FRAMES] * 3, "FHWC", resized)
    pipe.run()
    assert passes_of(pipe).together == 0
    assert list(passes_of(pipe).apart) == [("resize", NO_PICTURE)]
    [note] = notes(pipe)
    assert note.startswith("so far: 0 of ")
    assert note.endswith(f" operator by operator (resize: {NO_PICTURE})")


def test_each_sample_counts_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The window reaches beyond the second picture, and the fourth is empty."""
    shapes = [PICTURE, (7, 30, 3), PICTURE, (0, 30, 3), (9, 9, 3)]
    define = lambda images: fn.cast(  # noqa: E731
        fn.crop(images, crop=(8, 16), out_of_bounds_policy="trim_to_shape"), dtype=types.FLOAT
    )

    def padded(images: DataNode) -> DataNode:
        return fn.cast(fn.crop(images, crop=(8, 16), out_of_bounds_policy="pad"), dtype=types.FLOAT)

    pipe, samples = pipeline(shapes, "HWC", padded)
    fused = [np.array(pipe.run()[0].at(i)) for i in range(len(shapes))]
    found = passes_of(pipe)
    batches = found.total // len(shapes)
    assert found == Passes(2 * batches, {("crop", "the window reaches beyond the input"): 3 * batches})
    pipe.close()

    pipe, _ = pipeline(shapes, "HWC", define)
    pipe.run()
    found = passes_of(pipe)
    batches = found.total // len(shapes)
    assert found == Passes(4 * batches, {("crop", "there are no pixels"): batches})

    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    pipe, _ = pipeline(shapes, "HWC", padded)
    for i, (array, sample) in enumerate(zip(fused, samples, strict=True)):
        np.testing.assert_array_equal(pipe.run()[0].at(i) if i == 0 else array, array)
        assert array.shape == (8, 16, sample.shape[2])
    assert pipe._built().executor.passes() == {}


def test_profiles_tell_what_went_operator_by_operator(tmp_path: Path) -> None:
    pipe, _ = pipeline([FRAMES] * 4, "FHWC", resized)
    pipe.run()
    trace = tmp_path / "trace.json"
    measured = penstock.profile(pipe, batches=5, trace=trace)
    [work] = [w for w in measured.figures.work if len(w.operators) > 1]
    assert work.passes.together == 0
    assert work.passes.total >= 5 * 4 - 4
    assert list(work.passes.apart) == [("resize", NO_PICTURE)]
    told = " ".join(str(measured).split())
    assert f"operator by operator (resize: {NO_PICTURE})" in told
    passes = json.loads(trace.read_text())["otherData"]["passes"]
    assert passes == {"resize+brightness+cast": str(work.passes)}


def test_profiles_of_one_pass_say_nothing_of_it() -> None:
    pipe, _ = pipeline([PICTURE] * 4, "HWC", resized)
    measured = penstock.profile(pipe, batches=5)
    [work] = [w for w in measured.figures.work if len(w.operators) > 1]
    assert work.passes.apart == {}
    assert work.passes.together >= 5 * 4 - 4
    assert "operator by operator" not in str(measured)


def test_counts_of_two_moments() -> None:
    before = Passes(3, {("a", "x"): 1, ("b", "y"): 2})
    now = Passes(7, {("a", "x"): 1, ("b", "y"): 5, ("b", "z"): 1})
    assert now.since(before) == Passes(4, {("b", "y"): 3, ("b", "z"): 1})
    assert str(now.since(before)) == (
        "4 of 8 samples in one pass; 3 operator by operator (b: y); 1 operator by operator (b: z)"
    )


@pytest.mark.parametrize(
    ("axes", "layout", "turned", "why"),
    [
        (PICTURE, "HWC", {"vertical": 1}, None),
        (FRAMES, "FHWC", {"vertical": 1}, None),
        (FRAMES, "DHWC", {"depthwise": 1}, "volumes are turned front to back"),
    ],
)
def test_kernels_of_a_gpu(axes: Any, layout: str, turned: dict[str, int], why: str | None, software_gpu: None) -> None:
    def define(images: DataNode) -> DataNode:
        return fn.cast(fn.flip(images, **turned), dtype=types.FLOAT)

    pipe, samples = pipeline([axes] * 3, layout, define, "gpu")
    [output] = pipe.run()
    assert "in one kernel: flip → cast" in pipe.explain()
    found = passes_of(pipe)
    assert (found.together == 0) == (why is not None)
    assert list(found.apart) == ([] if why is None else [("flip", why)])
    for result, sample in zip([output.as_cpu().at(i) for i in range(3)], samples, strict=True):
        axis = layout.index("D" if why else "H")
        wanted = np.flip(np.flip(sample, axis), layout.index("W"))
        np.testing.assert_array_equal(result, wanted)


def test_a_batch_of_several_types_on_a_gpu(software_gpu: None) -> None:
    """What a chain cannot do runs operator by operator, for all samples of the batch."""
    pipe, _ = pipeline([PICTURE, (20, 30, 3), (3, 4, 3)], "HWC", padded_on_gpu, "gpu")
    pipe.run()
    found = passes_of(pipe)
    assert found.together == 0
    assert found.total % 3 == 0
    assert list(found.apart) == [("crop", "the window reaches beyond the input")]


def padded_on_gpu(images: DataNode) -> DataNode:
    return fn.cast(fn.crop(images, crop=(8, 16), out_of_bounds_policy="pad"), dtype=types.FLOAT)
