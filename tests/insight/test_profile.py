"""`penstock.profile`: bottlenecks that are made on purpose are named; what threads did adds up; traces can be read.

Who is the bottleneck is decided by contrasts of ten to one and more, so that a busy machine does not change it.
"""

from __future__ import annotations

import ctypes
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import Pipeline, errors, fn, pipeline_def, types
from penstock.arguments.decoded import Decoded
from penstock.insight.figures import Figures, Work
from penstock.insight.verdict import judge
from penstock.machine.codecs import codecs
from penstock.optimize.plan import Where
from penstock.run.recording import SPAN, Did

BATCH = 8


@pipeline_def(batch_size=BATCH, num_threads=2, device_id=None, seed=1)
def pictures(
    folder: Path, size: int = 32, interpolation: Any = types.INTERP_LINEAR, dont_use_mmap: bool = False
) -> Any:
    """Decoded and resized pictures, and labels."""
    files, labels = fn.readers.file(file_root=str(folder), name="Reader", dont_use_mmap=dont_use_mmap)
    return fn.resize(fn.decoders.image(files), size=size, interp_type=interpolation), labels


def numbers(source: Any) -> Pipeline:
    """A pipeline around an external source."""
    pipe = Pipeline(batch_size=BATCH, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.external_source(source=source) + 1)
    return pipe


@pytest.fixture(scope="module")
def tiny(photographs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """16 pictures of 8x8, which take no time."""
    [sample] = (codec.sample for codec in codecs() if codec.name == "JPEG")
    folder = tmp_path_factory.mktemp("tiny") / "a"
    folder.mkdir()
    for i in range(16):
        (folder / f"{i:02}.jpg").write_bytes(sample)
    return folder.parent


def test_decoding_is_named(photographs: Path) -> None:
    # Enough of them that it does not count where a thread has to wait for a processor.
    p = penstock.profile(pictures(photographs, size=4, interpolation=types.INTERP_NN), batches=60)
    assert p.bottleneck == "decode", str(p)
    assert p.figures.stages["decode"] > 3 * p.figures.stages["augment"]
    assert "decoders.image+resize" in p.evidence


def test_augmentation_is_named(tiny: Path) -> None:
    p = penstock.profile(pictures(tiny, size=1500, interpolation=types.INTERP_CUBIC), batches=4)
    assert p.bottleneck == "augment", str(p)
    assert p.figures.stages["augment"] > 3 * p.figures.stages["decode"]
    assert "resize" in p.evidence


def test_fusion_divides_a_pass_by_its_stages(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shares = {}
    for fuse in "10":
        monkeypatch.setenv("PENSTOCK_FUSE", fuse)
        stages = penstock.profile(pictures(tiny, size=1500), batches=20).figures.stages
        shares[fuse] = stages["decode"] / (stages["decode"] + stages["augment"])
    assert shares["1"] < 0.3
    assert shares["0"] < 0.3


def test_reading_is_named(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for file in tiny.glob("*/*.jpg"):
        padded = file.read_bytes() + bytes(8 << 20)  # behind the picture's end
        (tmp_path / "a" / file.name).write_bytes(padded)
    p = penstock.profile(pictures(tmp_path, size=8, dont_use_mmap=True), batches=20)
    assert p.bottleneck == "read", str(p)
    assert p.figures.stages["read"] > 3 * p.figures.stages["decode"]


def test_a_slow_consumer_is_named(tiny: Path) -> None:
    pipe = pictures(tiny)
    pipe.run()
    with penstock.profile(pipe) as p:
        for _ in range(6):
            pipe.run()
            time.sleep(0.1)
    assert p.bottleneck == "consumer", str(p)
    assert p.figures.consumer >= 0.6
    assert "times as fast as it is used" in p.evidence


def test_a_slow_source_is_named() -> None:
    def source() -> list[Any]:
        time.sleep(0.05)
        return [np.arange(4)] * BATCH

    p = penstock.profile(numbers(source), batches=5)
    assert p.bottleneck == "source", str(p)
    assert p.figures.source >= 0.25


def test_no_batch_is_no_bottleneck(tiny: Path) -> None:
    with penstock.profile(pictures(tiny)) as p:
        assert "being made" in str(p)
        with pytest.raises(errors.GraphError, match="end of its block"):
            _ = p.bottleneck
    assert (p.bottleneck, p.figures.batches, p.figures.samples) == ("none", 0, 0)


def test_figures_add_up(tiny: Path) -> None:
    pipe = pictures(tiny)
    with penstock.profile(pipe) as p:
        for _ in range(20):
            pipe.run()
    f = p.figures
    assert (f.batches, f.samples, f.threads, f.io_threads) == (20, 20 * BATCH, 2, 2)
    own = sum(f.waits.values()) + f.source + f.schedule + f.handing_out + f.consumer
    assert own == pytest.approx(f.seconds, rel=0.02)
    assert all(0 <= share <= 1.01 for share in f.busy.values())
    assert [w.name for w in f.work] == ["readers.file", "decoders.image+resize"]
    assert all(20 * BATCH <= w.samples <= 24 * BATCH for w in f.work)
    assert sum(f.work[1].shares) == pytest.approx(1)
    assert sum(w.seconds for w in f.work) <= f.seconds * 4 * 1.01
    report = " ".join(str(p).split())  # lines are wrapped
    for text in (p.evidence, p.advice, "decoders.image+resize", "samples/s"):
        assert " ".join(text.split()) in report


def nested(spans: Any) -> None:
    """Of each thread: spans lie behind one another, or within."""
    for thread in np.unique(spans["thread"]):
        mine = spans[spans["thread"] == thread]
        mine = mine[np.lexsort((-mine["end_ns"], mine["start_ns"]))]
        open_until: list[int] = []
        for start, end in zip(mine["start_ns"].tolist(), mine["end_ns"].tolist(), strict=True):
            assert start <= end
            while open_until and open_until[-1] <= start:
                open_until.pop()
            assert not open_until or end <= open_until[-1]
            open_until.append(end)


def test_spans_nest_and_cover_all_samples(tiny: Path) -> None:
    pipe = pictures(tiny)
    with penstock.profile(pipe) as p:
        for _ in range(10):
            pipe.run()
    spans = p.spans()
    assert spans.dtype == SPAN
    assert p.lost == 0
    nested(spans)
    runs = spans[spans["did"] == Did.RUN]
    done = defaultdict(set)  # samples by batch and node
    for batch, node, sample in zip(runs["batch"], runs["at"], runs["sample"], strict=True):
        done[int(batch), int(node)].add(int(sample))
    for batch in range(10):
        assert [done[batch, node] for node in (0, 1)] == [set(range(BATCH))] * 2
    for thread in np.unique(spans["thread"]):
        top = runs[runs["thread"] == thread]
        assert (top["end_ns"] - top["start_ns"]).sum() * 1e-9 <= p.figures.seconds


def test_recording_changes_no_result_and_leaves_nothing_behind(photographs: Path) -> None:
    plain, watched = pictures(photographs), pictures(photographs)
    expected = [plain.run()[0] for _ in range(4)]
    for half in (expected[:2], expected[2:]):
        with penstock.profile(watched) as p:
            found = [watched.run()[0] for _ in half]
        for a, b in zip(half, found, strict=True):
            np.testing.assert_array_equal(a.as_array(), b.as_array())
        assert p.figures.batches == 2
        assert p.figures.seconds < 60
    assert watched._built().executor.recording is None
    start = p.spans()["start_ns"].min()
    with penstock.profile(watched) as later:
        watched.run()
    assert later.spans()["start_ns"].min() > start + 1e9 * p.figures.seconds / 2


def test_trace_has_every_thread_and_batch(tiny: Path, tmp_path: Path) -> None:
    pipe = pictures(tiny)
    with penstock.profile(pipe, trace=tmp_path / "trace.json"):
        for _ in range(6):
            pipe.run()
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    threads = {e["args"]["name"]: e["tid"] for e in events if e["name"] == "thread_name"}
    assert set(threads) == {"worker 0", "worker 1", "reader 0", "reader 1", "consumer"}
    complete = [e for e in events if e["ph"] == "X"]
    assert {e["tid"] for e in complete} <= set(threads.values())
    assert {"readers.file", "decoders.image+resize", "setup", "wait", "take a batch"} <= {e["name"] for e in complete}
    assert all(e["dur"] >= 0 for e in complete)
    for batch in range(6):
        begins, ends = ([e["name"] for e in events if e["ph"] == ph and e.get("id") == batch] for ph in "be")
        assert sorted(begins) == sorted(ends)
        assert {f"batch {batch}", "segment 1 (IO)", "segment 2 (CPU)"} <= set(begins)
        assert any(e["args"].get("batch") == batch for e in complete)


def test_mistakes_are_told(tiny: Path) -> None:
    with pytest.raises(errors.ArgumentTypeError, match="expected a Pipeline"):
        penstock.profile("pipe")  # type: ignore[arg-type]
    pipe = pictures(tiny)
    with pytest.raises(errors.ArgumentError, match="profile: batches=0: expected 1 or more"):
        penstock.profile(pipe, batches=0)
    with pytest.raises(errors.ArgumentTypeError, match="profile: batches=True: expected a whole number"):
        penstock.profile(pipe, batches=True)
    with penstock.profile(pipe), pytest.raises(errors.GraphError, match="already"), penstock.profile(pipe):
        pass
    with pytest.raises(errors.GraphError, match="closed while"), penstock.profile(pipe):
        pipe.close()
    with pytest.raises(errors.GraphError, match="is closed"), penstock.profile(pipe):
        pass


def test_an_error_in_the_block_comes_through(tiny: Path) -> None:
    pipe = pictures(tiny)
    p = penstock.profile(pipe)

    def broken_loop() -> None:
        with p:
            pipe.run()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken_loop()
    assert p.figures.batches == 1
    assert pipe._built().executor.recording is None


def test_cancelled_batches_are_no_trouble(tiny: Path) -> None:
    pipe = pictures(tiny)
    with penstock.profile(pipe) as p:
        pipe.run()
        pipe.reset()
        pipe.run()
    assert p.figures.batches == 2


def test_a_slow_gpu_is_named(software_gpu: dict[str, str], photographs: Path, tmp_path: Path) -> None:
    if not software_gpu:
        pytest.skip("a real GPU can't be slowed down")

    @pipeline_def(batch_size=BATCH, num_threads=2, device_id=0, seed=1)
    def on_gpu() -> Any:
        files, labels = fn.readers.file(file_root=str(photographs))
        return fn.resize(fn.decoders.image(files, device="mixed"), size=8), labels

    pipe = on_gpu()
    pipe.run()
    driver = ctypes.CDLL(software_gpu["PENSTOCK_CUDA_DRIVER"])
    driver.software_gpu_set_delay_us(50_000)
    try:
        p = penstock.profile(pipe, batches=6, trace=tmp_path / "trace.json")
    finally:
        driver.software_gpu_set_delay_us(0)
    assert p.bottleneck == "gpu", str(p)
    assert p.figures.busy["gpu"] > 0.5
    nested(p.spans())
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = {e["args"]["name"]: e["tid"] for e in events if e["name"] == "thread_name"}
    for thread, work in {"GPU": "GPU", "launches": "launch", "launches ahead": "launch ahead"}.items():
        assert any(e["ph"] == "X" and e["tid"] == names[thread] and e["name"] == work for e in events)


def test_advice_follows_from_the_figures() -> None:
    work = [Work(("decoders.image",), ("decode",), Where.CPU, 100, 0.0, 9.5, ())]

    def figures(busy: float) -> Figures:
        return Figures(10.0, 20, 100, 1, 1, work, {"decode": 9.5}, {"cpu": busy, "io": 0.1}, {"cpu": 9.0})

    assert "8 processors" in judge(figures(0.95), 8, True).advice
    assert "processors" not in judge(figures(0.95), 1, True).advice
    assert "mixed" in judge(figures(0.95), 1, False).advice
    assert "prefetch_queue_depth" in judge(figures(0.3), 8, False).advice
    mixed = figures(0.95)
    mixed.decoded = {"a": Decoded("decoders.image", {"cpu": 25, "cuda": 60, "nvimagecodec": 15}, {})}
    assert "The CPU decoded 25 % of the files" in judge(mixed, 1, True).advice
    python = Figures(10.0, 20, 100, 1, 1, work, {}, {"cpu": 0.1}, {"python": 8.0})
    assert judge(python, 8, False).bottleneck == "python"
