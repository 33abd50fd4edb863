"""The page of `Pipeline.explain(html=...)`: all of the graph, data of each stage; and the pipeline is left as it is."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import Pipeline, fn, pipeline_def, types
from penstock.page.bars import merged
from penstock.page.layout import HEIGHT, places
from penstock.run.timeline import LAST, Bar
from penstock.run.twin import Twin, repeatable


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=3)
def training(root: Path, count: int = 1) -> Any:
    files, labels = fn.readers.file(file_root=str(root), random_shuffle=True, name="Reader")
    images = fn.resize(fn.decoders.image_random_crop(files), size=[60, 80], name="small")
    images = fn.brightness_contrast(images, brightness=fn.random.uniform(range=[0.5, 1.5]))
    mirror = fn.random.coin_flip()
    done = fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW", mirror=mirror)
    return done, fn.one_hot(labels, num_classes=8)


def page_of(pipe: Pipeline, folder: Path, **how: Any) -> str:
    text = pipe.explain(html=folder / "plan.html", **how)
    assert text.splitlines()[0] == pipe.explain().splitlines()[0]
    return (folder / "plan.html").read_text()


def stages(page: str) -> dict[str, str]:
    """The parts of operators, by the operator and the name below it."""
    parts = re.findall(r'<section class="stage".*?</section>', page, re.DOTALL)
    titles = [re.findall(r"</span>([\w.]+) <small>(.*?)</small>", part)[0] for part in parts]
    return {f"{title} {label}": part for (title, label), part in zip(titles, parts, strict=True)}


def test_all_of_the_graph_is_there(photographs: Path, tmp_path: Path) -> None:
    pipe = training(photographs)
    page = page_of(pipe, tmp_path)
    plan = pipe._built().plan
    names = [node.op.name.lstrip("_") for node in plan.nodes]
    assert re.findall(r'<a class="node [\w ]+" href="#node-\d+" aria-label="([\w.]+)', page) == names
    assert page.count('class="line ') == sum(len(node.sources()) for node in plan.nodes)
    assert page.count('class="line fused"') == 3
    assert [title.split()[0] for title in stages(page)] == names
    assert {int(number) for number in re.findall(r'href="#node-(\d+)"', page)} == set(range(len(names)))
    assert "→ crop_mirror_normalize" in page
    assert "test_page.py" in page
    assert "://" not in re.sub(r'"data:[^"]+"', "", page).replace("http://www.w3.org/2000/svg", "")


def test_data_of_each_stage_is_that_of_the_next_batch(photographs: Path, tmp_path: Path) -> None:
    pipe = training(photographs)
    pipe.run()
    runner = pipe._built()
    wanted = [data for node in runner.plan.nodes if node.op.literal() is None for data in node.outputs]
    with Twin(runner, pipe._options, wanted, {}, 2) as twin:
        seen = dict(zip(wanted, twin.run(), strict=True))
    images, labels = pipe.run()
    for output, expected in zip(runner.plan.outputs, (images, labels), strict=True):
        assert np.array_equal(seen[output].as_array(), expected.as_array()[:2])
    small = next(seen[data] for data in wanted if data.source.name == "small")
    assert small.shape() == [(60, 80, 3)] * 2
    page = stages(page_of(pipe, tmp_path, samples=3))
    assert page["resize small (cpu)"].count("data:image/png") == 3
    assert page["readers.file Reader (cpu)"].count("data:image/jpeg") == 3
    assert "output 0" in page["crop_mirror_normalize cpu"]


def test_the_pipeline_is_left_as_it_is(photographs: Path, tmp_path: Path) -> None:
    one, other = training(photographs), training(photographs)
    for _ in range(6):
        page_of(one, tmp_path)
        a, b = one.run(), other.run()
        assert all(np.array_equal(x.as_array(), y.as_array()) for x, y in zip(a, b, strict=True))
    assert one.checkpoint() == other.checkpoint()


def test_a_twin_of_a_part_draws_the_same_numbers() -> None:
    """Operators that draw are told apart by their rank, and the twin lacks the first."""
    pipe = Pipeline(batch_size=3, num_threads=1, device_id=None, seed=9)
    with pipe:
        mine = fn.external_source(lambda: [np.float32([0, 1])] * 3)
        pipe.set_outputs(fn.random.uniform(range=mine), fn.random.normal(shape=[2]))
    first = pipe.run()[1].as_array()
    runner = pipe._built()
    assert [node.op.name for node in repeatable(runner.plan.nodes)] == ["random.normal"]
    with Twin(runner, pipe._options, runner.plan.outputs[1:], {}, 3) as twin:
        seen = twin.run()[0].as_array()
    assert np.array_equal(seen, pipe.run()[1].as_array())
    assert not np.array_equal(seen, first)


def test_the_users_own_code_is_not_run(tmp_path: Path) -> None:
    called: list[int] = []

    def source(i: int) -> Any:
        called.append(i)
        return np.full((2, 20, 30, 3), i, np.uint8)

    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(fn.resize(fn.external_source(source, name="mine"), size=[12, 12]))
    page = page_of(pipe, tmp_path)
    assert called == []
    assert "inputs={name: batch}" in page
    assert "penstock.profile" in page
    pipe.run()
    before = list(called)
    assert stages(page_of(pipe, tmp_path))["resize cpu"].count("data:image/png") == 2  # of the last batch
    page = page_of(pipe, tmp_path, inputs={"mine": np.zeros((2, 20, 30, 3), np.uint8)})
    assert stages(page)["external_source mine (cpu)"].count("data:image/png") == 2
    assert 'class="bars"' in page
    assert called == before


def test_functions_in_python_are_not_called(tmp_path: Path) -> None:
    called = []

    def function(x: Any) -> Any:
        called.append(1)
        return x + 1

    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.python_function(fn.random.uniform(range=[0.0, 1.0]), function=function) * 2)
    page = page_of(pipe, tmp_path)
    assert not called
    found = stages(page)
    assert "<table>" in found["random.uniform cpu"]
    assert "<table>" not in found["python_function cpu"]


def test_the_timeline_is_of_what_was_profiled_last(photographs: Path, tmp_path: Path) -> None:
    pipe = training(photographs)
    assert "run for this page" in page_of(pipe, tmp_path)
    with penstock.profile(pipe):
        for _ in range(12):
            pipe.run()
    bars = pipe._built().executor.last_batches.bars
    batches = {bar.batch for bar in bars if bar.batch >= 0}
    assert len(batches) == LAST
    page = page_of(pipe, tmp_path)
    assert "run for this page" not in page
    assert "decoders.image_random_crop+resize+brightness_contrast+crop_mirror_normalize: " in page
    for row in ("worker 0", "reader 0", "consumer"):
        assert f"<li>{row}</li>" in page


def test_what_cannot_run_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.jpg").write_bytes(b"no picture")
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.decoders.image(fn.readers.file(file_root=str(tmp_path))[0]))
    assert "not a BMP" in page_of(pipe, tmp_path)


def test_branches_and_constants(tmp_path: Path) -> None:
    @pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=1, enable_conditionals=True)
    def pipeline() -> Any:
        x = fn.random.uniform(range=[0.0, 1.0])
        y = x * 2 if x > 0.5 else types.Constant(7.0)
        return y, types.Constant(np.float32([1, 2]))

    page = page_of(pipeline(), tmp_path)
    assert any("split" in title for title in stages(page))
    assert "data" in re.findall(r'<a class="node (\w+)', page)


def test_on_a_gpu(software_gpu: None, photographs: Path, tmp_path: Path) -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=0)
    with pipe:
        files, _ = fn.readers.file(file_root=str(photographs))
        pipe.set_outputs(fn.resize(fn.decoders.image(files).gpu(), size=[20, 30]))
    page = page_of(pipe, tmp_path)
    assert 'class="node gpu' in page
    assert stages(page)["resize gpu"].count("data:image/png") == 2
    assert "<li>GPU</li>" in page


def test_boxes_of_the_graph_do_not_overlap(photographs: Path) -> None:
    nodes = training(photographs)._planned().nodes
    found = places(nodes, dict.fromkeys(nodes, 100.0))
    boxes = sorted((place.y, place.x) for place in found.values())
    assert len(set(boxes)) == len(nodes)
    for (y, x), (below, right) in itertools.pairwise(boxes):
        assert below >= y + HEIGHT or right >= x + 100
    for node in nodes:
        assert all(found[data.source].y < found[node].y for data in node.sources())


def test_bars_are_merged_over_short_pauses() -> None:
    bars = [Bar(0, "a", 0, 10, 1), Bar(0, "a", 12, 20, 1), Bar(0, "a", 40, 50, 1), Bar(0, "b", 51, 60, 1),
            Bar(0, "b", 60, 70, 2)]  # fmt: skip
    found = [(bar.name, bar.start, bar.end) for bar in merged(bars, 5)]
    assert found == [("a", 0, 20), ("a", 40, 50), ("b", 51, 60), ("b", 60, 70)]


def test_a_mistake_is_explained(photographs: Path, tmp_path: Path) -> None:
    with pytest.raises(penstock.errors.ArgumentError, match="samples=0"):
        training(photographs).explain(html=tmp_path / "x.html", samples=0)
