"""Iterators that give NumPy's arrays."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn
from penstock.errors import ArgumentError
from penstock.plugin.numpy import DALIClassificationIterator, DALIGenericIterator, DALIRaggedIterator, LastBatchPolicy
from tests.small import made, numbers, ten_files


def test_epochs_and_their_arrays(tmp_path: Path) -> None:
    files = ten_files(tmp_path)
    it = DALIGenericIterator(
        made(lambda: numbers(files)), ["n"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL
    )
    for _ in range(2):
        epoch = [batch[0]["n"] for batch in it]
        assert [type(n) for n in epoch] == [np.ndarray] * 3
        assert [n.shape for n in epoch] == [(4, 1), (4, 1), (2, 1)]
        assert np.concatenate(epoch).ravel().tolist() == [*range(10)]


def test_arrays_keep_the_pipelines_memory() -> None:
    counts = iter(range(100))
    it = DALIGenericIterator(made(lambda: fn.external_source(lambda: np.full((4, 500, 500), next(counts)))), ["x"])
    kept = [next(it)[0]["x"] for _ in range(8)]
    assert all((x == i).all() and not x.flags.owndata for i, x in enumerate(kept))
    kept[0] += 1  # they are the caller's
    assert (kept[0] == 1).all()


def test_pictures_with_channels_first() -> None:
    pictures = np.arange(4 * 5 * 6 * 3, dtype=np.uint8).reshape(4, 5, 6, 3)
    pipe = made(lambda: (fn.external_source(lambda: pictures, layout="HWC"), np.int32([7])))
    (batch,) = next(DALIClassificationIterator(pipe, channels_last=True))
    assert np.array_equal(batch["data"], pictures.transpose(0, 3, 1, 2))
    assert batch["label"].tolist() == [[7]] * 4


def test_outputs_on_a_gpu_are_copied(software_gpu: Any) -> None:
    data = np.arange(12, dtype=np.float32).reshape(4, 3)
    pipe = made(lambda: fn.external_source(lambda: data).gpu(), device_id=0)
    (batch,) = next(DALIGenericIterator(pipe, ["x"]))
    assert np.array_equal(batch["x"], data)


def test_samples_that_differ_in_shape() -> None:
    samples = [np.full((i, 2), i, np.int32) for i in range(4)]
    pipe = made(lambda: (fn.external_source(lambda: samples), np.int32([7])))
    (batch,) = next(DALIRaggedIterator(pipe, ["x", "y"], output_types=["sparse_list", "dense"]))
    assert all(np.array_equal(a, b) for a, b in zip(batch["x"], samples, strict=True))
    assert batch["y"].shape == (4, 1)
    with pytest.raises(ArgumentError, match=r"'sparse_coo' is none of 'dense', 'sparse_list'"):
        DALIRaggedIterator(pipe, ["x", "y"], output_types=["sparse_coo", "dense"])


def test_arguments_are_those_for_pytorch() -> None:
    torch = pytest.importorskip("penstock.plugin.pytorch", reason="needs PyTorch")
    for cls in (DALIGenericIterator, DALIClassificationIterator, DALIRaggedIterator):
        assert inspect.signature(cls) == inspect.signature(getattr(torch, cls.__name__))
