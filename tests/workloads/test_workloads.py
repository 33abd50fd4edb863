"""Whole pipelines on photographs: as DALI's, and the same however they are run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock

NORMALIZE: dict[str, Any] = {
    "output_layout": "CHW",
    "mean": [123.675, 116.28, 103.53],
    "std": [58.395, 57.12, 57.375],
}


def validation(library: Any, root: Path) -> Any:
    """Resize and centre crop, as integers and normalised, of all 16 photographs."""
    fn, types = library.fn, library.types

    @library.pipeline_def(batch_size=16, num_threads=2, device_id=None)
    def define() -> Any:
        files, labels = fn.readers.file(file_root=str(root))
        images = fn.resize(fn.decoders.image(files), resize_shorter=256)
        normalized = fn.crop_mirror_normalize(images, crop=(224, 224), dtype=types.FLOAT, **NORMALIZE)
        return fn.crop(images, crop=(224, 224)), normalized, labels

    pipe = define()
    pipe.build()
    return [np.array(output.as_tensor()) for output in pipe.run()]


def training(root: Path, batch_size: int, num_threads: int) -> dict[int, Any]:
    """Random crops of one epoch, by label and order in the shuffled epoch."""
    fn, types = penstock.fn, penstock.types

    @penstock.pipeline_def(batch_size=batch_size, num_threads=num_threads, device_id=None, seed=5)
    def define() -> Any:
        files, labels = fn.readers.file(file_root=str(root), random_shuffle=True)
        images = fn.resize(fn.decoders.image_random_crop(files), size=[96, 96])
        mirror = fn.random.coin_flip()
        return fn.crop_mirror_normalize(images, mirror=mirror, dtype=types.FLOAT, **NORMALIZE), labels

    pipe, samples = define(), []
    while len(samples) < 16:
        images, labels = pipe.run()
        samples += [(int(labels.at(i)[0]), images.at(i).copy()) for i in range(len(images))]
    return dict(enumerate(samples[:16]))


def test_validation_is_dalis(photographs: Path) -> None:
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    (crops, normalized, labels), (their_crops, theirs, their_labels) = (
        validation(library, photographs) for library in (penstock, dali)
    )
    np.testing.assert_array_equal(labels, their_labels)
    difference = np.abs(crops.astype(int) - their_crops.astype(int))
    assert difference.max() <= 1
    assert (difference == 0).mean() > 0.995
    same = (difference == 0).transpose(0, 3, 1, 2)
    np.testing.assert_allclose(normalized[same], theirs[same], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("batch_size", "num_threads", "fuse"), [(16, 1, "1"), (5, 3, "1"), (4, 2, "0")])
def test_training_is_the_same_however_it_runs(
    photographs: Path, monkeypatch: pytest.MonkeyPatch, batch_size: int, num_threads: int, fuse: str
) -> None:
    expected = training(photographs, 8, 2)
    monkeypatch.setenv("PENSTOCK_FUSE", fuse)
    for number, (label, image) in training(photographs, batch_size, num_threads).items():
        assert label == expected[number][0]
        np.testing.assert_array_equal(image, expected[number][1])
    assert len({image.tobytes() for _, image in expected.values()}) == 16
