"""examples/workloads on small data sets: as DALI's, and the same out of each container and however they are run."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from bench.containers import write_containers
from examples.workloads import classification, detection, segmentation, speech
from tests.decode.sounds import sounds_can_be_decoded
from tools.photographs import Style, write_folder
from tools.shapes import write_shapes
from tools.sounds import WORDS, write_commands

OPTIONS: dict[str, Any] = {"batch_size": 8, "num_threads": 2, "device_id": None, "seed": 3}
Array = np.ndarray[Any, Any]
Make = Callable[..., Any]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """16 photographs of 8 classes in each container."""
    folder = tmp_path_factory.mktemp("classification")
    assert sum(write_folder(folder / "files", 16, Style(120, 90, kilobytes=(4, 8))))
    write_containers(folder)
    return folder


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shapes")
    write_shapes(folder, 16)
    return folder


@pytest.fixture(scope="module")
def sounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not sounds_can_be_decoded():
        pytest.skip("needs libsndfile")
    folder = tmp_path_factory.mktemp("sounds")
    write_commands(folder, 16)
    return folder


def epoch(make: Make, library: Any, folder: Path, *words: Any, **arguments: Any) -> list[list[Array]]:
    """Two batches: of each output its samples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of arguments that DALI alone deprecates
        pipe = make(library, folder, *words, **{**OPTIONS, **arguments})
        batches = [[[np.array(o.at(i)) for i in range(len(o))] for o in pipe.run()] for _ in range(2)]
    return [first + second for first, second in zip(*batches, strict=True)]


def beside_dali(make: Make, folder: Path, *words: Any, **arguments: Any) -> list[tuple[list[Array], list[Array]]]:
    """Of each output ours and DALI's, of the same shapes and types."""
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    ours, theirs = (epoch(make, library, folder, *words, **arguments) for library in (penstock, dali))
    for a, b in zip(ours, theirs, strict=True):
        assert [(x.shape, x.dtype) for x in a] == [(x.shape, x.dtype) for x in b]
    return [*zip(ours, theirs, strict=True)]


def same(pair: tuple[list[Array], list[Array]]) -> None:
    for a, b in zip(*pair, strict=True):
        np.testing.assert_array_equal(a, b)


def same_pictures(pair: tuple[list[Array], list[Array]]) -> None:
    """Normalized ones, of which few pixels are rounded to the other side before (1/57 then)."""
    for a, b in zip(*pair, strict=True):
        apart = np.abs(a - b)
        assert apart.max() < 0.0185
        assert (apart > 1e-4).mean() < 0.01


@pytest.mark.parametrize("kind", classification.READERS)
def test_classification_is_dalis(kind: str, pictures: Path) -> None:
    images, labels = beside_dali(classification.pipeline, pictures, kind, training=False, size=56)
    same_pictures(images)
    same(labels)


@pytest.mark.parametrize("training", [False, True])
def test_each_container_gives_the_same(training: bool, pictures: Path) -> None:
    """Random crops and flips, too: random numbers belong to the samples, whatever these are read from."""
    found = {
        kind: epoch(classification.pipeline, penstock, pictures, kind, training=training, size=56)
        for kind in classification.READERS
    }
    images, labels = found["files"]
    assert sorted(int(label[0]) for label in labels) == sorted([*range(8)] * 2)
    assert len({image.tobytes() for image in images}) == 16
    for others in found.values():
        same((images, others[0]))
        same((labels, others[1]))


@pytest.mark.parametrize("arguments", [{"training": False}, {"training": True, "mirror": True}], ids=str)
def test_detection_is_dalis(arguments: dict[str, Any], shapes: Path) -> None:
    images, offsets, classes = beside_dali(detection.pipeline, shapes, random_window=False, **arguments)
    same_pictures(images)
    same(classes)
    for a, b in zip(*offsets, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    assert all(a.shape == (8732, 4) for a in offsets[0])


def test_detection_in_training(shapes: Path) -> None:
    """Boxes that are decoded from the anchors' offsets lie around shapes: these are brighter than what is behind."""
    boxes = np.float32(detection.anchors()).reshape(-1, 4)
    middle, extent = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
    brighter = []
    images, offsets, classes = epoch(detection.pipeline, penstock, shapes, training=True)
    for image, offset, labels in zip(images, offsets, classes, strict=True):
        assert set(np.unique(labels)) <= {0, 1, 2, 3}
        matched = np.flatnonzero(labels)
        assert len(matched)
        for i in matched[:3]:
            x, y = (middle[i] + offset[i, :2] * 0.1 * extent[i]) * 300
            assert min(x, y) > -1
            assert max(x, y) < 301
            strongest = image[:, int(np.clip(y, 0, 299)), int(np.clip(x, 0, 299))].max()
            brighter.append(strongest - np.median(image, axis=(1, 2)).max())
    assert np.mean(np.array(brighter) > 0) > 0.8


@pytest.mark.parametrize("training", [False, True])
def test_masks_are_dalis(training: bool, shapes: Path) -> None:
    images, classes = beside_dali(segmentation.masks, shapes, training=training, window=False, size=64)
    same_pictures(images)
    same(classes)
    assert {int(v) for mask in classes[0] for v in np.unique(mask)} == {0, 1, 2, 3}


def test_masks_follow_their_pictures(shapes: Path) -> None:
    """Where the mask has a shape, the picture is brighter in one of its colours, whatever the window and the flip."""
    for image, mask in zip(*epoch(segmentation.masks, penstock, shapes, training=True), strict=True):
        inside = mask[..., 0] > 0
        if 0.02 < inside.mean() < 0.98:
            assert image.max(0)[inside].mean() > image.max(0)[~inside].mean() + 0.3


def test_polygons_are_dalis(shapes: Path) -> None:
    images, *others = beside_dali(segmentation.polygons, shapes, training=False, size=64)
    same_pictures(images)
    for pair in others:
        same(pair)
    mirrored = epoch(segmentation.polygons, penstock, shapes, training=True, size=64)
    for boxes, outlines, vertices in zip(mirrored[1], mirrored[3], mirrored[4], strict=True):
        for number, begin, end in outlines:
            corners = vertices[begin:end]
            np.testing.assert_allclose([*corners.min(0), *corners.max(0)], boxes[number], atol=1e-4)


@pytest.mark.parametrize("arguments", [{"training": False}, {"training": True, "speed": 1.07}], ids=str)
def test_speech_is_dalis(arguments: dict[str, Any], sounds: Path) -> None:
    mels, lengths, texts = beside_dali(speech.pipeline, sounds, **arguments)
    same(lengths)
    same(texts)
    assert [bytes(text).decode() for text in texts[0]] == [*WORDS] * 2
    for a, b in zip(*mels, strict=True):
        assert np.abs(a - b).max() < 0.03  # of quiet bands, by DALI's places in the signal, which are floats
        assert np.abs(a - b).mean() < 1e-3


@pytest.mark.parametrize(
    ("make", "data"),
    [
        (detection.pipeline, "shapes"),
        (segmentation.masks, "shapes"),
        (segmentation.polygons, "shapes"),
        (speech.pipeline, "sounds"),
    ],
)
def test_training_is_the_same_however_it_runs(make: Make, data: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(data)
    expected = epoch(make, penstock, folder, training=True)
    alone = epoch(make, penstock, folder, training=True, num_threads=3, prefetch_queue_depth=1)
    for a, b in zip(expected, alone, strict=True):
        same((a, b))
