"""Dynamic mode beside DALI's, on the CPU: the same program with either module."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock.experimental.dynamic as ours
from tools.photographs import Style, photograph

PICTURE = np.random.default_rng(1).integers(0, 256, (20, 31, 3), dtype=np.uint8)
SMALL = np.ascontiguousarray(PICTURE[:9, :12])
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "tensors": lambda ndd: [
        ndd.tensor(3),
        ndd.tensor(2.5),
        ndd.tensor([[1, 2], [3, 4]]),
        ndd.tensor(PICTURE, layout="HWC"),
    ],
    "types": lambda ndd: [ndd.tensor([1, 2], dtype=ndd.float16), ndd.as_tensor(SMALL, dtype=ndd.int32)],
    "batches": lambda ndd: [
        ndd.batch([PICTURE, SMALL], layout="HWC"),
        ndd.batch(np.zeros((2, 3))),
        ndd.as_batch([1, 2]),
    ],
    "padded": lambda ndd: [ndd.as_tensor(ndd.batch([PICTURE, SMALL]), pad=True)],
    "select": lambda ndd: [ndd.batch([PICTURE, SMALL]).select(1), ndd.batch([PICTURE, SMALL]).slice[1:5, ::2]],
    "indexing": lambda ndd: [(t := ndd.tensor(PICTURE))[3], t[-1, 2], t[..., 1], t[2:, 3:5]],
    "numbers": lambda ndd: [(t := ndd.tensor([1, 2, 5])) + 1, t * 2.5, 7 - t, t // 2, t / 2, -t, t > 1, t**2],
    "batches and tensors": lambda ndd: [ndd.batch([PICTURE, SMALL]) + ndd.tensor([1, 2, 3])],
    "mathematics": lambda ndd: [ndd.math.sqrt(ndd.tensor([1.0, 2.0])), ndd.math.clamp(ndd.tensor([1, 5, 9]), 2, 6)],
    "one picture": lambda ndd: [
        ndd.flip(PICTURE),
        ndd.rotate(PICTURE, angle=30, fill_value=0),
        ndd.resize(PICTURE, size=[9, 7]),
    ],
    "pictures": lambda ndd: [
        ndd.crop_mirror_normalize(
            ndd.resize(ndd.batch([PICTURE, SMALL], layout="HWC"), resize_x=16, resize_y=12),
            mirror=ndd.batch([0, 1]),
            dtype=ndd.float32,
            mean=[100.0],
            std=[50.0],
        )
    ],
    "broadcast": lambda ndd: [
        ndd.stack(ndd.batch([1, 2]), ndd.tensor(7)),
        ndd.cat(ndd.tensor([1]), ndd.tensor([2, 3])),
    ],
    "without inputs": lambda ndd: [
        ndd.zeros(shape=[2], batch_size=3),
        ndd.full(3, shape=[2]),
        ndd.transforms.rotation(angle=30.0),
    ],
    "several outputs": lambda ndd: list(ndd.nonsilent_region(np.float32([0, 0, 1, 1, 0]))),
    "reductions": lambda ndd: [
        ndd.reductions.mean(PICTURE, axes=[0, 1]),
        ndd.reductions.sum(ndd.batch([PICTURE, SMALL])),
    ],
}


def facts(output: Any) -> Any:
    """Of a tensor or a batch."""
    samples = list(output) if hasattr(output, "batch_size") else [output]
    arrays = [np.asarray(sample) for sample in samples]
    shape = (
        [tuple(map(int, s)) for s in output.shape] if hasattr(output, "batch_size") else tuple(map(int, output.shape))
    )
    return str(output.dtype), shape, output.layout or None, output.ndim, arrays


def compare(found: Any, wanted: Any) -> None:
    assert found[:4] == wanted[:4]
    for a, b in zip(found[4], wanted[4], strict=True):
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    theirs = pytest.importorskip("nvidia.dali.experimental.dynamic", reason="DALI, the oracle, is not installed")
    with theirs.EvalMode.sync_cpu:
        wanted = [facts(output) for output in PROGRAMS[name](theirs)]
    for output, expected in zip(PROGRAMS[name](ours), wanted, strict=True):
        compare(facts(output), expected)


def test_readers(tmp_path: Path) -> None:
    theirs = pytest.importorskip("nvidia.dali.experimental.dynamic", reason="DALI, the oracle, is not installed")
    for k in range(5):
        (tmp_path / "a").mkdir(exist_ok=True)
        (tmp_path / "a" / f"{k}.jpg").write_bytes(photograph("cat", k, Style(40 + k, 30, kilobytes=(1, 6))))
    labels = list(range(5))
    files = [f"a/{k}.jpg" for k in labels]
    for arguments in ({}, {"pad_last_batch": True}, {"num_shards": 2, "shard_id": 1}):
        found = []
        for ndd in (ours, theirs):
            reader = ndd.readers.File(file_root=str(tmp_path), files=files, labels=labels, **arguments)
            found.append([
                [facts(label), facts(ndd.decoders.image(jpegs))]
                for _ in range(4) for jpegs, label in reader.next_epoch(batch_size=2)
            ])  # fmt: skip
        assert len(found[0]) == len(found[1])
        for a, b in zip(*found, strict=True):
            for one, other in zip(a, b, strict=True):
                compare(one, other)


def test_names() -> None:
    """All of DALI's, but for a type that no tensor here has, and readers for torchdata's nodes."""
    theirs = pytest.importorskip("nvidia.dali.experimental.dynamic", reason="DALI, the oracle, is not installed")
    missing = {name for name in dir(theirs) if not name.startswith("_")} - set(dir(ours))
    missing -= {"NoReturn", "TypeAlias", "Union", "local", "torch"}  # of its imports
    assert missing == {"bfloat16", "pytorch"}
    for name in ("Tensor", "Batch", "Device", "DType"):
        there = {n for n in dir(getattr(theirs, name)) if not n.startswith("_")}
        assert there - set(dir(getattr(ours, name))) == set(), name
    hidden = {"cached_results", "cache_results"}  # of DALI's own operators
    assert {n for n in dir(theirs.EvalContext()) if not n.startswith("_")} - set(dir(ours.EvalContext())) == hidden
